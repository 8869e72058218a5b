"""Losses of one's own, however made: what is wrong with one is said; searches, files."""

import copy
import dataclasses
import itertools
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone

import properboost as pb
from helpers.models import assert_same
from helpers.own_losses import (
    BAD,
    CERTAIN,
    RISKS,
    drawn,
    fit,
    logistic_weight,
    make_rows,
    raw_tangent_loss,
    raw_tangent_weight,
    tangent_callable,
)
from properboost import _core, losses
from properboost.losses import (
    GGauss,
    GLog,
    LossTable,
    Savage,
    check,
    from_functions,
    from_pdf,
    from_risk,
)


@pytest.fixture(scope="module")
def rows():
    return make_rows()


# -- what is wrong with a loss --------------------------------------------------------------------


def test_named_losses_are_sound():
    for name, gain in itertools.product(losses.LOSSES, (0.3, 1.0, 5.0)):
        report = check(losses.get_loss(name, gain))
        assert report, str(report)
        assert report.problems == ()
        assert str(report) == f"loss {name!r}: nothing wrong was found"


def test_the_raw_tangent_loss_is_not():
    raw = from_functions(raw_tangent_weight, raw_tangent_loss, name="raw", validate=False)
    for gain in (1.0, 2.0):
        report = check(dataclasses.replace(raw, gain=gain))
        assert not report
        (problem,) = report.problems
        assert problem.what == "phi does not decrease: its weight is below 0"
        assert problem.margin == pytest.approx(gain * CERTAIN, abs=1e-6)
        assert str(report).startswith("loss 'raw': phi does not decrease")


class Changed:
    """A sound loss, but for one method."""

    name, convex = "changed", True

    def __init__(self, **changed):
        base = GLog()
        for method in ("loss", "weight", "curvature", "probability"):
            setattr(self, method, changed.get(method, getattr(base, method)))


@pytest.mark.parametrize(
    ("changed", "what", "margin"),
    [
        ({"loss": lambda u: np.exp(-u)}, "the weight is not -phi'", (-0.1, 0.1)),
        (
            {"loss": lambda u: np.where(u > 5, np.nan, GLog().loss(u))},
            "phi is not finite",
            (5, 5.1),
        ),
        ({"weight": lambda u: GLog().weight(u) + 0.01 * (u > 3)}, "the weight is not", (2.9, 3.1)),
        ({"curvature": Savage().curvature}, "the curvature is not phi''", (-0.1, 0.1)),
        (
            {"probability": lambda u: GLog().probability(u) ** 1.1},
            "the link is not odd",
            (-0.1, 0.1),
        ),
        ({"probability": lambda u: GLog().probability(-u)}, "the probability falls", (-0.1, 0.1)),
        ({"probability": lambda u: 2.0 * GLog().probability(u)}, "not in", (-0.1, 0.1)),
        ({"probability": GGauss().probability}, "do not belong together", (-0.4, 0.4)),
    ],
)
def test_check_says_what_is_wrong_and_where(changed, what, margin):
    report = check(Changed(**changed))
    assert not report.ok
    problem = next(problem for problem in report.problems if what in problem.what)
    assert margin[0] <= problem.margin <= margin[1]
    assert f"margin {problem.margin:.6g}" in str(report)


def test_check_looks_at_weights_beside_those_near_them():
    class Holed:
        loss = staticmethod(lambda v: np.exp(-v))
        weight = staticmethod(lambda v: np.where((v > 1.0) & (v < 3.0), -100.0, np.exp(-v)))

    (problem,) = check(Holed()).problems
    assert problem.what == "phi does not decrease: its weight is below 0"
    assert (problem.margin, problem.value) == (pytest.approx(1.0), -100.0)


def test_check_takes_objects():
    with pytest.raises(TypeError, match=r"loss must be an object, not a class: GLog"):
        check(GLog)


def test_check_sees_a_false_claim_of_convexity():
    class Claimed:
        convex = True
        loss, weight, curvature = (getattr(Savage(), m) for m in ("loss", "weight", "curvature"))

    (problem,) = check(Claimed()).problems
    assert "claimed to be convex" in problem.what
    # 3p = 1
    assert problem.margin == pytest.approx(0.5 * math.log(0.5), abs=0.01)
    with pytest.raises(TypeError, match="must have the method 'loss'"):
        check("glog")


# -- values, searches, files ----------------------------------------------------------------------


def own_losses():
    yield from_pdf(stats.logistic(), gain=2.0)
    yield from_risk(*RISKS["savage"][:2], name="savage of one's own")
    yield from_functions(logistic_weight, name="mine", tabulate=False)


@pytest.mark.parametrize("loss", [*own_losses()], ids=repr)
def test_own_losses_are_values(loss):
    other = dataclasses.replace(loss, gain=3.0)
    assert other != loss
    assert dataclasses.replace(other, gain=loss.gain) == loss
    assert hash(dataclasses.replace(other, gain=loss.gain)) == hash(loss)
    assert other.native is loss.native  # lanes share packs
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert again.native is loss.native
    assert again.table.right.flags.writeable is False
    assert copy.deepcopy(loss) == clone(pb.ProperBoostClassifier(loss)).loss == loss
    with pytest.raises(dataclasses.FrozenInstanceError):
        loss.gain = 1.0
    with pytest.raises(ValueError, match="read-only"):
        loss.table.left[0] = 1.0
    assert repr(loss) == f"CustomLoss({loss.name!r}, gain={loss.gain!r})"


def test_native_losses_say_that_they_cannot_be_pickled():
    loss = from_functions(tangent_callable("weight"), name="mine", scale=CERTAIN)
    assert copy.deepcopy(loss) is loss
    assert hash(loss) == hash(dataclasses.replace(loss, gain=1.0))
    with pytest.raises(TypeError, match=r"'mine' calls a native function.*tabulate=True"):
        pickle.dumps(loss)
    table = from_functions(tangent_callable("weight"), name="mine", scale=CERTAIN, tabulate=True)
    assert pickle.loads(pickle.dumps(table)) == table


def test_searches_take_losses_of_ones_own(rows):
    own = from_pdf(stats.logistic())
    other = from_pdf(stats.norm(scale=4.0 / math.sqrt(2.0 * math.pi)), name="logistic")
    settings = {"cv": 3, "n_estimators": 30, "gains": [0.5, 2.0, 50.0], "random_state": 0}
    a = pb.ProperBoostClassifierCV([own, other, "tangent"], **settings).fit(*rows)
    b = pb.ProperBoostClassifierCV(["glog", "ggauss", "tangent"], **settings).fit(*rows)
    scores = [search.cv_results_["mean_test_score"] for search in (a, b)]
    assert len(scores[0]) == 9
    np.testing.assert_allclose(*scores, atol=1e-5)
    assert a.gain_ == b.gain_
    np.testing.assert_allclose(a.predict_proba(rows[0]), b.predict_proba(rows[0]), atol=1e-4)


@pytest.mark.parametrize("loss", [*own_losses()], ids=repr)
def test_models_of_own_losses_are_saved(loss, rows, tmp_path):
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


def test_tangent_is_saved_by_its_name(rows, tmp_path):
    model = fit("tangent", rows, n_estimators=3)
    model.save_model(tmp_path / "model.json")
    assert len((tmp_path / "model.json").read_text()) < 20_000
    assert_same(model, pb.load_model(tmp_path / "model.json"), rows[0])


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
        (lambda loss: loss.update(parameters={"alpha": 0.1}), r"loss\.parameters must be empty"),
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
