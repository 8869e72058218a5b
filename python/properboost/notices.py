"""Warnings that point at the user's line."""

import warnings
from inspect import currentframe

__all__ = ["warn"]

INNER = ("properboost.", "sklearn.callback.")
"""Where no user's line is; scikit-learn wraps methods that have callbacks."""


def warn(message: str) -> None:
    """Warn, as a `UserWarning`, at the line outside the package from which it was called."""
    frame, level = currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith(INNER):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level + 1)
