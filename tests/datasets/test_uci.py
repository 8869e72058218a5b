"""Test the other sets of UCI's archive."""

import numpy as np
import pytest

from helpers.data_files import need
from properboost import datasets
from properboost.datasets._adult import ADULT
from properboost.datasets._uci_records import RECORDS

# Values: rows, features, rows of each class, rows with a missing cell.
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
    places = request.getfixturevalue("places")  # the fixture replaces the environment variable
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
