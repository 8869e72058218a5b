"""Test the lines for the user."""

import io
import subprocess
import sys

import pytest

from properboost.cli import output

FIRST_LINE = """
import io, sys

class Terminal(io.StringIO):
    def isatty(self):
        return True

    def write(self, text):
        heavy = {"numpy", "scipy", "sklearn", "pandas", "joblib", "pyarrow", "tqdm"}
        print(text.split(" ")[0], sorted(heavy & set(sys.modules)), flush=True)
        raise SystemExit

sys.stderr = Terminal()
from properboost.__main__ import main
main(["fit", sys.argv[1], "--target", "y"])
"""


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


def test_an_argument_too_long_for_a_file_is_none(tmp_path):
    assert output.list_files(["x" * 1000, str(tmp_path), __file__, "a\0b"]) == [__file__]


def test_the_first_line_comes_before_anything_heavy_is_imported(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    shown = subprocess.run(
        [sys.executable, "-c", FIRST_LINE, path], capture_output=True, text=True, timeout=300
    )
    assert shown.stdout == "Reading []\n", shown.stderr


def test_a_log_is_told_on_request(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    path = tmp_path / "t.csv"
    path.write_bytes(b"xyz")
    output.announce(["fit", str(path), "--verbose"])
    assert sys.stderr.getvalue() == f"Reading {path} (3 bytes) ...\n"


def test_nothing_is_announced_elsewhere(monkeypatch, tmp_path):
    path = tmp_path / "t.csv"
    path.touch()
    for stream, argv in [
        (io.StringIO(), ["fit", str(path)]),
        (Terminal(), ["predict", str(path)]),
        (Terminal(), ["fit", str(path), "--quiet"]),
        (io.StringIO(), ["fit", str(path), "--quiet", "--verbose"]),
        (Terminal(), ["fit", "missing.csv"]),
    ]:
        monkeypatch.setattr(sys, "stderr", stream)
        output.announce(argv)
        assert stream.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", None)
    output.announce(["fit", str(path)])
    assert not output.has_terminal()
