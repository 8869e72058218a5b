"""Test the lines for the user."""

import io
import sys

import pytest

from properboost.cli import output


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("size", "words"), [(3, "3 bytes"), (1_500, "1.5 kB"), (3_520_000, "3.52 MB")]
)
def test_a_terminal_is_told_at_once_which_file_is_read(monkeypatch, tmp_path, size, words):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    path = tmp_path / "t.csv"
    path.write_bytes(b"x" * size)
    output.announce(["fit", str(path), "--target", "y"])
    assert stream.getvalue() == f"Reading {path} ({words}) ...\n"


def test_nothing_is_announced_elsewhere(monkeypatch, tmp_path):
    path = tmp_path / "t.csv"
    path.touch()
    for stream, argv in [
        (io.StringIO(), ["fit", str(path)]),
        (Terminal(), ["predict", str(path)]),
        (Terminal(), ["fit", str(path), "--quiet"]),
        (Terminal(), ["fit", "missing.csv"]),
    ]:
        monkeypatch.setattr(sys, "stderr", stream)
        output.announce(argv)
        assert stream.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", None)
    output.announce(["fit", str(path)])
    assert not output.has_terminal()
