"""The memory that a process may still take, and an error before it takes more."""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

if sys.platform != "win32":
    import resource

__all__ = ["AvailableMemory", "find_available", "require_memory"]

MATTERS = 2**25
"""The bytes from which on `require_memory` checks, which takes most of a millisecond."""


class AvailableMemory(NamedTuple):
    """The bytes that a process may still take, and the limit that leaves them."""

    size: int
    limit: str


def require_memory(needed: int, advice: str) -> None:
    """Raise MemoryError if a fit cannot have the bytes that it needs at least."""
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


def find_available(root: Path = Path("/")) -> list[AvailableMemory]:
    """Return the memory that each known limit leaves to this process.

    Memory of cached files, and memory that can be swapped out, is available.
    """
    available = list(_find_in_address_space(root))
    swap = 0
    with suppress(OSError, ValueError, KeyError):
        sizes = _read_table(root / "proc/meminfo", unit=1024)
        swap = sizes["SwapFree"]
        available.append(AvailableMemory(sizes["MemAvailable"] + swap, "the machine"))
    with suppress(OSError, ValueError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers == "":
                available += _find_in_cgroups(V2, root, group, swap)
            elif "memory" in controllers.split(","):
                available += _find_in_cgroups(V1, root, group, swap)
    return available


def _find_in_address_space(root: Path) -> Iterator[AvailableMemory]:
    if sys.platform == "win32":
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    with suppress(OSError, ValueError):
        pages = int((root / "proc/self/statm").read_text().split()[0])
        left = limit - pages * resource.getpagesize()
        yield AvailableMemory(max(left, 0), "the limit on address space (RLIMIT_AS)")


class _CgroupFiles(NamedTuple):
    """The files of a version of cgroups with the limit and the usage of a group."""

    mount: str
    limit: str
    usage: str
    cached: tuple[str, ...]  # entries of memory.stat
    swap_limit: str = ""
    swap_usage: str = ""


V1 = _CgroupFiles(
    "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
    ("total_inactive_file", "total_active_file"),
)  # fmt: skip
V2 = _CgroupFiles(
    "sys/fs/cgroup", "memory.max", "memory.current",
    ("inactive_file", "active_file", "slab_reclaimable"), "memory.swap.max", "memory.swap.current",
)  # fmt: skip


def _find_in_cgroups(
    files: _CgroupFiles, root: Path, group: str, swap: int
) -> Iterator[AvailableMemory]:
    """Yield the memory that the group and its parents leave, with `swap` bytes of free swap space.

    A container may see its group as the topmost, whatever its name outside.
    """
    mount = root / files.mount
    innermost = PurePosixPath(group.lstrip("/"))
    for folder in (innermost, *innermost.parents):
        with suppress(OSError, ValueError):
            group_folder = mount / folder
            left = int((group_folder / files.limit).read_text()) - int(
                (group_folder / files.usage).read_text()
            )
            stat = _read_table(group_folder / "memory.stat")
            left += sum(stat.get(name, 0) for name in files.cached)
            more = swap
            with suppress(OSError, ValueError):
                if files.swap_limit:
                    most = int((group_folder / files.swap_limit).read_text())
                    more = min(
                        swap, max(most - int((group_folder / files.swap_usage).read_text()), 0)
                    )
            yield AvailableMemory(max(left, 0) + more, "the memory limit of the cgroup")


def _read_table(path: Path, unit: int = 1) -> dict[str, int]:
    """Return the first number of each line, by its name."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {name.rstrip(":"): int(size) * unit for name, size, *_ in lines}


class _Heap(ctypes.Structure):
    """The struct that glibc's mallinfo2 returns."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd",
            "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def _count_free_heap() -> int:
    """Return the bytes that the C library has allocated but the process does not use."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):  # another C library
        return 0
    mallinfo2.restype = _Heap
    return int(mallinfo2().fordblks)
