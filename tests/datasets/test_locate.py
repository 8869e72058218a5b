"""Test the search for files: the order of the places, checksums, and the download."""

import contextlib
import dataclasses
import gzip
import hashlib
import re
from pathlib import Path

import pytest

from helpers.data_files import COLUMNS, FILE, TABLE, WRONG, need, raw, serve, without
from properboost import datasets
from properboost.datasets import _locate, _tables, _uci_records
from properboost.datasets._adult import ADULT
from properboost.datasets._uci_records import RECORDS

# -- the places, with a table of three rows -------------------------------------------------------


def test_the_folder_comes_before_the_cache_and_the_cache_before_the_archive(places, archive):
    serve(archive, FILE.path, raw(TABLE[1:]))
    shelved, cached = places / "data" / FILE.filename, places / "cache" / FILE.filename

    assert _locate.load(FILE, COLUMNS) == TABLE[1:]
    assert archive.requests == 1
    assert gzip.decompress(cached.read_bytes()).decode() == raw(TABLE)

    assert _locate.load(FILE, COLUMNS) == TABLE[1:]
    assert archive.requests == 1  # the file was in the cache

    cached.write_bytes(b"damaged")
    _tables.write(shelved, TABLE)
    assert _locate.load(FILE, COLUMNS) == TABLE[1:]
    assert archive.requests == 1
    assert cached.read_bytes() == b"damaged"  # the cache was not read


@pytest.mark.parametrize(
    "content", [b"not gzip", gzip.compress(raw(WRONG).encode(), mtime=0), b"", None]
)
def test_a_damaged_cache_entry_is_downloaded_again(places, archive, content):
    cached = places / "cache" / FILE.filename
    _tables.write(cached, TABLE)
    whole = cached.read_bytes()
    cached.write_bytes(whole[:-9] if content is None else content)
    serve(archive, FILE.path, raw(TABLE[1:]))
    assert _locate.load(FILE, COLUMNS) == TABLE[1:]
    assert archive.requests == 1
    assert cached.read_bytes() == whole


def test_a_wrong_file_in_the_folder_is_an_error(places, archive):
    serve(archive, FILE.path, raw(TABLE[1:]))
    shelved = places / "data" / FILE.filename
    _tables.write(shelved, WRONG)
    digest = hashlib.sha256(raw(WRONG).encode()).hexdigest()
    with pytest.raises(ValueError, match=re.escape(str(shelved))) as caught:
        _locate.load(FILE, COLUMNS)
    assert FILE.sha256 in str(caught.value)
    assert digest in str(caught.value)

    shelved.write_bytes(b"not gzip")
    with pytest.raises(ValueError, match=re.escape(str(shelved))) as caught:
        _locate.load(FILE, COLUMNS)
    assert FILE.sha256 in str(caught.value)
    assert archive.requests == 0


@pytest.mark.parametrize(
    "text",
    [
        raw(TABLE[1:], ", ", "\r\n") + "\r\n",
        "|1x3 Cross validator\n" + raw(TABLE[1:], " ,  "),
        raw(TABLE[1:], "  ", " \n") + "\n\n",
        raw(TABLE[1:]).rstrip(),
    ],
    ids=["spaces and CRLF", "comment", "blanks", "no last line end"],
)
def test_how_the_archive_writes_a_table_does_not_matter(places, archive, text):
    serve(archive, FILE.path, text)
    assert _locate.load(FILE, COLUMNS) == TABLE[1:]


def test_a_wrong_download_is_an_error_and_is_not_cached(places, archive):
    serve(archive, FILE.path, "<html>moved</html>")
    with pytest.raises(FileNotFoundError, match="expected sha256") as caught:
        _locate.load(FILE, COLUMNS)
    assert _locate.ARCHIVE + FILE.path in str(caught.value)
    assert FILE.sha256 in str(caught.value)
    assert not list((places / "cache").iterdir())


