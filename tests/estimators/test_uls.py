"""Test ULS on given features: the minimum, the rounds that lead there, and Theorem 2."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone

import properboost as pb
from properboost import ULSClassifier
from properboost.engine import available_memory
from properboost.engine.available_memory import AvailableMemory
from properboost.losses import PermissibleFunction

pd = pytest.importorskip("pandas")

PHIS = ("entropy", "matsushita", "mu")
SCALES = np.array([1.0, 20.0, 0.1, 3.0, 1.0, 1e-3])


def make_rows(seed=0, n=300, d=5, noise=1.0):
    """Return features of unequal scales that do not separate the classes, labels, weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * SCALES[:d] + rng.normal(size=d) * SCALES[:d] / 4
    raw = X[:, 0] - X[:, 1] / 20.0 + 0.3 + noise * rng.logistic(size=n)
    return X, np.where(raw > 0.0, 1.0, -1.0), rng.integers(1, 4, n).astype(float)


def surrogate(phi, v):
    """Return F_phi of Table 1, or of eq. 16 for the entropy, and minus its derivative."""
    if phi == "entropy":
        return np.logaddexp(0.0, -v) / np.log(2.0), 1.0 / (1.0 + np.exp(v)) / np.log(2.0)
    a = 0.5 if phi == "mu" else 1.0
    root = np.sqrt(a * a + v * v)
    return (root - v) / a, (1.0 - v / root) / a


def weigh(phi, v):
    """Return a row's weight, 1 - P(its class) (eq. 27)."""
    scale = {"entropy": np.log(2.0), "mu": 0.25, "matsushita": 0.5}[phi]
    return scale * surrogate(phi, v)[1]


def theta_of(model):
    return np.append(model.coef_, model.intercept_ if model.fit_intercept else [])


def find_minimum(phi, M, s):
    """Return the exact minimum and minimiser by formulas alone; M has y times columns."""
    scale = np.sqrt(np.sum(M * M, axis=0))

    def risk(theta):
        value, slope = surrogate(phi, M / scale @ theta)
        return np.sum(s * value), -(M / scale).T @ (s * slope)

    minimum = minimize(risk, np.zeros(M.shape[1]), jac=True, method="BFGS",
                     options={"gtol": 1e-13, "maxiter": 5000})  # fmt: skip
    return minimum.fun, minimum.x / scale


# -- the minimum ----------------------------------------------------------------------------------


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("n_corrected", [1, 2, 4, "so_far", "all"])
@pytest.mark.parametrize("weighted", [False, True])
def test_real_features_reach_the_exact_minimum(phi, n_corrected, weighted):
    X, y, s = make_rows(1)
    s = s if weighted else np.ones(len(y))
    model = ULSClassifier(phi, n_corrected, n_estimators=2000).fit(X, y, s if weighted else None)
    M = np.column_stack([X, np.ones(len(y))]) * y[:, None]
    least, theta = find_minimum(phi, M, s)
    reached = np.sum(s * surrogate(phi, M @ theta_of(model))[0])
    assert reached == pytest.approx(least, rel=1e-12)
    size = np.sqrt(np.sum(M * M, axis=0))
    np.testing.assert_allclose(theta_of(model) * size, theta * size, atol=1e-8 * np.abs(reached))
    assert model.surrogate_bounds()["surrogate"][-1] == pytest.approx(reached, rel=1e-10)
    assert model.n_iter_ < 2000
    if n_corrected == "all":
        assert model.n_iter_ == 1


def risks_of(seed, n_rounds):
    """Return the risks after each round, by the number of coefficients that a round solves for."""
    X, y, _ = make_rows(seed, n=120, d=6)
    risks = {}
    for n_corrected in (1, 2, 3, 5, "so_far", "all"):
        model = ULSClassifier("entropy", n_corrected, n_estimators=n_rounds).fit(X, y)
        risk = model.history_["risk"]
        risks[n_corrected] = np.append(risk, np.full(n_rounds - len(risk), risk[-1]))
    return risks


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30)
def test_between_one_and_all_the_first_risk_is_between_theirs(seed):
    """In round 1 one column is among two, and two are among three, which implies the order."""
    first = {n_corrected: risk[0] for n_corrected, risk in risks_of(seed, 1).items()}
    in_order = [first[n_corrected] for n_corrected in (1, 2, 3, 5, "all")]
    assert np.all(np.diff(in_order) <= 1e-12)
    assert first["so_far"] == first[1]


