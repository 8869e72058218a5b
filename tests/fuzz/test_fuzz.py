"""Test the fuzzer itself: inputs are reproducible, and planted failures are found."""

from dataclasses import replace

import numpy as np
import pytest

import properboost as pb
from fuzz.__main__ import main
from fuzz.cases import Case, Column, _simpler_values
from fuzz.fits import Fits
from fuzz.invariants import hold
from fuzz.kinds import COMMANDS, KINDS, Command
from fuzz.outcomes import BrokenInvariant
from fuzz.parameters import (
    Shape,
    _Drawer,
    allowed,
    check_model,
    draw_parameters,
    list_estimators,
)
from fuzz.queries import Queries
from fuzz.shrink import shrink
from fuzz.workers import ENDED, HANGS, Bench, Worker
from helpers.models import same_bits
from properboost.export import sql_query
from properboost.parameters.declare import declared
from properboost.parameters.flat import COMPONENTS, PLACES
from properboost.parameters.learners import LEARNERS
from properboost.parameters.words import OBJECTS

pytest.importorskip("pandas")

TRIED = 40
"""Number of inputs of each kind in every test run; slow kinds have a smaller `tried`."""


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_some_inputs_of_each_kind_break_nothing(kind):
    tried = getattr(kind, "tried", TRIED)
    ends = [kind.check(kind.draw(seed)).kind for seed in range(tried)]
    assert ends.count("fitted") > tried / 3


def test_the_same_number_is_the_same_case():
    for kind in KINDS.values():
        one, other = kind.draw(5), kind.draw(5)
        assert one.params == other.params
        assert kind.show(one, "x") == kind.show(other, "x")
        assert same_bits(one.weight, other.weight)


# -- draws ----------------------------------------------------------------------------------------


def test_every_estimator_and_preset_is_drawn():
    drawn = {Fits().draw(seed).estimator for seed in range(600)}
    assert drawn == set(list_estimators())
    assert {"ProperBoostClassifierCV", "UDTClassifier", "RadoBoostClassifier"} <= drawn


@pytest.mark.parametrize("name", ["ProperBoostClassifier", "ARBoostClassifierCV", "UDTClassifier"])
def test_values_are_what_declarations_allow(name):
    kind = getattr(pb, name)
    for parameter in declared(kind):
        ordinary, extreme, refused = allowed(kind, parameter)
        assert not set(refused) & {*ordinary, *extreme}
    assert "1e+300" in allowed(pb.ProperBoostClassifier, "gain")[1]
    assert "-1.0" in allowed(pb.ProperBoostClassifier, "gain")[2]
    assert "'cyclic'" in allowed(pb.ProperBoostClassifier, "selection")[0]
    assert "'tree'" in allowed(pb.ProperBoostClassifier, "weak_learner")[0]
    assert "128" in allowed(pb.Tree, "max_leaf_nodes")[0]
    assert "[0.5]" in allowed(pb.ARBoostClassifierCV, "rhos")[0]


def draw_many(estimator, n=300):
    rng = np.random.default_rng(0)
    return [draw_parameters(rng, estimator, Shape(200, 4, ["0", "1"])) for _ in range(n)]


def test_fields_of_every_object_are_drawn_by_nested_names_and_in_objects():
    rng, shape = np.random.default_rng(0), Shape(200, 4, ["0", "1"])
    drawer = _Drawer(rng, shape, boldness=0.35, wild=False, repairs=True)
    known = declared(pb.ProperBoostClassifier)
    drawn = [drawer.draw_part(known[name]) for name in OBJECTS for _ in range(400)]
    nested = {name for texts in drawn for name in texts if "__" in name}
    positional = {"interactions__pairs", "outer_bags__n_bags"}
    assert nested == {place.nested for place in PLACES.values()} | positional
    objects = " ".join(text for texts in drawn for text in texts.values() if "pb." in text)
    for name, kind in COMPONENTS.items():
        assert f"pb.{name}(" in objects
        assert all(f"{field}=" in objects for field in declared(kind))


def test_spaces_have_values_lists_nested_names_and_objects():
    spaces = [texts["space"] for texts in draw_many("ProperBoostClassifierCV") if "space" in texts]
    pieces = ["'gain': [", "'weak_learner': 'tree'", "'weak_learner__", "'weak_learner': pb."]
    pieces += ["'interactions': [", "'calibration': ", "'monotonic_cst': [[", ", pb."]
    for piece in pieces:
        assert any(piece in space for space in spaces), piece


