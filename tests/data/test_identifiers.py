"""Test that columns of text that name rows are warned of once, wherever rows come from."""

import warnings

import numpy as np
import pytest

import properboost as pb
from properboost.data.identifiers import MOST_UNIQUE, are_mostly_unique

pd = pytest.importorskip("pandas")

N = 120
Y = np.arange(N) % 2 == 0
NAMES = [f"n{i}" for i in range(N)]
FRAME = pd.DataFrame(
    {
        "name": NAMES,
        "town": ["Ulm", "Kiel", "Bonn"] * (N // 3),
        "key": NAMES[:70] + ["a"] * (N - 70),
    }
)
WARNING = "column 'name' (120 of 120 rows), column 'key' (70 of 120 rows): as categories"


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([1] * MOST_UNIQUE, False),
        ([1] * (MOST_UNIQUE + 1), True),
        ([1] * (MOST_UNIQUE + 1) + [MOST_UNIQUE + 1], False),
        ([1] * (MOST_UNIQUE + 2) + [MOST_UNIQUE + 1], True),
        ([2] * 100, False),
        ([0] * 50 + [1, 1], False),
        ([], False),
    ],
)
def test_most_rows_must_have_texts_of_their_own(counts, expected):
    assert are_mostly_unique(np.array(counts, dtype=np.int64)) == expected


@pytest.mark.parametrize(
    "fit",
    [
        lambda: pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(FRAME, Y),
        lambda: pb.UDTClassifier().fit(FRAME, Y),
        lambda: pb.ULSClassifier().fit(FRAME, Y),
        lambda: pb.ARBoostClassifier(n_estimators=2).fit(FRAME, Y),
        lambda: pb.RadoBoostClassifier(n_estimators=2, n_rados=20).fit(FRAME, Y),
        lambda: pb.QuantizedTable.from_batches(
            [FRAME[a : a + 50].assign(y=Y[a : a + 50]) for a in range(0, N, 50)], "y"
        ),
    ],
    ids=["boosting", "udt", "uls", "votes", "rados", "batches"],
)
def test_one_warning_names_all_such_columns(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()  # names separate the rows, which some of the models warn of, too
    [message] = [str(w.message) for w in caught if "most texts" in str(w.message)]
    assert WARNING in message


@pytest.mark.parametrize(
    ("frame", "parameters"),
    [
        (FRAME.drop(columns=["name", "key"]), {}),
        (FRAME.astype("category"), {}),
        (FRAME, {"categorical_features": ["name", "town", "key"]}),
    ],
    ids=["no names", "categories", "named"],
)
def test_columns_that_the_user_chose_are_not_warned_of(frame, parameters):
    pb.ProperBoostClassifier(n_estimators=2, **parameters).fit(frame, Y)


def test_batches_without_a_value_of_a_column_are_no_other_type():
    parts = [FRAME[["town"]].assign(y=Y), pd.DataFrame({"town": [np.nan] * 4, "y": Y[:4]})]
    table = pb.QuantizedTable.from_batches(parts, "y")
    assert table.declares_categorical(0)
    with pytest.raises(ValueError, match="batches of the same types"):
        pb.QuantizedTable.from_batches([parts[0], pd.DataFrame({"town": [1.0], "y": [True]})], "y")
