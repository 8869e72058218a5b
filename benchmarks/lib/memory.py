"""The peak of the memory that a piece of work needs."""

import ctypes
import gc
from pathlib import Path
from types import TracebackType
from typing import Self

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


class PeakMemory:
    """Measure the resident memory at its peak inside a ``with`` block, in bytes.

    The kernel keeps the peak, so nothing samples and nothing is missed.  Linux only: elsewhere
    `supported` is false.
    """

    supported = _STATUS.exists() and _RESET.exists()
    before: int
    peak: int

    def __enter__(self) -> Self:
        _give_back()
        _RESET.write_text("5")  # forget the peaks of the past
        self.before = _read("VmRSS")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.peak = _read("VmHWM")

    @property
    def extra(self) -> int:
        """The peak beyond the resident memory before."""
        return self.peak - self.before


def _give_back() -> None:
    """Return freed memory to the system: work that reused it would seem to need none."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's
    if trim is not None:
        trim(0)


def _read(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise LookupError(f"{_STATUS} has no {name}")
