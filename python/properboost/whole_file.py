"""Files that are written whole or not at all, also while others write or read them.

The new content goes into an unfinished file beside the target, of a name that nobody can guess, and
takes the target's place once it is on the disk.  While it is written its process holds a lock on
it, which the system drops when the process ends in whatever way: an unfinished file without a lock
is a dead one's, and the next call for the same target removes it.
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
"""Elsewhere an open file cannot be renamed, there are no modes, and leftovers stay."""

_FLUSHED_AT_ONCE = 2**22  # bytes: Ctrl-C is heard between them
_MOST_LINKS = 40  # one after the other, as in the system
_DESCRIPTOR = re.compile(r"(/proc/[^/]+(/task/[^/]+)?/fd|/dev/fd)/[0-9]{1,9}")


def write_whole(path: AnyPath, content: Content) -> None:
    """Write a file: a reader sees the old one or the new one, never a part, whatever happens.

    Parameters
    ----------
    path : str, bytes or path
        The file.  Where it is a symbolic link, what it points to is written, whether that exists
        yet or not.  An existing file keeps its mode and, where that is permitted, its owner and
        group; a new one has the mode that the umask leaves.  Pipes, character devices and what
        ``/dev/fd`` holds are written to as they are.
    content : iterable of bytes
        What to write, piece by piece.

    Raises
    ------
    OSError
        If it cannot be written, or is a folder, a socket or a block device.  It names the path.
    """
    with _named(path):
        target = _follow(os.fsdecode(path))
        if _is_replaced(target):
            _replace(target, content)
        else:
            _write_to(target, content)


def would_replace(path: AnyPath) -> bool:
    """Whether `write_whole` would replace a file: there is one, no pipe, device or descriptor.

    What `write_whole` would refuse because of what is there is refused here, too.
    """
    with _named(path):
        target = _follow(os.fsdecode(path))
        return _is_replaced(target) and _look_at(target) is not None


@contextmanager
def _named(path: AnyPath) -> Iterator[None]:
    """Have errors of the system name the file that the caller knows of."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = os.fspath(path)
            del error.filename2
        raise


def _follow(path: str) -> Path:
    """Return the absolute path behind symbolic links; of a descriptor's, that of the descriptor."""
    if not path or path.endswith("/"):
        raise _error(errno.EISDIR if path else errno.ENOENT)
    end = Path(path)
    for _ in range(_MOST_LINKS):
        # Not `Path.resolve`, which finds a RuntimeError in links that go in a circle.
        end = Path(os.path.realpath(end.parent)) / end.name
        if _is_descriptor(end) or not end.is_symlink():
            return end
        end = end.parent / end.readlink()
    raise _error(errno.ELOOP)


def _is_descriptor(target: Path) -> bool:
    return bool(_DESCRIPTOR.fullmatch(str(target)))


def _is_replaced(target: Path) -> bool:
    """Whether a file takes the place of what is there; what cannot be written is refused."""
    if _is_descriptor(target):
        return False
    before = _look_at(target)
    if before is None:
        return True
    if stat.S_ISDIR(before.st_mode):
        raise _error(errno.EISDIR)
    if stat.S_ISBLK(before.st_mode) or stat.S_ISSOCK(before.st_mode):
        raise OSError(errno.EINVAL, "Neither a file nor a pipe nor a character device")
    return stat.S_ISREG(before.st_mode)


def _look_at(target: Path) -> os.stat_result | None:
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
        return os.dup(int(Path(target).name))  # which goes on where the descriptor stands
    return os.open(target, os.O_WRONLY)  # no file is made, should it have gone


def _write_all(file: FileIO, piece: bytes | memoryview) -> None:
    rest = memoryview(piece)
    while len(rest) > 0:
        written = file.write(rest)
        if written is None:  # a pipe that somebody asked not to wait for
            raise _error(errno.EAGAIN)
        rest = rest[written:]


def _replace(target: Path, content: Content) -> None:
    # Its length is its own: names of files may be as long as the system allows.
    name = hashlib.blake2b(os.fsencode(target.name), digest_size=8).hexdigest()
    beginning = f".properboost-{name}-"
    _remove_leftovers(target.parent, beginning)
    before = _look_at(target)
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
                        _resemble(file.fileno(), before)
                    os.fsync(file.fileno())
                    if _POSIX:
                        unfinished.replace(target)
                if not _POSIX:
                    unfinished.replace(target)
        finally:
            _remove(unfinished)
    finally:
        _remove(unfinished)  # Ctrl-C may have come in the line above, but then not here
    _flush_folder(target.parent)


def _lock(file: FileIO) -> bool:
    """Lock an unfinished file; False if another call took it for a dead process's before."""
    if not _POSIX:
        return True
    with suppress(OSError):  # there are file systems without locks, where no call removes any
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


def _resemble(descriptor: int, before: os.stat_result) -> None:
    """Give a file the mode, owner and group of another, as far as that is permitted."""
    if not _POSIX:
        return
    mode = stat.S_IMODE(before.st_mode)
    if os.fstat(descriptor).st_uid != before.st_uid:
        with suppress(OSError):  # in a container it may be nobody there is
            os.fchown(descriptor, before.st_uid, -1)
    with suppress(OSError):
        os.fchown(descriptor, -1, before.st_gid)
    kept = os.fstat(descriptor)
    if kept.st_uid != before.st_uid:
        mode &= ~stat.S_ISUID  # nobody runs it as another owner
    if kept.st_gid != before.st_gid:
        mode = mode & 0o707 | (mode & 0o007) << 3  # no more for another group than for all
    with suppress(PermissionError):  # there are file systems without modes
        os.fchmod(descriptor, mode)


def _remove(unfinished: Path | None) -> None:
    if unfinished is not None:
        with suppress(OSError):  # it may have its own name now
            unfinished.unlink()


def _remove_leftovers(folder: Path, beginning: str) -> None:
    """Remove the unfinished files of processes that have ended."""
    if not _POSIX:
        return
    try:
        names = os.listdir(folder)  # noqa: PTH208  # a folder may hold a million files
    except OSError:  # one may write files into a folder that one may not list
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
    """See to it that a new name outlives a loss of power, where the system lets us."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
