"""One cross-validation for all searches: splits, weights, groups, scores and refusals."""

import sys
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedKFold,
)

import properboost as pb
from helpers.searches import PLAIN, integers
from properboost.model_selection import cross_validation
from properboost.model_selection.fits import Fits

X, Y = integers()
GROUPS = np.arange(240) % 7

# Each search as a function of the arguments that all have; bins are the same in every split.
BOOST = pb.ProperBoostClassifier(
    n_estimators=6, rows_per_bin=None, selection="cyclic", weak_learner=PLAIN["weak_learner"]
)
VOTE = pb.ARBoostClassifier(n_estimators=6)
RADO = pb.RadoBoostClassifier("lasso", n_estimators=6, n_rados=50)


def search_gains(X, y, groups=None, sample_weight=None, *, verbose=0, **cv):
    space = {"gain": [0.5, 2.0], "n_estimators": 6}
    settings = {"rows_per_bin": None, "verbose": verbose, "effort": None}
    search = pb.ProperBoostClassifierCV(space, **settings, **cv)
    return search.fit(X, y, sample_weight=sample_weight, groups=groups).cv_results_


def search_rhos(X, y, groups=None, sample_weight=None, *, verbose=0, **cv):
    search = pb.ARBoostClassifierCV([1.0, 1.5], n_estimators=6, verbose=verbose, **cv)
    return search.fit(X, y, sample_weight=sample_weight, groups=groups).cv_results_


def search_omegas(X, y, groups=None, *, verbose=0, **cv):
    model = clone(RADO).set_params(verbose=verbose)
    return pb.rado.omega_curve(model, X, y, [0.1, 10.0], groups=groups, **cv).cv_results


SEARCHES = {
    "gain": (search_gains, BOOST, [0.5, 2.0]),
    "rho": (search_rhos, VOTE, [1.0, 1.5]),
    "omega": (search_omegas, RADO, [0.1, 10.0]),
}


@pytest.mark.parametrize("step", ["leveraging", "totally_corrective"])
def test_scores_of_steps_that_are_solved_for(step):
    """Candidates that stop earlier than others fitted with them have the right scores, too."""
    shared = {"step": step, "weak_learner": "stump", "selection": "cyclic"}
    cv, priors = StratifiedKFold(3, shuffle=True, random_state=1), [None, 0.3, 0.1, 0.03, 0.01]
    search = pb.ProperBoostClassifierCV(
        {"gain": 1.0, "prior": priors, **shared}, max_estimators=60, cv=cv, scoring="roc_auc",
        refit=False, rows_per_bin=None, effort=None
    ).fit(X, Y)  # fmt: skip
    results = search.cv_results_
    for c, prior in enumerate(priors):
        n_estimators = results["n_estimators"][c]
        model = pb.ProperBoostClassifier(
            prior=prior, n_estimators=n_estimators, rows_per_bin=None, **shared
        )
        for k, (train, test) in enumerate(cv.split(X, Y)):
            expected = get_scorer("roc_auc")(model.fit(X[train], Y[train]), X[test], Y[test])
            assert results[f"split{k}_test_score"][c] == pytest.approx(expected, rel=1e-4), (k, c)


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(
    ("cv", "groups"),
    [
        (StratifiedKFold(3, shuffle=True, random_state=1), None),
        (ShuffleSplit(9, test_size=0.2, train_size=0.5, random_state=0), None),
        (GroupKFold(3), GROUPS),
        (LeaveOneGroupOut(), GROUPS),
        ([(np.arange(160), np.arange(160, 240)), (np.arange(240) % 3 > 0, np.arange(0, 240, 3))],
         None),
    ],
    ids=["stratified", "shuffled", "groups", "one group", "ready"],
)  # fmt: skip
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_scores_are_those_of_fits_to_the_training_rows(name, cv, groups, scoring):
    search, model, values = SEARCHES[name]
    results = search(X, Y, groups, cv=cv, scoring=scoring)
    splits = cv if isinstance(cv, list) else list(cv.split(X, Y, groups))
    for k, (train, test) in enumerate(splits):
        train, test = (np.sort(np.arange(240)[rows]) for rows in (train, test))
        for c, value in enumerate(values):
            fitted = clone(model).set_params(**{name: value}).fit(X[train], Y[train])
            expected = get_scorer(scoring)(fitted, X[test], Y[test])
            assert results[f"split{k}_test_score"][c] == pytest.approx(expected, rel=1e-4), (k, c)
    assert f"split{len(splits)}_test_score" not in results


@pytest.mark.parametrize("name", SEARCHES)
def test_results_are_named_as_grid_search_names_them(name):
    search, model, values = SEARCHES[name]
    ours = search(X, Y, cv=StratifiedKFold(3), scoring="roc_auc")
    theirs = GridSearchCV(model, {name: values}, cv=StratifiedKFold(3), scoring="roc_auc")
    theirs = theirs.fit(X, Y).cv_results_
    assert {key for key in theirs if not key.endswith("_time")} <= set(ours)
    assert [params[name] for params in ours["params"]] == values
    column = ours[f"param_{name}"]
    assert isinstance(column, np.ma.MaskedArray)
    assert column.dtype == theirs[f"param_{name}"].dtype
    for key in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-4, atol=1e-6)
    assert ours["rank_test_score"].dtype == theirs["rank_test_score"].dtype


