"""Test columns of numbers from tables with categories."""

import numpy as np
import pytest

from helpers.reference.rado import expected
from properboost import rado

pd = pytest.importorskip("pandas")


def test_categories_have_columns(mixed):
    frame, y, _ = mixed
    frame = frame.assign(age=frame["age"].fillna(40.0))
    made = rado.make_rados(frame, y, 6, 1, intercept=True)
    names = ("age", "town=Bonn", "town=Kiel", "town=Ulm", "visits", "intercept")
    assert made.feature_names == names
    indicators = [(frame["town"] == town).to_numpy() for town in ("Bonn", "Kiel", "Ulm")]
    X = np.column_stack([frame["age"], *indicators, frame["visits"], np.ones(len(frame))])
    exact = expected(X, (y == "yes").astype(float), 6, 1)
    np.testing.assert_allclose(made.values, exact, rtol=0, atol=1e-9)
    assert made.classes.tolist() == ["no", "yes"]
    polars = pytest.importorskip("polars").from_pandas(frame)
    np.testing.assert_array_equal(rado.make_rados(polars, y, 6, 1, intercept=True).values,
                                  made.values)  # fmt: skip


def test_categories_are_the_types():
    """Owners whose rows lack different categories must make the same columns."""
    town = pd.Categorical(["Bonn", "Bonn"], categories=["Bonn", "Kiel"])
    made = rado.make_rados(pd.DataFrame({"town": town}), [0, 1], 3)
    assert made.feature_names == ("town=Bonn", "town=Kiel")
    assert not made.values[:, 1].any()
