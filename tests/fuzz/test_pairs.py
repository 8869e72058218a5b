"""Test pairs of parameters besides their defaults: a random part; `fuzz.pairs` tries all."""

import itertools
from dataclasses import replace

import pytest

import properboost as pb
from fuzz.cases import make_model
from fuzz.outcomes import BrokenInvariant
from fuzz.pairs import Pairs, list_pairs, main
from fuzz.parameters import list_names
from properboost.estimators import presets
from properboost.parameters.declare import declared
from properboost.parameters.flat import PLACES

pytest.importorskip("pandas")

TRIED = {
    "ProperBoostClassifier": 150,
    "ProperBoostClassifierCV": 8,
    "ARBoostClassifier": 30,
    "ARBoostClassifierCV": 6,
    "RadoBoostClassifier": 30,
    "UDTClassifier": 30,
    "ULSClassifier": 30,
}
"""Number of pairs of each estimator in every test run; `test_fuzz` tries those of presets."""


def list_numbers(*estimators):
    """Return the numbers of an estimator's pairs."""
    return [k for k, (name, *_) in enumerate(list_pairs()) if name in estimators]


@pytest.mark.parametrize("estimator", TRIED)
def test_pairs_of_parameters_fit_or_are_refused_by_name(estimator):
    numbers = list_numbers(estimator)[: TRIED[estimator]]
    ends = [Pairs().check(Pairs().draw(number)).kind for number in numbers]
    assert ends.count("fitted") > len(ends) / 2


def test_all_pairs_are_there_once():
    flat, nested = declared(pb.ProperBoostClassifier), {place.nested for place in PLACES.values()}
    drawn = [tuple(pair) for name, *pair in list_pairs() if name == "ProperBoostClassifier"]
    assert {*flat, *nested} <= {*itertools.chain(*drawn)} == {*list_names("ProperBoostClassifier")}
    assert len({frozenset(pair) for pair in drawn}) == len(drawn)
    assert {*itertools.combinations(flat, 2)} <= {*drawn}
    # No learner has both fields, and a field makes its object.
    fields = ("weak_learner__max_cells", "weak_learner__max_depth", "weak_learner__max_features")
    apart = [pair for pair in itertools.combinations(fields, 2) if pair in drawn]
    assert apart == [fields[1:]]
    assert not any(pair[1].startswith(f"{pair[0]}__") for pair in drawn)
    assert {name for name, *_ in list_pairs()} >= {*TRIED, *presets.__all__}


def test_both_are_away_from_their_defaults():
    for number in list_numbers("ProperBoostClassifier")[:300]:
        case, names = Pairs().draw(number), list_pairs()[number][1:]
        assert {*names} <= {*case.params}
        model = make_model(case.estimator, case.values)
        for name in names:
            owner, _, field = name.partition("__")
            part = getattr(model, owner) if field else model
            default = declared(type(part))[field or name].default
            assert repr(getattr(part, field or name)) != repr(default)


def test_values_are_others_from_one_round_to_the_next():
    number = list_pairs().index(("ProperBoostClassifier", "gain", "learning_rate"))
    rounds = [Pairs().draw(number + k * len(list_pairs())) for k in range(4)]
    assert all({*case.params} == {"gain", "learning_rate"} for case in rounds)
    assert len({tuple(case.params.items()) for case in rounds}) > 1


# -- failures -------------------------------------------------------------------------------------


def find_fitted():
    """Return a case of a pair that can be fitted; the first one will do."""
    number = list_pairs().index(("ProperBoostClassifier", "weak_learner", "max_bins"))
    return Pairs().draw(number)


def test_an_error_that_names_neither_is_found(monkeypatch):
    def fail(model, X, y, sample_weight=None):
        raise ValueError("gain must be something else")

    monkeypatch.setattr(pb.ProperBoostClassifier, "fit", fail)
    with pytest.raises(BrokenInvariant, match="names neither"):
        Pairs().check(find_fitted())
    case = replace(find_fitted(), params={"gain": "2", "max_bins": "2"})
    assert Pairs().check(case).kind == "refused"
    nested = {"weak_learner": "'tree'", "weak_learner__max_depth": "2"}
    with pytest.raises(BrokenInvariant, match="names neither"):
        Pairs().check(replace(case, params=nested))


def test_another_error_and_other_bits_are_found(monkeypatch):
    """The check finds an index beyond an array, and a file that loses a choice."""

    def crash(model, X, y, sample_weight=None):
        raise IndexError("index 3 is out of bounds")

    with monkeypatch.context() as patch:
        patch.setattr(pb.ProperBoostClassifier, "fit", crash)
        with pytest.raises(BrokenInvariant, match="IndexError"):
            Pairs().check(find_fitted())
    right = pb.load_model
    monkeypatch.setattr(
        pb, "load_model", lambda path: right(path).set_params(calibration__slope=0.5)
    )
    with pytest.raises(BrokenInvariant) as broken:
        Pairs().check(find_fitted())
    assert broken.value.invariant == "a file holds the same model"


def test_the_command_counts_pairs(capfd, tmp_path):
    status = main(["UDTClassifier", "--values", "1", "--jobs", "1", "--keep", str(tmp_path)])
    out = capfd.readouterr().out
    assert status == 0
    tried = len(list_numbers("UDTClassifier"))
    row = next(line for line in out.splitlines() if line.startswith("UDTClassifier")).split()
    assert row[1:3] == [str(tried)] * 2
    assert row[5] == "0"
    assert sum(map(int, row[3:6])) == tried
    assert len(list_names("UDTClassifier")) * 11 == 2 * tried
