"""When a search has to end, in whichever process it is."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Deadline"]


@dataclass(frozen=True)
class Deadline:
    """Says whether a number of seconds is over, also in other processes."""

    end: float
    """By the clock of this process that never goes back."""

    @classmethod
    def after(cls, seconds: float | None) -> "Deadline":
        """Return the deadline after so many seconds from now; None is never."""
        return cls(np.inf if seconds is None else time.monotonic() + seconds)

    def __call__(self) -> bool:
        """Whether it is over."""
        return time.monotonic() > self.end

    def __reduce__(self) -> tuple[Any, ...]:
        return _until, (self.end - time.monotonic() + time.time(),)


def _until(end: float) -> Deadline:
    """Return the deadline at a time of day, which processes agree on."""
    return Deadline(end - time.time() + time.monotonic())
