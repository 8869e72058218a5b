"""Test that unbiased selection takes uninformative features equally often, whatever their bins."""

import numpy as np
import pytest
from scipy import stats

import properboost as pb
from helpers.reference.contrast import normal_deviate

pd = pytest.importorskip("pandas")


def first_choice(X, y, **settings):
    settings = {"selection": "unbiased", "n_estimators": 1, "rows_per_bin": None} | settings
    model = pb.ProperBoostClassifier(**settings).fit(X, y)
    return int(model.history_["feature"][0])


@pytest.mark.parametrize("freedom", [1.0, 1.6, 5.0, 30.0, 254.0])
def test_the_deviate_has_the_tail_probability(freedom):
    for ratio in (0.2, 0.5, 0.9, 0.9995, 1.0, 1.5, 3.0, 8.0):
        tail = stats.chi2.sf(ratio * freedom, freedom)
        if not 1e-200 < tail < 1 - 1e-12:
            continue
        deviate = normal_deviate(ratio * freedom, freedom)
        assert deviate == pytest.approx(stats.norm.isf(tail), abs=0.03)


@pytest.mark.parametrize("max_cells", [None, 3])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("share", "in_class"), [(0.25, 0.55), (0.1, 0.56)])
def test_the_informative_feature_is_chosen(wide, share, in_class, max_cells):
    """The flag is 1 more often in one class; 19 other features of 200 values are noise."""
    n, times = 60_000, {"unbiased": 0, "greedy": 0}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.arange(n) < share * n
        raised = rng.random(n) < np.where(y, in_class, 0.5)
        X = rng.integers(0, 2 if wide else 200, (n, 20)).astype(np.float32)
        if wide:
            X[:, 0] = rng.integers(0, 100, n) + 100 * raised
        else:
            X[:, 0] = raised
        for selection in times:
            learner = pb.Table(max_cells=max_cells)
            times[selection] += first_choice(X, y, selection=selection, weak_learner=learner) == 0
    assert times["unbiased"] >= 9
    if max_cells is None:
        assert times["greedy"] == (10 if wide else 0)


@pytest.mark.parametrize(
    "learner",
    [pb.Table(max_cells=None), pb.Table(max_cells=3), pb.Table(max_cells=5), pb.Stump()],
    ids=str,
)
def test_uninformative_features_are_chosen_equally_often(learner):
    """Flags, numbers and categories are each chosen a third of the time if all are noise."""
    n, draws = 1500, 240
    chosen = np.zeros(3)
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({
            "flag": rng.integers(0, 2, n),
            "number": rng.integers(0, 40, n),
            "town": pd.Categorical(rng.integers(0, 40, n)),
        })  # fmt: skip
        y = rng.random(n) < 0.3
        chosen[first_choice(frame, y, weak_learner=learner)] += 1
    assert chosen.min() > 0.2 * draws
    assert chosen.max() < 0.5 * draws


def test_a_weight_of_2_is_the_row_twice():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 12, (400, 6)).astype(float)
    y = rng.random(400) < 0.3 + 0.02 * X[:, 2]
    weight = rng.integers(1, 4, 400)
    settings = {"selection": "unbiased", "rows_per_bin": None, "n_estimators": 20}
    once = pb.ProperBoostClassifier(**settings).fit(X, y, weight.astype(float))
    again = np.repeat(np.arange(400), weight)
    often = pb.ProperBoostClassifier(**settings).fit(X[again], y[again])
    np.testing.assert_array_equal(once.history_["feature"], often.history_["feature"])
    np.testing.assert_allclose(once.decision_function(X), often.decision_function(X), rtol=1e-4)


def test_where_the_least_likely_cannot_move_another_may():
    """Features separate the rows and then lose their effect: both selections end alike."""
    X = np.column_stack([np.zeros(40), np.arange(40) % 2, np.arange(40) % 5]).astype(float)
    y = np.arange(40) % 2
    for response in ("real", "sign", "newton", "exact"):
        both = [
            pb.ProperBoostClassifier(
                selection=selection,
                response=response,
                rows_per_bin=None,
                gain=1.0,
                weak_learner="table",
            ).fit(X, y)
            for selection in ("greedy", "unbiased")
        ]
        assert both[0].n_iter_ == both[1].n_iter_
        np.testing.assert_allclose(*(model.history_["risk"][-1] for model in both), rtol=1e-3)


def test_sign_values_are_chosen_by_cost():
    """`sign` sees no difference where one class is heavier in all cells."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (500, 5)).astype(float)
    y = rng.random(500) < 0.2 + 0.05 * X[:, 1]
    models = [
        pb.ProperBoostClassifier(
            selection=selection, response="sign", n_estimators=30, weak_learner="table"
        ).fit(X, y)
        for selection in ("greedy", "unbiased")
    ]
    np.testing.assert_array_equal(*(model.history_["feature"] for model in models))
