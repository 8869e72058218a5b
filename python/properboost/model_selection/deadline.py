"""The deadline of a search, for all its processes."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["Deadline", "StopInTime"]


@dataclass(frozen=True)
class Deadline:
    """A time limit that holds in other processes, too."""

    end: float
    """The end by the monotonic clock of this process."""

    @classmethod
    def after(cls, seconds: float | None) -> "Deadline":
        """Return the deadline so many seconds from now; None is never."""
        return cls(np.inf if seconds is None else time.monotonic() + seconds)

    def __call__(self, needed: float = 0.0) -> bool:
        """Whether the time is up, or less is left than the `needed` seconds."""
        return time.monotonic() + needed > self.end

    @property
    def seconds_left(self) -> float:
        """The seconds until the end; below 0 after it."""
        return self.end - time.monotonic()

    def share(self, part: float, least: float = 0.0) -> "Deadline":
        """Return the deadline after a part of the time that is left, or never.

        It is at least so many seconds from now, up to this deadline.
        """
        if not self.is_limited:
            return self
        left = self.seconds_left
        return replace(self, end=self.end - max(left - max(part * left, least), 0.0))

    @property
    def is_limited(self) -> bool:
        """Whether there is an end."""
        return self.end < np.inf

    def __reduce__(self) -> tuple[Any, ...]:
        return _until, (self.end - time.monotonic() + time.time(),)


class StopInTime:
    """A callback of a fit that ends it when the time is up; the rounds so far stay."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self.has_stopped = False

    def describe_by(self, _remake: object, /) -> None:
        """Ignore the function that makes fitted attributes: nothing looks at the model."""

    def see(self, _find_rounds: object, /) -> bool:
        """Return whether the time is up, after an estimator."""
        self.has_stopped = self._deadline()
        return self.has_stopped


def _until(end: float) -> Deadline:
    """Return the deadline at a time of day, which is the same in all processes."""
    return Deadline(end - time.time() + time.monotonic())
