"""Every item: it is complete, and its numbers are those that were published."""

import json

import pytest

from properboost.datasets._uci_records import RECORDS
from properboost.reproduce.catalogue import find_items
from properboost.reproduce.data import find_missing
from properboost.reproduce.item import Piece
from properboost.reproduce.report import judge_item

ITEMS = find_items()
EVERY = pytest.mark.parametrize("name", ITEMS)
SHORT = [name for name, item in ITEMS.items() if item.experiment.seconds <= 1.0]
"""Items of which a repetition takes no longer than a test may."""


@EVERY
def test_an_item_describes_itself(name):
    item = ITEMS[name]
    for text in (item.title, item.units, item.protocol):
        assert text == text.strip()
        assert text
    assert item.protocol.endswith(".")
    assert item.published
    names = [reading.name for reading in item.readings]
    assert len(set(names)) == len(names) >= 1
    assert all(reading.reason.endswith(".") for reading in item.readings)


@EVERY
def test_an_experiment_lists_its_parts(name):
    experiment = ITEMS[name].experiment
    assert experiment.parts
    assert set(experiment.quick_parts or ()) <= set(experiment.parts)
    known = {*RECORDS, "letter", "LETTER.p1", "LETTER.p2", "ADULT", "vowel.context"}
    assert {s for sets in experiment.parts.values() for s in sets} <= known
    assert experiment.seconds > 0.0
    assert experiment.quick_seeds <= experiment.seeds


def test_experiments_have_names_of_their_own():
    experiments = {id(item.experiment): item.experiment for item in ITEMS.values()}
    names = [experiment.name for experiment in experiments.values()]
    assert len(set(names)) == len(names)


@pytest.mark.filterwarnings("ignore::UserWarning")  # about the papers' settings
@pytest.mark.parametrize("name", SHORT)
def test_short_items_are_computed(name):
    """Every published number has a reproduced one, where the data are available."""
    item, reading = ITEMS[name], ITEMS[name].readings[0]
    parts = item.experiment.parts
    here = [part for part, sets in parts.items() if not find_missing(sets)]
    seed = {part: item.experiment.measure(Piece(part, 0, reading.measured)) for part in here}
    assert json.loads(json.dumps(seed)) == seed
    outcome = judge_item(item, reading, [seed], 0.0)
    if len(here) == len(parts):
        assert [judgement.place for judgement in outcome.judgements] == list(item.published)
