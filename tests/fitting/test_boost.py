"""Test models that are boosted together and end apart, and where their pairs start."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import properboost as pb
from helpers.flags import make_flags
from helpers.models import same_model
from properboost.fitting import boost as boosting
from properboost.fitting.boost import boost

FEW_CELLS = {"selection": "unbiased", "weak_learner": pb.Table(max_cells=3)}
"""Tables of few cells, which are fitted slowly: some models end before others."""


def add_up(rounds, training):
    """Return the raw predictions of all rows, summed round by round."""
    return sum(
        rounds.look_up(t, training.codes, training.binning, 1) for t in range(len(rounds))
    ) + np.zeros(training.n_rows)


def fit_and_see(X, y, X_val=None, y_val=None, **settings):
    """Fit a model with pairs; return it, and the inputs and result of its first stage."""
    seen = []

    def see(plan, rows, *watched):
        stage = boost(plan, rows, *watched)
        seen.append((rows, plan.bags and plan.bags.segments, stage))
        return stage

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("properboost.fitting.run.boost", see)
        model = pb.ProperBoostClassifier(n_jobs=1, **settings)
        return model.fit(X, y, X_val=X_val, y_val=y_val), *seen[0]


def check_raw(training, learning, stage, gain):
    """Check that raw predictions are sums of rounds, and 0 where a bag leaves rows out."""
    sizes = np.diff(training.segments)
    for f, (fit, raws) in enumerate(zip(stage.fits, stage.raw, strict=True)):
        learns = (
            np.ones(training.n_rows, bool) if learning is None else np.repeat(learning[f], sizes)
        )
        for rounds, raw in zip(fit, raws, strict=True):
            expected = np.where(learns, add_up(rounds, training), 0.0)
            np.testing.assert_allclose(raw, expected, atol=1e-4 * gain * max(1, len(rounds)) ** 0.5)


@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(150, 500),
    n_classes=st.sampled_from([2, 3]),
    multiclass=st.sampled_from(["auto", "one_vs_rest"]),
    outer_bags=st.sampled_from([0, 4, 8, 17]),
    n_estimators=st.sampled_from([None, None, 130]),
    tables=st.sampled_from(
        [
            {},
            FEW_CELLS,
            {"selection": "cyclic"},
            {"weak_learner": "stump"},
            {"weak_learner": pb.Table(min_saving=1.0)},
            FEW_CELLS | {"weak_learner": pb.Table(max_cells=3, min_saving=1.0)},
        ]
    ),
    early_stopping=st.sampled_from([None, True, False]),
)
@settings(max_examples=25)
def test_pairs_start_from_the_features_predictions(
    seed, n_rows, n_classes, multiclass, outer_bags, n_estimators, tables, early_stopping
):
    noise = 10.0 ** -(seed % 3)
    X, y = make_flags(n_rows, n_classes=n_classes, noise=noise, seed=seed)
    assume(np.bincount(y, minlength=n_classes).min() >= 20)  # bags of fewer rows are refused
    rows = (X, y)
    if early_stopping is not None:
        rows += make_flags(200, n_classes=n_classes, noise=noise, seed=seed + 1)
        tables = tables | {"early_stopping": early_stopping}
    model, *fitted = fit_and_see(
        *rows, interactions=pb.Interactions(1, n_estimators=1), multiclass=multiclass,
        outer_bags=outer_bags,
        n_estimators=n_estimators, **tables,
    )  # fmt: skip
    check_raw(*fitted, model.loss_.gain)


@pytest.mark.parametrize(
    "settings",
    [
        {"outer_bags": 8},
        {"outer_bags": 8, "selection": "cyclic", "gain": 8.0},
        {"outer_bags": 16, "interactions": 3},
        {"multiclass": "one_vs_rest"},
        {"multiclass": "one_vs_rest", "outer_bags": 8},
    ],
    ids=str,
)
def test_models_that_end_before_others_keep_their_predictions(settings, monkeypatch):
    """Batches become narrower as models end, and then lack the rows of the others."""
    left = []
    take = boosting._Raws.take_leaving

    def see(raws, native, first, which):
        before = len(raws._taken)
        take(raws, native, first, which)
        left.append(len(raws._taken) - before)

    monkeypatch.setattr(boosting._Raws, "take_leaving", see)
    if "multiclass" in settings:
        X, y = make_flags(600, n_classes=3)
        # Classes 1 and 2 are random.
        y = np.where(y == 0, 0, np.random.default_rng(0).integers(1, 3, len(y)))
    else:
        X, y = make_flags(noise=0.1)
    settings = {"interactions": 1} | settings
    model, *fitted = fit_and_see(X, y, **settings)
    assert any(left)
    check_raw(*fitted, model.loss_.gain)
    watched, *_ = fit_and_see(X, y, X, y, early_stopping=False, **settings)
    assert same_model(model, watched)


def test_models_that_end_within_a_block_keep_their_predictions():
    """Watched models of several batches advance one by one, and some have nothing left to learn."""
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [40, 30, 50, 20], axis=0)
    y = (np.random.default_rng(1).random(len(X)) < 0.2 + 0.5 * X[:, 0]).astype(int)
    settings = {
        "interactions": 1,
        "outer_bags": 17,
        "n_estimators": 100,
        "weak_learner": pb.Table(min_saving=1.0),
    }
    model, *stages = fit_and_see(X, y, X, y, early_stopping=False, gain=1.0, **settings)
    assert len({len(rounds) for fit in stages[-1].fits for rounds in fit}) > 1
    check_raw(*stages, model.loss_.gain)
