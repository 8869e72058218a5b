"""Every family of models has a sentence."""

from properboost.model_selection.compare_families import PAIRS
from properboost.model_selection.families import FAMILIES
from properboost.report.families import describe_family


def test_all_families_are_described():
    names = [*(family.name for family in FAMILIES), PAIRS]
    texts = [describe_family(name) for name in names]
    assert all(text.endswith(".") for text in texts)
    assert len({*texts}) == len(names)
    assert describe_family("candles") == ""
