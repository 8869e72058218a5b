"""Test rules, conjunctions of conditions, against a plain greedy search and their invariants."""

import itertools
import re

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import properboost as pb
from helpers.trees import make_rules
from properboost import _core

pd = pytest.importorskip("pandas")

RESPONSES = _core.response_names()


@parametrize_with_checks([pb.ProperBoostClassifier(weak_learner="rule", n_estimators=5)])
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
@pytest.mark.filterwarnings("ignore:class_weight makes rows count")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def few_values(seed, n=300):
    """Return two numeric columns, one with gaps, categories, and labels of a noisy rule."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 6, (2, n)).astype(float)
    town = rng.integers(0, 4, n)
    raw = 2.0 * ((a > 1) & (town != 2) & (b < 4)) - (b == 3) - 0.8 + rng.logistic(size=n)
    b[rng.random(n) < 0.15] = np.nan
    town[rng.random(n) < 0.1] = -1
    frame = pd.DataFrame({"a": a, "b": b, "town": pd.Categorical.from_codes(town, list("ABCD"))})
    return frame, (raw > 0).astype(int), rng.uniform(0.2, 3.0, n)


# -- the plain search -----------------------------------------------------------------------------


def list_conditions(frame):
    """Yield, for every possible condition, the rows for which it holds."""
    for name in ("a", "b"):
        x = frame[name].to_numpy()
        missing = np.isnan(x)
        for edge in np.unique(x[~missing]):
            for side in (x <= edge, x > edge):
                yield side
                if missing.any():
                    yield side | missing
    codes = frame["town"].cat.codes.to_numpy()
    present = np.unique(codes)
    for size in range(1, len(present)):
        for members in itertools.combinations(present, size):
            yield np.isin(codes, members)


def cost_of(response, y, weight, curvature, holds):
    """Return the cost of the two cells, up to the scale of the weights."""
    total = 0.0
    for rows in (holds, ~holds):
        positive, negative = weight[rows & (y == 1)].sum(), weight[rows & (y == 0)].sum()
        if response == "sign":
            total -= abs(positive - negative)
        elif response == "newton":
            total -= (positive - negative) ** 2 / max(curvature[rows].sum(), 1e-300)
        else:
            total += np.sqrt(positive * negative)
    return total


TIE = 1e-5  # relative; with float32 weights larger differences of costs are reliable


def search_greedily(frame, response, y, weight, curvature, max_conditions):
    """Return the rows for which the rule holds; None if rounding may decide."""
    conditions = list(list_conditions(frame))
    everywhere = np.ones(len(y), bool)
    starts = [everywhere]
    best = everywhere
    least = cost_of(response, y, weight, curvature, everywhere)
    for n in range(max_conditions):
        costs = {}
        for start, condition in itertools.product(starts, conditions):
            holds = start & condition
            if n == 0 and holds[0]:
                holds = ~holds  # this gives the same two cells
            costs[holds.tobytes()] = cost_of(response, y, weight, curvature, holds)
        ordered = sorted(costs.items(), key=lambda entry: entry[1])
        (first, cost), (_, second) = ordered[:2]
        if least - TIE * abs(least) <= cost < least:
            return None
        if cost >= least:
            break
        if second - cost <= TIE * abs(cost):
            return None
        best, least = np.frombuffer(first, bool), cost
        starts = [best, ~best] if n == 0 else [best]
    if len(starts) == 2 and weight[best].sum() > weight[~best].sum():
        return ~best
    return best


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("max_conditions", [1, 2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_rule_is_the_one_of_a_plain_search(response, max_conditions, weighted):
    checked = 0
    for seed in range(3):
        frame, y, sample_weight = few_values(seed)
        row_weights = sample_weight if weighted else np.ones(len(y))
        model = make_rules(max_conditions=max_conditions, response=response, n_estimators=4)
        model.fit(frame, y, row_weights if weighted else None)
        before = np.zeros(len(y))
        for rule, after in zip(model.rules(), model.staged_decision_function(frame), strict=True):
            p = 1 / (1 + np.exp(-before))
            weight = row_weights * np.where(y == 1, 1 - p, p)
            curvature = row_weights * p * (1 - p)
            expected = search_greedily(frame, response, y, weight, curvature, max_conditions)
            if expected is not None:
                added = np.where(expected, rule.value, rule.otherwise)
                np.testing.assert_allclose(after - before, added, atol=1e-9)
                assert rule.share == pytest.approx(row_weights[expected].sum() / row_weights.sum())
                checked += 1
            before = after
    assert checked >= 6


@pytest.mark.parametrize("response", RESPONSES)
def test_the_values_are_those_of_the_response(response):
    """A stump on "the rule holds" has the same two values."""
    frame, y, weight = few_values(4)
    model = make_rules(max_conditions=3, response=response, n_estimators=1).fit(frame, y, weight)
    (rule,) = model.rules()
    raw = model.decision_function(frame)
    assert len(rule.conditions) > 1
    stump = pb.ProperBoostClassifier(
        weak_learner="stump", response=response, n_estimators=1, rows_per_bin=None, gain=1.0,
        calibration=None,
    )  # fmt: skip
    holds = (raw == rule.value).astype(float)[:, None]
    # Sums of whole numbers are exact; those of float64 are not.
    np.testing.assert_allclose(raw, stump.fit(holds, y, weight).decision_function(holds), rtol=1e-6)


@pytest.mark.parametrize("step", _core.step_names())
def test_sign_rules_have_values_of_plus_or_minus_one(step):
    frame, y, weight = few_values(5)
    model = make_rules(response="sign", step=step, n_estimators=8).fit(frame, y, weight)
    history = model.history_
    for rule, size in zip(model.rules(), history["step"], strict=True):
        assert abs(rule.value) == pytest.approx(size)
        assert rule.otherwise == (-rule.value if rule.conditions else rule.value)


@pytest.mark.parametrize("response", RESPONSES)
def test_one_condition_is_a_stump(response):
    for seed in range(4):
        frame, y, weight = few_values(seed)
        settings = {
            "n_estimators": 10, "response": response, "rows_per_bin": None, "gain": 1.0,
            "calibration": None,
        }  # fmt: skip
        stumps = pb.ProperBoostClassifier(weak_learner="stump", selection="greedy", **settings)
        rules = make_rules(max_conditions=1, **settings).fit(frame, y, weight)
        stumps.fit(frame, y, weight)
        for name in ("cost", "step", "risk"):
            np.testing.assert_allclose(rules.history_[name], stumps.history_[name], rtol=1e-5)
        np.testing.assert_allclose(
            rules.decision_function(frame), stumps.decision_function(frame), rtol=1e-4, atol=1e-6
        )


# -- known rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("n_conditions", [2, 3])
@pytest.mark.parametrize("negated", [False, True])
def test_the_rule_that_made_the_labels_is_found(response, n_conditions, negated):
    rng = np.random.default_rng(6)
    for _ in range(5):
        X = rng.random((2000, 6))
        features = rng.permutation(6)[:n_conditions]
        # Each class has half of the rows: for `sign`, a rule on few rows is no better than "never".
        edges = 0.5 ** (1 / n_conditions) * np.ones(n_conditions)
        above = rng.random(n_conditions) < 0.5
        below = np.where(above, 1 - X[:, features], X[:, features]) <= edges
        y = below.all(axis=1) != negated
        X[:, features] = np.where(above, 1 - edges, edges) + np.where(
            (X[:, features] > np.where(above, 1 - edges, edges)), 0.1, -0.1
        )  # all cuts between are equal
        model = make_rules(max_conditions=4, response=response, n_estimators=1).fit(X, y)
        (rule,) = model.rules()
        assert len(rule.conditions) == n_conditions
        assert {int(c.split("feature ")[1].split()[0]) for c in rule.conditions} == set(features)
        np.testing.assert_array_equal(model.decision_function(X) > 0, y)
        assert (rule.value > 0) != negated


def test_sets_of_categories_in_a_rule():
    rng = np.random.default_rng(7)
    colour = rng.choice(["blue", "green", "red"], 2000)
    frame = pd.DataFrame({"petal length": rng.integers(0, 6, 2000).astype(float)})
    frame["colour"] = pd.Categorical(colour)
    y = (frame["petal length"] <= 3) & (colour != "red")
    model = make_rules(response="sign", step="unit", learning_rate=0.35, n_estimators=1)
    (rule,) = model.fit(frame, y).rules()
    assert set(rule.conditions) == {"petal length <= 3.5", "colour in {'blue', 'green'}"}
    first, second = rule.conditions
    assert str(rule) == f"{first} and {second}: +0.35, otherwise -0.35"
    assert rule.share == y.mean()
    (opposite,) = model.rules(class_=False)
    assert str(opposite) == f"{first} and {second}: -0.35, otherwise +0.35"
    assert (rule.class_label, opposite.class_label) == (True, False)


def test_missing_values_go_where_they_belong():
    x = np.r_[np.zeros(50), np.ones(50), np.full(50, np.nan)]
    z = np.tile([0.0, 1.0], 75)
    X = np.c_[x, z]
    for where in ("left", "alone", "neither"):
        side = {"left": ~(x == 1), "alone": np.isnan(x), "neither": x == 1}[where]
        model = make_rules(n_estimators=1).fit(X, side & (z == 0))
        np.testing.assert_array_equal(model.predict(X), side & (z == 0))
        (rule,) = model.rules()
        words = {"left": "(feature 0 <= 0.5, or missing)", "alone": "feature 0 is missing",
                 "neither": "0.5 < feature 0"}[where]  # fmt: skip
        assert f" {words} " in f" {str(rule).split(':')[0]} "


def test_a_rule_does_not_hold_for_what_training_never_saw():
    town = np.repeat(["A", "B", "C"], [20, 40, 40])
    frame = pd.DataFrame({"town": pd.Categorical(town), "x": np.tile([0.0, 1.0], 50)})
    unseen = pd.DataFrame({"town": pd.Categorical(["D", None]), "x": [0.0, 0.0]})
    for y in (frame["town"] == "A", frame["town"] != "A"):  # the rule holds on the lighter side
        model = make_rules(max_conditions=1, n_estimators=1).fit(frame, y)
        (rule,) = model.rules()
        assert rule.conditions == ("town in {'A'}",)
        np.testing.assert_array_equal(model.decision_function(unseen), rule.otherwise)
    model = make_rules(n_estimators=1).fit(frame, (frame["town"] != "A") & (frame["x"] == 0))
    (rule,) = model.rules()
    assert set(rule.conditions) == {"town in {'B', 'C'}", "x <= 0.5"}
    np.testing.assert_array_equal(model.decision_function(unseen), rule.otherwise)


def test_labels_that_no_condition_explains():
    X = np.ones((40, 2))
    model = make_rules(response="sign", n_estimators=3).fit(X, np.arange(40) % 4 == 0)
    assert {rule.conditions for rule in model.rules()} == {()}
    assert str(model.rules()[0]).startswith("always: -")
    even = make_rules(n_estimators=3).fit(X, np.arange(40) % 2)
    assert even.rules() == []
    np.testing.assert_array_equal(even.predict_proba(X), 0.5)


# -- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("response", RESPONSES)
def test_more_conditions_never_raise_the_cost_of_a_round(response):
    # Scores of roots of products are better when lower.
    worse = -1.0 if response in ("sign", "newton") else 1.0
    for seed in range(6):
        frame, y, weight = few_values(seed)
        scores = [
            make_rules(max_conditions=n, response=response, n_estimators=1)
            .fit(frame, y, weight)
            .history_["cost"][0]
            for n in (1, 2, 3, 4, 8, 127)
        ]
        assert (np.diff(worse * np.array(scores)) <= 0).all()


def test_limits_are_kept():
    frame, y, weight = few_values(8)
    total = 0.5 * weight.sum()  # weights of the loss are 1/2 in the first round
    for least in (5.0, 25.0, 60.0):
        model = make_rules(max_conditions=5, min_child_weight=least, n_estimators=1)
        (rule,) = model.fit(frame, y, weight).rules()
        assert least <= total * rule.share <= total - least
    (whole,) = make_rules(min_child_weight=total, n_estimators=1).fit(frame, y, weight).rules()
    assert (whole.conditions, whole.share) == ((), 1.0)
    for n in (1, 2, 3):
        trees = make_rules(max_conditions=n).fit(frame, y).ensemble_.models[0].trees
        assert (~trees.is_leaf).sum() <= n * 100


def test_rows_and_features_are_drawn(binary):
    X, y = binary
    for settings in ({"subsample": 0.5}, {"max_features": 0.3}):
        models = [
            make_rules(n_estimators=20, max_conditions=3, random_state=seed, **settings).fit(X, y)
            for seed in (0, 0, 1)
        ]
        raw = [model.decision_function(X) for model in models]
        np.testing.assert_array_equal(raw[0], raw[1])
        assert np.abs(raw[0] - raw[2]).max() > 0.1
        assert (np.diff(models[0].history_["risk"]) <= 1e-9).all()
        assert models[0].score(X, y) > 0.95


def test_the_model_does_not_depend_on_threads():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(30_000, 40)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (X[:, 0] > 0) & (X[:, 1] > -0.5) ^ (rng.random(len(X)) < 0.1)
    for response in ("real", "newton"):
        models = [
            make_rules(n_estimators=4, max_conditions=4, response=response, n_jobs=n_jobs).fit(X, y)
            for n_jobs in (1, 2, 3)
        ]
        for other in models[1:]:
            assert models[0].rules() == other.rules()
            for name, values in models[0].history_.items():
                np.testing.assert_array_equal(other.history_[name], values)


@pytest.mark.parametrize("loss", pb.losses.LOSSES)
@pytest.mark.parametrize("response", RESPONSES)
def test_the_risk_falls_under_every_loss(loss, response, binary):
    X, y = binary
    model = make_rules(loss=loss, response=response, n_estimators=15).fit(X, y)
    assert (np.diff(model.history_["risk"]) <= 1e-9).all()
    raw = sum(
        np.where(holds(model, X, t), r.value, r.otherwise) for t, r in enumerate(model.rules())
    )
    np.testing.assert_allclose(raw, model.decision_function(X), rtol=1e-9, atol=1e-9)
    assert model.score(X, y) > 0.9


def holds(model, X, t):
    """Return the rows for which round t's rule holds, as read from its words."""
    rows = np.ones(len(X), bool)
    for words in model.rules()[t].conditions:
        low, _, rest = words.rpartition(" < ")
        high = rest.split(" <= ")[1] if " <= " in rest else np.inf
        x = X[:, int(rest.split()[1])]
        rows &= (x > float(low or -np.inf)) & (x <= float(high))
    return rows


