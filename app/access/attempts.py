"""How often a password may be guessed."""

import math
import time

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

PER_NAME = RateLimitItemPerMinute(10, 10)
"""Failures for one name in ten minutes."""
ALTOGETHER = RateLimitItemPerMinute(60)
"""Failures for all names in a minute: hashing takes time and memory."""


class Attempts:
    """Counts failed logins; a right password costs nothing."""

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def seconds_to_wait(self, name: str) -> int:
        """0 when this name may be tried, else in how many seconds."""
        now = time.time()
        waits = [0]
        for limit, whose in _limits(name):
            if not self._limiter.test(limit, whose):
                waits.append(max(1, math.ceil(self._limiter.get_window_stats(limit, whose).reset_time - now)))
        return max(waits)

    def failed(self, name: str) -> None:
        """Counts a failure."""
        for limit, whose in _limits(name):
            self._limiter.hit(limit, whose)


def _limits(name: str) -> tuple[tuple[RateLimitItem, str], ...]:
    return (PER_NAME, f"name:{name}"), (ALTOGETHER, "everybody")