@pytest.mark.parametrize("reachable", [True, False])
def test_the_error_names_all_places_and_what_to_do(places, request, reachable):
    pytest.importorskip("pooch")
    if reachable:
        request.getfixturevalue("archive")  # the archive answers 404
    (places / "cache" / FILE.filename).write_bytes(b"damaged")
    with pytest.raises(FileNotFoundError, match="in none of three places") as caught:
        _locate.load(FILE, COLUMNS)
    message = str(caught.value)
    assert f"1. the folder named by PROPERBOOST_DATA: there is no {places / 'data'}" in message
    assert f"2. the cache: {places / 'cache' / FILE.filename} cannot be read" in message
    assert "3. a download: " in message
    assert _locate.ARCHIVE + FILE.path in message
    assert f"Set PROPERBOOST_DATA to a folder that holds {FILE.filename}" in message
    assert "pooch" not in message


def test_without_pooch_the_error_names_the_extra(places, monkeypatch):
    without(monkeypatch, "pooch")
    monkeypatch.delenv("PROPERBOOST_DATA")
    monkeypatch.delenv("PROPERBOOST_CACHE")
    with pytest.raises(ImportError, match="in none of three places") as caught:
        _locate.load(FILE, COLUMNS)
    message = str(caught.value)
    assert "1. the folder named by PROPERBOOST_DATA: the variable is not set" in message
    assert "2. the cache: PROPERBOOST_CACHE is not set" in message
    assert "3. a download: " in message
    assert "pip install 'properboost[datasets]'" in message


def test_the_usual_cache_is_pooch_s(places, monkeypatch):
    pooch = pytest.importorskip("pooch")
    monkeypatch.delenv("PROPERBOOST_CACHE")
    monkeypatch.setattr(pooch, "os_cache", lambda project: places / "usual" / project)
    _tables.write(places / "usual" / "properboost" / FILE.filename, TABLE)
    assert _locate.load(FILE, COLUMNS) == TABLE[1:]


def test_a_cache_that_cannot_be_written_is_no_error(places, archive, monkeypatch):
    serve(archive, FILE.path, raw(TABLE[1:]))
    (places / "file").write_text("in the way of a folder")
    monkeypatch.setenv("PROPERBOOST_CACHE", str(places / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="could not be written"):
        assert _locate.load(FILE, COLUMNS) == TABLE[1:]


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*args):
        raise OSError("no")

    monkeypatch.setattr(Path, "replace", fail)
    with contextlib.suppress(OSError):
        _tables.write(tmp_path / "toy.csv.gz", TABLE)
    assert not list(tmp_path.iterdir())


# -- the real tables, from a server that writes them as the archive does --------------------------


@pytest.mark.parametrize(
    ("file", "columns", "head", "separator", "end"),
    [
        (ADULT.files[1], ADULT.columns, "|1x3 Cross validator\n", ", ", "\n"),
        (RECORDS["german"].files[0], RECORDS["german"].columns, "", " ", " \n"),
        (RECORDS["echocardiogram"].files[0], RECORDS["echocardiogram"].columns, "", ",", "\r\n"),
    ],
    ids=["adult", "german", "echocardiogram"],
)
def test_real_downloads(request, file, columns, head, separator, end):
    rows = _tables.read(need(file) / file.filename, file.sha256)[1:]
    archive = request.getfixturevalue("archive")
    serve(archive, file.path, head + raw(rows, separator, end) + "\n")
    assert _locate.load(file, columns) == rows
    assert archive.requests == 1


@pytest.mark.parametrize("name", RECORDS)
def test_the_loader_reads_the_table_of_its_record(name, places, archive, monkeypatch):
    """Each record is read from a made-up table, in which every column must be expected."""
    record = RECORDS[name]
    row = {column: record.categories.get(column, ("7",))[-1] for column in record.columns}
    files = []
    for file in record.files:
        rows = [
            [*{**row, record.target: label}.values()]
            for labels in record.classes.values()
            for label in labels
        ]
        text = raw([record.columns, *rows])
        files.append(dataclasses.replace(file, sha256=hashlib.sha256(text.encode()).hexdigest()))
        serve(archive, file.path, raw(rows))
    monkeypatch.setitem(
        _uci_records.RECORDS, name, dataclasses.replace(record, files=tuple(files), malformed=())
    )
    loaded = datasets.load_uci(name, as_frame=False)
    assert loaded.feature_names == list(record.features)
    assert set(loaded.target) == set(range(len(record.classes)))
    assert archive.requests == len(record.files)
