import numpy as np
import pytest

import properboost as pb
from helpers.exports import (
    MODELS,
    find_raw,
    fit,
    fit_edited_trees,
    fit_ordered,
    make_frame,
    make_rows,
)
from properboost.export import encode_rows, to_treelite

treelite = pytest.importorskip("treelite")

NUMBERS = [name for name in MODELS if name != "lines"]


def check(model, X):
    predictions = treelite.gtil.predict(to_treelite(model), encode_rows(model, X), nthread=1)
    expected = find_raw(model, X)
    np.testing.assert_array_equal(predictions.reshape(expected.shape), expected)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", NUMBERS)
def test_raw_predictions_have_the_bits(name, n_classes):
    check(*fit(n_classes, **MODELS[name]))


@pytest.mark.parametrize("name", NUMBERS)
def test_categories(name):
    table, y, new = make_frame()
    check(pb.ProperBoostClassifier(n_estimators=8, **MODELS[name]).fit(table, y), new)


def test_trees_that_were_edited():
    check(*fit_edited_trees())


def test_ordered_classes_have_f_alone():
    check(*fit_ordered(3))
    check(*fit_ordered(3, moving=True, weak_learner="table"))


def test_other_estimators():
    X, y = make_rows(2)
    check(pb.UDTClassifier(max_leaf_nodes=6).fit(X, y), X)
    check(
        pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(
            np.ones((40, 1)), np.arange(40) % 2
        ),
        X[:, :1],
    )


def test_what_has_no_trees_of_numbers_is_refused_by_name():
    with pytest.raises(ValueError, match="ProperBoostClassifier with linear_leaves cannot"):
        to_treelite(fit(**MODELS["lines"])[0])
    X, y = make_rows(2)
    rados = pb.RadoBoostClassifier(n_rados=200, n_estimators=50).fit(np.nan_to_num(X[6:]), y[6:])
    with pytest.raises(ValueError, match="RadoBoostClassifier cannot be exported to treelite"):
        to_treelite(rados)
