"""Look-up tables as trees: the same sum, and the same terms."""

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from properboost.models.tables_as_trees import convert_tables

TOWNS = ["Bonn", "Kiel", "Ulm"]


def make_rows(n_classes, n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 2)).round(1), columns=["a", "b"])
    X["town"] = pd.Categorical(rng.choice(TOWNS, n), categories=TOWNS)
    raw = X["a"] * X["b"] + (X["town"] == "Ulm") * X["a"] + rng.logistic(size=n) / 2
    X.iloc[::9, 0] = np.nan
    X.iloc[::7, 2] = None
    return X, np.digitize(raw, np.quantile(raw, np.arange(1, n_classes) / n_classes))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("interactions", [0, 3])
def test_they_add_up_to_the_same(n_classes, interactions):
    X, y = make_rows(n_classes)
    model = pb.ProperBoostClassifier(
        weak_learner="table", n_estimators=20, interactions=interactions, max_bins=12
    ).fit(X, y)
    trees = convert_tables(model.ensemble_)
    new = make_rows(n_classes, 200, seed=1)[0].astype({"town": object})
    new.iloc[::11, 2] = "Jena"
    expected = model.ensemble_.raw_predictions(model._open(new)[0], 1)
    np.testing.assert_allclose(
        trees.raw_predictions(model._open(new)[0], 1), expected, rtol=1e-12, atol=1e-12
    )
    assert len(trees.grids) == interactions
    for m in range(len(trees.models)):
        tables, converted = model.ensemble_.terms, trees.terms
        for features in converted.features:
            # Constants of pairs may be in tables of other features.
            of_trees = converted.centered(m, converted.place[features])
            of_tables = tables.centered(m, tables.place[features])
            weights = tables.weights_of(tables.place[features])
            same = tuple(slice(size) for size in of_tables.shape)
            # Purification leaves open how terms share codes without rows.
            is_known = weights > 0.0
            np.testing.assert_allclose(of_trees[same][is_known], of_tables[is_known], atol=1e-10)


def test_a_model_without_rounds_has_no_trees():
    X, y = make_rows(2)
    model = pb.ProperBoostClassifier(weak_learner="table", n_estimators=1).fit(X, y)
    for name in X:
        model.remove_feature(name)
    trees = convert_tables(model.ensemble_)
    assert [len(rounds) for rounds in trees.models] == [0]
    raw = trees.raw_predictions(model._open(X)[0], 1)
    np.testing.assert_array_equal(raw[:, 0], model.decision_function(X))
