"""The deadline of a search, for all its processes."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["Deadline"]


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

    def share(self, part: float) -> "Deadline":
        """Return the deadline after a part of the time that is left, or never."""
        if not self.is_limited:
            return self
        return replace(self, end=self.end - (1.0 - part) * self.seconds_left)

    @property
    def is_limited(self) -> bool:
        """Whether there is an end."""
        return self.end < np.inf

    def __reduce__(self) -> tuple[Any, ...]:
        return _until, (self.end - time.monotonic() + time.time(),)


def _until(end: float) -> Deadline:
    """Return the deadline at a time of day, which is the same in all processes."""
    return Deadline(end - time.time() + time.monotonic())
