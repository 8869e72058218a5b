"""Custom losses in files: their tables, and hostile ones."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import properboost as pb
from helpers.custom_losses import BAD, custom_losses, drawn, fit, make_rows
from helpers.models import assert_same
from properboost import _core
from properboost.losses import LossTable, Savage, from_functions, from_pdf


@pytest.fixture(scope="module")
def rows():
    return make_rows()


@pytest.mark.parametrize("loss", [*custom_losses()], ids=repr)
def test_models_of_custom_losses_are_saved(loss, rows, tmp_path):
    model = fit(loss, rows, n_estimators=5)
    path = tmp_path / "model.json"
    model.save_model(path)
    loaded = pb.load_model(path)
    np.testing.assert_array_equal(loaded.predict_proba(rows[0]), model.predict_proba(rows[0]))
    np.testing.assert_array_equal(
        loaded.decision_function(rows[0]), model.decision_function(rows[0])
    )
    assert loaded.loss_.functions is None  # the file holds no code
    assert loaded.loss is loaded.loss_
    if loss.functions is None:
        assert_same(model, loaded, rows[0])
    raw = [m.fit(*rows).decision_function(rows[0]) for m in (model, loaded)]
    np.testing.assert_allclose(*raw, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda loss: loss["table"].pop("right"), r"loss\.table lacks the field 'right'"),
        (lambda loss: loss["table"].update(extra=1), r"loss\.table has an unknown field 'extra'"),
        (lambda loss: loss["table"].update(left=[1.0]), "must hold 3073 finite numbers"),
        (lambda loss: loss["table"]["left"].__setitem__(3, "x"), r"table\.left must hold numbers"),
        (
            lambda loss: loss["table"]["left"].__setitem__(3, -1.0),
            r"left must hold no number below 0",
        ),
        (lambda loss: loss["table"]["left_slope"].__setitem__(3, 10**400), "finite numbers"),
        (lambda loss: loss["table"]["left_slope"].__setitem__(3, -1e40), "no number beyond 1e"),
        (
            lambda loss: loss["table"]["right"].__setitem__(9, 0.9),
            r"its inverse link falls at the margin 0\.0703125",
        ),
        (lambda loss: loss["table"].update(scale=0.0), "scale must be above 0"),
        (lambda loss: loss["table"].update(scale=1e-30), "scale must be between"),
        (lambda loss: loss["table"].update(beyond=-1.0), "beyond must be at least 0"),
        (lambda loss: loss.update(table=3), r"loss\.table must be an object"),
        (lambda loss: loss.update(table="of the fitted loss"), r"loss\.table must be an object"),
        (lambda loss: loss.update(name="a\0"), "name must be a printable string"),
        (lambda loss: loss.update(name=3), r"loss\.name must be a string"),
        (lambda loss: loss.update(gain=0.0), "gain must be above 0"),
        (lambda loss: loss.update(parameters={"beta": 0.1}), "only alpha with a table"),
        (lambda loss: loss.update(parameters={"alpha": -0.1}), "alpha must be at least 0"),
        (lambda loss: loss.update(parameters={"alpha": "1"}), "alpha must be a finite number"),
    ],
)
def test_hostile_tables_are_refused(rows, tmp_path, change, message):
    path = tmp_path / "model.json"
    fit(from_pdf(stats.logistic()), rows, n_estimators=1).save_model(path)
    document = json.loads(path.read_text())
    change(document["loss"])
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=message):
        pb.load_model(path)


def test_alpha_is_kept(rows, tmp_path):
    loss = from_pdf(stats.logistic(), Savage(2.0), alpha=0.5)
    model = fit(loss, rows, n_estimators=1)
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    assert loaded.loss_ == model.loss_ == loss
    assert loaded.loss_.parameters == {"alpha": 0.5}


@given(seed=st.integers(0, 10**6))
@drawn
def test_wild_tables_do_not_crash(seed):
    rng = np.random.default_rng(seed)
    n = len(_core.loss_knots())
    sides = {
        name: np.where(rng.random(n) < 0.5, 0.0, 10.0 ** rng.uniform(-300, 300, n))
        for name in ("right", "right_slope", "left", "left_slope")
    }
    native = LossTable(10.0 ** rng.uniform(-6, 6), 0.0, **sides).make_native("wild")
    u = np.concatenate(
        [rng.normal(size=99) * 10.0 ** rng.uniform(-9, 9), [np.nan, np.inf, -np.inf]]
    )
    for name in ("loss", "weight", "curvature", "probability", "density"):
        assert getattr(native, name)(u).shape == u.shape
    p = native.probability(np.sort(u[:99]))
    assert np.all((p >= 0.0) & (p <= 1.0))
    assert np.all(np.diff(p) >= 0.0)
    assert native.link(np.linspace(0.0, 1.0, 11)).shape == (11,)
    assert native.minimum_risk(np.linspace(0.0, 1.0, 11)).shape == (11,)


def test_hostile_slopes_give_probabilities(rows, tmp_path):
    path = tmp_path / "model.json"
    model = fit(from_pdf(stats.logistic()), rows, n_estimators=3)
    model.save_model(path)
    document = json.loads(path.read_text())
    for slope in (1e35, -1e35):
        document["loss"]["table"]["right_slope"] = [slope] * len(_core.loss_knots())
        path.write_text(json.dumps(document))
        loaded = pb.load_model(path)
        p = loaded.predict_proba(rows[0])
        assert np.all((p >= 0.0) & (p <= 1.0))
        np.testing.assert_allclose(p, model.predict_proba(rows[0]), atol=0.01)  # cells are narrow
        u = np.linspace(-9.0, 9.0, 5001)
        assert np.all(np.diff(loaded.loss_.probability(u)) >= 0.0)
        assert loaded.loss_.weight(u).max() < 2.0


def test_a_falling_link_is_not_saved(rows, tmp_path):
    loss = from_functions(BAD["falling"][0], name="mine", validate=False)
    model = fit(loss, rows, n_estimators=2)
    with pytest.raises(ValueError, match="'mine' cannot be saved: its inverse link falls"):
        model.save_model(tmp_path / "model.json")
