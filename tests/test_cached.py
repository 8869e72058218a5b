"""Properties that are computed once."""

import threading

from properboost.cached import cached_property


class Counter:
    def __init__(self):
        self.calls = 0

    @cached_property
    def number(self):
        """The number."""
        self.calls += 1
        return object()


class Waiting:
    def __init__(self, entered, over):
        self._entered, self._over = entered, over

    @cached_property
    def number(self):
        self._entered.set()
        assert self._over.wait(10.0)
        return 1


def test_a_value_is_found_once():
    counter, other = Counter(), Counter()
    assert counter.number is counter.number
    assert counter.calls == 1
    assert other.number is not counter.number
    assert Counter.number.__doc__ == "The number."
    del counter.number
    assert counter.number is not None
    assert counter.calls == 2


def test_one_instance_does_not_wait_for_another():
    # A forked child would wait for ever, because no thread releases a lock that another one held.
    entered, over = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: Waiting(entered, over).number)
    thread.start()
    try:
        assert entered.wait(10.0)
        free = threading.Event()
        free.set()
        second = threading.Thread(target=lambda: Waiting(threading.Event(), free).number)
        second.start()
        second.join(5.0)
        assert not second.is_alive()
    finally:
        over.set()
        thread.join()
