"""The papers' pages tell what was found, no more and no less."""

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
        own = [name for name in ITEMS if name.startswith(f"{paper}/")]
        assert sorted(name for name in places if "/" in name) == sorted(own)
        assert paper in places


@pytest.mark.parametrize("name", ITEMS)
def test_results_are_of_the_numbers_that_are_published(name):
    """An item that was changed has to be run again."""
    report = writer.read(name)
    item = ITEMS[name]
    assert report is not None, f"properboost reproduce {name}"
    kept = {reading["reading"]: reading for reading in report["readings"]}
    assert list(kept) == [reading.name for reading in item.readings]
    for one in kept[item.readings[0].name]["numbers"]:
        assert one["published"] == item.published[one["row"], one["column"]].text
    assert (report["title"], report["protocol"]) == (item.title, item.protocol)


def test_packed_reports_have_a_line_for_each_number():
    numbers = [{"row": "x", "n": 1}, {"row": "{y}", "n": None}]
    report = {"item": "a", "readings": [{"reading": "b", "numbers": numbers}]}
    text = writer.pack(report)
    assert re.search(r'^ *\{"row": "x", "n": 1\},$', text, re.MULTILINE)
    assert writer.json.loads(text) == report
