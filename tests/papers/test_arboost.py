"""AR-Boost and its comparison methods, against plain numpy and their papers."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

import properboost as pb
from helpers.reference.draws import draw_bits
from helpers.votes import AR, make_rows

TURNS = "ignore:a weak classifier and its negative take turns"


class Reference:
    """Algorithms 1 and 2 over stumps of numeric columns, and the methods they are compared with.

    Everything follows the papers; each cut is tried one feature and value at a time.
    """

    def __init__(
        self,
        rho=1.0,
        criterion="gini",
        learning_rate=1.0,
        damping=0.0,
        mistrust=0.0,
        min_relative_decrease=0.0,
        max_features=1.0,
        seed=0,
    ):
        self.min_relative_decrease = min_relative_decrease
        self.max_features = max_features
        self.seed = seed
        self.rho = rho
        self.criterion = criterion
        self.learning_rate = learning_rate
        self.damping = damping
        self.mistrust = mistrust

    def fit(self, X, y, n_rounds, sample_weight=None):
        n, c = len(y), y.max() + 1
        count = np.ones(n) if sample_weight is None else sample_weight
        is_label = y[:, None] == np.arange(c)
        raw = np.zeros((n, c))  # sums to 0 over the classes
        influence = np.zeros(n)
        self.errors, self.alphas, self.features, self.risks = [], [], [], []
        self.takes_turns = False
        right, raws = [], [raw]
        for t in range(1, n_rounds + 1):
            margin = raw[is_label]
            faith = np.exp(-self.damping * np.abs(margin))
            w = np.exp(-self.soften(margin, influence, sum(self.alphas))) * faith
            feature, classes = self.choose(X[:, self.draw(t, X.shape[1])], y, count * w, c)
            feature = self.draw(t, X.shape[1])[feature]
            wrong = classes != y
            total = np.sum(count * w)
            error = np.sum(count * w * wrong) / total
            odds = self.rho * (c - 1)
            may_vote = error < odds / (odds + 1) - 1e-9
            if not may_vote and self.max_features == 1.0:
                break
            right.append(~wrong)
            self.takes_turns = self.is_a_turn(right, error, c)
            if self.takes_turns:
                break
            unit = 2.0 if c == 2 else 1.0
            share = w * count.sum() / total
            alpha = (np.log(self.rho * (1 - error) / error) + np.log(c - 1)) / unit
            if self.mistrust > 0.0:
                alpha = self.minimise(margin, np.where(wrong, -1, 1), influence, share, count)
            alpha *= self.learning_rate * may_vote
            votes = unit * ((classes[:, None] == np.arange(c)) - 1 / c)
            raw = raw + faith[:, None] * alpha * votes
            raws.append(raw)
            influence += alpha * share
            self.errors.append(error)
            self.alphas.append(alpha)
            soft = self.soften(raw[is_label], influence, sum(self.alphas))
            self.features.append(feature)
            self.risks.append(np.sum(count * np.exp(-soft)) / count.sum())
        if self.rho > 1.0 and c == 2 and len(raws) > 2:
            before, after = (r.argmax(axis=1) for r in raws[-2:])
            errors = [np.average(predicted != y, weights=count) for predicted in (before, after)]
            turned = np.average(before != after, weights=count) > 0.5
            if (turned and errors[0] < errors[1]) or (self.takes_turns and errors[0] <= errors[1]):
                self.takes_turns = True
                raw = raws[-2]
                for history in (self.errors, self.alphas, self.features, self.risks):
                    history.pop()
        self.raw = raw[:, 1] if c == 2 else raw
        return self

    def soften(self, margin, influence, steps):
        return margin + self.mistrust * influence**2 / steps if steps > 0 else margin

    def minimise(self, margin, side, influence, share, count):
        from scipy.optimize import minimize_scalar

        def risk(a):
            steps = sum(self.alphas) + a
            soft = self.soften(margin + a * side, influence + a * share, steps)
            return np.sum(count * np.exp(-soft))

        return minimize_scalar(risk, bounds=(0, 20), method="bounded", options={"xatol": 1e-9}).x

    def cost(self, w):
        total = w.sum()
        if self.criterion == "error":
            return total - w.max()
        return total - np.sum(w**2) / total if total > 0 else 0.0

    def draw(self, t, d):
        """Return the features of round t: those of least random bits, as for a tree's root."""
        key = draw_bits(self.seed, 0, t)
        order = sorted(range(d), key=lambda j: draw_bits(key, 1, j))
        return sorted(order[: max(1, round(self.max_features * d))])

    def is_a_turn(self, right, error, c):
        """Return whether h, -h and h came in turn, the last two with one error: for ever, then."""
        if self.rho <= 1.0 or c > 2 or self.max_features < 1.0 or len(right) < 3:
            return False
        opposite = np.all(right[-1] == ~right[-2]) and np.all(right[-2] == ~right[-3])
        return opposite and abs(error - self.errors[-1]) <= 1e-5 * error

    def choose(self, X, y, w, c):
        class_weights = np.bincount(y, w, minlength=c)
        enough = self.cost(class_weights) * (1 - self.min_relative_decrease)
        best = (self.cost(class_weights), 0, np.full(len(y), class_weights.argmax()))
        for j in range(X.shape[1]):
            for value in np.unique(X[:, j])[:-1]:
                left = X[:, j] <= value
                sums = [np.bincount(y[s], w[s], minlength=c) for s in (left, ~left)]
                cost = self.cost(sums[0]) + self.cost(sums[1])
                if cost <= enough and cost < best[0] * (1 - 1e-9):
                    classes = np.where(left, sums[0].argmax(), sums[1].argmax())
                    best = (cost, j, classes)
        return best[1:]


