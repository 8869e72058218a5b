"""A PostgreSQL server for tests: in a temporary folder, reached through a socket in it."""

import atexit
import contextlib
import functools
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

__all__ = ["FOLDER", "NoServerError", "find_server", "serve"]

FOLDER = "PROPERBOOST_TEST_POSTGRES"
"""The environment variable that names the folder of the socket of a server that is there."""

SECONDS = 60.0
"""What a server may take until it answers."""

SETTINGS = {"listen_addresses": "", "fsync": "off", "full_page_writes": "off", "jit": "off"}

# The shell ends the server when its input ends, also where the tests were killed; and it ends with
# the server.
SUPERVISE = """
exec 3<&0
"$@" 3<&- & server=$!
(cat <&3 > /dev/null; kill -INT $server 2> /dev/null) &
wait $server; status=$?
rm -rf "$0"
exit $status
"""


class NoServerError(Exception):
    """There is no server, and why."""


def _find_programs() -> Path:
    """Return the folder of the server's programs, of the newest version."""
    if program := shutil.which("initdb"):
        return Path(program).resolve().parent
    places = [p for p in Path("/").glob("usr/lib/postgresql/*/bin") if (p / "initdb").exists()]
    if not places:
        raise NoServerError("there is no program initdb of PostgreSQL")
    return max(places, key=lambda place: float(place.parent.name))


def _find_user() -> dict[str, object]:
    """Return whom the programs are started as: they refuse root."""
    if os.geteuid():
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise NoServerError("PostgreSQL refuses root, and there is no user postgres or nobody")


@contextlib.contextmanager
def serve():
    """Start a server; yield the folder of its socket; stop it."""
    programs, user = _find_programs(), _find_user()
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    supervisor = None
    try:
        if user:
            os.chown(folder, user["user"], user["group"])
        started = {"cwd": folder, "env": {"HOME": str(folder), "PATH": os.defpath}, **user}
        made = subprocess.run(
            [programs / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E",
             "UTF8", "--locale=C", "--no-sync"],
            capture_output=True, text=True, **started,
        )  # fmt: skip
        if made.returncode:
            raise NoServerError(f"initdb ends with {made.returncode}: {made.stderr.strip()}")
        settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        with (folder / "log").open("wb") as log:
            supervisor = subprocess.Popen(
                ["sh", "-c", SUPERVISE, folder, programs / "postgres", "-D", folder / "data", "-k",
                 folder, *settings],
                stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True, **started,
            )  # fmt: skip
        _wait_for(supervisor, folder, programs, started)
        yield folder
    finally:
        if supervisor is not None:
            supervisor.communicate()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(supervisor, folder, programs, started):
    """Return when the server answers."""
    end = time.monotonic() + SECONDS
    with (folder / "log").open() as log:  # which may be gone with the folder
        asks = started | {"cwd": "/"}  # the folder goes when the server does
        while subprocess.run([programs / "pg_isready", "-q", "-h", folder], **asks).returncode:
            if supervisor.poll() is not None or time.monotonic() > end:
                raise NoServerError(f"PostgreSQL does not start: {log.read()[-400:]}")
            time.sleep(0.02)


@functools.cache
def find_server():
    """Return the folder of the socket of this process's server, which ends with the process."""
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    stack = contextlib.ExitStack()
    folder = stack.enter_context(serve())
    atexit.register(stack.close)
    return folder
