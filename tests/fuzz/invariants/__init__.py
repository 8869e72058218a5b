"""What must hold of every fitted model, whatever it was fitted to.

An invariant is a function of a `Fit` under the name that failures are reported by.  It raises an
AssertionError, or whatever it runs into: every exception is a failure.  `share` is how many of the
fits it is tried on; those that fit again are tried on a part.

They are in `predictions` (what a model says of any rows), `again` (the same fit, and what is kept
of it), `inputs` (the same rows and weights in other guise), `bags` (how sure a model is), `watched`
(fits that go on or stop early), `edited` (models that were changed by hand), `exported` (models in
other systems) and `written` (parameters as they were written).
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
