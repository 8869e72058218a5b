"""Helpers for tests of saved models: documents with something changed."""

import copy
import math
import warnings

import numpy as np
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
"""Strategy for values of JSON."""


def places(value, place=()):
    """Yield the keys and positions that lead to every value in a document."""
    yield place
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*place, key))


def change(document, place, value):
    """Return a copy of a document with another value at a place."""
    changed = copy.deepcopy(document)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


def assert_predicts(model, table):
    """Check that a changed model predicts finite numbers, if its names and categories still fit."""
    try:
        # The model may have lost its names.
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            raw = model.decision_function(table)
    except ValueError:  # the model has other names or categories
        return
    assert np.all(np.isfinite(raw))
    assert all(math.isfinite(v) for v in getattr(model, "feature_importances_", ()))
