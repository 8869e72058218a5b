"""The papers' numbers were entered twice, and both entries agree.

``published_again`` was written from the papers' text without a look at the items.  It names rows
and columns and divides tables independently; the tests compare all numbers, and which of them
are neighbours in a row.
"""

import itertools
from pathlib import Path

import numpy as np
import pytest

from properboost.reproduce.catalogue import PAPERS, list_items, load_item
from properboost.reproduce.published import read_table

AGAIN = Path(__file__).parent / "published_again"
TABLES = sorted(path.stem for path in AGAIN.glob("*_table*.txt"))
OTHER_ORDER = ("boostlr_table6",)
"""Tables whose items have the data sets in another order than the paper."""

SMALL = [f"#{k}" for k in range(1, 11)]
LOSSES = ("GLog", "GBoost", "GGauss", "GLaplace")


def read_lines(name):
    lines = (AGAIN / f"{name}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def find_runs(lines):
    """Return the numbers of each row without gaps, which are neighbours in the paper."""
    for line in lines:
        _, *entries = (entry.strip() for entry in line.split("|"))
        for full, group in itertools.groupby(entries, bool):
            if full:
                yield list(group)


@pytest.mark.parametrize("name", TABLES)
def test_tables_agree(name):
    paper, table = name.split("_")
    numbers = [number.text for number in load_item(f"{paper}/{table}").published.values()]
    runs = list(find_runs(read_lines(name)[1:]))
    assert sorted(itertools.chain(*runs)) == sorted(numbers)
    order = sorted if name in OTHER_ORDER else list
    for run in runs:
        windows = (numbers[k : k + len(run)] for k in range(len(numbers) - len(run) + 1))
        assert any(order(row) == order(run) for row in windows), f"no row reads {run}"


def stands_for(published, value):
    ends = (published.low, published.high)
    if published.is_claim:
        return np.isclose(ends, value).any()
    return published.low <= value <= published.high


@pytest.mark.parametrize("line", read_lines("claims"))
def test_claims_are_published_by_an_item(line):
    paper, _, text = (entry.strip() for entry in line.split("|"))
    assert paper in PAPERS
    items = [load_item(f"{paper}/{name}") for name in list_items(paper)]
    values = (float(text), float(text) / 100.0)
    assert any(stands_for(p, v) for i in items for p in i.published.values() for v in values)


# A table's summary of its numbers shows whether these were copied correctly.


def read_block(name, block, rows):
    table = read_table("\n".join(read_lines(name)))
    return np.array([[float(table[f"{block}: {row}", c].text) for c in SMALL] for row in rows])


def test_the_drops_of_table_3_follow_from_its_errors():
    rivals = ("AdaBoost", "LogitBoost", "average at sigma 1")
    least = read_block("boostlr_table3", "classification", rivals).min(axis=0)
    ours, drop = read_block("boostlr_table3", "classification", ("average at sigma_opt", "drop, %"))
    np.testing.assert_allclose(drop, 100.0 * (1.0 - ours / least), atol=0.07)


def test_the_drops_of_table_4_follow_from_its_errors():
    name, block = "boostlr_table4", "classification"
    least = read_block(name, block, ("AdaBoost", "LogitBoost")).min(axis=0)
    ours = read_block(name, block, LOSSES).min(axis=0)
    (drop,) = read_block(name, block, ("drop, %",))
    np.testing.assert_allclose(drop, 100.0 * (1.0 - ours / least), atol=0.07)


def test_the_wins_of_table_4_follow_from_its_cross_entropies():
    name, block = "boostlr_table4", "calibration"
    least = read_block(name, block, ("AdaBoost", "LogitBoost")).min(axis=0)
    (wins,) = read_block(name, block, ("BoostLR wins",))
    assert wins.tolist() == (read_block(name, block, LOSSES) < least).sum(axis=0).tolist()


def test_the_counts_of_table_7_follow_from_table_6():
    counts = read_table("\n".join(read_lines("boostlr_table6")))
    gains = read_table("\n".join(read_lines("boostlr_table7")))
    exponential = int(counts["Exponential", "LETTER2 error"].text)
    for loss in ("GLog", "GLaplacian"):
        ours = int(counts[loss, "LETTER2 error"].text)
        assert int(gains[f"{loss}: errors", "DIV1"].text) == exponential - ours


def test_wins_of_the_savage_paper_are_of_ten_sets():
    table = read_table("\n".join(read_lines("savage_table4")))
    for level in ("0%", "5%", "40%"):
        wins = [int(p.text) for (_, column), p in table.items() if column == f"{level}: wins"]
        assert sum(wins) == 10


def test_no_two_rado_methods_beat_each_other_on_more_than_twenty_sets():
    table = read_table("\n".join(read_lines("rado_table2")))
    assert len(table) == 30
    for a, b in table:
        assert int(table[a, b].text) + int(table[b, a].text) <= 20
