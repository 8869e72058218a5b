"""Lines of models to be merged: the bins that they distinguish, and how far they rise and fall."""

import numpy as np
import pytest

import properboost as pb
from properboost.models.merged_bins import UnitedBins
from properboost.models.merged_lines import find_line_changes, list_line_means


@pytest.fixture(scope="module", params=["symmetric", "best_first"])
def fitted(request):
    """Return a model with lines, and the codes of its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)).round(1)
    X[:, 2] = rng.integers(0, 2, 500)
    y = X[:, 0] * (1 + X[:, 1]) + X[:, 2] + rng.logistic(size=500) / 2 > 0
    X[rng.random(X.shape) < 0.05] = np.nan
    growth = {"grow_policy": "symmetric", "max_depth": 3}
    if request.param == "best_first":
        growth = {"max_leaf_nodes": 6}
    tree = pb.Tree(linear_leaves=True, interaction_cst=3, **growth)
    model = pb.ProperBoostClassifier(weak_learner=tree, n_estimators=10).fit(X, y)
    return model.ensemble_, model.ensemble_.encode(model._open(X)[0], 1)


def find_slopes(ensemble, codes):
    """Return the slope of every row and feature in each tree, from its leaf's line."""
    (rounds,) = ensemble.models
    slopes = np.zeros((len(rounds), *codes.shape))
    for t in range(len(rounds)):
        lines = rounds.lines_of(t)
        for row, node in enumerate(rounds.find_codes(t, codes, 1)):
            for term in range(lines.offsets[node], lines.offsets[node + 1]):
                slopes[t, lines.feature[term], row] += lines.slope[term]
    return slopes


def test_no_row_is_steeper_than_its_codes(fitted):
    ensemble, codes = fitted
    (means,) = list_line_means([ensemble], [2.0])
    slopes = 2.0 * find_slopes(ensemble, codes)
    assert {0, 1} <= means.features
    for j in means.features:
        bins = ensemble.binning.features[j]
        united = UnitedBins(bins, [np.arange(bins.width)], [ensemble.bin_weights[j]])
        total = slopes[:, j].sum(axis=0)
        is_known = codes[j] < bins.n_bins
        rise, fall = means.find_slopes(j, united)[:, codes[j][is_known]]
        total, of_feature = total[is_known], slopes[:, j, is_known]
        assert (-fall - 1e-12 <= total).all()
        assert (total <= rise + 1e-12).all()
        assert rise.max() <= of_feature.clip(0.0).max(axis=1).sum() + 1e-12


def test_codes_come_to_the_nodes_of_their_rows(fitted):
    ensemble, codes = fitted
    (rounds,) = ensemble.models
    for j in range(3):
        comes = rounds.trees.find_codes(j, rounds.offsets)
        for t in range(len(rounds)):
            nodes = rounds.offsets[t] + rounds.find_codes(t, codes, 1)
            assert comes[nodes, codes[j]].all()
            assert comes[rounds.offsets[t]].all()


def test_lines_distinguish_bins_of_different_means(fitted):
    ensemble, _ = fitted
    bins = ensemble.binning.features[0]
    assert find_line_changes(ensemble, 0, bins.n_bins).tolist() == [True] * (bins.n_bins - 1)
    without = ensemble.without_feature(0)
    assert not find_line_changes(without, 0, bins.n_bins).any()
