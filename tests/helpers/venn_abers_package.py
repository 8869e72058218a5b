"""The package venn-abers, whose import and calls turn NumPy's warnings off or cause them."""

import warnings

import numpy as np
import pytest

__all__ = ["find_pairs_by_package"]


def find_pairs_by_package(scores, positive, new):
    """Return the merged probability and the pair of each new score, by the package."""
    with np.errstate(), warnings.catch_warnings(action="ignore"):
        package = pytest.importorskip("venn_abers")
        calibrator = package.VennAbers()
        calibrator.fit(np.stack([1.0 - scores, scores], axis=1), positive.astype(float))
        merged, pairs = calibrator.predict_proba(np.stack([1.0 - new, new], axis=1))
    return merged[:, 1], pairs
