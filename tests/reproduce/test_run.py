"""Runs of items: resumption, readings, missing data, and written files."""

import json

import pytest

from properboost.reproduce import item as items
from properboost.reproduce import run
from properboost.reproduce.published import printed

CALLS = []


def measure(piece):
    CALLS.append(piece)
    return {"number": 10.0 * len(piece.part) + piece.seed + 100.0 * (piece.reading == "loose")}


def tabulate(seed, reading):
    return {(part, reading): record["number"] for part, record in seed.items()}


def draw(figure, seeds):
    figure.subplots().plot([record["a"]["number"] for record in seeds])


EXPERIMENT = items.Experiment(
    "toy", {"a": (), "bb": (), "far": ("atlantis",)}, measure, 1.0, seeds=3, quick_parts=("a",)
)
ITEM = items.Item(
    title="a toy",
    units="toys",
    protocol="Play.",
    published={(part, "strict"): printed(f"{10 * len(part) + 1}") for part in EXPERIMENT.parts},
    experiment=EXPERIMENT,
    tabulate=tabulate,
    readings=(items.Reading("strict", "It says so."), items.Reading("loose", "It may mean so.")),
    draw=draw,
    missing={"the moon": "too far"},
)


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    CALLS.clear()
    monkeypatch.setattr(run, "find_items", lambda names: {"arboost/fig1": ITEM})
    monkeypatch.setattr(run.data, "find_missing", lambda names: dict.fromkeys(names, "it sank"))