def test_importances_are_what_conditions_save():
    frame, y, weight = few_values(10)
    model = make_rules(n_estimators=1, max_conditions=3).fit(frame, y, weight)
    (rule,) = model.rules()
    words = set(re.findall(r"\w+", " ".join(rule.conditions)))
    for name, share in zip(frame.columns, model.feature_importances_, strict=True):
        assert (share > 0) == (name in words)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


# -- several classes, searches, files -------------------------------------------------------------


def test_files_and_stages(tmp_path, mixed):
    frame, y, weight = mixed
    model = make_rules(n_estimators=12, max_conditions=3).fit(frame, y, weight)
    path = tmp_path / "model.json"
    model.save_model(path)
    loaded = pb.load_model(path)
    assert loaded.get_params() == model.get_params()
    assert loaded.rules() == model.rules()
    raw = model.decision_function(frame)
    np.testing.assert_array_equal(loaded.decision_function(frame), raw)
    stages = list(loaded.staged_decision_function(frame))
    assert len(stages) == 12
    np.testing.assert_allclose(stages[-1], raw, rtol=1e-12, atol=1e-12)


def test_weights_are_frequencies(mixed):
    frame, y, weight = mixed
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    model = make_rules(n_estimators=10, max_conditions=3).fit(frame, y, weight)
    twin = make_rules(n_estimators=10, max_conditions=3).fit(frame.iloc[repeated], y[repeated])
    assert [r.conditions for r in model.rules()] == [r.conditions for r in twin.rules()]
    np.testing.assert_allclose(
        model.decision_function(frame), twin.decision_function(frame), rtol=1e-5, atol=1e-6
    )


