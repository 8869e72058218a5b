"""The deadline of a search, for all its processes."""

import time
from dataclasses import dataclass
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

    def __call__(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self.end

    def __reduce__(self) -> tuple[Any, ...]:
        return _until, (self.end - time.monotonic() + time.time(),)


def _until(end: float) -> Deadline:
    """Return the deadline at a time of day, which is the same in all processes."""
    return Deadline(end - time.time() + time.monotonic())
