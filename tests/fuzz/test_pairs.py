"""Two parameters away from their defaults: a part of all pairs, by lot; `fuzz.pairs` tries all."""

import itertools

import pytest

import properboost as pb
from fuzz.cases import evaluate
from fuzz.outcomes import Broken
from fuzz.pairs import Pairs, list_pairs, main
from fuzz.parameters import list_parameters
from properboost.estimators import presets
from properboost.parameters.declare import declared

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
"""Pairs of each estimator in every run of the tests; `test_fuzz` tries those of presets."""


def list_numbers(*estimators):
    """Return the numbers of an estimator's pairs."""
    return [k for k, (name, *_) in enumerate(list_pairs()) if name in estimators]


@pytest.mark.parametrize("estimator", TRIED)
def test_pairs_of_parameters_fit_or_are_refused_by_name(estimator):
    numbers = list_numbers(estimator)[: TRIED[estimator]]
    ends = [Pairs().check(Pairs().draw(number)).kind for number in numbers]
    assert ends.count("fitted") > len(ends) / 2


def test_all_pairs_are_there_once():
    names = [*declared(pb.ProperBoostClassifier)]
    drawn = [frozenset(pair) for name, *pair in list_pairs() if name == "ProperBoostClassifier"]
    assert sorted(map(sorted, drawn)) == sorted(map(sorted, itertools.combinations(names, 2)))
    assert {name for name, *_ in list_pairs()} >= {*TRIED, *presets.__all__}


def test_both_are_away_from_their_defaults():
    defaults = pb.ProperBoostClassifier().get_params()
    for number in list_numbers("ProperBoostClassifier")[:300]:
        case = Pairs().draw(number)
        assert {*case.params} == {*list_pairs()[number][1:]}
        for name, text in case.params.items():
            assert repr(evaluate(text)) != repr(defaults[name])


def test_values_are_others_from_one_round_to_the_next():
    number = list_pairs().index(("ProperBoostClassifier", "gain", "learning_rate"))
    rounds = [Pairs().draw(number + k * len(list_pairs())) for k in range(4)]
    assert all({*case.params} == {"gain", "learning_rate"} for case in rounds)
    assert len({tuple(case.params.items()) for case in rounds}) > 1


# -- what is found --------------------------------------------------------------------------------


def find_fitted():
    """Return a pair that is fitted: the first is as good as any."""
    number = list_pairs().index(("ProperBoostClassifier", "weak_learner", "max_bins"))
    return Pairs().draw(number)


def test_an_error_that_names_neither_is_found(monkeypatch):
    def fail(model, X, y, sample_weight=None):
        raise ValueError("gain must be something else")

    monkeypatch.setattr(pb.ProperBoostClassifier, "fit", fail)
    with pytest.raises(Broken, match="names neither"):
        Pairs().check(find_fitted())
    names = dict.fromkeys(["gain", "max_bins"], "2")
    case = find_fitted()
    assert Pairs().check(type(case)(**{**case.__dict__, "params": names})).kind == "refused"


def test_another_error_and_other_bits_are_found(monkeypatch):
    """An index beyond an array, as of pairs and bags that ended; and a file that loses a choice."""

    def crash(model, X, y, sample_weight=None):
        raise IndexError("index 3 is out of bounds")

    with monkeypatch.context() as patch:
        patch.setattr(pb.ProperBoostClassifier, "fit", crash)
        with pytest.raises(Broken, match="IndexError"):
            Pairs().check(find_fitted())
    right = pb.load_model
    monkeypatch.setattr(pb, "load_model", lambda path: right(path).set_params(slope=0.5))
    with pytest.raises(Broken) as broken:
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
    assert len(list_parameters("UDTClassifier")) * 11 == 2 * tried
