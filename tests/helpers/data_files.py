"""A small data file, and helpers for the places of files."""

import hashlib
import os
import sys
from pathlib import Path

import pytest

from properboost.datasets._record import SourceFile

COLUMNS = ("size", "kind", "class")


TABLE = [list(COLUMNS), ["1", "a", "no"], ["2.5", "?", "yes"], ["?", "b", "yes"]]


FILE = SourceFile(
    name="toy",
    path="toy/toy.data",
    sha256=hashlib.sha256(b"size,kind,class\n1,a,no\n2.5,?,yes\n?,b,yes\n").hexdigest(),
)


WRONG = [[*row] for row in TABLE[:-1]]


def need(*files):
    """Skip unless the folder of the environment variable has the files; return the folder."""
    folder = os.environ.get("PROPERBOOST_DATA")
    if not folder:
        pytest.skip("the set is not shipped, and PROPERBOOST_DATA names no folder that has it")
    for file in files:
        path = Path(folder) / file.filename
        if not path.is_file():
            pytest.skip(f"the set is not shipped, and PROPERBOOST_DATA has no {file.filename}")
    return Path(folder)


def serve(archive, path, text):
    target = archive.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode())


def raw(rows, separator=",", end="\n"):
    return "".join(separator.join(row) + end for row in rows)


def without(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
