"""Test LETTER, which the package ships."""

import numpy as np
import pytest

from helpers.data_files import without
from properboost import datasets
from properboost.datasets._letter import LETTER


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
    # The UCI file begins with these labels.
    assert "".join(letter.target_names[letter.target[:3]]) == "TID"
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
