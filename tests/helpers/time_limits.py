"""Time limits of tests that wait for others: an error shows where a test hangs."""

import contextlib
import signal


class OutOfTime(Exception):  # noqa: N818  # no TimeoutError: what is tested catches these
    """Error that a limit of `within` has passed."""


@contextlib.contextmanager
def within(seconds):
    """Raise OutOfTime in the main thread after this many seconds, where alarms exist."""
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
        signal.setitimer(signal.ITIMER_REAL, left)  # an outer limit goes on
