"""Files that are written whole or not at all, also while others write or read them.

The new content goes into an unfinished file next to the target, with a name that nobody can guess,
and takes the target's place once it is on the disk.  The writing process holds a lock on it, which
the system drops whenever the process ends.  So an unfinished file without a lock belongs to a dead
process, and the next call for the same target removes it.
"""

import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import FileIO
from os import PathLike
from pathlib import Path
from typing import TypeAlias

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

__all__ = ["AnyPath", "would_replace", "write_whole"]

AnyPath: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]
Content: TypeAlias = Iterable[bytes | memoryview]

_POSIX: bool = fcntl is not None
"""Whether the system is POSIX; elsewhere open files keep their name, modes and leftovers stay."""

_FLUSHED_AT_ONCE = 2**22  # bytes: Ctrl-C takes effect between them
_MOST_LINKS = 40  # one after the other; the system's limit
_DESCRIPTOR = re.compile(r"(/proc/[^/]+(/task/[^/]+)?/fd|/dev/fd)/[0-9]{1,9}")


def write_whole(path: AnyPath, content: Content) -> None:
    """Write a file so that a reader gets the old or the new one, and never a part.

    Parameters
    ----------
    path : str, bytes or path
        The file.  A symbolic link stands for its target, whether that exists yet or not.  An
        existing file keeps its mode and, where that is permitted, its owner and group; a new one
        has the mode that the umask leaves.  Pipes, character devices and descriptors of
        ``/dev/fd`` are written to as they are.
    content : iterable of bytes
        The content, piece by piece.

    Raises
    ------
    OSError
        If the file cannot be written, or is a folder, a socket or a block device.  The error names
        the path.
    """
    with _name_in_errors(path):
        target = _follow(os.fsdecode(path))
        if _is_replaced(target):
            _replace(target, content)
        else:
            _write_to(target, content)


def would_replace(path: AnyPath) -> bool:
    """Whether `write_whole` would replace an existing file, and no pipe, device or descriptor.

    A path that `write_whole` would refuse raises the same error here.
    """
    with _name_in_errors(path):
        target = _follow(os.fsdecode(path))
        return _is_replaced(target) and _find_status(target) is not None


@contextmanager
def _name_in_errors(path: AnyPath) -> Iterator[None]:
    """Put the caller's file name into errors of the system."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = os.fspath(path)
            del error.filename2
        raise


def _follow(path: str) -> Path:
    """Return the absolute path behind symbolic links, as far as a descriptor's path."""
    if not path or path.endswith("/"):
        raise _error(errno.EISDIR if path else errno.ENOENT)
    end = Path(path)
    for _ in range(_MOST_LINKS):
        # Not `Path.resolve`, which raises a RuntimeError for circular links.
        end = Path(os.path.realpath(end.parent)) / end.name
        if _is_descriptor(end) or not end.is_symlink():
            return end
        end = end.parent / end.readlink()
    raise _error(errno.ELOOP)


def _is_descriptor(target: Path) -> bool:
    return bool(_DESCRIPTOR.fullmatch(str(target)))


def _is_replaced(target: Path) -> bool:
    """Whether a new file would replace the target; targets that cannot be written are refused."""
    if _is_descriptor(target):
        return False
    before = _find_status(target)
    if before is None:
        return True
    if stat.S_ISDIR(before.st_mode):
        raise _error(errno.EISDIR)
    if stat.S_ISBLK(before.st_mode) or stat.S_ISSOCK(before.st_mode):
        raise OSError(errno.EINVAL, "Neither a file nor a pipe nor a character device")
    return stat.S_ISREG(before.st_mode)


