"""The papers' pages have all the results, and no others."""

import importlib.util
import re
from pathlib import Path

import pytest

from properboost.reproduce.catalogue import PAPERS, find_items

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("write_papers", ROOT / "tools/write_papers.py")
writer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(writer)
ITEMS = find_items()


@pytest.mark.parametrize("page", writer.list_pages(), ids=lambda page: page.stem)
def test_pages_are_written_from_the_results(page):
    assert writer.fill(page) == page.read_text("utf-8"), "python tools/write_papers.py writes it"


def test_every_item_has_its_place_on_the_page_of_its_paper():
    for paper in PAPERS:
        page = (ROOT / f"docs/papers/{paper}.md").read_text("utf-8")
        places = [name for _, name, _ in writer.BLOCK.findall(page)]
        expected = [name for name in ITEMS if name.startswith(f"{paper}/")]
        assert sorted(name for name in places if "/" in name) == sorted(expected)
        assert paper in places


@pytest.mark.parametrize("name", ITEMS)
def test_results_are_of_the_numbers_that_are_published(name):
    """A changed item must run again."""
    report = writer.read(name)
    item = ITEMS[name]
    assert report is not None, f"properboost reproduce {name}"
    recorded = {reading["reading"]: reading for reading in report["readings"]}
    assert list(recorded) == [reading.name for reading in item.readings]
    for number in recorded[item.readings[0].name]["numbers"]:
        assert number["published"] == item.published[number["row"], number["column"]].text
    assert (report["title"], report["protocol"]) == (item.title, item.protocol)


def test_packed_reports_have_a_line_for_each_number():
    numbers = [{"row": "x", "n": 1}, {"row": "{y}", "n": None}]
    report = {"item": "a", "readings": [{"reading": "b", "numbers": numbers}]}
    text = writer.pack(report)
    assert re.search(r'^ *\{"row": "x", "n": 1\},$', text, re.MULTILINE)
    assert writer.json.loads(text) == report


def make_reading(name, verdicts, numbers):
    keys = ("published", "low", "high", "ours")
    return {
        "reading": name,
        "random": True,
        "verdicts": dict(zip(writer.Verdict, verdicts, strict=True)),
        "numbers": [dict(zip(keys, number, strict=True)) for number in numbers],
    }


def test_readings_are_side_by_side_and_added_up(monkeypatch):
    near, far, claim = ("20", 19.5, 20.5, 21.0), ("20", 19.5, 20.5, 30.0), ("more", 1.0, None, 2.0)
    old, new, *_ = writer.COMPARED
    report = {
        "readings": [
            make_reading(new, (1, 0, 0, 1), [near, claim]),
            make_reading("another", (0, 0, 0, 1), [far]),
            make_reading(old, (0, 0, 1, 1), [far, claim]),
        ]
    }
    monkeypatch.setattr(writer, "find_items", lambda _: ["boostlr/table3", "boostlr/fig9"])
    monkeypatch.setattr(writer, "read", lambda name: report)
    _, _, *rows = writer.render_readings().splitlines()
    assert rows[0] == f"| Table 3 | {old} | 0 | 0 | 1 | 1 | 0 of 1 (0%) |"
    assert rows[1] == f"| Table 3 | {new} | 1 | 0 | 0 | 1 | 1 of 1 (100%) |"
    assert rows[4:] == [
        f"| all | {old} | 0 | 0 | 2 | 2 | 0 of 2 (0%) |",
        f"| all | {new} | 2 | 0 | 0 | 2 | 2 of 2 (100%) |",
    ]


def test_a_near_mean_has_a_mark_where_the_rule_does_not_pass_it():
    number = {"published": "2867", "low": 2866.5, "high": 2867.5, "ours": 2851.0, "spread": None}
    assert writer.show(number | {"verdict": "not reproduced"}) == "2851 (2867) **no** ≈"
    assert writer.show(number | {"verdict": "within 10%"}) == "2851 (2867) ~"
    assert writer.show(number | {"verdict": "order only", "ours": 20.0}) == "20 (2867) (order)"
    claim = {"published": "more", "low": 1.0, "high": None, "ours": 2.0, "spread": 0.5}
    assert writer.show(claim | {"verdict": "order only"}) == "2 ± 0.5 (more) (order)"
