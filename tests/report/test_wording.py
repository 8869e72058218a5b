"""Numbers, lists, and the names of classes and features in the report's wording."""

import re

import pytest

from properboost.report.wording import (
    count,
    find_protected,
    find_undescribed,
    find_unnamed,
    list_words,
    name_bin,
    number,
    percent,
    points,
    precise,
    read_class_names,
    read_feature_descriptions,
    shorten,
    signed,
)


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0, "0.0%"), (1.0, "100.0%"), (0.1234, "12.3%"), (1e-9, "<0.1%"), (1 - 1e-9, ">99.9%"),
        (float("nan"), "unknown"),
    ],
)  # fmt: skip
def test_percent_rounds_nothing_uncertain_to_certainty(share, shown):
    assert percent(share) == shown


def test_numbers():
    assert [number(x) for x in (0.28364, 12345.6, -0.5, float("nan"))] == [
        "0.2836", "12,346", "−0.5", "–",
    ]  # fmt: skip
    assert [signed(x) for x in (0.5, -0.126, -0.001)] == ["+0.50", "−0.13", "0.00"]
    assert points(-0.0312) == "−3.1 percentage points"
    assert points(0.10652, 0.09746) == "+1.0 percentage points"  # 10.7% - 9.7%
    assert [count(n, "row", "rows") for n in (0, 1, 1200)] == ["0 rows", "1 row", "1,200 rows"]


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.25, "25.0%"), (0.0123, "1.2%"), (0.000512, "0.051%"), (1.0 - 0.000512, "99.949%"),
        (3e-7, "0.000030%"), (1e-12, "<0.000001%"), (0.0, "0.0%"), (1.0, "100.0%"),
        (float("nan"), "unknown"),
    ],
)  # fmt: skip
def test_shares_near_the_ends_have_more_digits(share, shown):
    assert precise(share) == shown


def test_names():
    assert name_bin("age", "<= 25") == "age <= 25"
    assert name_bin("town", "Ulm") == "town: Ulm"
    assert shorten("a" * 30, 5) == "aaaa…"
    assert shorten("age") == "age"
    assert list_words(["a"]) == "a"
    assert list_words(["a", "b", "c"]) == "a, b and c"
    assert list_words(list("abcd"), 2) == "a, b and 2 more"


@pytest.mark.parametrize(
    ("labels", "class_names", "unnamed"),
    [
        ([0, 1], None, "the meaning of 0 and 1"),
        ([0, 1], {1: "ill"}, "the meaning of 0"),
        ([0, 1], {1: "ill", 0: "well"}, ""),
        ([False, True], None, "the meaning of False and True"),
        (["0.5", "1.5", "old"], None, "the meaning of 0.5 and 1.5"),
        (["no", "yes"], None, "the meaning of no and yes"),
        (["no", "ill"], None, ""),
        (["A", "B"], {}, ""),
        (list(range(9)), None, "the meaning of 0, 1, 2, 3, 4, 5 and 3 more"),
    ],
)
def test_uninformative_labels(labels, class_names, unnamed):
    names = read_class_names(class_names, labels)
    assert names == tuple((class_names or {}).get(label, str(label)) for label in labels)
    assert find_unnamed(labels, names) == unnamed


@pytest.mark.parametrize(
    ("class_names", "complaint"),
    [
        ({2: "ill"}, "class_names: the labels must be among [0, 1]; got 2"),
        ({"1": "ill"}, "class_names: the labels must be among [0, 1]; got '1'"),
        ({1: " "}, "class_names[1] must be a text that is not empty; got ' '"),
        ({1: 1}, "class_names[1] must be a text that is not empty; got 1"),
        ({1: "0"}, "class_names must be different for each class; got '0' for two"),
    ],
)
def test_what_names_are_not(class_names, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        read_class_names(class_names, [0, 1])
    with pytest.raises(TypeError, match="class_names must be a mapping"):
        read_class_names(["ill"], [0, 1])


FEATURES = ("age", "fnlwgt")


@pytest.mark.parametrize(
    ("descriptions", "undescribed"),
    [
        (None, "the meaning of the columns"),
        ({}, "the meaning of the columns"),
        ({"age": " in years ", "other": "is no feature"}, "the meaning of “fnlwgt”"),
        ({"age": "in years", "fnlwgt": "people of whom the row is one"}, ""),
    ],
)
def test_texts_are_of_features(descriptions, undescribed):
    texts = read_feature_descriptions(descriptions, FEATURES)
    assert list(texts) == [name for name in FEATURES if name in (descriptions or {})]
    assert texts.get("age", "in years") == "in years"
    assert find_undescribed(texts, FEATURES) == undescribed


def test_several_may_be_undescribed():
    assert find_undescribed({"a": "x"}, list("abcd")) == "the meaning of “b”, “c” and “d”"
    assert find_undescribed({}, ()) == ""


@pytest.mark.parametrize(
    ("descriptions", "error", "complaint"),
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
def test_what_descriptions_are_not(descriptions, error, complaint):
    with pytest.raises(error, match=re.escape(complaint)):
        read_feature_descriptions(descriptions, FEATURES)


def test_names_are_read_by_words():
    names = [
        "age", "Sex", "native-country", "maritalStatus", "person_is_disabled", "date of birth",
        "foreign_worker", "RACE", "Religion1",
    ]  # fmt: skip
    assert find_protected(names) == list(range(len(names)))


def test_other_names_are_left_alone():
    assert find_protected(["wage", "package", "stage", "sexton", "racer", "average", "x1"]) == []
