"""The papers' data sets as arrays."""

import re

import numpy as np
import pytest

from properboost.datasets import load_letter
from properboost.reproduce import data


@pytest.fixture(autouse=True)
def forget():
    data.load.cache_clear()
    data.hash_table.cache_clear()


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """Remove the folder, the cache and the network."""
    monkeypatch.delenv("PROPERBOOST_DATA", raising=False)
    monkeypatch.setenv("PROPERBOOST_CACHE", str(tmp_path))
    monkeypatch.setattr("properboost.datasets._locate._download", lambda url: refuse(url))


def refuse(url):
    raise OSError(f"no way to {url}")


def test_letter_is_part_of_the_package(no_data):
    table = data.load("LETTER.p2")
    X, y = load_letter("p2", return_X_y=True)
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, y)
    train, test = data.divide(table)
    assert (len(train), len(test), table.categorical) == (4000, 16000, [False] * 16)
    assert data.load("letter").y.max() == 25


def test_what_cannot_be_had_is_listed(no_data):
    missing = data.find_missing(["LETTER.p1", "sonar", "ADULT"])
    assert set(missing) == {"sonar", "ADULT"}
    assert missing["sonar"].startswith("it is neither in the folder named by PROPERBOOST_DATA nor")
    assert "\n" not in missing["sonar"]


def test_checksums_are_those_of_the_contents():
    assert data.hash_table("LETTER.p1") != data.hash_table("LETTER.p2")
    assert data.hash_table("LETTER.p1") == data.hash_table("LETTER.p1")


def test_divided_sets_have_their_training_rows_first():
    if data.find_missing(["vowel"]):
        pytest.skip("the data are not here")
    assert data.load("vowel").n_train == 528


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            ImportError("long\nstory"),
            r"a download needs pooch: pip install 'properboost\[datasets\]'",
        ),
        (ValueError("adult.csv.gz is\nnot it"), "adult.csv.gz is not it"),
        (FileNotFoundError("no\nplace"), r"the download failed \(no place\)"),
    ],
)
def test_reasons_are_a_line(error, reason):
    assert re.search(f"{reason}$", data.explain(error))
