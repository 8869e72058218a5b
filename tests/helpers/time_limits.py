"""Limits on the time of tests that wait for others: what hangs is an error that says where."""

import contextlib
import signal


class OutOfTime(Exception):  # noqa: N818  # no TimeoutError: what is tested catches these
    """A limit of `within` has passed."""


@contextlib.contextmanager
def within(seconds):
    """Raise OutOfTime in the main thread after so many seconds, where there are alarms."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def give_up(*_):
        raise OutOfTime(f"this took more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left)  # of a limit around this one
