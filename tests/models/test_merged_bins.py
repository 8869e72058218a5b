"""Bins for a model that continues on other rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

import properboost as pb
from properboost.data.binning import MAX_CATEGORIES, Binning, CategoricalBins, NumericBins
from properboost.data.frames import open_table
from properboost.models.ensemble import Rounds
from properboost.models.merged_bins import MOST_BINS, merge_bins

KINDS = {
    "tables": {"weak_learner": "table"},
    "tables of every bin": {"weak_learner": pb.Table(max_cells=None)},
    "trees": {"weak_learner": "tree"},
    "rules": {"weak_learner": "rule"},
}


def frame(seed, n=500, towns=("Bonn", "Kiel", "Ulm"), shift=0.0):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    town = rng.choice(towns, n)
    table = pd.DataFrame(
        {
            "x": rng.normal(shift, 1, n),
            "z": rng.normal(shift, 1, n).round(1),
            "town": pd.Categorical(town),
        }
    )
    raw = table["x"] - table["z"] + (town == towns[-1])
    y = (raw + rng.logistic(size=n) > shift).astype(int)
    table.loc[rng.random(n) < 0.1, ["x", "z"]] = np.nan
    table.loc[rng.random(n) < 0.1, "town"] = None
    return table, y


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("towns", [("Ulm",), ("Bonn", "Trier", "Jena", "Ulm")], ids=len)
def test_earlier_rounds_keep_their_predictions(name, towns):
    first, y = frame(0)
    other, labels = frame(1, towns=towns, shift=1.5)
    model = pb.ProperBoostClassifier(
        n_estimators=15, calibration=pb.Calibration(slope=1.0), **KINDS[name]
    ).fit(first, y)
    later = clone(model).set_params(n_estimators=40).fit(other, labels)
    later_features = later.ensemble_.binning.features
    binning, models = merge_bins(model.ensemble_.binning, model.ensemble_.models, later_features)
    tables = [first, other, frame(2, towns=(*towns, "Worms"), shift=-3.0)[0]]
    for table in tables:
        outputs = []
        for rounds, bins in (
            (model.ensemble_.models[0], model.ensemble_.binning),
            (models[0], binning),
        ):
            codes = encode(bins, table)
            outputs.append([rounds.look_up(t, codes, bins, 1) for t in range(len(rounds))])
        np.testing.assert_array_equal(*outputs)
    if len(towns) > 1:
        assert {"Trier", "Jena"} < set(binning.features[2].categories)
    fresh = np.setdiff1d(later_features[0].edges, model.ensemble_.binning.features[0].edges)
    assert np.isin(binning.features[0].edges, fresh).any()


def encode(binning, table):
    """Return the codes of a table's rows."""
    return binning.encode(open_table(BaseEstimator(), table, reset=True), None, 1)


@given(n_old=st.integers(1, 254), n_new=st.integers(1, 254), share=st.floats(0, 1))
def test_there_is_room(n_old, n_new, share):
    rng = np.random.default_rng(n_old * 255 + n_new)
    old = NumericBins(np.sort(rng.normal(size=n_old)))
    new = NumericBins(np.sort(rng.normal(size=n_new)))
    table = np.cumsum(rng.random(n_old + 1) < share).astype(float)
    rounds = Rounds.of_tables(np.zeros(1, dtype=np.int64), [np.append(table, -1.0)])
    binning, (moved,) = merge_bins(Binning((old,), False), [rounds], [new])
    (bins,) = binning.features
    assert bins.n_bins <= MOST_BINS
    x = np.concatenate([rng.normal(size=500), old.edges, new.edges, bins.edges])
    before = table[np.searchsorted(old.edges, x, side="left")]
    after = moved.values[np.searchsorted(bins.edges, x, side="left")]
    np.testing.assert_array_equal(before, after)
    assert moved.values[bins.n_bins] == -1.0


@pytest.mark.parametrize("n_old", [0, 1, 100, 254])
@pytest.mark.parametrize("n_new", [0, 1, 200, 254])
@pytest.mark.parametrize("rare", [(False, False), (True, False), (False, True)], ids=str)
def test_categories(n_old, n_new, rare):
    old = CategoricalBins(tuple(range(n_old - rare[0])) if n_old else (), rare[0])
    new = CategoricalBins(tuple(range(50, 50 + n_new - rare[1])) if n_new else (), rare[1])
    binning, _ = merge_bins(Binning((old,), False), [], [new])
    (bins,) = binning.features
    assert bins.n_bins <= MAX_CATEGORIES
    assert bins.categories[: len(old.categories)] == old.categories
    assert len(set(bins.categories)) == len(bins.categories)


def test_another_kind_of_column_is_refused():
    numeric, categorical = NumericBins(np.array([0.0])), CategoricalBins(("a",))
    with pytest.raises(ValueError, match="column 0 must be categorical where it was"):
        merge_bins(Binning((numeric,), False), [], [categorical])
