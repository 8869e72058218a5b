"""The search for rho."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import properboost as pb
from helpers.votes import AR, make_rows


@pytest.mark.filterwarnings("ignore:a weak classifier and its negative take turns")
def test_rho_is_chosen_by_cross_validation():
    X, y = make_rows(2)
    flipped = np.where(np.random.default_rng(0).random(len(y)) < 0.2, 1 - y, y)
    model = pb.ARBoostClassifierCV([1.0, 1.5, 4.0], cv=3, n_estimators=15).fit(X, flipped)
    scores = model.cv_results_["mean_test_score"]
    assert model.rho_ == [1.0, 1.5, 4.0][scores.argmax()]
    assert model.best_score_ == scores.max()
    alone = AR(model.rho_, n_estimators=15).fit(X, flipped)
    np.testing.assert_array_equal(alone.decision_function(X), model.decision_function(X))
    search = GridSearchCV(AR(n_estimators=15), {"rho": [1.0, 1.5, 4.0]}, cv=3).fit(X, flipped)
    np.testing.assert_allclose(scores, search.cv_results_["mean_test_score"], atol=1e-12)
    with pytest.raises(ValueError, match=r"rhos must be \[1\] with mistrust"):
        pb.ARBoostClassifierCV(mistrust=1.0).fit(X, y)


@pytest.mark.parametrize("multiclass", ["samme", "one_vs_rest"])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr", None])
def test_searches_score_as_scikit_learn_does(scoring, multiclass):
    X, y = make_rows(3)  # of fewer values than bins, which are then the same in every fold
    weight = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    ours = pb.ARBoostClassifierCV(
        [1.0, 1.2], cv=3, scoring=scoring, n_estimators=6, multiclass=multiclass
    ).fit(X, y, sample_weight=weight)
    for k, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        for c, rho in enumerate([1.0, 1.2]):
            model = AR(rho, n_estimators=6, multiclass=multiclass)
            model.fit(X[train], y[train], sample_weight=weight[train])
            scorer = get_scorer(scoring or "accuracy")
            expected = scorer(model, X[test], y[test], sample_weight=weight[test])
            actual = ours.cv_results_[f"split{k}_test_score"][c]
            assert actual == pytest.approx(expected, rel=1e-9)
