"""Rows sorted by class and fold, and the folds that models trained together leave out."""

import numpy as np

from helpers.engine import problem, tables

N_FOLDS = 3


def folded(seed=3, n=900, weighted=False):
    """Return a problem sorted by class and fold: codes, features, y, fold, weight, segments."""
    codes, features, _, y = problem(seed, n)
    rng = np.random.default_rng(seed)
    fold = rng.integers(0, N_FOLDS, n)
    key = (y > 0) * N_FOLDS + fold
    order = np.argsort(key, kind="stable")
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    segments = np.cumsum([0, *np.bincount(key, minlength=2 * N_FOLDS)])
    return codes[:, order], features, y[order], fold[order], weight, segments


def roles_of(fold):
    """Return the roles of segments for a model without `fold`; N_FOLDS leaves nothing out."""
    side = np.repeat([-1, 1], N_FOLDS)
    return np.where(np.tile(np.arange(N_FOLDS), 2) == fold, 2 * side, side)


def raw_predictions(rounds, codes):
    raw = np.zeros(codes.shape[1])
    for step, table, feature in zip(rounds.step, tables(rounds), rounds.feature, strict=True):
        raw += step * table[codes[feature]]
    return raw
