"""The one-standard-error rule: the most regularised good candidate (Breiman et al. 1984)."""

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
    """Return the most regularised good candidate, and the place of its fewest good estimators.

    Candidates are good whose mean over the splits is at most one standard error below the best
    one's.  Simple families come first among `families`.  Where none are compared, the loss and the
    coupling are the best candidate's.  `curves` are the scores, (n_candidates, n_splits,
    estimators), and `best_at` where each is best; with `any_number`, fewer estimators may be taken.
    """
    means = mean_scores(curves)
    splits = curves[best, :, best_at[best]]
    error = splits.std(ddof=1) / len(splits) ** 0.5 if len(splits) > 1 else 0.0
    least = means[best, best_at[best]] - error
    kinds = [(c.family, with_gain(c.loss, 1.0), c.coupling) for c in candidates]
    enough = [c for c in range(len(candidates)) if means[c, best_at[c]] >= least]
    # The best of the simplest good candidates decides on the kind.
    simplest = min(enough, key=lambda c: (families.index(kinds[c][0]), -means[c, best_at[c]]))
    rivals = [c for c in enough if kinds[c] == kinds[simplest if kinds[best][0] else best]]
    chosen = max(rivals, key=lambda c: (candidates[c].loss.gain, means[c, best_at[c]]))
    at = int(np.argmax(means[chosen] >= least)) if any_number else int(best_at[chosen])
    return chosen, at
