"""Data sets: counts, types, the order of the look-ups, checksums, and the download."""

import contextlib
import dataclasses
import gzip
import hashlib
import os
import re
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from properboost import datasets
from properboost.datasets import _locate, _tables, _uci_records
from properboost.datasets._adult import ADULT
from properboost.datasets._letter import LETTER
from properboost.datasets._record import SourceFile
from properboost.datasets._uci_records import RECORDS

COLUMNS = ("size", "kind", "class")
TABLE = [list(COLUMNS), ["1", "a", "no"], ["2.5", "?", "yes"], ["?", "b", "yes"]]
FILE = SourceFile(
    name="toy",
    path="toy/toy.data",
    sha256=hashlib.sha256(b"size,kind,class\n1,a,no\n2.5,?,yes\n?,b,yes\n").hexdigest(),
)
WRONG = [[*row] for row in TABLE[:-1]]


def need(*files):
    """Skip unless the folder of the environment variable has the files."""
    folder = os.environ.get("PROPERBOOST_DATA")
    if not folder:
        pytest.skip("the set is not shipped, and PROPERBOOST_DATA names no folder that has it")
    for file in files:
        path = Path(folder) / file.filename
        if not path.is_file():
            pytest.skip(f"the set is not shipped, and PROPERBOOST_DATA has no {file.filename}")
    return Path(folder)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A folder and a cache, both empty, and an archive that nobody can reach."""
    for variable in ("data", "cache"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(f"PROPERBOOST_{variable.upper()}", str(tmp_path / variable))
    monkeypatch.setattr(_locate, "ARCHIVE", "http://127.0.0.1:9/")  # the port that discards
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path


@pytest.fixture
def archive(places, monkeypatch):
    """A server of the files in its root that counts the requests."""
    pytest.importorskip("pooch")
    root = places / "archive"
    root.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            server.requests += 1

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=root)) as server:
        server.requests = 0
        server.root = root
        thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.01))
        thread.start()
        monkeypatch.setattr(_locate, "ARCHIVE", f"http://127.0.0.1:{server.server_port}/")
        yield server
        server.shutdown()
        thread.join()


def serve(archive, path, text):
    target = archive.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode())


def raw(rows, separator=",", end="\n"):
    return "".join(separator.join(row) + end for row in rows)


def without(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)


def test_the_public_names():
    assert sorted(datasets.__all__) == [
        "load_adult",
        "load_letter",
        "load_uci",
        "make_two_gaussians",
    ]


# LETTER, which is shipped


def test_letter_needs_neither_pandas_nor_pooch_nor_a_folder(places, monkeypatch):
    without(monkeypatch, "pandas")
    without(monkeypatch, "pooch")
    letter = datasets.load_letter()
    assert letter.data.shape == (20000, 16)
    assert letter.data.dtype == np.float64
    assert letter.data.min() == 0
    assert letter.data.max() == 15
    assert letter.frame is None
    assert letter.feature_names == list(LETTER.columns[1:])
    assert "".join(letter.target_names) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert "".join(letter.target_names[letter.target[:3]]) == "TID"  # the head of the UCI file
    assert letter.data[0].tolist() == [2, 8, 3, 5, 1, 8, 13, 0, 6, 6, 10, 8, 0, 8, 0, 8]
    for credit in ("Slate", "10.24432/C5ZP40", "CC BY 4.0"):
        assert credit in letter.DESCR
        assert credit in datasets.load_letter.__doc__


def test_letter_parts():
    letters = datasets.load_letter()
    p1, p2 = datasets.load_letter("p1"), datasets.load_letter("p2")
    assert p1.target_names.tolist() == ["rest", "O"]
    assert p2.target_names.tolist() == ["A-M", "N-Z"]
    assert p1.target.sum() == 753
    for part, positive in ((p1, "O"), (p2, "NOPQRSTUVWXYZ")):
        assert np.array_equal(part.data, letters.data)
        expected = np.isin(letters.target_names[letters.target], list(positive))
        assert np.array_equal(part.target, expected.astype(int))


def test_letter_subsets_are_the_first_rows_and_the_rest():
    everything = datasets.load_letter("p2")
    train = datasets.load_letter("p2", subset="train")
    test = datasets.load_letter("p2", subset="test")
    assert len(train.data) == 4000
    assert len(test.data) == 16000
    assert np.array_equal(np.vstack([train.data, test.data]), everything.data)
    assert np.array_equal(np.concatenate([train.target, test.target]), everything.target)


def test_letter_as_frame():
    pandas = pytest.importorskip("pandas")
    letter = datasets.load_letter("p1", subset="train", as_frame=True)
    assert isinstance(letter.data, pandas.DataFrame)
    assert isinstance(letter.target, pandas.Series)
    assert letter.target.name == "lettr"
    assert list(letter.frame.columns) == [*letter.feature_names, "lettr"]
    assert np.array_equal(letter.data, datasets.load_letter(subset="train").data)


@pytest.mark.parametrize(
    ("call", "error", "argument", "known"),
    [
        (lambda: datasets.load_letter("p3"), ValueError, "part", "'p1', 'p2'; got 'p3'"),
        (lambda: datasets.load_letter(1), TypeError, "part", "'p1', 'p2'; got 1"),
        (lambda: datasets.load_letter(subset="half"), ValueError, "subset", "'train', 'test', "),
        (lambda: datasets.load_adult(subset="half"), ValueError, "subset", "'train', 'test', "),
        (lambda: datasets.load_uci("iris"), ValueError, "name", "'sonar', 'wpbc', "),
        (lambda: datasets.load_uci(["sonar"]), TypeError, "name", "'sonar', 'wpbc', "),
        (lambda: datasets.load_uci("sonar", subset="test"), ValueError, "subset", "'all'; got"),
    ],
)
def test_wrong_arguments(call, error, argument, known):
    with pytest.raises(error, match=re.escape(f"{argument} must be one of {known}")):
        call()


def test_a_frame_without_pandas_names_the_extra(monkeypatch):
    without(monkeypatch, "pandas")
    with pytest.raises(ImportError, match=re.escape("pip install 'properboost[datasets]'")):
        datasets.load_letter(as_frame=True)


# ADULT


@pytest.mark.parametrize(
    ("subset", "rows", "positive"), [("train", 30162, 7508), ("test", 15060, 3700)]
)
def test_adult_counts(subset, rows, positive):
    need(*ADULT.files)
    X, y = datasets.load_adult(subset=subset, return_X_y=True, as_frame=False)
    assert X.shape == (rows, 14)
    assert np.bincount(y).tolist() == [rows - positive, positive]
    assert not np.isnan(X).any()


def test_adult_frames():
    need(*ADULT.files)
    pytest.importorskip("pandas")
    adult = datasets.load_adult(subset="all", dropna=False)
    test = datasets.load_adult(subset="test", return_X_y=True)[0]
    assert adult.target_names.tolist() == ["<=50K", ">50K"]
    assert list(adult.frame.columns) == list(ADULT.columns)
    assert adult.target[:32561].sum() == 7841
    assert adult.target[32561:].sum() == 3846
    assert len(adult.data) == 32561 + 16281
    for name in adult.feature_names:
        kind = adult.data[name].dtype
        assert kind == test[name].dtype  # for a category: the same categories in the same order
        if name in adult.categories:
            assert list(kind.categories) == adult.categories[name]
            # Every category occurs, so none is a misspelling.
            assert set(adult.data[name].dropna()) == set(adult.categories[name])
        else:
            assert kind == np.float64
    missing = adult.data[:32561].isna().sum()
    assert missing[missing > 0].to_dict() == {
        "workclass": 1836,
        "occupation": 1843,
        "native-country": 583,
    }
    # The categories of education are in the order of its number of years.
    assert np.array_equal(adult.data["education"].cat.codes + 1, adult.data["education-num"])
    first = adult.data.iloc[0]
    assert (first["age"], first["workclass"], first["sex"]) == (39, "State-gov", "Male")


# The sets that go by name: rows, features, rows of each class, rows with a missing cell

UCI = {
    "sonar": (208, 60, [97, 111], 0),
    "wpbc": (198, 32, [151, 47], 4),
    "wdbc": (569, 30, [357, 212], 0),
    "breast_cancer_wisconsin": (699, 9, [458, 241], 16),
    "heart_cleveland": (303, 13, [164, 139], 6),
    "tic_tac_toe": (958, 9, [332, 626], 0),
    "echocardiogram": (131, 7, [88, 43], 24),
    "haberman": (306, 3, [225, 81], 0),
    "pima": (768, 8, [500, 268], 0),
    "bupa": (345, 6, [145, 200], 0),
    "echocardiogram_alive_at_1": (74, 7, [50, 24], 12),
    "ionosphere": (351, 34, [126, 225], 0),
    "german": (1000, 20, [700, 300], 0),
    "spambase": (4601, 57, [2788, 1813], 0),
    "vowel": (990, 10, [90] * 11, 0),
    "pendigits": (10992, 16, [1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055], 0),
    "new_thyroid": (215, 5, [150, 35, 30], 0),
    "satimage": (6435, 36, [1533, 703, 1358, 626, 707, 1508], 0),
    "segment": (2310, 19, [330] * 7, 0),
    "magic": (19020, 10, [6688, 12332], 0),
}


def test_every_record_is_checked():
    assert list(UCI) == list(RECORDS)


@pytest.mark.parametrize("name", RECORDS)
def test_uci(name):
    record = RECORDS[name]
    need(*record.files)
    rows, features, counts, incomplete = UCI[name]
    loaded = datasets.load_uci(name)
    assert loaded.data.shape == (rows, features)
    assert np.bincount(loaded.target).tolist() == counts
    assert len(loaded.target_names) == len(counts)
    assert int(loaded.data.isna().any(axis=1).sum()) == incomplete
    if incomplete:
        complete = datasets.load_uci(name, dropna=True, return_X_y=True)
        assert [len(part) for part in complete] == [rows - incomplete] * 2
        assert not complete[0].isna().any(axis=None)
    assert not {record.target, *record.dropped} & set(loaded.feature_names)
    for feature in loaded.feature_names:
        column = loaded.data[feature]
        if feature in record.categories:
            assert set(column.dropna()) == set(column.cat.categories)
        else:
            assert column.dtype == np.float64
    for column in record.dropped:
        assert column in loaded.DESCR
    assert record.source in loaded.DESCR

    X, y = datasets.load_uci(name, return_X_y=True, as_frame=False)
    assert np.array_equal(y, loaded.target)
    for j, feature in enumerate(loaded.feature_names):
        if feature in record.categories:
            names = np.array([*loaded.categories[feature], None], dtype=object)
            codes = np.where(np.isnan(X[:, j]), -1, X[:, j]).astype(int)
            column = loaded.data[feature].astype(object)
            assert names[codes].tolist() == column.where(column.notna(), None).tolist()
        else:
            assert np.array_equal(X[:, j], loaded.data[feature], equal_nan=True)


@pytest.mark.parametrize(
    ("name", "train"), [("vowel", 528), ("pendigits", 7494), ("satimage", 4435)]
)
def test_uci_subsets(name, train):
    need(*RECORDS[name].files)
    parts = [
        datasets.load_uci(name, subset=subset, return_X_y=True, as_frame=False)
        for subset in ("train", "test", "all")
    ]
    assert len(parts[0][0]) == train
    for first, second, both in zip(*parts, strict=True):
        assert np.array_equal(np.concatenate([first, second]), both)


def test_only_the_needed_part_is_looked_for(request):
    folder = need(ADULT.files[1])
    places = request.getfixturevalue("places")  # it replaces the variable
    test = ADULT.files[1].filename
    (places / "data" / test).write_bytes((folder / test).read_bytes())
    assert datasets.load_adult(subset="test", as_frame=False).data.shape == (15060, 14)


def test_the_leaks_are_out():
    assert {"id", "time"} <= set(RECORDS["wpbc"].dropped)
    assert "id" in RECORDS["wdbc"].dropped
    assert "id" in RECORDS["breast_cancer_wisconsin"].dropped
    for name in ("echocardiogram", "echocardiogram_alive_at_1"):
        outcomes = {"survival", "still-alive", "alive-at-1"}
        assert not outcomes & set(RECORDS[name].features)


# The places, on a table of three rows


def test_the_folder_comes_before_the_cache_and_the_cache_before_the_archive(places, archive):
    serve(archive, FILE.path, raw(TABLE[1:]))
    shelved, cached = places / "data" / FILE.filename, places / "cache" / FILE.filename

    assert _locate.load(FILE, COLUMNS) == TABLE[1:]
    assert archive.requests == 1
    assert gzip.decompress(cached.read_bytes()).decode() == raw(TABLE)

    assert _locate.load(FILE, COLUMNS) == TABLE[1:]
    assert archive.requests == 1  # the cache had it

    cached.write_bytes(b"damaged")
    _tables.write(shelved, TABLE)
    assert _locate.load(FILE, COLUMNS) == TABLE[1:]
    assert archive.requests == 1
    assert cached.read_bytes() == b"damaged"  # nobody looked


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
    found = hashlib.sha256(raw(WRONG).encode()).hexdigest()
    with pytest.raises(ValueError, match=re.escape(str(shelved))) as caught:
        _locate.load(FILE, COLUMNS)
    assert FILE.sha256 in str(caught.value)
    assert found in str(caught.value)

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


def test_a_wrong_download_is_an_error_and_is_not_kept(places, archive):
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
        request.getfixturevalue("archive")  # it has no file: 404
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


# The real tables, from a server that writes them as the archive does


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
def test_the_loader_reads_what_the_record_says(name, places, archive, monkeypatch):
    """A made-up table for each record, downloaded: every column has to be foreseen."""
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


# The text of a table

CELLS = st.text(st.sampled_from("abz019.?-<>&()"), min_size=1)


@given(
    st.integers(2, 5).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1)
    ),
    st.sampled_from([",", ", ", " , ", " ", "   "]),
    st.sampled_from(["\n", "\r\n", "\r", " \n", "\n\n"]),
)
def test_parsing_undoes_writing(table, separator, end):
    assert _tables.parse(raw(table, separator, end)) == table
    assert _tables.parse(_tables.canonical_text(table)) == table


def test_written_tables_are_equal_byte_for_byte(tmp_path):
    _tables.write(tmp_path / "a" / "toy.csv.gz", TABLE)
    _tables.write(tmp_path / "b" / "toy.csv.gz", TABLE)
    written = (tmp_path / "a" / "toy.csv.gz").read_bytes()
    assert written == (tmp_path / "b" / "toy.csv.gz").read_bytes()
    assert _tables.read(tmp_path / "a" / "toy.csv.gz", FILE.sha256) == TABLE


# Two Gaussians


@given(st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_two_gaussians_total(n_samples, seed):
    X, y = datasets.make_two_gaussians(n_samples, random_state=seed)
    assert X.shape == (n_samples, 2)
    assert np.bincount(y, minlength=2).tolist() == [(n_samples + 1) // 2, n_samples // 2]
    again = datasets.make_two_gaussians(n_samples, random_state=seed)
    assert np.array_equal(X, again[0])
    assert np.array_equal(y, again[1])


@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_two_gaussians_per_class(zeros, ones, seed):
    X, y, p = datasets.make_two_gaussians((zeros, ones), random_state=seed, return_probability=True)
    assert np.bincount(y, minlength=2).tolist() == [zeros, ones]
    # Bayes' rule on the two densities, which the logistic form has to equal.
    density = [norm.pdf(X - mean).prod(axis=1) for mean in (0, 0.7416)]
    np.testing.assert_allclose(p, density[1] / (density[0] + density[1]), rtol=1e-9)
    np.testing.assert_allclose(p, expit(0.7416 * X.sum(axis=1) - 0.55), atol=1e-4)


def test_two_gaussians_have_a_bayes_error_of_30_percent():
    X, y, p = datasets.make_two_gaussians(200_000, random_state=0, return_probability=True)
    assert np.minimum(p, 1 - p).mean() == pytest.approx(0.3, abs=0.002)
    assert ((p > 0.5) != y).mean() == pytest.approx(norm.cdf(-0.7416 / np.sqrt(2)), abs=0.004)
    for label, mean in ((0, 0), (1, 0.7416)):
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=0.015)
        np.testing.assert_allclose(np.cov(X[y == label].T), np.eye(2), atol=0.02)
    # The order tells nothing of the class.
    assert y[:100_000].mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("n_samples", [0, -3, (-1, 4), (0, 0)])
def test_two_gaussians_refuse_sizes(n_samples):
    with pytest.raises(ValueError, match=r"n_samples.* must .* at least .*; got"):
        datasets.make_two_gaussians(n_samples)


@pytest.mark.parametrize("n_samples", [2.5, "4", True, None, (1,), (1, 2, 3), (1.0, 2)])
def test_two_gaussians_refuse_types(n_samples):
    with pytest.raises(TypeError, match=r"n_samples.* must be an integer"):
        datasets.make_two_gaussians(n_samples)
