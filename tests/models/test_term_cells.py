"""Joint effects by cells: those of predictions, whatever the order of the features."""

from itertools import combinations, product

import numpy as np
import pytest

import properboost as pb
from properboost.data.binning import RestoredTable

KINDS = {
    "trees": pb.Tree(interaction_cst=3, max_leaf_nodes=6),
    "lines": pb.Tree(grow_policy="symmetric", interaction_cst=3, linear_leaves=True),
}


@pytest.fixture(scope="module", params=[(kind, n) for kind in KINDS for n in (2, 3)])
def fitted(request):
    kind, n_classes = request.param
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (500, 4)).astype(float)
    raw = X[:, 0] * X[:, 1] / 9.0 + np.abs(X[:, 2] - 4.0) * (X[:, 3] > 3.0)
    y = np.digitize(raw, np.quantile(raw, np.arange(1, n_classes) / n_classes))
    model = pb.ProperBoostClassifier(
        weak_learner=KINDS[kind], n_estimators=25, rows_per_bin=None, n_jobs=1
    ).fit(X, y)
    return model.ensemble_, model.ensemble_.encode(model._open(X[:5])[0], 1)[:4]


def predict(ensemble, codes):
    table = RestoredTable(codes, np.arange(codes.shape[1]), ensemble.binning.features, None)
    return ensemble.raw_predictions(table, 1)


def find_together(ensemble, row, moved, to):
    """Return the joint effect by predictions: alternating sums over which features move."""
    together = np.zeros((*map(len, to), ensemble.terms.n_models))
    for at in product(*(range(len(codes)) for codes in to)):
        for size in range(len(moved) + 1):
            for places in combinations(range(len(moved)), size):
                changed = row.copy()
                for k in places:
                    changed[moved[k]] = to[k][at[k]]
                together[at] += (-1.0) ** (len(moved) - size) * predict(ensemble, changed[:, None])[
                    0
                ]
    return together


@pytest.mark.parametrize("moved", [(0, 1), (1, 0), (3, 2), (0, 1, 2), (3, 0, 2)], ids=str)
def test_cells_move_rows_together_as_predictions_do(fitted, moved):
    ensemble, codes = fitted
    cells = ensemble.terms.list_cells(2**20, 1)
    to = [np.array([0, 3, 7]) for _ in moved]
    several = [of_term for of_term in cells if {*moved} <= {*of_term.features}]
    for row in codes.T:
        together = sum(of_term.interact(row, moved, to) for of_term in several)
        expected = find_together(ensemble, row, moved, to)
        most = sum(of_term.bound(len(moved)) for of_term in several)
        assert np.all(np.abs(together) <= most + 1e-12)
        together = together - together.mean(axis=-1, keepdims=True) * (len(ensemble.models) > 1)
        expected = expected - expected.mean(axis=-1, keepdims=True) * (len(ensemble.models) > 1)
        np.testing.assert_allclose(together, expected, atol=1e-9)


def test_too_many_cells_are_none(fitted):
    terms = fitted[0].terms
    every = terms.list_cells(2**20, 1)
    size = sum(of_term.table.size for of_term in every)
    assert len(terms.list_cells(size, 1)) == len(every)
    assert terms.list_cells(size - 1, 1) is None