REFERENCES = {
    "adaboost": (AR(), Reference(), 2),
    "ar-boost": (AR(1.3), Reference(1.3), 2),
    "ar-boost by error": (AR(3.0, criterion="error"), Reference(3.0, "error"), 2),
    "samme": (pb.SAMME(), Reference(), 4),
    "ar-boost of 4 classes": (AR(1.3), Reference(1.3), 4),
    "ar-boost of 3 classes by error": (AR(1.2, criterion="error"), Reference(1.2, "error"), 3),
    "epsilon-boost": (pb.EpsilonBoost(0.2), Reference(learning_rate=0.2), 2),
    "epsilon-boost of 3 classes": (pb.EpsilonBoost(0.2), Reference(learning_rate=0.2), 3),
    "L1-boost": (pb.L1Boost(0.25), Reference(0.75 / 1.25), 2),
    "weightboost": (pb.WeightBoost(0.5), Reference(damping=0.5), 2),
    "complexity limit": (
        AR(1.3, min_relative_decrease=0.05),
        Reference(1.3, min_relative_decrease=0.05),
        2,
    ),
    "complexity limit by error of 3 classes": (
        AR(1.3, criterion="error", min_relative_decrease=0.15),
        Reference(1.3, "error", min_relative_decrease=0.15),
        3,
    ),
    "drawn features": (
        AR(3.0, max_features=0.5, random_state=5),
        Reference(3.0, max_features=0.5, seed=5),
        2,
    ),
    "drawn features of 3 classes": (
        AR(1.2, max_features=0.1, random_state=5),
        Reference(1.2, max_features=0.1, seed=5),
        3,
    ),
    "one feature a round, with a limit": (
        AR(max_features=0.1, min_relative_decrease=0.04),
        Reference(max_features=0.1, min_relative_decrease=0.04),
        2,
    ),
    "adaboost_reg": (pb.AdaBoostReg(0.02), Reference(mistrust=0.02), 2),
}


@pytest.mark.filterwarnings(TURNS)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("name", REFERENCES)
def test_methods_follow_their_papers(name, weighted):
    model, reference, n_classes = REFERENCES[name]
    X, y = make_rows(n_classes, n=200, d=3, n_values=12)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    reference.fit(X, y, 15, weight)
    model.set_params(n_estimators=15).fit(X, y, sample_weight=weight)
    history = model.history_
    # Float32 margins; and line searches, where AdaBoost_reg's step has no closed form.
    tolerance = 1e-4 if "reg" in name else 3e-6
    np.testing.assert_array_equal(history["feature"], reference.features)
    np.testing.assert_allclose(history["cost"], reference.errors, rtol=tolerance)
    np.testing.assert_allclose(history["step"], reference.alphas, rtol=tolerance)
    np.testing.assert_allclose(history["risk"], reference.risks, rtol=tolerance)
    np.testing.assert_allclose(model.decision_function(X), reference.raw, atol=10 * tolerance)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("depth", [1, 3])
def test_with_rho_1_it_is_adaboost(n_classes, depth):
    X, y = make_rows(n_classes)
    kind = {} if depth == 1 else {"weak_learner": "tree", "max_depth": depth}
    ours = AR(n_estimators=40, **kind).fit(X, y)
    theirs = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=depth, random_state=0), n_estimators=40
    ).fit(X, y)
    history = ours.history_
    ours_is_half = 2.0 if n_classes == 2 else 1.0
    np.testing.assert_allclose(history["cost"], theirs.estimator_errors_, rtol=2e-5)
    np.testing.assert_allclose(
        ours_is_half * history["step"], theirs.estimator_weights_, rtol=2e-5, atol=2e-6
    )
    stages = zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True)
    for t, (a, b) in enumerate(stages):
        # Two votes that cancel are a tie, which rounding decides.
        assert np.mean(a == b) > (0.995 if t else 0.999)


