"""How many requests a caller may send in a minute."""

import math
import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter


class RateLimit:
    """A moving window of one minute for each caller. `per_minute` 0: no limit."""

    def __init__(self, per_minute: int) -> None:
        self._item = RateLimitItemPerMinute(per_minute) if per_minute else None
        self._limiter = MovingWindowRateLimiter(MemoryStorage()) if per_minute else None

    def seconds_to_wait(self, caller: str) -> int:
        """Counts a request: 0 when it may pass, else in how many seconds to come again (the request is not counted then)."""
        if self._item is None or self._limiter is None or self._limiter.hit(self._item, caller):
            return 0
        stats = self._limiter.get_window_stats(self._item, caller)
        return max(1, math.ceil(stats.reset_time - time.time()))
