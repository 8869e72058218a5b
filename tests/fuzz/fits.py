"""The kind of input that fits an estimator, and the allowed outcomes."""

import io
import pickle
import re
import traceback
import warnings
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from fuzz.cases import Case, CaseObjects
from fuzz.invariants import Fit, Invariant, digest, list_chosen
from fuzz.invariants.bags import count_fewest
from fuzz.outcomes import BrokenInvariant, Outcome
from fuzz.parameters import (
    Shape,
    draw_estimator,
    draw_parameters,
    list_classes,
    list_estimators,
)
from fuzz.tables import draw_frame, draw_labels, draw_size, draw_table, draw_weights
from properboost import ProperBoostClassifier
from properboost.parameters.declare import declared

__all__ = ["Fits", "names_any", "no_foreign_warnings", "phase"]

ALLOWED = (ValueError, TypeError, MemoryError)

ARGUMENTS = {
    "X", "y", "sample_weight", "class_weight", "groups", "loss", "gain", "n_estimators", "column",
    "features", "regularizer",
}  # fmt: skip
"""Names that messages may use besides an estimator's parameters."""

OTHERS = (
    "Only binary classification is supported",
    "Found array with",
    "Found a table with",
    "Unknown label type",
    "Number of classes",
    "n_splits",  # from a splitter
    "Sample weights must",
    "Expected 2D array",
    "Complex data not supported",
    "multi_class must",  # from a scorer of two classes
    "Input contains infinity",  # from a scorer, where a class is missing from a fold
)
"""Other accepted messages on tables or labels, most of them scikit-learn's."""

OURS = (UserWarning,)
"""Categories of warnings for users; numpy's RuntimeWarning is not among them."""


class Fits:
    """Estimators fitted to random rows, whose models are tried by every invariant."""

    name = "fits"
    share = 1.0

    def draw(self, seed: int) -> Case:
        rng = np.random.default_rng([crc32(self.name.encode()), seed])
        estimator = draw_estimator(rng)
        n, d = draw_size(rng)
        if "cv" in list_estimators()[estimator]().get_params():
            n = min(n, 500)  # a search fits candidates times splits
        frame = draw_frame(rng)
        columns, layout = draw_table(rng, n, d, frame)
        model = list_estimators()[estimator]()
        y = draw_labels(rng, columns, n, not get_tags(model).classifier_tags.multi_class)
        weight = draw_weights(rng, n)
        labels = [repr(label) for label in dict.fromkeys(sorted(y.tolist()))]
        if not has_fit_parameter(model, "sample_weight"):
            weight = None
        params = draw_parameters(rng, estimator, Shape(n, d, labels))
        return Case(estimator, params, tuple(columns), y, weight, frame, layout, seed)

    def check(self, case: Case, only: str | None = None) -> Outcome:
        """Fit, and try the invariants that the case's seed chooses, or only the named one."""
        try:
            made = _make(case)
        except ALLOWED as error:
            return Outcome("refused", str(error))
        with phase("fit"), no_foreign_warnings(), redirect_stderr(io.StringIO()):
            before = _remember(made)
            try:
                fitted = made.model.fit(
                    made.X, made.y, *([] if made.weight is None else [made.weight])
                )
            except ALLOWED as error:
                self.check_refusal(case, error)
                if "outer_bags must be 0 where" in str(error):
                    fewest = count_fewest(made.model, made.y, made.weight)
                    held_out = Fit(made.model, made.X, made.y, made.weight).holds_out
                    enough = f"{fewest} rows of each class are enough for bags"
                    assert fewest == 1 or held_out, enough
                return Outcome("refused", f"{type(error).__name__}: {error}")
            assert fitted is made.model, "fit returns another object"
        with phase("fit leaves its arguments as they are"):
            assert _remember(made) == before
        for name, entry in self.list_invariants(case, only):
            # An invariant's draws must not depend on the invariants tried before it.
            fit = Fit(made.model, made.X, made.y, made.weight, case.seed)
            with phase(name), no_foreign_warnings(), redirect_stderr(io.StringIO()):
                entry.check(fit)
        with phase("predictions leave their arguments as they are"):
            assert _remember(made) == before
        return Outcome("fitted")

    def list_invariants(self, case: Case, only: str | None) -> Iterable[tuple[str, Invariant]]:
        """Return the invariants to try on the fit of a case."""
        return list_chosen(case.seed, only)

    def check_refusal(self, case: Case, error: BaseException) -> None:
        """Check that a refusal names an existing argument."""
        if isinstance(error, MemoryError):
            return
        names = ARGUMENTS | list_estimators()[case.estimator]().get_params().keys() | {"rho"}
        if "space" in names:
            names |= declared(ProperBoostClassifier).keys()
        names |= {f for name in [*names] for cls in list_classes(name) for f in declared(cls)}
        text = str(error)
        if not names_any(text, names) and not any(part in text for part in OTHERS):
            raise AssertionError(f"an error that names no argument: {type(error).__name__}: {text}")

    def digest(self, case: Case) -> str | None:
        """Return a hash of the fitted model; None if it cannot be fitted."""
        try:
            made = _make(case)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made.model.fit(made.X, made.y, *([] if made.weight is None else [made.weight]))
                return digest(made.model, made.X)
        except ALLOWED:
            return None

    def smaller(self, case: Case) -> Iterator[Case]:
        return case.smaller()

    def show(self, case: Case, broken: str) -> str:
        """Return a test that fails as the case does."""
        lines = case.show()
        at = lines.index("")
        weight = "" if case.weight is None else ", weight"
        end = f'hold(model, X, y{weight}, only="{broken}", seed={case.seed})'
        if broken.startswith("fit"):
            return "\n".join(
                [*lines[:at], "", "", "def test_regression():", *_indent(lines[at + 1 :])]
            )
        imports = [*lines[:at], "from fuzz.invariants import hold"]
        return "\n".join(
            [*imports, "", "", "def test_regression():", *_indent([*lines[at + 1 :], end])]
        )


