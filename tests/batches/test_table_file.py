"""Test files of quantized tables: the same models, mapped or not, and errors for damaged files."""

import copy
import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import properboost as pb
from properboost.batches import table_file
from properboost.whole_file import write_whole

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))

import table_files

pd = pytest.importorskip("pandas")


def make_table(n=900, n_classes=2, weighted=True, **settings):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "z": rng.integers(0, 30, n),
            "town": pd.Categorical(rng.choice(["Ulm", "Bonn", "Graz"], n)),
            "w": rng.integers(0, 3, n) * 0.75,
        }
    )
    rows["y"] = np.where(rows["z"] + rng.normal(size=n) > 15, "yes", "no").astype(object)
    if n_classes > 2:
        rows["y"] = rng.integers(0, n_classes, n)
    if not weighted:
        return pb.QuantizedTable.from_batches(rows.drop(columns="w"), "y", **settings)
    return pb.QuantizedTable.from_batches(rows, "y", "w", **settings)


def file_of(model, folder):
    model.save_model(folder / "model.json")
    return (folder / "model.json").read_bytes()


@pytest.fixture
def saved(tmp_path):
    make_table().save(tmp_path / "rows.codes")
    return tmp_path / "rows.codes"


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize(
    ("of_table", "parameters"),
    [
        ({}, {"selection": "cyclic"}),
        ({"weighted": False}, {"selection": "greedy", "interactions": 1}),
        ({"n_classes": 3, "bin_means": True}, {"weak_learner": pb.Tree(linear_leaves=True)}),
        ({"n_classes": 260, "n": 1200, "weighted": False}, {"weak_learner": "stump"}),
        ({}, {"outer_bags": 4}),
    ],
)
def test_fits_are_the_same(of_table, parameters, mmap, tmp_path):
    table = make_table(**of_table)
    table.save(tmp_path / "rows.codes")
    opened = pb.QuantizedTable.open(tmp_path / "rows.codes", mmap=mmap)
    assert repr(opened) == repr(table)
    assert opened.feature_names == table.feature_names
    assert opened.nbytes == table.nbytes
    model = pb.ProperBoostClassifier(n_estimators=2, **parameters)
    expected = file_of(model.fit(table), tmp_path)
    for _ in range(2):
        assert file_of(model.fit(opened), tmp_path) == expected
    opened.save(tmp_path / "again.codes")
    assert (tmp_path / "again.codes").read_bytes() == (tmp_path / "rows.codes").read_bytes()


def test_mapped_codes_are_not_copied(saved):
    opened = pb.QuantizedTable.open(saved)
    codes = opened.read_codes()
    assert codes is opened.read_codes()
    assert not codes.flags.owndata
    assert not codes.flags.writeable
    assert codes.ctypes.data % table_file.ALIGNMENT == 0


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("mmap", [True, False])
def test_codes_of_format_1_lie_in_the_order_of_rows(weighted, mmap, tmp_path, monkeypatch):
    table = make_table(n_classes=3, weighted=weighted)
    labels, weight = table.labels.codes, table.weight
    counted = np.arange(len(labels)) if weight is None else np.flatnonzero(weight > 0.0)
    _, codes = table.encode_counted(table.binning, 1)
    by_class = np.argsort(labels[counted], kind="stable")
    old = copy.copy(table)
    old._rows = dataclasses.replace(table._rows, codes=codes[:, by_class])
    monkeypatch.setattr(table_file, "VERSION", 1)
    old.save(tmp_path / "old.codes")
    monkeypatch.undo()
    opened = pb.QuantizedTable.open(tmp_path / "old.codes", mmap=mmap)
    np.testing.assert_array_equal(opened.read_codes(), table.read_codes())
    opened.save(tmp_path / "new.codes")
    table.save(tmp_path / "same.codes")
    assert (tmp_path / "new.codes").read_bytes() == (tmp_path / "same.codes").read_bytes()


def test_a_replaced_file_leaves_the_mapped_one(saved):
    opened = pb.QuantizedTable.open(saved)
    before = opened.read_codes().copy()
    make_table(n=100).save(saved)
    np.testing.assert_array_equal(opened.read_codes(), before)
    assert len(pb.QuantizedTable.open(saved)) == 100