@pytest.mark.parametrize("name", ["ProperBoostClassifier", "ProperBoostClassifierCV", "AdaBoost"])
def test_most_of_what_is_drawn_goes_together(name):
    drawn = draw_many(name, 200)
    refused = 0
    for texts in drawn:
        try:
            check_model(make_case(4, name, texts).make().model)
        except (TypeError, ValueError):
            refused += 1
    assert 0 < refused < 24


def test_objects_and_spaces_are_made_smaller_field_by_field():
    simple = [*_simpler_values("{'gain': [1.0, 2.5], 'weak_learner': pb.Tree(max_depth=3)}")]
    for text in (
        "{'weak_learner': pb.Tree(max_depth=3)}",
        "{'gain': [2.5], 'weak_learner': pb.Tree(max_depth=3)}",
        "{'gain': [1.0, 2.5], 'weak_learner': pb.Tree()}",
        "{'gain': [1.0, 2.5], 'weak_learner': pb.Tree(max_depth=1)}",
    ):
        assert text in simple


# -- failures -------------------------------------------------------------------------------------


DEEP = {
    "n_estimators": "3",
    "gain": "2.5",
    "weak_learner": "'tree'",
    "weak_learner__max_depth": "4",
}


def make_case(n=200, estimator="ProperBoostClassifier", params=DEEP):
    rng = np.random.default_rng(0)
    columns = tuple(Column(rng.normal(size=n)) for _ in range(4))
    y = (columns[0].values + rng.normal(size=n) > 0).astype(int)
    return Case(estimator, params, columns, y, rng.exponential(size=n), layout="X")


def test_a_planted_failure_is_found_and_shrunk(monkeypatch):
    """Raw predictions of deep trees alone are wrong: shrinking leaves a tree and two rows."""
    right = pb.ProperBoostClassifier.decision_function

    def wrong(model, X, init_score=None):
        deep = getattr(model.weak_learner, "max_depth", None) is not None
        return right(model, X, init_score) * (np.nan if deep else 1.0)

    monkeypatch.setattr(pb.ProperBoostClassifier, "decision_function", wrong)
    kind = Fits()

    def find(case):
        try:
            kind.check(case, only="probabilities are finite, in [0, 1] and add up to 1")
        except BrokenInvariant as broken:
            return broken
        return None

    failure = find(make_case())
    small = shrink(make_case(), kind.smaller, lambda case: find(case) is not None)
    assert failure.invariant == find(small).invariant
    assert set(small.params) == {"weak_learner", "weak_learner__max_depth"}
    assert (small.n_rows, len(small.columns), small.weight) == (2, 1, None)
    shown = kind.show(small, failure.invariant)
    assert len(shown.splitlines()) < 15

    scope = {}
    exec(shown, scope)
    with pytest.raises(AssertionError):
        scope["test_regression"]()
    monkeypatch.undo()
    scope["test_regression"]()


def test_a_query_that_answers_where_it_must_fail_is_found_and_shrunk(monkeypatch):
    """SQLite would read texts that are no numbers as 0."""
    right = sql_query.DIALECTS["sqlite"]
    monkeypatch.setitem(sql_query.DIALECTS, "sqlite", replace(right, casts_fail=True))
    kind, system = Queries(), "sqlite predicts as the model does"

    def fails(case):
        try:
            kind.check(case, only=system)
        except BrokenInvariant as broken:
            return broken.signature == system
        return False

    spoilt = (kind.draw(seed) for seed in range(TRIED * 3))
    failing = next(case for case in spoilt if case.spoilt == "cell" and fails(case))
    small = shrink(failing, kind.smaller, fails, seconds=3.0)
    assert (small.table, small.key, small.outputs) == ("rows", "row", ("raw",))
    assert small.n_rows <= failing.n_rows

    scope = {}
    exec(kind.show(small, system), scope)
    with pytest.raises(AssertionError):
        scope["test_regression"]()
    monkeypatch.undo()
    scope["test_regression"]()