def test_reports_are_printed_and_written(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    report = run.reproduce(output_dir=tmp_path)["arboost/fig1"]
    output = capsys.readouterr().out
    assert "arboost, Figure 1: a toy" in output
    assert "Missing data sets: atlantis" in output
    assert output.endswith("Missing: atlantis: it sank.\n")
    assert "Left out: the moon: too far" in output
    assert "2 published numbers: 2 within rounding; 2 of 2 means within 10%." in output
    assert "3 repetitions" in output
    assert (tmp_path / "arboost/fig1.png").exists()
    assert json.loads((tmp_path / "arboost/fig1.json").read_text()) == report
    (reading,) = report["readings"]
    assert [(number["row"], number["ours"], number["spread"]) for number in reading["numbers"]] == [
        ("a", 11.0, 1.0), ("bb", 21.0, 1.0),
    ]  # fmt: skip
    assert report["data"] == {}
    assert set(report["versions"]) == {"properboost", "numpy", "scikit-learn", "python"}


def test_a_run_goes_on_where_it_was(tmp_path):
    run.reproduce(output_dir=tmp_path, seeds=2, say=str)
    assert len(CALLS) == 4
    run.reproduce(output_dir=tmp_path, seeds=3, say=str)
    assert len(CALLS) == 6
    run.reproduce(output_dir=tmp_path, seeds=3, readings=True, say=str)
    assert len(CALLS) == 12
    assert {piece.reading for piece in CALLS[6:]} == {"loose"}
    file = tmp_path / "records/toy.jsonl"
    file.write_text(file.read_text()[:-20])  # killed while it wrote
    run.reproduce(output_dir=tmp_path, seeds=3, readings=True, say=str)
    assert len(CALLS) == 13


def test_records_of_other_code_or_data_do_not_count(tmp_path, monkeypatch):
    run.reproduce(output_dir=tmp_path, seeds=1, say=str)
    monkeypatch.setattr(run, "_read_source", lambda path: b"changed")
    run.reproduce(output_dir=tmp_path, seeds=1, say=str)
    assert len(CALLS) == 4


def test_quick_runs_have_few_seeds_and_parts(tmp_path):
    run.reproduce(output_dir=tmp_path, quick=True, say=str)
    assert [(piece.part, piece.seed) for piece in CALLS] == [("a", 0), ("a", 1)]


def test_readings_that_are_not_random_have_one_seed(tmp_path, monkeypatch):
    fixed = items.Item(
        **{**vars(ITEM), "readings": (items.Reading("strict", "A formula.", random=False),)}
    )
    monkeypatch.setattr(run, "find_items", lambda names: {"arboost/fig1": fixed})
    run.reproduce(output_dir=tmp_path, seeds=5, say=str)
    assert {piece.seed for piece in CALLS} == {0}


def test_readings_may_share_measurements(tmp_path, monkeypatch):
    other = items.Reading("other table", "The same runs, read otherwise.", measured_as="loose")
    item = items.Item(**{**vars(ITEM), "readings": (*ITEM.readings, other)})
    monkeypatch.setattr(run, "find_items", lambda names: {"arboost/fig1": item})
    run.reproduce(output_dir=tmp_path, seeds=1, readings=True, say=str)
    assert {piece.reading for piece in CALLS} == {"strict", "loose"}
    assert len(CALLS) == 4


def test_other_readings_have_half_as_many_seeds(tmp_path):
    run.reproduce(output_dir=tmp_path, readings=True, say=str)
    assert {p.seed for p in CALLS if p.reading == "strict"} == {0, 1, 2}
    assert {p.seed for p in CALLS if p.reading == "loose"} == {0, 1}


def test_readings_may_have_their_own_number_of_seeds_and_first_seed(tmp_path, monkeypatch):
    loose = items.Reading("loose", "It may mean so.", seeds=2, first_seed=70)
    same = items.Reading("same", "The same runs.", measured_as="loose")
    item = items.Item(**{**vars(ITEM), "readings": (ITEM.readings[0], loose, same)})
    monkeypatch.setattr(run, "find_items", lambda names: {"arboost/fig1": item})
    report = run.reproduce(output_dir=tmp_path, readings=True, say=str)["arboost/fig1"]
    assert {p.seed for p in CALLS if p.reading == "strict"} == {0, 1, 2}
    assert {p.seed for p in CALLS if p.reading == "loose"} == {70, 71}
    assert [reading["seeds"] for reading in report["readings"]] == [3, 2, 2]
    run.reproduce(output_dir=tmp_path, readings=True, seeds=4, say=str)
    assert {p.seed for p in CALLS if p.reading == "loose"} == {70, 71, 72, 73}


def test_other_readings_may_have_fewer_parts(tmp_path, monkeypatch):
    short = items.Experiment(**{**vars(EXPERIMENT), "name": "short", "reading_parts": ("bb",)})
    item = items.Item(**{**vars(ITEM), "experiment": short})
    monkeypatch.setattr(run, "find_items", lambda names: {"arboost/fig1": item})
    run.reproduce(output_dir=tmp_path, readings=True, say=str)
    assert {p.part for p in CALLS if p.reading == "strict"} == {"a", "bb"}
    assert {p.part for p in CALLS if p.reading == "loose"} == {"bb"}


def test_records_of_data_that_have_gone_do_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr(run.data, "find_missing", lambda names: {})
    monkeypatch.setattr(run.data, "hash_table", lambda name: "water")
    run.reproduce(output_dir=tmp_path, seeds=1, say=str)
    monkeypatch.setattr(run.data, "find_missing", lambda names: dict.fromkeys(names, "it sank"))
    monkeypatch.setattr(run.data, "hash_table", lambda name: pytest.fail("it sank"))
    report = run.reproduce(output_dir=tmp_path, seeds=1, say=str)["arboost/fig1"]
    assert [number["row"] for number in report["readings"][0]["numbers"]] == ["a", "bb"]
    assert len(CALLS) == 3


def test_items_without_data_are_listed(tmp_path, monkeypatch, capsys):
    far = items.Experiment("far", {"far": ("atlantis",)}, measure, 1.0)
    item = items.Item(**{**vars(ITEM), "experiment": far})
    monkeypatch.setattr(run, "find_items", lambda names: {"arboost/fig1": item})
    run.reproduce(output_dir=tmp_path)
    assert "no published number could be compared" in capsys.readouterr().out
    assert not (tmp_path / "arboost/fig1.png").exists()


def test_processes_find_the_same(tmp_path):
    alone = run.reproduce(output_dir=tmp_path / "1", seeds=4, say=str)
    together = run.reproduce(output_dir=tmp_path / "2", seeds=4, n_jobs=2, say=str)
    for one in (alone, together):
        one["arboost/fig1"]["readings"][0]["seconds"] = 0.0
    assert alone == together


def test_wrong_numbers_are_named(tmp_path):
    with pytest.raises(ValueError, match="seeds must be at least 1; got 0"):
        run.reproduce(output_dir=tmp_path, seeds=0)
    with pytest.raises(ValueError, match="n_jobs must be at least 1; got 0"):
        run.reproduce(output_dir=tmp_path, n_jobs=0)


def test_a_picture_needs_matplotlib(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    run.reproduce(output_dir=tmp_path, seeds=1)
    assert (
        "a picture needs matplotlib (pip install 'properboost[plots]')" in capsys.readouterr().out
    )
    assert not (tmp_path / "arboost/fig1.png").exists()