def test_a_table_is_written_whole_or_not_at_all(saved, monkeypatch):
    before = saved.read_bytes()

    def fill_disk(path, content):
        def pieces():
            yield next(iter(content))
            raise OSError(28, "No space left on device")

        write_whole(path, pieces())

    monkeypatch.setattr(table_file, "write_whole", fill_disk)
    with pytest.raises(OSError, match=r"No space left on device: .*rows\.codes"):
        make_table(n=300).save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["rows.codes"]


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: b"", "does not begin as one"),
        (lambda _: b"{}", "does not begin as one"),
        (lambda data: data[:20], "cut off within the header"),
        (lambda data: data[:500], "cut off within the header"),
        (lambda data: data[:-1], "is cut off: it has"),
        (lambda data: data + b"\0", "must have .* bytes; it has"),
        (lambda data: data[:60] + b"?" + data[61:], "its header is another one"),
        (lambda data: data[:8] + b"\3" + data[9:], "version 3: this library reads up to 2"),
        (lambda data: data[:8] + b"\0" + data[9:], "version 0, which there is not"),
        (lambda data: data[:-1] + b"\xfe", "the codes of feature 'town' are other ones"),
    ],
)
def test_damaged_files_are_refused(change, message, mmap, saved):
    saved.write_bytes(change(saved.read_bytes()))
    with pytest.raises(ValueError, match=rf"rows\.codes: .*{message}"):
        pb.ProperBoostClassifier(weak_learner="table").fit(pb.QuantizedTable.open(saved, mmap=mmap))


def header(**changed):
    def change(data):
        head, parts = table_files.split(data)
        begin = len(data) - len(parts)
        text = json.dumps(head | changed).encode()
        gap = -(table_files.START.size + len(text)) % table_files.ALIGNMENT
        return table_files.seal(text, bytes(gap) + parts[-begin % table_files.ALIGNMENT :])

    return change


def part(place, value):
    """Return a change that sets one byte of the parts and updates the checksums."""

    def change(data):
        head, parts = table_files.split(data)
        begin = len(data) - len(parts)
        at = -begin % table_files.ALIGNMENT + place if place >= 0 else len(parts) + place
        parts = parts[:at] + bytes([value]) + parts[at + 1 :]
        return table_files.reseal(head, begin, parts)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (header(more=1), "unknown field 'more'"),
        (header(rows=0), "rows must be an integer from 1"),
        (header(rows=10**9), "is cut off"),
        (header(rows=899), "labels.checksum is not that of the contents"),
        (header(names=["x", "x", "town"]), "names must hold names that are all different"),
        (header(names=None), "names must be a list"),
        (header(max_numeric=9), r"features\[0\] must not have more bins"),
        (header(labels={"bytes": 3, "checksum": 0}), "bytes must be one of"),
        (header(weights=None), "codes.rows must be 900"),
        (part(0, 2), "labels that are not below 2"),
        (part(960 + 7, 0xFF), "weights that are not finite or below 0"),
        (part(-1, 5), "the codes of feature 'town' are other ones"),
    ],
)
def test_files_that_somebody_made_are_refused(change, message, saved):
    saved.write_bytes(change(saved.read_bytes()))
    with pytest.raises(ValueError, match=rf"rows\.codes: .*{message}"):
        pb.QuantizedTable.open(saved, mmap=False)


@pytest.mark.parametrize("seed", range(6))
def test_mutated_files_are_refused_or_tables_like_any(seed, tmp_path):
    sound = [*table_files.make_tables(pb, tmp_path).values()]
    rng = np.random.default_rng(seed)
    outcomes = set()
    for _ in range(20):
        one, other = (sound[rng.integers(len(sound))] for _ in range(2))
        (tmp_path / "input.codes").write_bytes(table_files.mutate_table(one, other, rng)[1])
        outcomes.add(table_files.check_table(pb, tmp_path / "input.codes"))
    assert outcomes <= {"refused", "loaded"}


def test_a_folder_is_no_table(tmp_path):
    with pytest.raises(IsADirectoryError):
        pb.QuantizedTable.open(tmp_path)
    with pytest.raises(TypeError, match="mmap must be"):
        pb.QuantizedTable.open(tmp_path / "rows.codes", mmap=3)
