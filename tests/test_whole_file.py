"""Files are written whole or not at all: the path meanwhile, and the files left behind."""

import errno
import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from properboost import whole_file
from properboost.whole_file import would_replace, write_whole

FOLDER = str(Path(whole_file.__file__).parent)
"""The folder from which the module is imported alone, because it needs nothing else."""


def run(code, *arguments, **settings):
    """Run code in a separate process."""
    code = f"import os, signal, sys; sys.path.insert(0, {FOLDER!r}); {code}"
    return subprocess.run([sys.executable, "-c", code, *arguments], timeout=300, **settings)


def others(path):
    """Return the names of the other files in a file's folder."""
    return sorted(entry.name for entry in path.parent.iterdir() if entry != path)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


@pytest.mark.parametrize("as_what", [str, os.fsencode, Path], ids=["str", "bytes", "path"])
def test_pieces_become_a_file(as_what, path):
    write_whole(as_what(path), [b"one ", b"", memoryview(b"two")])
    assert path.read_bytes() == b"one two"
    assert others(path) == []


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("é" * 127 + "x")
    assert len(os.fsencode(path.name)) == 255
    for content in (b"old", b"new"):
        write_whole(path, [content])
        assert path.read_bytes() == content
    with pytest.raises(OSError, match="too long") as failure:
        write_whole(tmp_path / ("x" * 256), [b""])
    assert failure.value.errno == errno.ENAMETOOLONG


def test_a_path_may_be_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_whole("model.json", [b"new"])
    assert (tmp_path / "model.json").read_bytes() == b"new"


def test_a_new_file_has_the_mode_that_the_umask_leaves(path):
    before = os.umask(0o027)
    try:
        write_whole(path, [b"new"])
    finally:
        os.umask(before)
    assert mode_of(path) == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o666, 0o755, 0o400], ids=oct)
def test_an_existing_file_keeps_its_mode(mode, path):
    path.write_bytes(b"old")
    path.chmod(mode)
    seen = []

    def look():
        (unfinished,) = others(path)
        seen.append(mode_of(path.with_name(unfinished)))
        yield b"new"

    write_whole(path, look())
    assert mode_of(path) == mode
    assert path.read_bytes() == b"new"
    assert seen == [0o600]  # no other user may read the file


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_an_existing_file_keeps_its_owner(path):
    path.write_bytes(b"old")
    os.chown(path, 12345, 54321)
    write_whole(path, [b"new"])
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_a_group_that_cannot_be_kept_gets_no_more_than_all(path, monkeypatch):
    path.write_bytes(b"old")

    def refuse(*_):
        raise PermissionError(errno.EPERM, "no")

    of_another_group = os.stat_result((0o100664, 0, 0, 1, os.geteuid(), os.getegid() + 1, *[0] * 4))
    monkeypatch.setattr(os, "fchown", refuse)
    with path.open("rb") as file:
        whole_file._copy_owner_and_mode(file.fileno(), of_another_group)
    assert mode_of(path) == 0o644


def test_an_unknown_owner_is_not_kept(path, monkeypatch):
    """In a container, other users' files have the owner 65534, who is nobody there."""
    path.write_bytes(b"old")

    def refuse(*_):
        raise OSError(errno.EINVAL, "no")

    of_others = os.stat_result((0o106764, 0, 0, 1, 65534, 65534, *[0] * 4))
    monkeypatch.setattr(os, "fchown", refuse)
    with path.open("rb") as file:
        whole_file._copy_owner_and_mode(file.fileno(), of_others)
    assert mode_of(path) == 0o744  # and it is nobody's to run as its owner