@pytest.mark.parametrize("rho", [3.0, 6.0])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", ["gini", "error"])
def test_a_classifier_and_its_negative_do_not_take_turns_for_ever(seed, rho, criterion):
    X, y = make_rows(2, n=200, d=3, n_values=12, seed=seed)
    reference = Reference(rho, criterion).fit(X, y, 60)
    assert reference.takes_turns
    model = AR(rho, criterion=criterion, n_estimators=60)
    n_rounds = len(reference.errors)
    with pytest.warns(UserWarning, match=f"turns: {n_rounds} of 60 rounds are kept; a smaller rho"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.history_["feature"], reference.features)
    np.testing.assert_allclose(model.decision_function(X), reference.raw, atol=1e-4)
    errors = [np.mean(p != y) for p in model.staged_predict(X)]
    assert errors[-1] <= np.mean((y > 0) == (reference.raw <= 0)) == errors[-1]


@pytest.mark.parametrize("n_rounds", range(1, 12))
def test_no_number_of_rounds_turns_predictions_round(n_rounds):
    # h and nearly -h: cuts differ by a value, and no two rounds have the same weights.
    X, y = make_rows(2, n=300, d=3, n_values=60, seed=1)
    reference = Reference(4.0).fit(X, y, n_rounds)
    model = AR(4.0, n_estimators=n_rounds)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert bool(caught) == reference.takes_turns
    assert model.n_iter_ == len(reference.errors)
    assert model.score(X, y) > 0.5


def test_turns_of_several_classes_are_those_of_yes_and_no():
    # A classifier that predicts one of several classes has no negative.
    X, y = make_rows(3, n=200, d=3, n_values=12)
    with pytest.warns(UserWarning, match="take turns: "):
        labels = AR(8.0, multiclass="one_vs_rest", n_estimators=60).fit(X, y)
    assert labels.n_iter_ < 60
    assert labels.score(X, y) > 0.4
    assert AR(8.0, n_estimators=60).fit(X, y).n_iter_ == 60