def _indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _make(case: Case) -> CaseObjects:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # libraries of tables warn of our inputs
        return case.make()


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Turn every exception into a failure of this name."""
    try:
        yield
    except BrokenInvariant:
        raise
    except Exception as error:
        cause = ""
        if not isinstance(error, AssertionError):
            cause = f": {type(error).__name__} in {_find_place(error)}"
        elif name == "fit":
            cause = ": " + re.sub("[^a-z ]+", " ", str(error).lower())[:60]
        raise BrokenInvariant(name, f"{name}{cause}", f"{type(error).__name__}: {error}") from error


def _find_place(error: BaseException) -> str:
    """Return the last function on the error's way, of the package if there is one."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "properboost" in Path(frame.filename).parts]
    last = (ours or frames)[-1]
    return f"{Path(last.filename).name}, {last.name}"


@contextmanager
def no_foreign_warnings() -> Iterator[None]:
    """Turn warnings that are not for users into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in OURS:
            warnings.simplefilter("ignore", category)
        for category in (RuntimeWarning, DeprecationWarning, FutureWarning):
            warnings.simplefilter("error", category)
        yield


def names_any(text: str, names: Container[str]) -> bool:
    """Return whether a message has one of these names."""
    return any(word in names for word in re.findall(r"\w+", text))


def _remember(made: CaseObjects) -> list[Any]:
    """Return the content of all objects that fits and predictions must not change."""
    shown = [(name, repr(value)) for name, value in sorted(made.model.get_params().items())]
    table = made.X
    if hasattr(table, "iloc"):
        table = [(name, str(c.dtype), repr(c.tolist())) for name, c in table.items()]
    elif hasattr(table, "to_pydict"):
        table = table.to_pydict()
    elif hasattr(table, "to_dicts"):
        table = table.to_dicts()
    else:
        array = np.asarray(table)
        table = (
            array.dtype.str,
            array.shape,
            repr(table) if array.dtype == object else array.tobytes(),
        )
    weight = None if made.weight is None else made.weight.tobytes()
    return [
        shown,
        table if isinstance(table, tuple) else pickle.dumps(repr(table)),
        repr(made.y),
        weight,
    ]
