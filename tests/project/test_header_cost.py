"""tools/header_cost.py: the time of a build and the cost of its headers, from ninja's notes."""

import importlib
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
LOG = """# ninja log v7
0\t90000\t1\ta.cpp.o\t1
0\t60000\t2\ta.cpp.o\t2
0\t30000\t2\tb.cpp.o\t3
30000\t40000\t2\tmodule.so\t4
30000\t40000\t2\t/build/module.so\t4
"""
DEPS = """a.cpp.o: #deps 3, deps mtime 1 (VALID)
    /home/cpp/src/a.cpp
    /usr/include/c++/12/cstddef
    /home/cpp/include/properboost/large.hpp
    /home/cpp/include/properboost/both.hpp

b.cpp.o: #deps 2, deps mtime 1 (VALID)
    ../cpp/include/properboost/both.hpp
    ../cpp/include/properboost/small.hpp
"""


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    yield importlib.import_module("header_cost")
    del sys.modules["header_cost"]


def test_a_build(tool):
    seconds = tool.read_seconds(LOG.splitlines())
    assert seconds == {"a.cpp.o": 60, "b.cpp.o": 30, "module.so": 10}
    assert tool.report(seconds, tool.read_objects(DEPS.splitlines())) == [
        "100 seconds of jobs, 2 objects",
        "60 seconds the longest object, a.cpp.o",
        "3 of 3 headers cost more than 25%:",
        "   90.0 s    2 objects  cpp/include/properboost/both.hpp",
        "   60.0 s    1 objects  cpp/include/properboost/large.hpp",
        "   30.0 s    1 objects  cpp/include/properboost/small.hpp",
    ]


def test_headers_below_the_share_are_not_listed(tool, monkeypatch):
    monkeypatch.setattr(tool, "SHARE", 0.6)
    lines = tool.report(tool.read_seconds(LOG.splitlines()), tool.read_objects(DEPS.splitlines()))
    assert lines[2:] == [
        "1 of 3 headers cost more than 60%:",
        "   90.0 s    2 objects  cpp/include/properboost/both.hpp",
    ]
