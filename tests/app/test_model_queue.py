import threading
import time

import pytest

from app.model_queue import ModelQueue
from pipelines.answering import never
from pipelines.errors import GenerationCancelled, QueueFull


def wait_for(condition) -> None:
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < 10
        time.sleep(0.005)


class Asker(threading.Thread):
    """Waits for its turn, notes its name, and keeps the turn until it is released."""

    def __init__(self, queue: ModelQueue, name: str, order: list[str], *, first: bool = False) -> None:
        super().__init__(daemon=True)
        self.queue, self.label, self.order, self.first = queue, name, order, first
        self.release, self.gone = threading.Event(), threading.Event()
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            with self.queue.turn(self.gone.is_set, first=self.first):
                self.order.append(self.label)
                self.release.wait(10)
        except (QueueFull, GenerationCancelled) as exc:
            self.error = exc


def started(queue: ModelQueue, name: str, order: list[str], *, first: bool = False) -> Asker:
    """An asker that has its turn or waits in the queue."""
    before = queue.waiting + len(order)
    asker = Asker(queue, name, order, first=first)
    asker.start()
    wait_for(lambda: queue.waiting + len(order) > before)
    return asker


def test_questions_have_their_turn_in_the_order_of_asking():
    queue, order = ModelQueue(parallel=1, waiting=10), []
    askers = [started(queue, name, order) for name in "abcd"]
    for asker in askers:
        wait_for(lambda asker=asker: asker.label in order)
        asker.release.set()
        asker.join(10)
    assert order == list("abcd")
    assert queue.waiting == 0


def test_as_many_as_allowed_have_their_turn_at_once():
    queue, order = ModelQueue(parallel=2, waiting=10), []
    askers = [started(queue, name, order) for name in "abc"]
    assert (sorted(order), queue.waiting) == (["a", "b"], 1)
    for asker in askers:
        asker.release.set()
        asker.join(10)


def test_one_more_than_may_wait_is_refused_at_once():
    queue, order = ModelQueue(parallel=1, waiting=2), []
    askers = [started(queue, name, order) for name in "abc"]
    with pytest.raises(QueueFull, match="Es warten schon 2 Fragen"), queue.turn(never):
        pass
    for asker in askers:
        asker.release.set()
        asker.join(10)
    with queue.turn(never):
        order.append("later")
    assert order[-1] == "later"


def test_a_second_draft_goes_before_those_who_wait_and_is_never_refused():
    queue, order = ModelQueue(parallel=1, waiting=1), []
    askers = [started(queue, name, order) for name in "ab"]
    askers.append(started(queue, "second draft", order, first=True))
    for asker in (askers[0], askers[2], askers[1]):
        asker.release.set()
        asker.join(10)
    assert order == ["a", "second draft", "b"]


def test_who_goes_away_leaves_the_queue_and_nobody_loses_a_turn():
    queue, order = ModelQueue(parallel=1, waiting=10), []
    first, gone, last = (started(queue, name, order) for name in "abc")
    gone.gone.set()
    gone.join(10)
    assert isinstance(gone.error, GenerationCancelled)
    first.release.set()
    wait_for(lambda: "c" in order)
    last.release.set()
    assert order == ["a", "c"]


def test_a_failure_gives_the_turn_back():
    queue = ModelQueue(parallel=1, waiting=1)
    with pytest.raises(RuntimeError, match="defect"), queue.turn(never):
        raise RuntimeError("defect")
    with queue.turn(never):
        assert queue.waiting == 0


def test_fifty_that_wait_have_their_turn_in_the_order_in_which_they_came():
    queue, release, served = ModelQueue(parallel=1, waiting=50), threading.Event(), []

    def take(number: int) -> None:
        with queue.turn(lambda: False):
            assert release.wait(60)
            served.append(number)

    threads = []
    for number in range(51):
        threads.append(threading.Thread(target=take, args=(number,)))
        threads[-1].start()
        wait_for(lambda number=number: queue.waiting == number)
    with pytest.raises(QueueFull), queue.turn(lambda: False):
        pass
    release.set()
    for thread in threads:
        thread.join()
    assert served == list(range(51))
