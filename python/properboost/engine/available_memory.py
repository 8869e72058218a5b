"""The memory that a process may still take, and an error before it takes more."""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

if sys.platform != "win32":
    import resource

__all__ = ["Available", "find_available", "require_memory"]

MATTERS = 2**25
"""Bytes from which `require_memory` looks: that takes most of a millisecond."""


class Available(NamedTuple):
    """Bytes that a process may still take, and what says so."""

    size: int
    limit: str


def require_memory(needed: int, advice: str) -> None:
    """Raise MemoryError if a fit that needs at least so many bytes cannot have them."""
    if needed < MATTERS:
        return
    least = min(find_available(), default=None)
    if least is None or needed <= least.size:
        return
    size = least.size + _count_free_heap()
    if needed > size:
        raise MemoryError(
            f"the fit needs at least {_in_mebibytes(needed)} of memory, and {least.limit} leaves "
            f"{_in_mebibytes(size)}: it needs less with {advice}"
        )


def _in_mebibytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"


def find_available(root: Path = Path("/")) -> list[Available]:
    """Return what each limit leaves to this process; nothing where the system does not say.

    Memory that holds files or can be swapped out is available.
    """
    found = list(_find_in_address_space(root))
    swap = 0
    with suppress(OSError, ValueError, KeyError):
        sizes = _read_table(root / "proc/meminfo", unit=1024)
        swap = sizes["SwapFree"]
        found.append(Available(sizes["MemAvailable"] + swap, "the machine"))
    with suppress(OSError, ValueError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers == "":
                found += _find_in_cgroups(V2, root, group, swap)
            elif "memory" in controllers.split(","):
                found += _find_in_cgroups(V1, root, group, swap)
    return found


def _find_in_address_space(root: Path) -> Iterator[Available]:
    if sys.platform == "win32":
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    with suppress(OSError, ValueError):
        pages = int((root / "proc/self/statm").read_text().split()[0])
        left = limit - pages * resource.getpagesize()
        yield Available(max(left, 0), "the limit on address space (RLIMIT_AS)")


class _Files(NamedTuple):
    """Where a version of cgroups says what a group may take, and how much of that it holds."""

    mount: str
    limit: str
    held: str
    holds_files: tuple[str, ...]  # entries of memory.stat
    swap_limit: str = ""
    swap_held: str = ""


V1 = _Files(
    "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
    ("total_inactive_file", "total_active_file"),
)  # fmt: skip
V2 = _Files(
    "sys/fs/cgroup", "memory.max", "memory.current",
    ("inactive_file", "active_file", "slab_reclaimable"), "memory.swap.max", "memory.swap.current",
)  # fmt: skip


def _find_in_cgroups(files: _Files, root: Path, group: str, swap: int) -> Iterator[Available]:
    """Yield what the group and those it is in leave, with so much swap space free.

    A container may see its own group as the topmost, whatever it is called outside.
    """
    mount = root / files.mount
    own = PurePosixPath(group.lstrip("/"))
    for folder in (own, *own.parents):
        with suppress(OSError, ValueError):
            here = mount / folder
            left = int((here / files.limit).read_text()) - int((here / files.held).read_text())
            stat = _read_table(here / "memory.stat")
            left += sum(stat.get(name, 0) for name in files.holds_files)
            more = swap
            with suppress(OSError, ValueError):
                if files.swap_limit:
                    most = int((here / files.swap_limit).read_text())
                    more = min(swap, max(most - int((here / files.swap_held).read_text()), 0))
            yield Available(max(left, 0) + more, "the memory limit of the cgroup")


def _read_table(path: Path, unit: int = 1) -> dict[str, int]:
    """Return the first number of each line, by its name."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {name.rstrip(":"): int(size) * unit for name, size, *_ in lines}


class _Heap(ctypes.Structure):
    """What glibc's mallinfo2 returns."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd",
            "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def _count_free_heap() -> int:
    """Return what the process holds but does not use, as far as the C library says."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):  # another C library
        return 0
    mallinfo2.restype = _Heap
    return int(mallinfo2().fordblks)
