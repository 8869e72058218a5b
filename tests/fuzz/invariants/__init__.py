"""Invariants of every fitted model, whatever it was fitted to.

An invariant is a function of a `Fit` under the name that failures are reported by. It raises an
AssertionError, or any other exception: each one is a failure. `share` is the part of the fits that
it is tried on; it is smaller for invariants that fit again.

The invariants are in `predictions` (any rows), `again` (the same fit, pickles and files), `inputs`
(the same rows and weights in another form), `bags` (standard errors), `watched` (fits that continue
or stop early), `edited` (models changed by hand), `exported` (other systems) and `written`
(parameters).
"""

from fuzz.invariants import again, bags, edited, exported, inputs, predictions, watched, written
from fuzz.invariants.registry import INVARIANTS, Fit, Invariant, digest, hold, list_chosen

__all__ = [
    "INVARIANTS",
    "Fit",
    "Invariant",
    "again",
    "bags",
    "digest",
    "edited",
    "exported",
    "hold",
    "inputs",
    "list_chosen",
    "predictions",
    "watched",
    "written",
]