@pytest.mark.parametrize("name", SEARCHES)
def test_splitters_see_the_same_rows_labels_and_groups(name):
    seen = []

    class Splitter(StratifiedKFold):
        def split(self, X, y, groups=None):
            seen.append((X, y, groups))
            yield from super().split(X, y)

    labels = np.where(Y, "yes", "no")
    SEARCHES[name][0](X, labels, GROUPS, cv=Splitter(3))
    ((rows, y, groups),) = seen
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(y, labels)
    np.testing.assert_array_equal(groups, GROUPS)


@pytest.mark.parametrize("name", ["gain", "rho"])
def test_weights_count_alike(name):
    search, model, values = SEARCHES[name]
    weight = np.random.default_rng(0).integers(0, 4, 240).astype(float)
    counted = weight > 0
    results = search(X, Y, GROUPS, weight, cv=GroupKFold(3), scoring="accuracy")
    # Rows of weight 0 are left out, by splitters too.
    without = search(
        X[counted],
        Y[counted],
        GROUPS[counted],
        weight[counted],
        cv=GroupKFold(3),
        scoring="accuracy",
    )
    score = get_scorer("accuracy")
    splits = GroupKFold(3).split(X[counted], Y[counted], GROUPS[counted])
    for k, (train, test) in enumerate(splits):
        column = f"split{k}_test_score"
        np.testing.assert_array_equal(results[column], without[column])
        for c, value in enumerate(values):
            fitted = clone(model).set_params(**{name: value})
            fitted.fit(X[counted][train], Y[counted][train], sample_weight=weight[counted][train])
            expected = score(
                fitted, X[counted][test], Y[counted][test], sample_weight=weight[counted][test]
            )
            assert results[column][c] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cv": "five"}, "Expected .?cv.? as an integer"),
        ({"cv": 1}, "cv must be at least 2"),
        ({"cv": 200}, "cv must be at most .*; got 200|n_splits=200 cannot be greater"),
        ({"cv": []}, "cv must give at least one split"),
        ({"cv": [([0, 1, 240], [2])]}, "training rows of split 0 must be positions from 0 to 239"),
        ({"cv": [(range(30), [31, 31])]}, "the test rows of split 0 must all be different; got 31"),
        ({"cv": [(range(30), range(20, 40))]}, "split 0 has rows both in training and in the test"),
        ({"cv": [(range(240), [])]}, "cv: split 0 has no test row"),
        ({"cv": [(np.flatnonzero(Y), np.flatnonzero(Y == 0))]},
         "cv: split 0 must train on rows of at least two classes; .* are of class 1 only"),
        ({"cv": GroupKFold(2)}, "'groups' parameter should not be None"),
        ({"groups": np.arange(239)}, "groups must have an entry for each of the 240 rows"),
        ({"scoring": "nonsense"}, r"scoring must be the name of a scorer.*; got 'nonsense'"),
        ({"scoring": 3}, "scoring must be a scorer's name"),
        ({"scoring": lambda *_: "good"}, "scoring must return a number; .* gave 'good'"),
        ({"scoring": lambda *_: np.nan}, "gave no finite score in all splits"),
    ],
)  # fmt: skip
def test_the_same_is_refused(settings, message):
    for search, _, _ in SEARCHES.values():
        with pytest.raises((ValueError, TypeError), match=message):
            search(X, Y, **settings)


@pytest.mark.parametrize("name", SEARCHES)
def test_progress_counts_the_rounds_of_all_models(name, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    SEARCHES[name][0](X, Y, cv=StratifiedKFold(3), scoring="accuracy", verbose=1)
    output = capsys.readouterr()
    assert output.out == ""
    # Two candidates, three splits, six rounds.
    assert "searching: round 36/36, best accuracy 0." in output.err


def test_all_searches_take_one_path(monkeypatch):
    calls = []
    original = cross_validation._run
    monkeypatch.setattr(
        cross_validation, "_run", lambda fits, *a: calls.append(fits) or original(fits, *a)
    )
    for search, _, _ in SEARCHES.values():
        calls.clear()
        search(X, Y, cv=3)
        assert all(isinstance(fits, Fits) for fits in calls)
        assert {split for fits in calls for split in fits.splits} == {0, 1, 2}


def test_columns_are_masked_where_a_candidate_lacks_them():
    describe = partial(cross_validation.describe_results, [{}, {}], scores=np.ones((2, 1)))
    results = describe(columns=[{"a": 1.0, "b": None}, {"b": 2.0}])
    assert results["param_a"].tolist() == [1.0, None]
    assert results["param_a"].dtype == np.float64
    assert results["param_b"].tolist() == [None, 2.0]
    assert results["param_b"].dtype == object


@pytest.mark.parametrize("selection", ["cyclic", "greedy"])
@pytest.mark.parametrize(
    ("size", "message"),
    [
        (1e10, "sample_weight must not be 0 in float precision.*split 0"),
        (1e300, "split 0 has no test row"),
    ],
)
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_held_out_rows_that_weigh_nothing_beside_the_others_are_refused(selection, size, message):
    weight = np.full(len(X), size)
    weight[160:] = 1e-323
    cv = [(np.arange(160), np.arange(160, 240))]
    space = {"selection": selection}
    search = pb.ProperBoostClassifierCV(space, max_estimators=3, cv=cv, effort=None)
    with pytest.raises(ValueError, match=message):
        search.fit(X, Y, sample_weight=weight)
