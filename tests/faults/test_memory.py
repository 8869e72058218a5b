"""Test refused memory, and full disks."""

import resource
import sys

import pytest

import properboost as pb
from faults.refusals import make_library, refuse_memory

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")


@pytest.mark.parametrize("lasts", [False, True])
def test_memory_refused_is_an_error(lasts, tmp_path):
    library = make_library(tmp_path)
    if library is None:
        pytest.skip("this needs Linux, glibc and a C compiler")
    outcomes = refuse_memory(library, 60, lasts=lasts)
    # numpy and pybind11 raise SystemError where their own small records are refused.
    allowed = ("MemoryError", "returned", "SystemError: ")
    assert [outcome for outcome in outcomes if not outcome.startswith(allowed)] == []
    assert outcomes["MemoryError"] > outcomes.total() // 2


@linux
def test_a_limit_on_files_keeps_the_earlier_one(binary, tmp_path):
    path = tmp_path / "model.json"
    pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(*binary).save_model(path)
    before = path.read_bytes()
    larger = pb.ProperBoostClassifier(n_estimators=40, weak_learner="table").fit(*binary)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before), limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            larger.save_model(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
