"""What a simpler model would cost, and one without what the law may protect, in a sentence each."""

from collections.abc import Sequence

from properboost.report.found import Fewer, FewScores
from properboost.report.words import decimal, list_words, percent

__all__ = ["describe_simpler", "describe_unprotected"]


def describe_simpler(
    fewer: Sequence[Fewer], linear: FewScores | None, whole: FewScores | None
) -> str:
    """Return what at most half of the features alone would score, and a logistic regression.

    `whole` is what the model scores; the sentence is empty where there is nothing to compare.
    """
    if whole is None:
        return ""
    few = [one for one in fewer[:-1] if 2 * one.n_features <= fewer[-1].n_features]
    clauses = []
    if few:
        one = few[-1]
        own = one.fitted or one.silenced
        which = (
            f"its most important feature, {one.added[0]}, alone"
            if one.n_features == 1
            else f"its {one.n_features} most important features alone"
        )
        if own is not None:
            how = f"Fitted to {which}" if one.fitted else f"If it heard {which}"
            clauses.append(f"{how}, it would be wrong in {percent(own.error)}")
    if linear is not None:
        how = "a" if clauses else "A"
        clauses.append(
            f"{how} logistic regression of all features{' would be wrong' * (not clauses)} in "
            f"{percent(linear.error)}"
        )
    if not clauses:
        return ""
    clauses[0] += f" of the rows instead of {percent(whole.error)}"
    return f"{'; '.join(clauses)}."


def describe_unprotected(
    names: Sequence[str],
    n_features: int,
    unprotected: FewScores | None,
    whole: FewScores | None,
) -> str:
    """Return what it would cost to leave out the features of these names, or how to learn that."""
    if len(names) == n_features:
        return "It has no other features."
    if whole is None or unprotected is None:
        return (
            "What it would cost to leave them out, this page says if it is written with the right "
            "answers and with training rows (--train, in Python X_train= and y_train=)."
        )
    return (
        f"Fitted again without {list_words([f'“{name}”' for name in names], 10)}, the model would "
        f"be wrong in {percent(unprotected.error)} of the rows instead of {percent(whole.error)}; "
        f"the log loss would be {decimal(unprotected.log_loss, 4)} instead of "
        f"{decimal(whole.log_loss, 4)}."
    )
