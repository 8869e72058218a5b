"""Initial raw predictions of a fit: those of another model, or a known offset."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.parameters import checks

__all__ = ["LARGEST_SCORE", "read_init_score"]

LARGEST_SCORE = 1e30
"""The engine's margins are float32."""


def read_init_score(
    score: Any, n_rows: int, n_models: int, name: str = "init_score"
) -> NDArray[np.float64]:
    """Return the rows' initial raw predictions, (n_rows, n_models).

    A number stands for all rows and, with several classes, for each class.
    """
    scores = checks.numbers_of(name, score)
    several = f" or ({n_rows}, {n_models})" if n_models > 1 else f", ({n_rows}, 1)"
    if scores.ndim == 0:
        scores = np.full((n_rows, n_models), float(scores))
    elif n_models == 1 and scores.shape == (n_rows,):
        scores = scores[:, None]
    if scores.shape != (n_rows, n_models):
        row = f"({n_rows},)" if n_models == 1 else "()"
        raise ValueError(f"{name} must have shape {row}{several}; got {scores.shape}")
    if not np.all(np.abs(scores) <= LARGEST_SCORE):
        raise ValueError(f"{name} must hold finite numbers of at most {LARGEST_SCORE:g} in size")
    return scores
