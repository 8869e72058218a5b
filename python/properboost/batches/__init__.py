"""Rows that come in batches: predictions and scores, with one batch in memory at a time."""

from properboost.batches.predictions import evaluate, predict

__all__ = ["evaluate", "predict"]


def __dir__() -> list[str]:
    return __all__
