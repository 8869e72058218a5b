"""Test that labels of any type become an array of a plain type, of equal labels, or are refused."""

import datetime
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.label_kinds import KINDS
from properboost.data.label_array import read_label_array
from properboost.data.labels import read_rows
from properboost.persistence.json_node import Node
from properboost.persistence.labels import build_classes, describe_classes

TEXTS = st.text(max_size=4)
FAMILIES = [
    st.lists(st.booleans(), min_size=2, max_size=9),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=9),
    st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=9),
    st.lists(st.integers(-(2**53), 2**53).map(float), min_size=2, max_size=9),
    st.lists(TEXTS, min_size=2, max_size=9),
    st.lists(TEXTS.map(np.str_), min_size=2, max_size=9),
    st.lists(TEXTS.map(type(KINDS["objects: a str with its __str__"].make(np.array([0]))[0])),
             min_size=2, max_size=9),
]  # fmt: skip


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@given(st.one_of(FAMILIES), st.booleans())
def test_labels_are_equal_to_what_they_were(values, as_list):
    labels = read_label_array(values if as_list else objects(values))
    assert labels.dtype.kind in "biufUO"
    assert labels.dtype.kind != "O" or {*map(type, labels.tolist())} == {str}
    assert [str.__str__(v) if isinstance(v, str) else v for v in values] == labels.tolist()


@given(st.one_of(FAMILIES))
def test_codes_count_equal_labels_and_files_hold_the_classes(values):
    labels = objects(values)
    if len(set(values)) < 2:
        return
    rows = read_rows(labels, len(values))
    assert rows.classes.tolist() == sorted(set(values))
    assert rows.classes[rows.codes].tolist() == read_label_array(labels).tolist()
    document = json.loads(json.dumps(describe_classes(rows.classes)))
    classes = build_classes(Node(document, "file"))
    assert classes.dtype == rows.classes.dtype
    assert classes.tolist() == rows.classes.tolist()


@given(st.lists(st.one_of(st.booleans(), st.integers(), st.floats(), TEXTS, st.none()), max_size=6))
def test_labels_of_several_kinds_are_refused_or_equal(values):
    kinds = {"number" if isinstance(v, bool | int | float) else type(v) for v in values}
    if len(kinds) > 1 or None in values:
        with pytest.raises(ValueError, match="y must hold labels of one kind, none missing"):
            read_label_array(objects(values))
        return
    try:
        labels = read_label_array(objects(values))
    except ValueError:  # numbers of several types, or beyond 64 bits, are refused
        return
    for value, label in zip(values, labels.tolist(), strict=True):
        assert label == value or (label != label and value != value)
        assert isinstance(label, str) == isinstance(value, str)
        assert isinstance(label, bool) == isinstance(value, bool)


@pytest.mark.parametrize(
    "value", [datetime.date(2020, 1, 1), Fraction(1, 2), (1,), b"a", 1j, frozenset()], ids=repr
)
def test_other_types_are_refused_by_name(value):
    with pytest.raises(ValueError, match=f"got labels of type {type(value).__name__}: make str"):
        read_label_array(objects([value, value]))


def test_masked_arrays_without_masked_entries_are_arrays():
    labels = np.ma.masked_array([3, 1])
    assert read_label_array(labels).tolist() == [3, 1]
    labels[0] = np.ma.masked
    with pytest.raises(ValueError, match="y must hold no missing labels"):
        read_label_array(labels)


def test_names_of_arguments_are_in_messages():
    with pytest.raises(ValueError, match="y_val must hold labels of one kind"):
        read_label_array(objects(["a", 1]), "y_val")