def test_a_link_stays_and_what_it_points_to_is_written(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "model.json", tmp_path / "link"
    target.write_bytes(b"old")
    (tmp_path / "real" / "second").symlink_to("model.json")
    link.symlink_to(Path("real") / "second")
    write_whole(link, [b"new"])
    assert link.is_symlink()
    assert (tmp_path / "real" / "second").is_symlink()
    assert target.read_bytes() == b"new"
    assert others(target) == ["second"]


def test_a_link_to_nothing_makes_what_it_points_to(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("model.json")
    write_whole(link, [b"new"])
    assert link.is_symlink()
    assert (tmp_path / "model.json").read_bytes() == b"new"
    link.unlink()
    link.symlink_to(tmp_path / "none" / "model.json")
    with pytest.raises(FileNotFoundError) as failure:
        write_whole(link, [b"new"])
    assert failure.value.filename == str(link)


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for path in (tmp_path / "a", tmp_path / "a" / "model.json"):
        with pytest.raises(OSError, match="symbolic links") as failure:
            write_whole(path, [b"new"])
        assert failure.value.filename == str(path)


def test_a_pipe_is_written_to(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    write_whole(path, [b"x" * 100_000, b"end"])
    reader.join()
    assert read == [b"x" * 100_000 + b"end"]
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert others(path) == []


def test_a_device_is_written_to():
    write_whole("/dev/null", [b"x"])
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_whole("/dev/full", [b"x"])


@pytest.mark.parametrize("name", ["/dev/fd/none", f"/dev/fd/{10**20}", "/proc/self/fd/none"])
def test_what_is_no_descriptor_is_no_file(name):
    with pytest.raises(OSError, match=name):
        write_whole(name, [b"new"])


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_descriptor_is_written_to_where_it_stands(name, tmp_path):
    code = (
        "from whole_file import write_whole; os.write(1, b'before ');"
        f"write_whole('{name}', [b'content']); os.write(1, b' after')"
    )
    as_pipe = run(code, capture_output=True, check=True)
    assert as_pipe.stdout == b"before content after"
    with (tmp_path / "output").open("wb") as file:
        run(code, stdout=file, check=True)
    assert (tmp_path / "output").read_bytes() == b"before content after"


def test_a_pipe_that_does_not_wait_is_no_endless_loop():
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        with pytest.raises(BlockingIOError):
            write_whole(f"/dev/fd/{write}", [b"x" * 2**20])
    finally:
        os.close(read)
        os.close(write)


def test_what_is_no_file_is_refused_by_name(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"old")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "socket"))
    server.close()
    for name, error in {
        "folder": IsADirectoryError,
        "folder/": IsADirectoryError,
        "file/": IsADirectoryError,
        "new/": IsADirectoryError,
        "file/model.json": NotADirectoryError,
        "none/model.json": FileNotFoundError,
        "socket": OSError,
    }.items():
        path = f"{tmp_path}/{name}"
        with pytest.raises(error) as failure:
            write_whole(path, [b"new"])
        assert failure.value.filename == path
        assert path in str(failure.value)
        assert ".properboost" not in str(failure.value)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder", "socket"]
    with pytest.raises(FileNotFoundError):
        write_whole("", [b"new"])


@pytest.mark.parametrize("error", [OSError("disk full"), ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("exists", [True, False])
def test_a_failure_leaves_what_was_there(error, exists, path):
    if exists:
        path.write_bytes(b"old")

    def fail_half_way():
        yield b"half"
        assert len(others(path)) == 1
        raise error

    with pytest.raises(error if isinstance(error, type) else type(error)):
        write_whole(path, fail_half_way())
    assert others(path) == []
    assert path.exists() == exists
    assert not exists or path.read_bytes() == b"old"


def test_a_refused_flush_is_named(path, monkeypatch):
    def refuse(_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match=rf"Input/output error: '{path}'$"):
        write_whole(path, [b"new"])
    assert not path.exists()
    assert others(path) == []


def test_ctrl_c_while_cleaning_up_leaves_nothing_either(path, monkeypatch):
    remove, calls = whole_file._remove, []

    def interrupted(unfinished):
        calls.append(unfinished)
        if len(calls) == 1:
            raise KeyboardInterrupt
        remove(unfinished)

    monkeypatch.setattr(whole_file, "_remove", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, iter([b"half", None]))
    assert others(path) == []


def test_the_unfinished_file_cannot_be_guessed_nor_followed(path, monkeypatch):
    names, flags = set(), set()
    system_open = os.open

    def spy(name, how, *arguments, **settings):
        if ".properboost-" in str(name):
            names.add(Path(name).name)
            flags.add(how)
        return system_open(name, how, *arguments, **settings)

    monkeypatch.setattr(os, "open", spy)
    for _ in range(20):
        write_whole(path, [b"new"])
    assert len({name.rpartition("-")[2] for name in names}) == 20
    assert min(len(name) for name in names) > 60
    assert all(how & os.O_EXCL and how & os.O_CREAT for how in flags)


def test_content_is_flushed_before_it_is_seen_and_the_name_after(path, monkeypatch):
    system_fsync, seen = os.fsync, []

    def spy(descriptor):
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        seen.append(("folder" if is_folder else "file", path.exists()))
        system_fsync(descriptor)

    monkeypatch.setattr(os, "fsync", spy)
    write_whole(path, [b"new"])
    assert seen == [("file", False), ("folder", True)]
    seen.clear()
    write_whole(path, [bytes(2**24), bytes(2**24), b"end"])
    assert [what for what, _ in seen] == ["file", "file", "file", "folder"]


# -- at the same time, and afterwards -------------------------------------------------------------


def test_threads_that_write_one_file_do_not_disturb_each_other(path):
    contents = {bytes([65 + k]) * 300_000 for k in range(4)}
    path.write_bytes(min(contents))
    failures, done = [], threading.Event()

    def write(content):
        try:
            for _ in range(25):
                write_whole(path, [content[:100_000], content[100_000:]])
        except BaseException as error:
            failures.append(error)

    def read():
        while not done.is_set():
            if (seen := path.read_bytes()) not in contents:
                failures.append(f"{len(seen)} bytes of {set(seen)}")

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=[content]) for content in contents]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert failures == []
    assert others(path) == []


KILLED = """
from whole_file import write_whole
def content():
    yield b"half"
    os.kill(os.getpid(), signal.SIGKILL)
write_whole(sys.argv[1], content())
"""


def leave(path):
    """Leave the unfinished file of a process that was killed, and return its name."""
    before = set(others(path))
    killed = run(KILLED, path, check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = set(others(path)) - before
    return left


def test_the_next_call_removes_what_a_dead_process_left(path):
    path.write_bytes(b"old")
    left = leave(path)
    assert path.read_bytes() == b"old"
    write_whole(path.with_name("another.json"), [b"new"])
    assert others(path) == sorted([left, "another.json"])
    write_whole(path, [b"new"])
    assert others(path) == ["another.json"]


def test_the_unfinished_file_of_a_living_one_is_left_alone(path):
    def write_another_meanwhile():
        yield b"slow "
        left = leave(path)
        (unfinished,) = {*others(path)} - {left}
        write_whole(path, [b"fast"])
        assert path.read_bytes() == b"fast"
        assert others(path) == [unfinished]
        yield b"end"

    write_whole(path, write_another_meanwhile())
    assert path.read_bytes() == b"slow end"
    assert others(path) == []


def test_a_file_that_was_taken_for_a_dead_ones_is_made_again(path, monkeypatch):
    flock, taken = fcntl.flock, []

    def too_late(file, how):
        if not how & fcntl.LOCK_NB and not taken:
            taken.extend(others(path))
            path.with_name(taken[0]).unlink()
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", too_late)
    write_whole(path, [b"new"])
    assert path.read_bytes() == b"new"
    assert len(taken) == 1
    assert others(path) == []


def test_where_there_are_no_locks_nothing_is_removed(path, monkeypatch):
    left = leave(path)

    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    write_whole(path, [b"new"])
    assert path.read_bytes() == b"new"
    assert others(path) == [left]


def test_what_only_looks_like_a_leftover_is_not_followed(path, tmp_path):
    name = leave(path)
    path.with_name(name).unlink()
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    path.with_name(name).symlink_to(precious)
    os.mkfifo(path.with_name(f"{name}.pipe"))  # which must not be waited for
    write_whole(path, [b"new"])
    assert precious.read_bytes() == b"mine"
    assert path.read_bytes() == b"new"


def test_a_folder_that_may_not_be_listed_can_be_written_into(path, monkeypatch):
    def refuse(_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "listdir", refuse)
    write_whole(path, [b"new"])
    assert path.read_bytes() == b"new"


def test_what_would_be_replaced(path, tmp_path):
    assert not would_replace(path)
    path.write_bytes(b"")
    assert would_replace(path)
    assert would_replace(os.fsencode(path))
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    assert would_replace(tmp_path / "link")
    for name in ("dangling", "pipe"):
        assert not would_replace(tmp_path / name)
    assert not would_replace("/dev/null")
    with path.open("rb") as file:
        assert not would_replace(f"/dev/fd/{file.fileno()}")
    with pytest.raises(IsADirectoryError) as failure:
        would_replace(tmp_path)
    assert failure.value.filename == str(tmp_path)
