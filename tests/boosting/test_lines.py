"""Lines in words."""

import numpy as np
import pytest

from helpers.trees import fit_tree, noisy


def test_trees_are_told_with_their_lines():
    X, y = noisy(n=800, d=3)
    model = fit_tree(X, y, linear_leaves=True, max_leaf_nodes=2, learning_rate=1.0)
    words = model.describe_tree(1).splitlines()
    rounds, bins = model._ensemble.models[0], model._ensemble.binning.features
    lines, ends = rounds.lines_of(0), iter(words[1::2])
    for node in (1, 2):
        j, t = int(lines.feature[lines.offsets[node]]), lines.offsets[node]
        means = bins[j].means
        slope = lines.slope[t] / (means[-1] - means[0])
        center = means[0] + lines.center[t] * (means[-1] - means[0])
        sign = "-" if slope < 0 else "+"
        distance = f"feature {j} {'+' if center < 0 else '-'} {abs(center):.6g}"
        expected = f"{rounds.table(0)[node]:+.4g} {sign} {abs(slope):.4g} ({distance})"
        assert next(ends).endswith(expected)
    other = model.describe_tree(1, class_=False).splitlines()
    assert other[1] != words[1]
    plain = fit_tree(X, y, max_leaf_nodes=2)
    assert " (" not in plain.describe_tree(1)


def test_what_there_is_no_tree_of_is_refused():
    X, y = noisy()
    model = fit_tree(X, y)
    with pytest.raises(ValueError, match="number must be between 1 and 5; got 6"):
        model.describe_tree(6)
    with pytest.raises(ValueError, match="describe_tree is for models of trees"):
        fit_tree(X, y, weak_learner="stump").describe_tree(1)


def test_positions_are_the_engines():
    X, y = noisy(n=500)
    X[:, 0] = np.where(X[:, 0] > 0, 1.7e308, -1.7e308)
    model = fit_tree(X, y, linear_leaves=True)
    (*_, staged) = model.staged_decision_function(X)
    np.testing.assert_allclose(staged, model.decision_function(X), rtol=1e-12, atol=1e-13)