def _find_status(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except FileNotFoundError:
        return None


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _write_to(target: Path, content: Content) -> None:
    with FileIO(str(target), "wb", opener=_open_as_it_is) as file:
        for piece in content:
            _write_all(file, piece)


def _open_as_it_is(target: str, _: int) -> int:
    if target.startswith((f"/proc/{os.getpid()}/", "/dev/fd/")):
        return os.dup(int(Path(target).name))  # writing continues at the descriptor's position
    return os.open(target, os.O_WRONLY)  # creates no file if the target has gone


def _write_all(file: FileIO, piece: bytes | memoryview) -> None:
    rest = memoryview(piece)
    while len(rest) > 0:
        written = file.write(rest)
        if written is None:  # a pipe in non-blocking mode
            raise _error(errno.EAGAIN)
        rest = rest[written:]


def _replace(target: Path, content: Content) -> None:
    # A digest, because the target's name may be as long as the system allows.
    name = hashlib.blake2b(os.fsencode(target.name), digest_size=8).hexdigest()
    beginning = f".properboost-{name}-"
    _remove_leftovers(target.parent, beginning)
    before = _find_status(target)
    make = partial(os.open, mode=0o666 if before is None else 0o600)
    unfinished = None
    try:
        try:
            while unfinished is None:
                unfinished = target.with_name(f"{beginning}{secrets.token_hex(16)}.part")
                with FileIO(unfinished, "xb", opener=make) as file:
                    if not _lock(file):
                        unfinished = None
                        continue
                    _fill(file, content)
                    if before is not None:
                        _copy_owner_and_mode(file.fileno(), before)
                    os.fsync(file.fileno())
                    if _POSIX:
                        unfinished.replace(target)
                if not _POSIX:
                    unfinished.replace(target)
        finally:
            _remove(unfinished)
    finally:
        _remove(unfinished)  # after a Ctrl-C in the line above
    _flush_folder(target.parent)


def _lock(file: FileIO) -> bool:
    """Lock an unfinished file; False if another call has removed it as a dead process's."""
    if not _POSIX:
        return True
    with suppress(OSError):  # on file systems without locks, no call removes files
        fcntl.flock(file, fcntl.LOCK_EX)
    return os.fstat(file.fileno()).st_nlink > 0


def _fill(file: FileIO, content: Content) -> None:
    unflushed = 0
    for piece in content:
        _write_all(file, piece)
        unflushed += len(piece)
        if unflushed >= _FLUSHED_AT_ONCE:
            os.fsync(file.fileno())
            unflushed = 0


def _copy_owner_and_mode(descriptor: int, before: os.stat_result) -> None:
    """Set the mode, owner and group of a file to those of another, as far as permitted."""
    if not _POSIX:
        return
    mode = stat.S_IMODE(before.st_mode)
    if os.fstat(descriptor).st_uid != before.st_uid:
        with suppress(OSError):  # a container may lack the owner
            os.fchown(descriptor, before.st_uid, -1)
    with suppress(OSError):
        os.fchown(descriptor, -1, before.st_gid)
    status = os.fstat(descriptor)
    if status.st_uid != before.st_uid:
        mode &= ~stat.S_ISUID  # so that nobody runs it as another owner
    if status.st_gid != before.st_gid:
        mode = mode & 0o707 | (mode & 0o007) << 3  # no more rights for another group than for all
    with suppress(PermissionError):  # file systems may lack modes
        os.fchmod(descriptor, mode)


def _remove(unfinished: Path | None) -> None:
    if unfinished is not None:
        with suppress(OSError):  # it may have the target's name now
            unfinished.unlink()


def _remove_leftovers(folder: Path, beginning: str) -> None:
    """Remove the unfinished files of processes that have ended."""
    if not _POSIX:
        return
    try:
        names = os.listdir(folder)  # noqa: PTH208  # a folder may hold a million files
    except OSError:  # a folder may be writable but not listable
        return
    for name in names:
        if name.startswith(beginning):
            with suppress(OSError):
                _remove_unless_locked(folder / name)


def _remove_unless_locked(unfinished: Path) -> None:
    descriptor = os.open(unfinished, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unfinished.unlink()
    finally:
        os.close(descriptor)


def _flush_folder(folder: Path) -> None:
    """Flush a folder, so that a new name survives a loss of power, where the system permits."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