def test_between_one_and_all_later_risks_are_between_theirs():
    """Later columns are not nested, and no theorem holds: 4 of 19,200 risks were outside."""
    outside = 0
    for seed in range(20):
        risks = risks_of(seed, 8)
        for n_corrected in (2, 3, 5, "so_far"):
            assert np.all(risks[n_corrected] >= risks["all"] * (1 - 1e-12))
            outside += np.sum(risks[n_corrected] > risks[1] * (1 + 1e-12))
    assert outside <= 1


@given(seed=st.integers(0, 10**6), n_corrected=st.sampled_from([1, 2, 3, "so_far", "all"]))
@settings(max_examples=30)
@pytest.mark.parametrize("phi", PHIS)
def test_what_a_round_solves_for_has_no_edge_left(phi, seed, n_corrected):
    """Formulas alone reproduce eq. 35 and the weights, which move by the Legendre dual (Fig. 4)."""
    X, y, s = make_rows(seed, n=80)
    M = np.column_stack([X, np.ones(len(y))]) * y[:, None]
    norms = np.sqrt(np.sum(s[:, None] * M * M, axis=0))
    before = np.zeros(M.shape[1])
    w, seen, function = np.full(len(y), 0.5), set(), PermissibleFunction(phi)
    for n in (1, 2, 3):
        model = ULSClassifier(phi, n_corrected, n_estimators=n).fit(X, y, s)
        if model.n_iter_ < n:
            break
        edges = np.abs((s * w) @ M)
        first = int(np.argmax(edges / norms))
        seen.add(first)
        assert model.history_["feature"][-1] == first
        corrected = {"so_far": sorted(seen), "all": range(len(norms))}.get(n_corrected)
        if corrected is None:
            corrected = np.argsort(-edges / norms, kind="stable")[:n_corrected]
        corrected = np.asarray(corrected)
        gamma, Z = np.mean(edges[corrected]) / np.sum(s * w), np.sum(s * w)  # eq. 42
        assert model.edges_[-1] == pytest.approx(gamma, rel=1e-7)
        assert model.weight_sums_[-1] == pytest.approx(Z, rel=1e-9)
        assert model.history_["feature_norm"][-1] == pytest.approx(norms[corrected].max())
        delta = theta_of(model) - before
        np.testing.assert_allclose(np.delete(delta, corrected), 0.0, atol=1e-14)
        w = function.dual(-M @ delta, w)  # eq. 29 and 32
        np.testing.assert_allclose(w, weigh(phi, M @ theta_of(model)), atol=1e-9)
        assert np.all(
            np.abs((s * w) @ M[:, corrected]) <= 1e-10 * norms[corrected] * np.sum(s) ** 0.5
        )
        before = theta_of(model)
    np.testing.assert_allclose(model.feature_norms_, norms)


