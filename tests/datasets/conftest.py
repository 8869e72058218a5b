"""Fixtures of the tests of data sets."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from properboost.datasets import _locate


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Make an empty folder and an empty cache, and make the archive unreachable."""
    for variable in ("data", "cache"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(f"PROPERBOOST_{variable.upper()}", str(tmp_path / variable))
    monkeypatch.setattr(_locate, "ARCHIVE", "http://127.0.0.1:9/")  # port 9 discards all it gets
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path


@pytest.fixture
def archive(places, monkeypatch):
    """Serve the files of the root, and count the requests."""
    pytest.importorskip("pooch")
    root = places / "archive"
    root.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            server.requests += 1

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=root)) as server:
        server.requests = 0
        server.root = root
        thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.01))
        thread.start()
        monkeypatch.setattr(_locate, "ARCHIVE", f"http://127.0.0.1:{server.server_port}/")
        yield server
        server.shutdown()
        thread.join()