def test_the_number_of_conditions_is_chosen():
    rng = np.random.default_rng(11)
    X = rng.integers(0, 4, (600, 5)).astype(float)
    y = ((X[:, :3] > 0).all(axis=1)) ^ (rng.random(600) < 0.05)
    space = {
        "weak_learner": "rule", "weak_learner__max_conditions": [1, 2, 3], "gain": [0.5, 1.0],
        "n_estimators": 3,
    }  # fmt: skip
    model = pb.ProperBoostClassifierCV(space, cv=3, effort=None).fit(X, y)
    assert model.best_params_["weak_learner"].max_conditions == 3
    assert set(model.cv_results_["param_weak_learner__max_conditions"]) == {1, 2, 3}
    assert set(model.cv_results_["param_selection"]) == {"unbiased"}
    assert len(model.cv_results_["params"]) == 6
    assert max(len(rule.conditions) for rule in model.rules()) == 3
    alone = pb.ProperBoostClassifier(**model.best_params_).fit(X, y)
    np.testing.assert_allclose(alone.decision_function(X), model.decision_function(X), rtol=1e-9)
    model.set_params(space=space | {"selection": ["unbiased", "cyclic"]})
    with pytest.raises(ValueError, match="selection must not be 'cyclic' with weak_learner='rule'"):
        model.fit(X, y)


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"max_conditions": 0}, ValueError, "max_conditions must be between 1 and 127; got 0"),
        ({"max_conditions": 128}, ValueError, "max_conditions must be between 1 and 127; got 128"),
        ({"max_conditions": 2.0}, TypeError, "max_conditions must be an integer"),
        ({"max_conditions": [1, 2]}, TypeError, "max_conditions must be an integer"),
        ({"subsample": 0.0}, ValueError, "subsample must be above 0"),
        ({"min_child_weight": -1.0}, ValueError, "min_child_weight must be at least 0"),
    ],
)
def test_bad_settings_are_refused(settings, error, message):
    model = pb.ProperBoostClassifier(weak_learner=pb.Rule(**settings))
    with pytest.raises(error, match=message):
        model.fit([[0.0], [1.0]], [0, 1])
