"""What the columns hold, where somebody said so."""

import re

import pytest

from properboost.report.feature_descriptions import find_undescribed, read_feature_descriptions

FEATURES = ("age", "fnlwgt")


@pytest.mark.parametrize(
    ("given", "undescribed"),
    [
        (None, "what the columns hold"),
        ({}, "what the columns hold"),
        ({"age": " in years ", "other": "is no feature"}, "what “fnlwgt” holds"),
        ({"age": "in years", "fnlwgt": "people of whom the row is one"}, ""),
    ],
)
def test_texts_are_of_features(given, undescribed):
    found = read_feature_descriptions(given, FEATURES)
    assert list(found) == [name for name in FEATURES if name in (given or {})]
    assert found.get("age", "in years") == "in years"
    assert find_undescribed(found, FEATURES) == undescribed


def test_several_may_be_undescribed():
    assert find_undescribed({"a": "x"}, list("abcd")) == "what “b”, “c” and “d” hold"
    assert find_undescribed({}, ()) == ""


@pytest.mark.parametrize(
    ("given", "error", "complaint"),
    [
        (["age"], TypeError, "feature_descriptions must be a mapping from names to texts"),
        ({"age": 1}, TypeError, "feature_descriptions['age'] must be a text; got 1"),
        (
            {"Age": "in years"},
            ValueError,
            "feature_descriptions must describe some of the features 'age' and 'fnlwgt'; got 'Age'",
        ),
        ({"age": " "}, ValueError, "must describe some of the features"),
    ],
)
def test_what_descriptions_are_not(given, error, complaint):
    with pytest.raises(error, match=re.escape(complaint)):
        read_feature_descriptions(given, FEATURES)
