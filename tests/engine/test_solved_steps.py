"""Test solved steps, of the newest table or of all, and features that separate rows."""

import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, linprog, minimize
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import properboost as pb
import properboost.progress as progress_module
from helpers.models import assert_same, same_model
from helpers.searches import assert_same_scores, integers
from helpers.solved_steps import LEARNERS, LOSSES, edges, features_of, fit, noisy, sides
from properboost.parameters.kinds import SOLVED

pd = pytest.importorskip("pandas")

# -- leveraging -----------------------------------------------------------------------------------


@pytest.mark.parametrize("response", ["sign", "real"])
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_feature_solved_for_has_an_edge_on_the_next_weights(loss, learner, response):
    X, y, s = noisy()
    for step in SOLVED:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no feature separates rows here
            model = fit(step, loss, learner, n=6, response=response)
        margin = sides(y) * model.decision_function(X)
        actual = edges(model.loss_, features_of(model, X), margin, sides(y), s)
        assert abs(actual[-1]) < 1e-12
        if step == "totally_corrective":
            assert np.abs(actual).max() < 1e-12
        else:
            assert np.abs(actual).max() > 1e-6  # earlier features have an edge again
        assert np.all(np.diff(model.history_["risk"]) < 0.0)
        risk = np.average(model.loss_.loss(margin), weights=s)
        assert model.history_["risk"][-1] == pytest.approx(risk, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_each_step_is_the_root_of_its_equation(loss, learner):
    """The classical step is brentq's root of eq. 35, one feature after the other."""
    X, y, s = noisy(1)
    model = fit("leveraging", loss, learner, data=(X, y, s))
    tuned = model.loss_
    F = np.zeros(len(y))
    for h, taken in zip(features_of(model, X).T, model.history_["step"], strict=True):

        def edge(a, F=F, h=h):
            return np.sum(s * sides(y) * h * tuned.weight(sides(y) * (F + a * h)))

        step = brentq(edge, -50.0, 50.0, xtol=1e-14, rtol=1e-14)
        assert taken == pytest.approx(step, rel=1e-9)
        F = F + taken * h


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_all_steps_are_the_minimum_over_all(loss, learner):
    """A plain Newton's method over the same features, by least squares, finds the same steps."""
    X, y, s = noisy(2)
    model = fit("totally_corrective", loss, learner, data=(X, y, s))
    tuned = model.loss_
    A = sides(y)[:, None] * features_of(model, X)
    steps = np.zeros(A.shape[1])
    risk = np.inf
    for _ in range(100):
        margin = A @ steps
        slope = A.T @ (s * tuned.weight(margin))
        move = np.linalg.lstsq((A.T * (s * tuned.curvature(margin))) @ A, slope, rcond=1e-12)[0]
        t = 1.0
        while t > 1e-6 and np.sum(s * tuned.loss(A @ (steps + t * move))) > risk * (1 + 1e-14):
            t /= 2
        steps += t * move
        risk = np.sum(s * tuned.loss(A @ steps))
    assert np.abs(slope).max() < 1e-11 * np.sum(s * tuned.weight(margin))
    np.testing.assert_allclose(model.history_["step"], steps, rtol=1e-8, atol=1e-9 * tuned.gain)
    raw = sides(y) * (A @ steps)
    np.testing.assert_allclose(model.decision_function(X), raw, rtol=1e-8, atol=1e-8 * tuned.gain)


@given(
    seed=st.integers(0, 2**20), n=st.integers(8, 60), step=st.sampled_from(SOLVED),
    loss=st.sampled_from(sorted(LOSSES)), learner=st.sampled_from(sorted(LEARNERS)),
    response=st.sampled_from(["sign", "real", "exact"]), noise=st.floats(0.0, 1.0),
)  # fmt: skip
def test_whatever_the_rows_the_risk_falls_and_edges_go(
    seed, n, step, loss, learner, response, noise
):
    """Features often separate few rows: then a warning comes, and all values stay finite."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 3)).astype(float)
    y = np.where(rng.random(n) < noise, rng.integers(0, 2, n), X[:, 0] > X[:, 1])
    y[:2] = 0, 1
    s = rng.integers(1, 5, n).astype(float)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = fit(step, loss, learner, data=(X, y, s), response=response)
    if model.n_iter_ == 0:
        return  # no feature separates the classes
    raw = model.decision_function(X)
    assert np.isfinite(raw).all()
    risks = model.history_["risk"]
    assert np.all(np.diff(risks) <= 1e-13 * risks[:-1])
    actual = np.abs(edges(model.loss_, features_of(model, X), sides(y) * raw, sides(y), s))
    if not warned:
        assert actual[-1] < 1e-9
        if step == "totally_corrective":
            assert actual.max() < 1e-9


def test_a_feature_without_an_edge_is_not_taken():
    """A rule in the span of the earlier ones has no edge, so boosting ends at the optimum."""
    rng = np.random.default_rng(3)
    town = rng.integers(0, 3, 300)
    y = rng.random(300) < np.array([0.2, 0.5, 0.7])[town]
    X = pd.DataFrame({"town": pd.Categorical.from_codes(town, list("ABC"))})
    for learner in ("stump", "table"):
        model = pb.ULS("entropy", weak_learner=learner, step="totally_corrective", n_estimators=50)
        model.fit(X, y)
        assert model.n_iter_ <= 4
        H = features_of(model, X)
        assert np.linalg.matrix_rank(H) == H.shape[1]
    shares = [y[town == k].mean() for k in range(3)]
    p = pb.ULS(step="totally_corrective").fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_allclose(p, np.array(shares)[town], rtol=1e-9)


def test_rounds_change_the_steps_before_them():
    X, _, _ = noisy()
    few, more = (fit("totally_corrective", n=n) for n in (5, 8))
    assert few.history_["feature"].tolist() == more.history_["feature"].tolist()[:5]
    np.testing.assert_array_equal(few.history_["risk"], more.history_["risk"][:5])
    assert not np.any(few.history_["step"] == more.history_["step"][:5])
    # The stages are partial sums of the final model.
    parts = np.cumsum(features_of(more, X) * more.history_["step"], axis=1)
    stages = np.stack(list(more.staged_decision_function(X)), axis=1)
    np.testing.assert_allclose(stages, parts, rtol=1e-12, atol=1e-12)


# -- separated rows -------------------------------------------------------------------------------


def patterns(counts):
    """Return two binary columns; `counts` has the rows of each class for each of four patterns."""
    rows = [
        ([a, b], k)
        for (a, b), of_class in counts.items()
        for k, n in enumerate(of_class)
        for _ in range(n)
    ]
    X, y = zip(*rows, strict=True)
    return np.array(X, dtype=float), np.array(y), None


def half_a_row(s):
    """Return the share of half a row."""
    return 0.5 / np.sum(s)


def flipped_edges(loss, H, margin, y, s):
    """Return edges where each row also counts, by half a row's share, as of the other class."""
    share = half_a_row(s)
    w = (1 - share) * loss.weight(margin) - share * loss.weight(-margin)
    return (s * w * y) @ H / np.sum(s * loss.weight(margin))


@pytest.mark.parametrize("loss", LOSSES)
def test_features_that_separate_some_rows_together(loss):
    """Only both columns together separate rows, and the other rows keep their shares."""
    X, y, _ = patterns({(1, 1): (0, 40), (0, 0): (40, 0), (1, 0): (10, 30), (0, 1): (20, 10)})
    s = np.where(X[:, 0] == X[:, 1], 1.0, 2.0)
    with pytest.warns(UserWarning, match=r"'totally_corrective' found no finite .* for class 1:"):
        model = fit("totally_corrective", loss, data=(X, y, s), criterion="entropy")
    raw = model.decision_function(X)
    actual = flipped_edges(model.loss_, features_of(model, X), sides(y) * raw, sides(y), s)
    assert np.abs(actual).max() < 1e-9
    # The raw predictions stay within the link of that share, but for the slack of other rows.
    assert np.abs(raw).max() < 2 * model.loss_.link(1 - half_a_row(s))
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(p[(X == [1, 0]).all(axis=1)], 0.75, atol=0.02)
    np.testing.assert_allclose(p[(X == [0, 1]).all(axis=1)], 1 / 3, atol=0.02)


@pytest.mark.parametrize("step", SOLVED)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_feature_that_separates_all_rows(step, loss):
    """An error of 0 counts as half a row, as elsewhere, and nothing is left to learn."""
    X, y, _ = patterns({(1, 1): (0, 40), (0, 0): (50, 0), (1, 0): (0, 30)})
    s = np.random.default_rng(8).uniform(0.5, 3.0, len(y))
    with pytest.warns(UserWarning, match="separate some rows by their class"):
        model = fit(step, loss, data=(X, y, s), n=50)
    assert model.n_iter_ == 1
    F = model.loss_.link(1 - half_a_row(s))
    np.testing.assert_allclose(model.decision_function(X), sides(y) * F, rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_features_that_separate_all_rows_together(loss):
    X, y, _ = patterns({(1, 1): (0, 40), (0, 0): (40, 0), (1, 0): (40, 0), (0, 1): (40, 0)})
    with pytest.warns(UserWarning, match="separate some rows by their class"):
        model = fit("totally_corrective", loss, data=(X, y, None), n=50, criterion="gini")
    assert model.n_iter_ < 10
    assert model.score(X, y) == 1.0
    raw = model.decision_function(X)
    assert np.abs(raw).max() < 4 * model.loss_.link(1 - 0.5 / len(y))
    ones = np.ones(len(y))
    actual = flipped_edges(model.loss_, features_of(model, X), sides(y) * raw, sides(y), ones)
    assert np.abs(actual).max() < 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_rounds_after_separation_learn_from_the_other_rows(loss):
    X, y, _ = patterns({(1, 1): (0, 90), (0, 0): (90, 0), (1, 0): (95, 95), (0, 1): (115, 115)})
    rng = np.random.default_rng(9)
    others = rng.integers(0, 4, (len(y), 4))
    contested = X[:, 0] != X[:, 1]
    y = np.where(contested, others @ [1, 1, -1, 0] + rng.logistic(size=len(y)) > 1, y).astype(int)
    X = np.hstack([X, others])
    with pytest.warns(UserWarning, match="separate some rows"):
        model = fit("totally_corrective", loss, data=(X, y, None), n=25, criterion="entropy")
    assert model.n_iter_ > 8
    assert np.all(np.diff(model.history_["risk"]) <= 0.0)
    raw = model.decision_function(X)
    ones = np.ones(len(y))
    actual = flipped_edges(model.loss_, features_of(model, X), sides(y) * raw, sides(y), ones)
    assert np.abs(actual).max() < 1e-9
    assert np.mean((raw > 0)[contested] == y[contested]) > 0.75
    assert np.all((raw > 0)[~contested] == y[~contested])


def averaged_loss(loss, margin, s):
    return np.average(loss.loss(margin), weights=s)


def flipped_risk(loss, margin, s):
    share = half_a_row(s)
    return np.average((1 - share) * loss.loss(margin) + share * loss.loss(-margin), weights=s)


def nearly_separable(seed):
    """Return few rows, whose weights differ by up to a factor of 1000."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 80))
    X = rng.integers(0, 4, (n, 3)).astype(float)
    wrong = rng.random(n) < rng.choice([0.02, 0.05, 0.2])
    y = np.where(wrong, rng.integers(0, 2, n), X[:, 0] + X[:, 1] > X[:, 2] + 2)
    y[:2] = 0, 1
    return X, y, 10.0 ** rng.uniform(-rng.choice([0, 1, 3]), 0, n)


def separate(A):
    """Return whether a combination of the columns is nowhere negative and somewhere positive."""
    A = A / np.abs(A).max(axis=0)
    program = linprog(-A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1))
    return -program.fun > 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_a_warning_is_of_features_that_separate_and_an_early_end_leaves_no_edge(loss):
    """Greedy stumps take the largest edge first; the edge left at the end is below half a row's."""
    n, n_warned, n_ended = 20, 0, 0
    for seed in range(40):
        X, y, s = nearly_separable(seed)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model = fit("totally_corrective", loss, data=(X, y, s), n=n)
        warned = [w for w in warned if "sample_weight" not in str(w.message)]
        tuned = model.loss_
        A = sides(y)[:, None] * features_of(model, X)
        margin = sides(y) * model.decision_function(X)
        assert bool(warned) == separate(A)
        n_warned += bool(warned)
        least = flipped_risk if warned else averaged_loss
        assert model.history_["risk"][-1] == pytest.approx(least(tuned, margin, s), rel=1e-10)
        assert np.all(np.diff(model.history_["risk"]) <= 1e-13 * model.history_["risk"][:-1])
        if model.n_iter_ == n:
            continue
        n_ended += 1
        w = s * tuned.weight(margin)
        share = half_a_row(s)
        allowed = share / (1 - share) * np.sum(s * tuned.weight(-margin)) if warned else 0.0
        for column in X.T:
            for cut in range(3):
                edge = abs(np.sum(w * sides(y) * np.where(column > cut, 1, -1)))
                assert edge <= allowed * (1 + 1e-6) + 1e-6 * w.sum()
    assert n_warned > 3
    assert n_ended > 3


@pytest.mark.parametrize("loss", LOSSES)
def test_a_classical_step_is_flipped_for_the_feature_that_separates_and_no_other(loss):
    """One of three bins is a tie, where the feature is 0, which hurts no row."""
    rng = np.random.default_rng(16)
    first, y = np.repeat([0, 1, 2, 2], [10, 12, 20, 20]), np.repeat([0, 1, 0, 1], [10, 12, 20, 20])
    others = rng.integers(0, 3, (len(y), 2)) + y[:, None] * rng.integers(0, 2, (len(y), 2))
    X = np.column_stack([first, others]).astype(float)
    with pytest.warns(UserWarning, match="separate some rows"):
        model = fit("leveraging", loss, "table", data=(X, y, None), n=12)
    A = sides(y)[:, None] * features_of(model, X)
    alone = np.array([separate(a[:, None]) for a in A.T])
    assert alone.any()
    assert not alone.all()
    margin = sides(y) * model.decision_function(X)
    risk = averaged_loss(model.loss_, margin, np.ones(len(y)))
    assert model.history_["risk"][-1] == pytest.approx(risk, rel=1e-12)
    assert np.all(np.diff(model.history_["risk"]) < 0.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_risk_of_separated_rows_is_the_least_there_was_after_each_round(loss):
    """All rounds count the same rows as of the other class, earlier rounds included."""
    X, y, s = nearly_separable(2)
    with pytest.warns(UserWarning, match="separate some rows"):
        model = fit("totally_corrective", loss, data=(X, y, s), n=8)
    A = sides(y)[:, None] * features_of(model, X)
    assert not separate(A[:, :2])
    tuned, share = model.loss_, half_a_row(s)
    for t, recorded in enumerate(model.history_["risk"], start=1):
        B = A[:, :t] * tuned.gain

        def slope(c, B=B):
            v = B @ c
            return -B.T @ (s * ((1 - share) * tuned.weight(v) - share * tuned.weight(-v))) / s.sum()

        def risk(c, B=B):
            return flipped_risk(tuned, B @ c, s)

        least = minimize(risk, np.zeros(t), jac=slope, method="BFGS", options={"gtol": 1e-9})
        assert recorded == pytest.approx(least.fun, rel=1e-9)


QUICK = {"gain": [1.0], "n_estimators": 6}


def test_the_warning_points_at_the_call():
    X, y, _ = patterns({(1, 1): (0, 40), (0, 0): (50, 0), (1, 0): (0, 30)})
    settings = {"weak_learner": "stump", "response": "sign", "step": "leveraging"}
    for model in (
        pb.ProperBoostClassifier(**settings),
        pb.ProperBoostClassifierCV(settings | QUICK, cv=3, effort=None),
    ):
        with pytest.warns(UserWarning, match="no finite optimal coefficients") as warned:
            model.fit(X, y)
        assert {
            w.filename for w in warned if "no finite optimal coefficients" in str(w.message)
        } == {__file__}


def test_an_interrupt_stops_a_solution_before_its_end(monkeypatch):
    seen = []

    def interrupt(done, _):
        seen.append(done)
        raise KeyboardInterrupt

    monkeypatch.setattr(progress_module, "_print_lines", lambda *_: interrupt)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    X = np.random.default_rng(15).integers(0, 5, (200_000, 1)).astype(float)
    model = pb.ProperBoostClassifier(
        "ggauss", gain=1.0, weak_learner="stump", response="sign", step="leveraging",
        n_estimators=1, verbose=1, n_jobs=1,
    )  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, X[:, 0] > 2)  # Newton's method takes many steps to the hidden minimum
    assert seen == [0]


# -- as the other steps ---------------------------------------------------------------------------


@pytest.mark.parametrize("step", SOLVED)
@pytest.mark.parametrize("learner", LEARNERS)
def test_threads_and_gains_change_nothing(step, learner):
    rng = np.random.default_rng(10)
    X = rng.integers(0, 6, (30_000, 4)).astype(float)
    y = (X @ [1.0, -1.0, 0.5, 0.0] + 3 * rng.logistic(size=len(X)) > 0).astype(int)
    data = X, y, rng.uniform(0.5, 2.0, len(X))
    one = fit(step, learner=learner, n=4, data=data)
    assert same_model(one, clone(one).set_params(n_jobs=3).fit(*data))
    for gain in (1e-3, 1e200):
        other = clone(one).set_params(loss=pb.losses.GLog(gain=gain)).fit(*data)
        np.testing.assert_array_equal(other.history_["feature"], one.history_["feature"])
        np.testing.assert_allclose(
            other.decision_function(X), gain * one.decision_function(X), rtol=1e-12
        )


@pytest.mark.parametrize("step", SOLVED)
@pytest.mark.parametrize("learner", LEARNERS)
def test_weights_are_frequencies(step, learner):
    X, y, s = noisy(11)
    rows = np.repeat(np.arange(len(y)), s.astype(int))
    weighted = fit(step, learner=learner, data=(X, y, s))
    repeated = fit(step, learner=learner, data=(X.iloc[rows], y[rows], None))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("step", SOLVED)
def test_files_cycles_and_classes(step, tmp_path):
    X, y, s = noisy(12, n_classes=3)
    for settings in (
        {"learner": "rule"},
        {"learner": "table", "selection": "cyclic", "n": 3, "response": "real"},
    ):
        model = fit(step, data=(X, y, s), **settings)
        model.save_model(tmp_path / "model.json")
        assert_same(model, pb.load_model(tmp_path / "model.json"), X)
        raw = model.decision_function(X)
        assert raw.shape == (len(y), 3)
        for k in range(3):
            side = np.where(y == k, 1.0, -1.0)
            actual = np.abs(edges(model.loss_, features_of(model, X, k), side * raw[:, k], side, s))
            assert actual[-1] < 1e-12
            if step == "totally_corrective":
                assert actual.max() < 1e-12


@pytest.mark.parametrize("step", SOLVED)
@pytest.mark.parametrize("learner", [pb.Stump(), pb.Rule(min_child_weight=12.0)], ids=str)
def test_a_search_scores_what_grid_search_does(step, learner):
    """Branches of these rules have too many rows to separate any."""
    X, y = integers(seed=13)
    settings = {
        "weak_learner": learner, "response": "sign", "criterion": "entropy", "step": step,
        "selection": "greedy",
    }  # fmt: skip
    ours = pb.ProperBoostClassifierCV(settings | QUICK, cv=3, rows_per_bin=None, effort=None)
    theirs = GridSearchCV(
        pb.ProperBoostClassifier(n_estimators=6, rows_per_bin=None, **settings),
        {"gain": [1.0]}, scoring="neg_log_loss", cv=3,
    ).fit(X, y)  # fmt: skip
    ours.fit(X, y)
    assert_same_scores(ours.cv_results_, theirs.cv_results_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "savage"}, "step must not be 'leveraging' with loss='savage'.*not convex"),
        ({"interactions": 2}, "interactions must be 0 with step='leveraging'.*pairs=2"),
        (
            {"criterion": "mu"},
            "criterion must be one of 'gini'.*, or None; got 'mu'",
        ),
        (
            {"criterion": "gini", "response": "newton"},
            "criterion must be None with response='newton'.*got 'gini'",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(settings, message):
    X, y = integers()
    settings = {"step": "leveraging", **settings}
    for model in (
        pb.ProperBoostClassifier(**settings),
        pb.ProperBoostClassifierCV(QUICK | settings, cv=3, effort=None),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