@pytest.mark.parametrize("step", ["leveraging", "totally_corrective"])
@pytest.mark.parametrize("phi", PHIS)
def test_stumps_as_features_make_the_model_of_the_preset(phi, step):
    """`ULS` finds the stumps itself, in an engine that shares no code with this one."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 5, (250, 4)).astype(float)
    y = np.where(X[:, 0] + (X[:, 1] > 2) + rng.logistic(size=250) > 2.5, 1, -1)
    stumps = [np.where(X[:, j] > cut, 1.0, -1.0) for j in range(4) for cut in range(4)]
    of_columns = ULSClassifier(
        phi, 1 if step == "leveraging" else "so_far", n_estimators=6, fit_intercept=False
    ).fit(np.column_stack(stumps), y)
    gain = {"gain": 0.25} if phi == "mu" else {}
    of_cuts = pb.ULS(phi, **gain, step=step, n_estimators=6, rows_per_bin=None).fit(X, y)
    np.testing.assert_allclose(
        of_columns.decision_function(np.column_stack(stumps)),
        of_cuts.decision_function(X),
        rtol=1e-6, atol=1e-7,
    )  # fmt: skip
    np.testing.assert_allclose(
        of_columns.predict_proba(np.column_stack(stumps)), of_cuts.predict_proba(X), atol=1e-7
    )
    np.testing.assert_allclose(of_columns.history_["risk"], of_cuts.history_["risk"], rtol=1e-6)


# -- Theorem 2 ------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), n_corrected=st.sampled_from([1, 2, 4, "so_far", "all"]))
@settings(max_examples=25)
@pytest.mark.parametrize("phi", PHIS)
def test_theorem_2_is_one_call(phi, seed, n_corrected):
    X, y, s = make_rows(seed, n=100)
    model = ULSClassifier(phi, n_corrected, n_estimators=7).fit(X, y, s)
    bounds, function = model.surrogate_bounds(), PermissibleFunction(phi)
    M = np.column_stack([X, np.ones(len(y))]) * y[:, None]
    total = s.sum()
    assert bounds["surrogate"][0] == total
    assert bounds["surrogate"][-1] == pytest.approx(
        np.sum(s * surrogate(phi, M @ theta_of(model))[0])
    )
    np.testing.assert_allclose(bounds["fall"], -np.diff(bounds["surrogate"]))
    assert np.all(bounds["fall"] >= bounds["least_fall"] - 1e-13 * total)
    for j in range(model.n_iter_):
        each = model.edges_[j], model.weight_sums_[j], model.history_["feature_norm"][j]
        assert bounds["least_fall"][j] == function.least_fall(*each)
    means = model.edges_.mean(), model.weight_sums_.min(), model.history_["feature_norm"].max()
    expected = function.most_rounds(int(total), *means, surrogate=bounds["surrogate"][-1])
    assert model.n_iter_ <= bounds["most_rounds"] == expected
    assert bounds["most_rounds"] <= function.most_rounds(int(total), *means)  # eq. 43


def test_a_model_without_rounds_has_bounds():
    X = np.repeat([[1.0], [-1.0]], 4, axis=0)
    model = ULSClassifier(fit_intercept=False).fit(X, [0, 0, 1, 1] * 2)
    assert model.n_iter_ == 0
    assert model.surrogate_bounds()["most_rounds"] == 0
    assert np.all(model.predict_proba(X) == 0.5)


# -- classes that are separated -------------------------------------------------------------------


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("n_corrected", ["so_far", "all"])
def test_separated_classes_have_finite_coefficients(phi, n_corrected):
    X, y, _ = make_rows(2, noise=0.0)
    model = ULSClassifier(phi, n_corrected)
    with pytest.warns(
        UserWarning, match=r"in round \d+ the features separate rows .* without error"
    ):
        model.fit(X, y)
    assert model.score(X, y) == 1.0
    assert np.all(np.isfinite(model.coef_))
    assert 0.0 < model.predict_proba(X).min() < 0.01
    at = int(np.argmin(model.history_["exact"]))
    with pytest.raises(ValueError, match=rf"classes were separated in round {at + 1} of"):
        model.surrogate_bounds()
    # The minimised sum then counts every row of the other class, too, by half a row in all.
    M = np.column_stack([X, np.ones(len(y))]) * y[:, None]
    both, s = np.vstack([M, -M]), np.repeat([1.0, 0.5 / len(y)], len(y))
    least, _ = find_minimum(phi, both, s)
    reached = np.sum(s * surrogate(phi, both @ theta_of(model))[0])
    assert reached == pytest.approx(least, rel=1e-8)


def test_one_feature_may_separate_the_classes():
    """Lemma 5 excludes a single separating feature, but not several together."""
    X, y, _ = make_rows(2, noise=0.0)
    X[:, 3] = y * (1.0 + np.abs(X[:, 3]))
    with pytest.warns(UserWarning, match="in round 1 the features separate rows"):
        model = ULSClassifier(n_estimators=1).fit(X, y)
    assert 0.0 < model.coef_[0, 3] < np.inf
    assert np.count_nonzero(model.coef_) == 1


def test_features_that_depend_on_each_other_do_no_harm():
    X, y, _ = make_rows(4)
    twice = np.column_stack([X, X[:, 0] + X[:, 2], np.zeros(len(y)), X[:, 1]])
    one, other = ULSClassifier("entropy", "all").fit(X, y), ULSClassifier("entropy", "all")
    other.fit(twice, y)
    np.testing.assert_allclose(
        one.decision_function(X), other.decision_function(twice), rtol=1e-6, atol=1e-9
    )
    assert other.coef_[0, 6] == other.feature_norms_[6] == 0.0


# -- what a classifier is -------------------------------------------------------------------------


@pytest.mark.parametrize("n_corrected", [1, 3, "so_far"])
def test_predictions_do_not_depend_on_scale(n_corrected):
    X, y, _ = make_rows(5)
    scales = 2.0 ** np.array([0, 30, -30, 200, -100])
    one = ULSClassifier(n_corrected=n_corrected, n_estimators=9).fit(X, y)
    other = clone(one).fit(X * scales, y)
    np.testing.assert_allclose(one.coef_, other.coef_ * scales, rtol=1e-10)
    np.testing.assert_array_equal(one.history_["feature"], other.history_["feature"])


def test_weights_are_rows():
    X, y, s = make_rows(6)
    s[::7] = 0.0
    weighted = ULSClassifier(n_estimators=12).fit(X, y, s)
    repeated = clone(weighted).fit(np.repeat(X, s.astype(int), axis=0), np.repeat(y, s.astype(int)))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    np.testing.assert_allclose(weighted.edges_, repeated.edges_, rtol=1e-9)
    np.testing.assert_allclose(weighted.feature_norms_, repeated.feature_norms_, rtol=1e-12)


def test_categories_are_features(mixed):
    frame, y, s = mixed
    frame = frame.assign(age=frame["age"].fillna(40.0))
    model = ULSClassifier("entropy", "all").fit(frame, y, s)
    assert model.coef_names_ == ("age", "town=Bonn", "town=Kiel", "town=Ulm", "visits")
    towns = [(frame["town"] == town).to_numpy(float) for town in ("Bonn", "Kiel", "Ulm")]
    X = np.column_stack([frame["age"], *towns, frame["visits"], np.ones(len(y))])
    M = X * np.where(y == "yes", 1.0, -1.0)[:, None]
    reached = np.sum(s * surrogate("entropy", M @ theta_of(model))[0])
    assert reached == pytest.approx(find_minimum("entropy", M, s)[0], rel=1e-9)


@pytest.mark.parametrize("n_corrected", [1, "all"])
def test_files_and_pickles(mixed, tmp_path, n_corrected):
    frame, y, s = mixed
    frame = frame.assign(age=frame["age"].fillna(40.0))
    model = ULSClassifier("mu", n_corrected, n_estimators=5).fit(frame, y, s)
    model.save_model(tmp_path / "whole.json")
    for other in (pb.load_model(tmp_path / "whole.json"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(frame), model.predict_proba(frame))
        assert other.get_params() == model.get_params()
        for name, values in model.history_.items():
            np.testing.assert_array_equal(other.history_[name], values)
        np.testing.assert_array_equal(other.feature_norms_, model.feature_norms_)
        assert other.surrogate_bounds()["most_rounds"] == model.surrogate_bounds()["most_rounds"]
    model.save_model(tmp_path / "compact.json", compact=True)
    compact = pb.load_model(tmp_path / "compact.json")
    np.testing.assert_array_equal(compact.predict_proba(frame), model.predict_proba(frame))
    assert compact.n_iter_ == model.n_iter_
    for name in ("edges_", "weight_sums_", "feature_norms_", "history_"):
        with pytest.raises(AttributeError, match=f"{name} is not available"):
            getattr(compact, name)
    with pytest.raises(ValueError, match="is not available"):
        compact.surrogate_bounds()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"phi": "gini"}, "phi must be one of 'matsushita', 'entropy', 'mu'; got 'gini'"),
        ({"n_corrected": 0}, "n_corrected must be between 1 and .*, or 'so_far' or 'all'; got 0"),
        ({"n_corrected": "some"}, "n_corrected must be an integer.*'so_far' or 'all'; got 'some'"),
        ({"n_estimators": 0}, "n_estimators must be between 1 and .*; got 0"),
    ],
)
def test_parameters_are_checked(settings, message):
    X, y, _ = make_rows()
    with pytest.raises((ValueError, TypeError), match=message):
        ULSClassifier(**settings).fit(X, y)


def test_what_no_sum_can_take_is_refused():
    X, y, _ = make_rows()
    with pytest.raises(ValueError, match="column 1 holds NaN or infinity"):
        ULSClassifier().fit(np.where(np.arange(5) == 1, np.nan, X), y)
    with pytest.raises(ValueError, match="feature 2 must be 0 or hold a number of a size from"):
        ULSClassifier().fit(np.where(np.arange(5) == 2, X * 1e200, X), y)
    with pytest.raises(ValueError, match=r"Only binary classification .* 3 classes"):
        ULSClassifier().fit(X, np.arange(len(y)) % 3)


@pytest.mark.filterwarnings("ignore:in round")
def test_categories_take_no_memory_where_they_are_0(monkeypatch):
    """Columns of doubles would take 10 GiB for 27,000 rows with a category each."""
    n = 3000
    X = pd.DataFrame({"id": pd.Categorical(np.arange(n).astype(str)), "x": np.arange(n) / n})
    y = np.arange(n) % 3 > 0
    tracemalloc.start()
    model = ULSClassifier("entropy", 2, n_estimators=3).fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.n_iter_ == 3
    assert peak < 8 * n * n / 4
    monkeypatch.setattr(
        available_memory, "find_available", lambda: [AvailableMemory(10**7, "a test")]
    )
    # After many tests, the free part of the heap could hold all that the fit needs.
    monkeypatch.setattr(available_memory, "_count_free_heap", lambda: 0)
    with pytest.raises(MemoryError, match="it needs less with a smaller n_corrected"):
        ULSClassifier("entropy", "all").fit(X, y)
