"""Test probabilities as labels: accepted values, classes, and the rows that they become."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properboost.data.labels import read_rows
from properboost.data.soft_labels import read_soft_labels
from properboost.data.table import SoftLabels

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

EIGHTHS = np.array([[3, 0, 5], [8, 0, 0], [1, 6, 1], [0, 8, 0]]) / 8.0
COLUMNS = {"no": EIGHTHS[:, 0], "yes": EIGHTHS[:, 1], "maybe": EIGHTHS[:, 2]}


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "Arrow"]
)
def test_names_of_columns_are_classes_in_ascending_order(make):
    soft = read_soft_labels(make(COLUMNS))
    assert soft.classes.tolist() == ["maybe", "no", "yes"]
    np.testing.assert_array_equal(soft.probability, EIGHTHS[:, [2, 0, 1]])


@pytest.mark.parametrize("make", [np.asarray, np.ndarray.tolist, pd.DataFrame])
def test_columns_without_names_are_numbered(make):
    soft = read_soft_labels(make(EIGHTHS))
    assert soft.classes.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(soft.probability, EIGHTHS)


def test_numbers_may_name_columns():
    soft = read_soft_labels(pd.DataFrame(EIGHTHS, columns=[7, 3, 5]))
    assert soft.classes.tolist() == [3, 5, 7]
    np.testing.assert_array_equal(soft.probability, EIGHTHS[:, [1, 2, 0]])


def test_probabilities_of_float32_are_divided_by_their_sum():
    probability = np.array([[1, 1, 1], [1, 2, 4]], dtype=np.float32)
    probability /= probability.sum(axis=1, keepdims=True)
    soft = read_soft_labels(probability)
    np.testing.assert_allclose(soft.probability.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(soft.probability, probability, rtol=1e-6)


@pytest.mark.parametrize(
    "y",
    [np.array([0, 1]), [0, 1], ["a", "b"], np.zeros((2, 1)), [["a", "b"], ["b", "a"]], None, 3,
     [[0.5, 0.5], [1.0]]],
    ids=str,
)  # fmt: skip
def test_other_labels_are_no_probabilities(y):
    assert read_soft_labels(y) is None


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (EIGHTHS - 0.125, r"y .* finite and at least 0; row 0 has -0\.125"),
        (np.where(EIGHTHS > 0.7, np.nan, EIGHTHS), "finite and at least 0; row 1 has nan"),
        (np.where(EIGHTHS > 0.7, np.inf, EIGHTHS), "finite and at least 0; row 1 has inf"),
        (EIGHTHS * [[1], [1], [1.01], [1]], r"add up to 1 in every row; row 2 adds up to 1\.01"),
        (np.ones((4, 3), dtype=int), "row 0 adds up to 3: several labels .*MultiOutputClassifier"),
        (pd.DataFrame(EIGHTHS, columns=["a", "b", "a"]), r"different names; got \['a', 'b', 'a'\]"),
        (pd.DataFrame(EIGHTHS, columns=["a", 1, 2]), "y's columns must hold labels of one kind"),
    ],
)
def test_bad_probabilities(y, message):
    with pytest.raises(ValueError, match=message):
        read_soft_labels(y)


def test_a_label_is_a_row_as_heavy_as_it_is_probable():
    rows = read_rows(read_soft_labels(EIGHTHS), 4, [2.0, 1.0, 0.0, 1.0])
    assert rows.row_of.tolist() == [0, 0, 1, 2, 2, 2, 3]
    assert rows.weight.tolist() == [0.75, 1.25, 1.0, 0.0, 0.0, 0.0, 1.0]
    assert rows.codes.tolist() == [0, 2, 0, 3, 3, 3, 1]  # 3 is the code of rows that do not count
    assert rows.total == 4.0
    order = rows.sort()
    assert order.segments.tolist() == [0, 2, 3, 4]
    assert sorted(order.order[:2].tolist()) == [0, 1]
    assert order.order[2:].tolist() == [3, 0]
    table = rows.of_table
    assert table.codes.tolist() == [2, 0, 3, 1]
    assert table.weight.tolist() == [2.0, 1.0, 0.0, 1.0]


def test_labels_of_probability_1_are_hard_labels():
    rows = read_rows(SoftLabels(np.array(["a", "b"]), np.eye(2)[[1, 0, 1]]), 3)
    assert rows.row_of is None
    assert rows.weight is None
    assert rows.of_table is rows
    assert rows.codes.tolist() == [1, 0, 1]
    assert rows.classes.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("probability", "weight", "message"),
    [
        (EIGHTHS, None, "X and y must have as many rows; got 5 and 4"),
        (np.insert(EIGHTHS, 1, 0.0, axis=1)[[0, 1, 2, 3, 0]], None, "none for 1: leave its column"),
        (EIGHTHS[[0, 1, 2, 3, 0]], [1, 1, 0, 0, 1], "row of positive weight; got none for 1"),
        (np.eye(3)[[0, 0, 0, 1, 0]], [1, 1, 1, 0, 1], "at least two classes"),
    ],
)
def test_rows_that_lack_labels(probability, weight, message):
    with pytest.raises(ValueError, match=message):
        read_rows(read_soft_labels(probability), 5, weight)


def test_class_weights_multiply_the_shares():
    rows = read_rows(read_soft_labels(EIGHTHS), 4, None, {0: 2.0, 1: 1.0, 2: 4.0})
    assert rows.training_weight.tolist() == [0.75, 2.5, 2.0, 0.25, 0.75, 0.5, 1.0]
    np.testing.assert_array_equal(rows.find_binned_weight(), [3.25, 2.0, 1.5, 1.0])


def test_weights_are_normalized_over_the_rows_of_the_table():
    rows = read_rows(read_soft_labels(EIGHTHS), 4, [3.0, 1.0, 3.0, 1.0], None, True)
    assert rows.row_weight.tolist() == [1.5, 0.5, 1.5, 0.5]
    assert rows.total == 4.0


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any), min_size=n, max_size=n
        )
    )
)
def test_labels_of_rows_are_their_probabilities(counts):
    counts = np.array(counts)
    soft = read_soft_labels(counts / counts.sum(axis=1, keepdims=True))
    row_of, codes, share = soft.spread()
    rebuilt = np.zeros(counts.shape)
    rebuilt[np.arange(len(counts)) if row_of is None else row_of, codes] = (
        1.0 if share is None else share
    )
    np.testing.assert_array_equal(rebuilt, soft.probability)
