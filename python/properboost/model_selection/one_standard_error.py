"""The most regularised of the candidates that are as good as the best (Breiman et al. 1984)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from properboost.model_selection.cv_scores import mean_scores
from properboost.model_selection.search_space import Candidate, with_gain

__all__ = ["regularize"]


def regularize(
    candidates: Sequence[Candidate],
    families: Sequence[str | None],
    curves: NDArray[np.float64],
    best_at: NDArray[np.intp],
    best: int,
    *,
    any_number: bool,
) -> tuple[int, int]:
    """Return the most regularised candidate, and the place of its fewest estimators, that will do.

    Those will do whose mean over the splits is no more than one standard error of the best's below
    it.  Simple families come first among `families`; where none are compared the loss and the
    coupling are the best's.  `curves` are the scores, (n_candidates, n_splits, estimators), and
    `best_at` where each is best; with `any_number`, fewer estimators may be taken.
    """
    means = mean_scores(curves)
    splits = curves[best, :, best_at[best]]
    error = splits.std(ddof=1) / len(splits) ** 0.5 if len(splits) > 1 else 0.0
    least = means[best, best_at[best]] - error
    kinds = [(c.family, with_gain(c.loss, 1.0), c.coupling) for c in candidates]
    enough = [c for c in range(len(candidates)) if means[c, best_at[c]] >= least]
    # The best of the simplest that will do says which kind.
    simplest = min(enough, key=lambda c: (families.index(kinds[c][0]), -means[c, best_at[c]]))
    rivals = [c for c in enough if kinds[c] == kinds[simplest if kinds[best][0] else best]]
    chosen = max(rivals, key=lambda c: (candidates[c].loss.gain, means[c, best_at[c]]))
    at = int(np.argmax(means[chosen] >= least)) if any_number else int(best_at[chosen])
    return chosen, at
