"""Test that labels of every kind in files are fitted, stored and predicted as the file has them."""

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from helpers.commands import columns_of, fail, run
from helpers.label_kinds import KINDS

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 2)).round(3), columns=["a", "b"])
CODES = np.digitize(X["a"], [-0.5, 0.5])

FIT = ("--target", "y", "--output", "m.json", "--force", "--n-estimators", 3, "--jobs", 1)

# A text shows a label's value only, so kinds of equal values are tested once.
IN_TEXT = {}
for name, kind in KINDS.items():
    IN_TEXT.setdefault(tuple(map(repr, kind.values.tolist())), name)


def codes_of(kind):
    return CODES if kind.most == 3 else np.minimum(CODES, 1)


def make_column(kind):
    """Return the labels as a pandas column that pyarrow can write."""
    y = kind.make(codes_of(kind))
    if isinstance(y, np.ndarray):
        odd = y.dtype.kind == "T" or y.dtype.itemsize > 8 or not y.dtype.isnative
        return pd.Series(kind.values[codes_of(kind)] if odd else y)
    return y.reset_index(drop=True) if isinstance(y, pd.Series) else y.to_pandas()


def expected_of(kind):
    model = pb.ProperBoostClassifier(n_estimators=3, n_jobs=1, weak_learner="table").fit(
        X, codes_of(kind)
    )
    return model.decision_function(X), model.predict(X)


@pytest.mark.parametrize("name", IN_TEXT.values())
def test_text(capsys, name):
    """Truth values are text in a CSV file, because TRUE and true are two texts."""
    kind = KINDS[name]
    texts = [str(value) for value in kind.values[codes_of(kind)].tolist()]
    X.assign(y=texts).to_csv("rows.csv", index=False)
    run(capsys, "fit", "rows.csv", *FIT)
    model = pb.load_model("m.json")
    values = kind.values.tolist()
    assert model.classes_.tolist() == ([*map(str, values)] if kind.most == 2 else values)
    raw, predicted = expected_of(kind)
    np.testing.assert_array_equal(model.decision_function(X), raw)
    written = columns_of(run(capsys, "predict", "m.json", "rows.csv")[0])
    assert written["class"] == [str(values[code]) for code in predicted]
    assert [*written][1:] == [f"p_{value}" for value in values]


# Arrow has no columns of objects, and makes the same columns of lists as of arrays.
IN_COLUMNS = [name for name in KINDS if not name.startswith(("objects", "list", "polars: Int128"))]


@pytest.mark.parametrize("name", IN_COLUMNS)
def test_parquet(capsys, name):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    kind = KINDS[name]
    if kind.values.dtype == np.float16:
        pytest.skip("not every version of pyarrow has float16")
    table = pyarrow.Table.from_pandas(X)
    y = kind.make(codes_of(kind))
    if not type(y).__module__.startswith("pyarrow"):
        y = pyarrow.Table.from_pandas(pd.DataFrame({"y": make_column(kind)}))["y"]
    parquet.write_table(table.append_column("y", y), "rows.parquet")
    raw, predicted = expected_of(kind)
    for how in (["--eval", "rows.parquet"], ["--in-batches"]):
        run(capsys, "fit", "rows.parquet", *FIT, *how)
        model = pb.load_model("m.json")
        assert model.classes_.dtype.kind == kind.values.dtype.kind.replace("U", "O")
        assert model.classes_.tolist() == kind.values.tolist()
        np.testing.assert_array_equal(model.decision_function(X), raw)
    run(capsys, "predict", "m.json", "rows.parquet", "--output", "p.parquet")
    written = parquet.read_table("p.parquet")["class"].to_pylist()
    assert written == kind.values[predicted].tolist()


def test_integers_that_are_equal_as_floats_are_refused(capsys):
    X.assign(y=[2**70 + int(code) for code in CODES]).to_csv("rows.csv", index=False)
    line = fail(capsys, "fit", "rows.csv", *FIT)
    assert "column 'y' holds numbers of more than 15 digits" in line
