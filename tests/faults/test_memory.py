"""Memory refused, and disks that are full."""

import resource
import sys

import numpy as np
import pytest

import properboost as pb
from faults.refusals import make_library, refuse_memory
from properboost.data.entries import ROWS, find_entries

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")


@pytest.mark.parametrize("lasts", [False, True])
def test_memory_refused_is_an_error(lasts, tmp_path):
    library = make_library(tmp_path)
    if library is None:
        pytest.skip("this needs Linux, glibc and a C compiler")
    outcomes = refuse_memory(library, 60, lasts=lasts)
    # SystemError is what numpy and pybind11 raise where their own small records are refused.
    allowed = ("MemoryError", "returned", "SystemError: ")
    assert [outcome for outcome in outcomes if not outcome.startswith(allowed)] == []
    assert outcomes["MemoryError"] > outcomes.total() // 2


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.int64])
def test_entries_are_those_that_numpy_finds(dtype):
    rng = np.random.default_rng(0)
    table, grid = rng.normal(size=200), rng.normal(size=(20, 10, 3))
    for n in (0, 1, ROWS - 1, ROWS, 2 * ROWS + 3):
        codes, rows, columns = (rng.integers(0, k, n).astype(dtype) for k in (120, 20, 10))
        np.testing.assert_array_equal(find_entries(table, codes), table[codes])
        np.testing.assert_array_equal(find_entries(grid, rows, columns), grid[rows, columns])
    shaped = codes[:12].reshape(3, 4)
    np.testing.assert_array_equal(find_entries(table, shaped), table[shaped])
    assert find_entries(table, codes[0].reshape(())).shape == ()


@linux
def test_a_limit_on_files_keeps_the_earlier_one(binary, tmp_path):
    path = tmp_path / "model.json"
    pb.ProperBoostClassifier(n_estimators=2).fit(*binary).save_model(path)
    before = path.read_bytes()
    larger = pb.ProperBoostClassifier(n_estimators=40).fit(*binary)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before), limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            larger.save_model(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
