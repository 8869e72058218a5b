import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers import postgres_server
from helpers.databases import skip_without

STARTED = """
import sys
from helpers.postgres_server import find_server
print(find_server(), flush=True)
sys.stdin.read()
"""


def wait_until_gone(folder):
    end = time.monotonic() + 20.0
    while folder.exists():
        assert time.monotonic() < end, f"{folder} is there still"
        time.sleep(0.02)


@pytest.mark.parametrize("kills", [False, True])
def test_a_server_ends_with_the_process_that_started_it(kills):
    skip_without("postgres")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    environment.pop(postgres_server.FOLDER, None)
    with subprocess.Popen(
        [sys.executable, "-c", STARTED], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=environment, text=True,
    ) as process:  # fmt: skip
        folder = Path(process.stdout.readline().strip())
        assert folder.is_dir()
        if kills:
            process.send_signal(signal.SIGKILL)
        process.communicate()
    wait_until_gone(folder)


def test_a_server_that_does_not_start_is_named_with_its_words(monkeypatch):
    skip_without("postgres")
    monkeypatch.setitem(postgres_server.SETTINGS, "no_such_setting", "1")
    with (
        pytest.raises(postgres_server.NoServerError, match="no_such_setting"),
        postgres_server.serve(),
    ):
        pass
