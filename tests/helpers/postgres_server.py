"""PostgreSQL server for tests, in a temporary folder and reached through a socket in it."""

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
"""Environment variable that names the folder of a running server's socket."""

SECONDS = 60.0
"""Seconds within which a server must answer."""

SETTINGS = {"listen_addresses": "", "fsync": "off", "full_page_writes": "off", "jit": "off"}

# The shell ends the server when its own input ends, also if the tests are killed, and ends with the
# server.
SUPERVISE = """
exec 3<&0
"$@" 3<&- & server=$!
(cat <&3 > /dev/null; kill -INT $server 2> /dev/null) &
wait $server; status=$?
rm -rf "$0"
exit $status
"""


class NoServerError(Exception):
    """Error that no server can be started, with the reason."""


def _find_programs() -> Path:
    """Return the folder of the newest version of the server's programs."""
    if program := shutil.which("initdb"):
        return Path(program).resolve().parent
    places = [p for p in Path("/").glob("usr/lib/postgresql/*/bin") if (p / "initdb").exists()]
    if not places:
        raise NoServerError("there is no program initdb of PostgreSQL")
    return max(places, key=lambda place: float(place.parent.name))


def _find_user() -> dict[str, object]:
    """Return the user of the programs, which refuse to run as root."""
    if os.geteuid():
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise NoServerError("PostgreSQL refuses root, and there is no user postgres or nobody")


@contextlib.contextmanager
def serve():
    """Start a server, yield the folder of its socket, and stop the server."""
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
    """Wait until the server answers."""
    end = time.monotonic() + SECONDS
    with (folder / "log").open() as log:  # the log may go with the folder
        asks = started | {"cwd": "/"}  # the folder goes with the server
        while subprocess.run([programs / "pg_isready", "-q", "-h", folder], **asks).returncode:
            if supervisor.poll() is not None or time.monotonic() > end:
                raise NoServerError(f"PostgreSQL does not start: {log.read()[-400:]}")
            time.sleep(0.02)


@functools.cache
def find_server():
    """Return the folder of this process's server, which ends with the process."""
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    stack = contextlib.ExitStack()
    folder = stack.enter_context(serve())
    atexit.register(stack.close)
    return folder
