"""Test ADULT."""

import numpy as np
import pytest

from helpers.data_files import need
from properboost import datasets
from properboost.datasets._adult import ADULT


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
        # A categorical dtype includes the categories and their order.
        assert kind == test[name].dtype
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
