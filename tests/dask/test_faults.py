"""Test a few of the faults that `benchmarks.engine.fault_lot` draws at random."""

import pytest

from benchmarks.engine import fault_lot
from helpers.clusters import MARKS, METHOD, import_before_forks

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")

pytestmark = MARKS


@pytest.fixture(scope="module")
def lot():
    with dask.config.set(METHOD):
        import_before_forks()
        with fault_lot.open_lot(3.0, limit=40.0, n_rows=900, models=("tables",)) as opened:
            yield opened


# The seed decides on the moment and the worker.
@pytest.mark.parametrize("kind", ["killed", "paused", "held"])
def test_the_same_bits_or_an_error_in_time(lot, kind):
    lot.kinds = (kind,)
    outcome = lot.draw(0, 0)
    assert outcome.verdict in ("same bits", "error in time"), outcome
    assert not outcome.others, outcome
