"""The page on trends agrees with the measurements."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("write_trends", ROOT / "tools/write_trends.py")
writer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(writer)


def record(base, head, ratios, **more):
    task = {"seconds": [1.0, 0.5], "ratios": ratios, "log loss": [0.5, 0.25]}
    return {
        "base": base, "head": head, "commits": [base * 2, head * 2], "date": "2026-01-01",
        "machine": {"processor": "a processor", "processors": 2, "python": "3.11"},
        "tasks": {"fit": task, **more},
    }  # fmt: skip


def test_the_page_is_written_from_the_records():
    text = writer.PAGE.read_text("utf-8")
    assert writer.fill(text) == text, "python tools/write_trends.py writes it"
    assert len(writer.BLOCK.findall(text)) == 1
    assert "### " in text


def test_speeds_are_multiplied_and_the_newest_comes_first():
    records = [
        record("a", "b", [0.5, 0.4, 0.9], other={"missing": "a: none"}),
        record("b", "c", [0.25, 0.25, 0.25]),
    ]
    newest, oldest = writer.write(records).split("### ")[1:]
    assert newest.startswith("c, compared with b")
    assert "| fit | 0.500 | 0.25 (0.25-0.25) | 8.00 | 0.5000 to 0.2500 |" in newest
    assert "| fit | 0.500 | 0.50 (0.40-0.90) | 2.00 | 0.5000 to 0.2500 |" in oldest
    assert "| other |  |  |  | missing in a |" in oldest


def test_records_must_follow_each_other():
    lines = [json.dumps(record("a", "b", [1.0])), json.dumps(record("c", "d", [1.0]))]
    with pytest.raises(ValueError, match="c must be what the record before it ends with; got b"):
        writer.read("\n".join(lines))
