"""Lines in leaves, compared with the engine's."""

import numpy as np

from helpers.trees import fit_tree, noisy


def test_positions_are_the_engines():
    X, y = noisy(n=500)
    X[:, 0] = np.where(X[:, 0] > 0, 1.7e308, -1.7e308)
    model = fit_tree(X, y, linear_leaves=True)
    (*_, staged) = model.staged_decision_function(X)
    np.testing.assert_allclose(staged, model.decision_function(X), rtol=1e-12, atol=1e-13)
