"""Test programs whose threads work while they end: the exit status is the one they set."""

import os

import pytest

from faults.exits import ENDS, WORKS, end_program


@pytest.mark.parametrize("end", ENDS)
def test_a_program_ends_well_while_its_daemon_threads_work(end):
    if end == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    works = [*WORKS[list(ENDS).index(end) :: len(ENDS)], "fit tables", "predict"]
    if "report" in works:
        pytest.importorskip("vl_convert")
        pytest.importorskip("jinja2")
    assert end_program(works, end) == ""


def test_a_program_waits_for_its_other_threads():
    assert end_program(["fit called", "search", "predict"], "finalizer", daemon=False) == ""
