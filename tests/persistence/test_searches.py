"""Saved searches: they come back as searches, with their results, parameters and predictions."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import StratifiedKFold

import properboost as pb
from helpers.models import assert_same
from properboost import losses
from properboost.persistence.parameters import NotSaved

pd = pytest.importorskip("pandas")

SPACE = {"gain": [0.5, 2.0]}
QUICK = {"cv": 3, "max_estimators": 5, "effort": None}
ALPHAS = [losses.get_loss("alpha", alpha=alpha) for alpha in (0.1, 0.3)]


def find_attributes(model):
    """Return the public attributes that the fit has set."""
    return {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}


def same_column(a, b):
    """Return whether two columns of results have the same values and the same mask."""
    assert type(a) is type(b)
    if isinstance(a, list):
        return a == b
    values = zip(np.ma.getdata(a).tolist(), np.ma.getdata(b).tolist(), strict=True)
    same = all(x == y or (x != x and y != y) for x, y in values)
    same_mask = np.array_equal(np.ma.getmask(a), np.ma.getmask(b))
    return same and same_mask and a.dtype == b.dtype


def assert_same_search(a, b, X):
    """Assert that a loaded search equals the saved one."""
    assert type(a) is type(b)
    assert find_attributes(a) == find_attributes(b)
    for name in ("cv_results_", "interaction_results_"):
        actual, expected = getattr(a, name, {}), getattr(b, name, {})
        assert list(actual) == list(expected)
        assert all(same_column(actual[key], expected[key]) for key in expected)
    scalars = ("gain_", "n_estimators_", "rho_", "best_params_", "best_index_", "best_score_")
    for name in scalars:
        assert getattr(a, name, None) == getattr(b, name, None)
    curves = (getattr(m, "validation_curves_", np.empty(0)) for m in (a, b))
    np.testing.assert_array_equal(*curves)
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.n_features_in_ == b.n_features_in_
    assert hasattr(a, "best_estimator_") == hasattr(b, "best_estimator_")
    if hasattr(a, "best_estimator_"):
        assert_same(a, b, X)
        assert_same(a.best_estimator_, b.best_estimator_, X)


def round_trip(model, tmp_path):
    path = tmp_path / "search.json"
    model.save_model(path)
    return pb.load_model(path)


SEARCHES = {
    "defaults": pb.ProperBoostClassifierCV(SPACE, **QUICK),
    "alphas": pb.ProperBoostClassifierCV(
        {**SPACE, "loss": ["glog", *ALPHAS]}, **QUICK, class_weight="balanced"
    ),
    "everything": pb.ProperBoostClassifierCV(
        {
            "loss": ["glog", losses.GBoost()], "gain": [0.5, 2.0], "prior": [None, 1e-3],
            "weak_learner__smoothing": [0, 0.1], "selection": ["greedy", "cyclic"],
            "n_estimators": 3, "learning_rate": [0.5, np.float64(1.0)],
        },
        cv=2, one_standard_error=True, effort=None
    ),
    "objects": pb.ProperBoostClassifierCV(
        {
            **SPACE, "weak_learner": [pb.Table(max_cells=4), pb.Table(max_cells=None)],
            "calibration": pb.Calibration(intercept="share"), "outer_bags": pb.Bags(4),
            "monotonic_cst": {0: 1, "visits": -1}, "interactions": pb.Interactions([["age", 2]]),
        },
        **QUICK
    ),
    "pairs": pb.ProperBoostClassifierCV(
        {**SPACE, "interactions": [0, 1, 2], "interactions__learning_rate": 0.5}, **QUICK
    ),
    "trees": pb.ProperBoostClassifierCV(
        {
            **SPACE, "weak_learner": "tree", "weak_learner__max_leaf_nodes": [3, 5],
            "weak_learner__subsample": 0.8,
        },
        **QUICK, random_state=3, scoring="accuracy"
    ),
    "designed": pb.ProperBoostClassifierCV(
        {**SPACE, "loss": [losses.from_pdf(stats.cosine()), "savage"]}, **QUICK, scoring="roc_auc"
    ),
    "votes": pb.ARBoostClassifierCV([1.0, 2.0], cv=3, n_estimators=4),
    "votes, all rhos": pb.ARBoostClassifierCV(
        n_estimators=2, cv=2, scoring="neg_log_loss", weak_learner="tree", max_leaf_nodes=3
    ),
    "votes of an object": pb.ARBoostClassifierCV(
        [1.0], n_estimators=2, weak_learner=pb.Tree(max_leaf_nodes=3, max_features=1.0)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_comes_back(name, mixed, tmp_path):
    X, y, weight = mixed
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # gains at the end
        search = clone(SEARCHES[name]).fit(X, y, weight)
    loaded = round_trip(search, tmp_path)
    assert_same_search(loaded, search, X)
    assert_same_search(pickle.loads(pickle.dumps(loaded)), search, X)
    first = (tmp_path / "search.json").read_bytes()
    assert_same_search(round_trip(loaded, tmp_path), search, X)
    assert (tmp_path / "search.json").read_bytes() == first
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        again = clone(loaded).fit(X, y, weight)
    assert again.best_score_ == search.best_score_
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))


def test_several_classes_come_back(iris, tmp_path):
    search = pb.ProperBoostClassifierCV(SPACE, **QUICK).fit(*iris)
    assert_same_search(round_trip(search, tmp_path), search, iris[0])
    votes = pb.ARBoostClassifierCV([1.0, 3.0], multiclass="one_vs_rest", n_estimators=3).fit(*iris)
    assert_same_search(round_trip(votes, tmp_path), votes, iris[0])


def test_parameters_are_written_as_they_are(mixed, tmp_path):
    X, y, _ = mixed
    for search in (SEARCHES["defaults"], SEARCHES["votes"]):
        model = clone(search).fit(X, y)
        assert round_trip(model, tmp_path).get_params() == model.get_params()


def test_a_masked_alpha_stays_masked(mixed, tmp_path):
    X, y, _ = mixed
    search = round_trip(clone(SEARCHES["alphas"]).fit(X, y), tmp_path)
    alphas = search.cv_results_["param_alpha"]
    assert alphas.mask.tolist() == [True, True, False, False, False, False]
    assert alphas[2] == 0.1
    assert alphas[0] is np.ma.masked


def test_scores_that_are_not_known_stay_so(mixed, tmp_path):
    X, y, _ = mixed
    search = pb.ProperBoostClassifierCV(
        {"gain": [1.0], "n_estimators": 8}, cv=3, scoring="roc_auc", effort=None
    )
    search.fit(X, y)
    assert np.isnan(search.validation_curves_[:, :, 6]).all()  # which no candidate reached
    assert_same_search(round_trip(search, tmp_path), search, X)


@pytest.mark.parametrize(
    "search",
    [
        pb.ProperBoostClassifierCV(SPACE, **QUICK),
        pb.ARBoostClassifierCV([1.0], n_estimators=2),
    ],
    ids=["gains", "rhos"],
)
def test_an_infinite_score_comes_back(search, mixed, tmp_path):
    X, y, _ = mixed
    search.set_params(scoring=lambda *_: np.inf)
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # its deviation
        search.fit(X, y)
    loaded = round_trip(search, tmp_path).set_params(scoring=search.scoring)
    assert loaded.best_score_ == np.inf
    assert_same_search(loaded, search, X)


def test_arrays_come_back_as_tuples(mixed, tmp_path):
    X, y, _ = mixed
    search = pb.ProperBoostClassifierCV(
        {"gain": [np.float32(1), 2.0], "monotonic_cst": np.array([1, 0, -1])}, cv=2, effort=None
    )
    loaded = round_trip(search.fit(X, y), tmp_path)
    assert loaded.space == {"gain": [1.0, 2.0], "monotonic_cst": (1, 0, -1)}
    assert same_column(loaded.cv_results_["param_gain"], search.cv_results_["param_gain"])


def test_a_loss_stands_once_in_the_file(mixed, tmp_path):
    X, y, _ = mixed
    search = clone(SEARCHES["designed"])
    search.space["weak_learner__smoothing"] = 0.0
    search.fit(X, y)
    search.save_model(tmp_path / "search.json")
    assert (tmp_path / "search.json").read_text().count('"right_slope"') == 2  # and the model's
    loaded = pb.load_model(tmp_path / "search.json")
    assert loaded.space == search.space
    assert loaded.cv_results_["params"] == search.cv_results_["params"]


def test_results_without_a_model_are_saved(mixed, tmp_path):
    X, y, _ = mixed
    search = pb.ProperBoostClassifierCV(SPACE, **QUICK, refit=False).fit(X, y)
    loaded = round_trip(search, tmp_path)
    assert_same_search(loaded, search, X)
    assert loaded.feature_names_in_.tolist() == list(X.columns)
    with pytest.raises(NotFittedError, match="fitted with refit=False"):
        loaded.predict(X)
    for unfitted in (pb.ProperBoostClassifierCV(effort=None), pb.ARBoostClassifierCV()):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            unfitted.save_model(tmp_path / "none.json")
    assert not (tmp_path / "none.json").exists()


def accuracy(model, X, y):
    return model.score(X, y)


class ReplacedSplitter:
    def split(self, X, y=None, groups=None):
        half = len(X) // 2
        yield np.arange(half), np.arange(half, len(X))

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1


@pytest.mark.parametrize(
    ("settings", "name", "what"),
    [
        (
            {"cv": StratifiedKFold(3, shuffle=True, random_state=1)},
            "cv",
            "StratifiedKFold(n_splits=3, random_state=1, shuffle=True)",
        ),
        ({"cv": ReplacedSplitter()}, "cv", f"<{__name__}.ReplacedSplitter object>"),
        ({"cv": [(np.arange(200), np.arange(200, 400))]}, "cv", "a list of 1 splits"),
        ({"scoring": accuracy}, "scoring", f"{__name__}.accuracy"),
        (
            {"scoring": make_scorer(f1_score, pos_label="yes")},
            "scoring",
            "make_scorer(f1_score, response_method='predict', pos_label=yes)",
        ),
    ],
    ids=["StratifiedKFold", "splitter", "splits", "function", "scorer"],
)
@pytest.mark.parametrize("search", ["gains", "rhos"])
def test_code_is_not_saved(search, settings, name, what, mixed, tmp_path):
    X, y, _ = mixed
    if search == "gains":
        model = pb.ProperBoostClassifierCV(SPACE, **(QUICK | settings))
    else:
        model = pb.ARBoostClassifierCV([1.0, 2.0], n_estimators=3, **settings)
    model.fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert getattr(loaded, name) == NotSaved(what)
    loaded.set_params(**{name: getattr(model, name)})
    if search == "gains":
        assert_same_search(loaded, model, X)
    else:
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    again = round_trip(round_trip(model, tmp_path), tmp_path)
    assert getattr(again, name) == NotSaved(what)
    with pytest.raises((ValueError, TypeError), match=f"(?s){name}.*<not saved: "):
        clone(again).fit(X, y)


def test_a_generator_comes_back_as_the_seed_it_gave(mixed, tmp_path):
    X, y, _ = mixed
    seed = np.random.RandomState(5).randint(2**31)
    for refit in (True, False):
        search = pb.ProperBoostClassifierCV(
            SPACE, **QUICK, refit=refit, random_state=np.random.RandomState(5)
        )
        assert round_trip(search.fit(X, y), tmp_path).random_state == seed


def test_long_lists_with_one_value_are_no_candidates(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 300))
    search = pb.ProperBoostClassifierCV(
        {"gain": 1.0, "n_estimators": 1, "weak_learner": "tree", "monotonic_cst": [[1] * 300]},
        cv=2,
        categorical_features=[False] * 300,
        effort=None,
    )
    assert_same_search(round_trip(search.fit(X, X[:, 0] > 0), tmp_path), search, X)


def test_more_candidates_than_files_may_have_are_not_saved(mixed, tmp_path):
    X, y, _ = mixed
    search = clone(SEARCHES["defaults"]).fit(X, y)
    for space in (
        {"interactions__learning_rate": np.linspace(0.1, 1.0, 300).tolist(),
         "interactions__smoothing": np.linspace(0.0, 0.1, 300).tolist()},
        {"weak_learner__smoothing": np.linspace(0.0, 0.1, 513).tolist()},
        {"gain": np.linspace(0.1, 1.0, 2**13 + 1).tolist()},
    ):  # fmt: skip
        search.set_params(space=space)
        with pytest.raises(ValueError, match="more than 8192 candidates cannot be saved"):
            search.save_model(tmp_path / "search.json")


def test_parameters_set_since_the_fit_are_checked(mixed, tmp_path):
    X, y, _ = mixed
    search = clone(SEARCHES["defaults"]).fit(X, y).set_params(space={"gain": [-1.0]})
    with pytest.raises(ValueError, match=r"gain.* must be above 0"):
        search.save_model(tmp_path / "search.json")
    votes = clone(SEARCHES["votes"]).fit(X, y).set_params(rhos=[0.0])
    with pytest.raises(ValueError, match=r"rhos\[0\] must be above 0"):
        votes.save_model(tmp_path / "search.json")
