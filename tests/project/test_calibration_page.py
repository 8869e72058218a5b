"""The page on calibration agrees with the measurements, and the measures are right."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, logit

from benchmarks.peers.calibration import fill_bins, fit_slope

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location(
    "write_calibration", ROOT / "tools/write_calibration.py"
)
writer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(writer)


def draw(n_rows, slope):
    """Draw forecasts whose log-odds are too small by the factor `slope`, and labels."""
    rng = np.random.default_rng(0)
    log_odds = rng.normal(0.0, 1.5, n_rows)
    y = (rng.random(n_rows) < expit(log_odds)).astype(int)
    return expit(log_odds / slope), y


def test_the_page_is_written_from_the_records():
    text = writer.PAGE.read_text("utf-8")
    assert writer.fill(text) == text, "python tools/write_calibration.py writes it"
    assert [name for _, name, _ in writer.BLOCK.findall(text)] == ["summary", "slopes", "panel"]


def test_every_record_counts_its_rows():
    for record in writer.read(writer.PEERS / "calibration.jsonl"):
        rows, predicted, positive = np.array(record["bins"]).T
        assert rows.sum() == record["rows"]
        assert np.all((predicted >= 0) & (predicted <= rows) & (positive <= rows))
        assert np.all(np.diff(predicted / rows) >= 0)


@pytest.mark.parametrize("slope", [0.6, 1.0, 1.5])
def test_slopes_are_found(slope):
    p, y = draw(20_000, slope)
    estimate = fit_slope(p, y)
    assert abs(estimate["slope"] - slope) < 4 * estimate["slope_error"] < 0.1
    assert abs(estimate["intercept"]) < 4 * estimate["intercept_error"] < 0.1
    errors = [fit_slope(p[k::20], y[k::20])["slope"] for k in range(20)]  # of twenty parts
    assert np.std(errors, ddof=1) / np.sqrt(20) == pytest.approx(estimate["slope_error"], rel=0.5)


def test_calibrated_bins_are_missed_as_often_as_chance_has_it():
    p, y = draw(20_000, 1.0)
    missed, n_bins, miss = writer.misses({"bins": fill_bins(p, y)})
    assert (missed <= 2, n_bins, miss < 2.0) == (True, 10, True)
    missed, _, miss = writer.misses({"bins": fill_bins(expit(2.0 * logit(p)), y)})
    assert missed >= 6
    assert miss > 4.0