def test_a_value_that_a_search_replaces_is_found():
    X, y = np.arange(40.0)[:, None] % 7, np.arange(40) % 2
    space = {"gain": [1.0, 2.0], "weak_learner": pb.Tree(max_depth=3), "loss": "savage"}
    search = pb.ProperBoostClassifierCV(space, max_estimators=2, cv=2, refit=False).fit(X, y)
    only = "values of a space are in the best parameters"
    hold(search, X, y, only=only)
    for name, value in (("gain", 4.0), ("weak_learner", pb.Tree()), ("loss", "glog")):
        best = search.best_params_
        search.best_params_ = best | {name: value}
        with pytest.raises(AssertionError, match=f"^{name}="):
            hold(search, X, y, only=only)
        search.best_params_ = best


def test_a_name_that_is_another_model_than_its_object_is_found(monkeypatch):
    X, y = np.arange(60.0)[:, None] % 7, np.arange(60) % 5 < 2
    model = pb.ProperBoostClassifier(weak_learner="stump", n_estimators=3).fit(X, y)
    only = "a name and its object make the same bits"
    hold(model, X, y, only=only)
    monkeypatch.setitem(LEARNERS, "stump", pb.Tree)
    with pytest.raises(AssertionError):
        hold(model, X, y, only=only)


def test_an_object_that_is_changed_where_others_hold_it_is_found(monkeypatch):
    X, y = np.arange(60.0)[:, None] % 7, np.arange(60) % 5 < 2
    tree = pb.Tree(max_depth=2)
    model = pb.ProperBoostClassifier(weak_learner=tree, n_estimators=2).fit(X, y)
    only = "parameters may be set in any order"
    hold(model, X, y, only=only)
    assert tree == pb.Tree(max_depth=2)
    right = pb.ProperBoostClassifier.set_params

    def write_into(model, **params):
        if isinstance(model.weak_learner, pb.Tree) and "weak_learner__max_depth" in params:
            model.weak_learner.max_depth = params["weak_learner__max_depth"]
        return right(model, **params)

    monkeypatch.setattr(pb.ProperBoostClassifier, "set_params", write_into)
    with pytest.raises(AssertionError):
        hold(model, X, y, only=only)


def test_a_crash_and_a_hang_are_failures():
    worker = Worker()
    try:
        with pytest.raises(BrokenInvariant, match="exit status 1") as caught:
            worker.ask("no such action", "fits", 0)
        assert caught.value.invariant == ENDED
        assert not worker.alive
    finally:
        worker.close()
    slow = Worker()
    with pytest.raises(BrokenInvariant) as caught:
        slow.ask("check", "fits", 0, seconds=1e-3)
    assert caught.value.invariant == HANGS
    assert not slow.alive


def test_a_bench_goes_on_after_a_crash():
    bench = Bench()
    try:
        bench._worker().close()
        assert bench.examine("fits", make_case(60), sets=True).kind == "fitted"
    finally:
        bench.close()


def test_an_input_that_cannot_be_drawn_is_a_failure(capfd, tmp_path):
    assert main(["--replay", "fits:-1", "--keep", str(tmp_path)]) == 1
    assert "an input is drawn: ValueError: expected non-negative" in capfd.readouterr().out


def test_a_run_reports_what_it_tried(capfd, tmp_path):
    kinds = ",".join(KINDS)
    status = main(
        [
            "--minutes",
            "0.02",
            "--kinds",
            kinds,
            "--jobs",
            "1",
            "--seed",
            "3",
            "--keep",
            str(tmp_path),
        ]
    )
    out = capfd.readouterr().out
    assert status == 0
    assert "first input: 3" in out
    assert "fits" in out.partition("per hour")[2]


def test_a_program_that_finds_something_makes_the_run_fail(capfd, monkeypatch):
    for script, status in (("exit 3", 1), ("test {minutes} = 0.01", 0)):
        program = Command("program", 1.0, ["sh", "-c", script], ["sh"])
        monkeypatch.setitem(COMMANDS, "program", program)
        assert main(["--minutes", "0.01", "--kinds", "program"]) == status
    monkeypatch.setitem(COMMANDS, "program", Command("program", 1.0, ["false"], ["no such thing"]))
    assert main(["--minutes", "0.01", "--kinds", "program"]) == 0
    assert "program is not tried, for there is no no such thing" in capfd.readouterr().out