@pytest.mark.filterwarnings(TURNS)
@pytest.mark.parametrize("weak_learner", ["stump", "tree", "table"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("rho", [0.8, 1.0, 1.4, 3.0])
def test_its_error_on_the_next_weights_is_the_one_allowed(rho, n_classes, weak_learner):
    X, y = make_rows(n_classes)
    is_label = y[:, None] == np.arange(n_classes)
    size = {"max_leaf_nodes": 4} if weak_learner == "tree" else {}
    model = AR(rho, n_estimators=12, weak_learner=weak_learner, **size).fit(X, y)
    allowed = rho * (n_classes - 1) / (rho * (n_classes - 1) + 1)
    before = np.zeros((len(y), n_classes))
    for raw in model.staged_decision_function(X):
        both = np.stack([-raw, raw], axis=1) if n_classes == 2 else raw
        wrong = (both - before)[is_label] < 0
        w = np.exp(-both[is_label])
        assert np.sum(w * wrong) / np.sum(w) == pytest.approx(allowed, abs=2e-6)
        before = both


def exponent_of_eq_4(rho, gamma):
    return -((rho + 1) ** 2) / (2 * rho) * gamma**2 + (rho**2 - 1) / (2 * rho) * gamma


def test_eq_4_bounds_errors_and_need_not_bound_products():
    # With the least gamma the exponent is largest; if it is not negative, it bounds any error.
    for rho in (1.0, 1.5, 3.0, 10.0):
        gamma = np.linspace(0.0, rho / (rho + 1), 200)
        exponent = exponent_of_eq_4(rho, gamma)
        later = np.maximum.accumulate(exponent[::-1])[::-1]  # of any larger gamma
        assert np.all((exponent >= -1e-12) | (exponent >= later))
    # Errors above 1/2 are allowed at rho 3, up to 3/4; Z is largest at 1/2.  (No weak classifier
    # here errs so often: a cell predicts the heavier class.)
    errors = np.array([0.74, 0.5, 0.5])
    product = np.prod((3**-0.5 + 3**0.5) * np.sqrt(errors * (1 - errors)))
    assert product > np.exp(3 * exponent_of_eq_4(3.0, 0.75 - errors.max()))


@given(
    seed=st.integers(0, 2**16),
    rho=st.floats(0.7, 4.0),
    weak_learner=st.sampled_from(["stump", "table"]),
)
@settings(max_examples=25)
@pytest.mark.filterwarnings(TURNS)
def test_the_training_error_is_bounded(seed, rho, weak_learner):
    X, y = make_rows(2, n=120, d=3, n_values=8, seed=seed)
    model = AR(rho, n_estimators=10, weak_learner=weak_learner, rows_per_bin=None).fit(X, y)
    if model.n_iter_ == 0:
        return
    bounds = model.training_error_bounds()
    e, rounding = model.history_["cost"], 1 + 1e-5
    z = (rho**-0.5 + rho**0.5) * np.sqrt(e * (1 - e))  # eq. 10
    np.testing.assert_allclose(bounds["normalizer"], z, rtol=1e-9)
    np.testing.assert_allclose(bounds["product"], model.history_["risk"], rtol=1e-4)
    assert np.all(bounds["product"] <= bounds["exponential"] * rounding)
    errors = [np.mean(p != y) for p in model.staged_predict(X)]
    assert np.all(errors <= bounds["product"] * rounding)
    gamma = rho / (rho + 1) - np.maximum.accumulate(e)  # eq. 4: the least of all rounds
    printed = np.exp(np.arange(1, len(e) + 1) * exponent_of_eq_4(rho, gamma))
    assert np.all(bounds["exponential"] <= printed * rounding)
    normalized = model.margins(X, y) / model.history_["step"].sum()
    for theta in (-0.3, 0.0, 0.2, 0.9):
        assert np.mean(normalized <= theta) <= model.margin_bound(theta) * rounding
        e = model.history_["cost"]
        t = len(e)
        # Eq. 7 as it is printed.
        printed = (rho ** ((1 + theta) / 2) + rho ** ((theta - 1) / 2)) ** t * np.prod(
            np.sqrt(e ** (1 - theta) * (1 - e) ** (1 + theta))
        )
        assert model.margin_bound(theta) == pytest.approx(printed, rel=1e-9)


def test_bounds_are_of_adaboost_and_ar_boost_only():
    X, y = make_rows(3)
    with pytest.raises(ValueError, match="bounds need two classes; got 3"):
        AR(n_estimators=2).fit(X, y).training_error_bounds()
    model = pb.WeightBoost(n_estimators=2).fit(X, y > 0)
    with pytest.raises(ValueError, match="do not hold with mistrust or damping"):
        model.margin_bound(0.1)
    with pytest.raises(ValueError, match="theta must be between -1 and 1"):
        AR(n_estimators=2).fit(X, y > 0).margin_bound(2.0)


def chi_square(n, rng):
    """Return section 3.2's rows: ten normal features, and whether their squared norm is small."""
    from scipy.stats import chi2

    X = rng.standard_normal((n, 10))
    return X, (np.sum(X**2, axis=1) < chi2(10).median()).astype(int)


def test_on_the_chi_square_example_adaboost_learns_and_ar_boost_takes_turns():
    # The paper prints the opposite.  Its weak learner cannot have been closed under negation: h
    # errs with rho / (1 + rho) on the next weights, so that -h errs with 1 / (1 + rho).
    X, y = chi_square(2000, np.random.default_rng(0))
    adaboost = AR(n_estimators=200).fit(X, y)
    assert adaboost.history_["cost"].max() < 0.5
    assert adaboost.score(X, y) > 0.88
    with pytest.warns(UserWarning, match="take turns"):
        arboost = AR(5.0, n_estimators=200, criterion="error").fit(X, y)
    assert arboost.n_iter_ == 1
    assert 0.5 < arboost.score(X, y) < 0.65


def test_adaboost_mh_is_adaboost_of_rows_and_labels():
    # With the label as one more feature, crossed with the others' bins, the algorithm is AdaBoost
    # of two classes over bins.
    X, y = make_rows(3, n=150, d=3, n_values=6)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))  # no bin is tied
    kind = {"n_estimators": 10, "weak_learner": "table", "rows_per_bin": None}
    model = pb.AdaBoostMH(**kind).fit(X, y, sample_weight=weight)
    labels = np.repeat(np.arange(3), len(y))
    crossed = np.tile(X - X.min(axis=0), (3, 1)) + 100.0 * labels[:, None]
    asked = np.tile(y, 3) == labels
    plain = AR(**kind).fit(crossed, asked, sample_weight=np.tile(weight, 3))
    for name in ("feature", "cost", "step", "risk"):
        np.testing.assert_allclose(model.history_[name], plain.history_[name], rtol=1e-5)
    raw = plain.decision_function(crossed).reshape(3, -1).T
    np.testing.assert_allclose(model.decision_function(X), raw, atol=1e-5)
    p = 1 / (1 + np.exp(-2 * raw))
    np.testing.assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True), atol=1e-5)
