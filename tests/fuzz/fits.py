"""The kind of input that fits an estimator, and what is allowed to happen when it is fitted."""

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

from fuzz.cases import Case, Made
from fuzz.invariants import Fit, Invariant, digest, list_chosen
from fuzz.invariants.bags import count_fewest
from fuzz.outcomes import Broken, Outcome
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
"""What messages may name besides an estimator's parameters."""

OTHERS = (
    "Only binary classification is supported",
    "Found array with",
    "Found a table with",
    "Unknown label type",
    "Number of classes",
    "n_splits",  # of a splitter
    "Sample weights must",
    "Expected 2D array",
    "Complex data not supported",
    "multi_class must",  # of a scorer of two classes
    "Input contains infinity",  # of a scorer, where a class is missing from a fold
)
"""Other messages, most of them scikit-learn's, that say what is wrong with a table or labels."""

OURS = (UserWarning,)
"""Categories of warnings that are meant for users; numpy's RuntimeWarning is none of them."""


class Fits:
    """Estimators fitted to random rows; every invariant is then tried on the model."""

    name = "fits"
    share = 1.0

    def draw(self, seed: int) -> Case:
        rng = np.random.default_rng([crc32(self.name.encode()), seed])
        estimator = draw_estimator(rng)
        n, d = draw_size(rng)
        if "cv" in list_estimators()[estimator]().get_params():
            n = min(n, 500)  # as many models as candidates times splits
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
        """Fit, and try every invariant that the case's seed chooses, or the one that is named."""
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
            # An invariant draws the same whether others are tried before it or not.
            fit = Fit(made.model, made.X, made.y, made.weight, case.seed)
            with phase(name), no_foreign_warnings(), redirect_stderr(io.StringIO()):
                entry.check(fit)
        with phase("predictions leave their arguments as they are"):
            assert _remember(made) == before
        return Outcome("fitted")

    def list_invariants(self, case: Case, only: str | None) -> Iterable[tuple[str, Invariant]]:
        """Return what is tried on the fit of a case."""
        return list_chosen(case.seed, only)

    def check_refusal(self, case: Case, error: BaseException) -> None:
        """See that a refusal names an argument that exists."""
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
            return "\n".join([*lines[:at], "", "", "def test_found():", *_indent(lines[at + 1 :])])
        imports = [*lines[:at], "from fuzz.invariants import hold"]
        return "\n".join([*imports, "", "", "def test_found():", *_indent([*lines[at + 1 :], end])])


def _indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _make(case: Case) -> Made:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries of tables, about what we draw
        return case.make()


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Whatever is raised is a failure of this name."""
    try:
        yield
    except Broken:
        raise
    except Exception as error:
        cause = ""
        if not isinstance(error, AssertionError):
            cause = f": {type(error).__name__} in {_find_place(error)}"
        elif name == "fit":
            cause = ": " + re.sub("[^a-z ]+", " ", str(error).lower())[:60]
        raise Broken(name, f"{name}{cause}", f"{type(error).__name__}: {error}") from error


def _find_place(error: BaseException) -> str:
    """Return the last function of the package, or else of any, that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "properboost" in Path(frame.filename).parts]
    last = (ours or frames)[-1]
    return f"{Path(last.filename).name}, {last.name}"


@contextmanager
def no_foreign_warnings() -> Iterator[None]:
    """A warning that is not meant for users is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in OURS:
            warnings.simplefilter("ignore", category)
        for category in (RuntimeWarning, DeprecationWarning, FutureWarning):
            warnings.simplefilter("error", category)
        yield


def names_any(text: str, names: Container[str]) -> bool:
    """Whether a message has one of some names in it."""
    return any(word in names for word in re.findall(r"\w+", text))


def _remember(made: Made) -> list[Any]:
    """Return what fitting and predicting must leave as it is."""
    shown = [(name, repr(value)) for name, value in sorted(made.model.get_params().items())]
    table = made.X
    if hasattr(table, "iloc"):
        table = [(name, str(c.dtype), repr(c.tolist())) for name, c in table.items()]
    elif hasattr(table, "to_pydict"):
        table = table.to_pydict()
    elif hasattr(table, "to_dicts"):
        table = table.to_dicts()
    else:
        kept = np.asarray(table)
        table = (
            kept.dtype.str,
            kept.shape,
            repr(table) if kept.dtype == object else kept.tobytes(),
        )
    weight = None if made.weight is None else made.weight.tobytes()
    return [
        shown,
        table if isinstance(table, tuple) else pickle.dumps(repr(table)),
        repr(made.y),
        weight,
    ]
