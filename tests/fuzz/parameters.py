"""Random parameters of any estimator, drawn from its declarations.

A declaration knows what it allows: its check is tried on a pool of values, ordinary and extreme,
and what it takes may be drawn.  So a new estimator or parameter joins by itself; only parameters
whose values depend on the table, and those that cost time, have a line here.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

import numpy as np
from numpy.random import Generator

import properboost as pb
from fuzz.cases import FIRST, evaluate
from properboost import _core, losses
from properboost.engine.options import find_coupling
from properboost.estimators import presets
from properboost.losses.registry import get_loss
from properboost.parameters.declare import Parameter, declared
from properboost.parameters.shared import MOST_LEVELS

__all__ = [
    "Shape",
    "draw_estimator",
    "draw_other",
    "draw_parameters",
    "list_estimators",
    "list_parameters",
]


@dataclass(frozen=True)
class Shape:
    """What parameters may depend on: rows, columns and labels, as expressions."""

    n: int
    d: int
    labels: Sequence[str]


Draw: TypeAlias = Callable[[Generator, Shape], str]


@functools.cache
def list_estimators() -> dict[str, type]:
    """Return the class of every public estimator and preset, by name."""
    found = {
        name: kind
        for name in pb.__all__
        if isinstance(kind := getattr(pb, name), type) and hasattr(kind, "fit")
    }
    return found | {name: type(getattr(pb, name)()) for name in presets.__all__}


def draw_estimator(rng: Generator) -> str:
    """Return a name; the estimators that have many choices more often than presets of them."""
    known = list_estimators()
    share = np.array([1.0 if name in presets.__all__ else 4.0 for name in known])
    share[list(known).index("ProperBoostClassifier")] = 16.0
    return str(rng.choice(list(known), p=share / share.sum()))


# -- what declarations allow ----------------------------------------------------------------------

INTEGERS = [-1, 0, 1, 2, 3, 5, 8, 31, 100, 127, 128, 254, 255, 256, 2**31 - 1, 2**31, 10**30]
FLOATS = [
    5e-324, 1e-310, 1e-300, 1e-100, 1e-30, 1e-9, 1e-3, 0.01, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7,
    0.9, 1.0 - 2.0**-53, 1.0, 1.5, 2.0, 10.0, 1e3, 1e6, 1e9, 1e30, 1e100, 1e300,
    1.7976931348623157e308, 0.0, -0.5, -1.0, -4.0, -1e6,
]  # fmt: skip
OTHERS = [
    "None", "True", "False", "'auto'", "'none'", "float('nan')", "float('inf')", "np.float32(0.5)",
    "np.int8(2)", "np.bool_(True)", "'0.5'", "1j", "[]", "()", "{}", "np.array(2)", "np.nan",
]  # fmt: skip


@functools.cache
def allowed(kind: type, name: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the ordinary values of a parameter, the extreme ones, and those it refuses."""
    entry = declared(kind)[name]
    known = [repr(value) for value in _list_names(entry.annotation)]
    ordinary, extreme, refused = list(known), [], []
    for text in dict.fromkeys([*map(repr, [*INTEGERS, *FLOATS]), *OTHERS]):
        for form in (text, f"[{text}]"):
            if _takes(entry, form):
                (ordinary if _is_ordinary(text) else extreme).append(form)
            elif form == text:
                refused.append(text)
    return tuple(ordinary), tuple(extreme), tuple(refused)


def _takes(entry: Parameter, text: str) -> bool:
    try:
        entry.read(evaluate(text))
    except (ValueError, TypeError):
        return False
    return True


def _is_ordinary(text: str) -> bool:
    try:
        value = abs(float(evaluate(text)))
    except (TypeError, ValueError):
        return text in ("None", "True", "False", "'auto'")
    return value == 0.0 or 1e-3 <= value <= 1e3


def _list_names(annotation: Any) -> list[str]:
    """Return every name that a type allows."""
    if get_origin(annotation) is Literal:
        return [name for name in get_args(annotation) if isinstance(name, str)]
    if get_origin(annotation) in (Union, UnionType):
        return [name for part in get_args(annotation) for name in _list_names(part)]
    return []


# -- parameters that depend on the table ----------------------------------------------------------


def _one(*texts: str) -> Draw:
    return lambda rng, shape: texts[rng.integers(len(texts))]


def _draw_loss(rng: Generator, shape: Shape) -> str:
    own = [f"losses.{kind.__name__}()" for kind in losses.LOSSES.values()]
    custom = [
        "losses.Alpha(0.2)", "losses.Alpha(0.5)", "losses.Permissible('mu', 0.3)",
        "losses.from_pdf(stats.logistic())", "losses.from_pdf(stats.t(2))",
        "losses.from_pdf(stats.logistic(), losses.Savage(2), alpha=0.5)",
        "losses.from_risk(*own_losses.RISKS['savage'][:2])",
        "losses.from_functions(lambda u: special.expit(-u), name='mine')",
        "losses.from_functions(lambda u: special.expit(-u), name='mine', tabulate=False)",
        "losses.from_functions(own_losses.tangent_callable('weight'), name='raw')",
    ]  # fmt: skip
    if rng.random() < 0.7:
        return repr(str(rng.choice(list(losses.LOSSES))))
    return str(rng.choice(own if rng.random() < 0.5 else custom))


def _draw_losses(rng: Generator, shape: Shape) -> str:
    count = 1 if rng.random() < 0.7 else 2
    drawn = [_draw_loss(rng, shape) for _ in range(count)]
    return drawn[0] if count == 1 else f"[{', '.join(drawn)}]"


def _draw_directions(rng: Generator, shape: Shape) -> str:
    if rng.random() < 0.3:
        return f"{{{rng.integers(shape.d)}: {rng.choice([-1, 1])}}}"
    return repr(rng.integers(-1, 2, shape.d).tolist())


def _draw_pairs(rng: Generator, shape: Shape) -> str:
    if rng.random() < 0.6 or shape.d < 2:
        return repr(int(rng.integers(0, 4)))
    return repr([rng.permutation(shape.d)[:2].tolist()])


def _draw_categories(rng: Generator, shape: Shape) -> str:
    some = rng.random(shape.d) < 0.3
    return ("None", "'from_dtype'", repr(np.flatnonzero(some).tolist()), repr(some.tolist()))[
        rng.integers(4)
    ]


def _draw_class_weight(rng: Generator, shape: Shape) -> str:
    if rng.random() < 0.5:
        return "'balanced'"
    factors = [10.0 ** rng.uniform(*((-2, 2) if rng.random() < 0.9 else (-200, 200)))
               for _ in shape.labels]  # fmt: skip
    pairs = zip(shape.labels, factors, strict=True)
    return f"{{{', '.join(f'{label}: {factor!r}' for label, factor in pairs)}}}"


def _draw_intercept(rng: Generator, shape: Shape) -> str:
    numbers = [float(10.0 ** rng.uniform(-3, 3)) for _ in shape.labels]
    some = numbers[:1] if len(numbers) == 2 else numbers
    known = ["'share'", "'auto'", "None", repr(numbers[0]), repr(some)]
    return known[rng.integers(len(known))]


def _draw_bags(rng: Generator, shape: Shape) -> str:
    # A class of one row has none: it is likely to be in few rows.
    few = shape.n < 12 * len(shape.labels) and rng.random() < 0.8
    return "0" if few else str(rng.choice([4, 5, 16, 16, 37, 64]))


def _draw_matrix(rng: Generator, shape: Shape) -> str:
    size = shape.d + int(rng.integers(0, 2))
    return str(rng.choice([f"np.eye({size})", f"np.ones(({size}, {size})) + np.eye({size})"]))


def _draw_regularizer(rng: Generator, shape: Shape) -> str:
    names = _core.regularizer_names()
    if rng.random() < 0.3:
        return repr({str(rng.choice(names)): 0.5, str(rng.choice(names)): 2.0})
    return str(rng.choice([*map(repr, names), "'elasticnet'", "None"]))


def _draw_splits(rng: Generator, shape: Shape) -> str:
    known = ["2", "3", "'auto'", "model_selection.KFold(2)",
             "model_selection.StratifiedKFold(3, shuffle=True, random_state=0)",
             "model_selection.ShuffleSplit(3, random_state=0)"]  # fmt: skip
    known += ["model_selection.LeaveOneOut()"] if shape.n < 20 else []  # so many fits take long
    return known[rng.integers(len(known))]


OF_TABLE: dict[str, Draw] = {
    "loss": _draw_loss,
    "monotonic_cst": _draw_directions,
    "interactions": _draw_pairs,
    "categorical_features": _draw_categories,
    "class_weight": _draw_class_weight,
    "intercept": _draw_intercept,
    "outer_bags": _draw_bags,
    "ridge_matrix": _draw_matrix,
    "regularizer": _draw_regularizer,
    "random_state": _one("0", "1", "4294967295", "None"),
    "n_jobs": _one("1", "2", "-1", "None", "3"),
    "verbose": _one("0"),
    "time_limit": _one("None", "1e6"),  # what is found until a time is over depends on the machine
    "q": _one("0.05", "0.5", "1e-9", "1.0", "0.0"),
    "l1_ratio": _one("0.0", "0.5", "1.0", "-1.0"),
    "cv": _draw_splits,
    "scoring": _one(
        "None", "'neg_log_loss'", "'accuracy'", "'neg_brier_score'", "'roc_auc'", "'f1_macro'",
        "'balanced_accuracy'", "'average_precision'", "'roc_auc_ovr'",
    ),
}  # fmt: skip

OF_SEARCH: dict[str, Draw] = {
    "loss": _draw_losses,
    "interactions": _one("0", "1", "[0, 2]"),
}

OTHER_THAN_DEFAULT: dict[str, Draw] = {
    "verbose": _one("1"),
    "time_limit": _one("1e6"),
    "n_draws": _one("2", "3", "16"),
}
"""Parameters of which most inputs have the default alone, or that time is proportional to."""

MOST = {"n_estimators": 12, "max_estimators": 12, "interaction_estimators": 4, "n_rados": 200}
"""Parameters that time is proportional to, and the largest value that is drawn."""


# -- drawing --------------------------------------------------------------------------------------


def draw_parameters(rng: Generator, estimator: str, shape: Shape) -> dict[str, str]:
    """Return some parameters as expressions; most are left at their defaults."""
    kind = list_estimators()[estimator]
    known = declared(kind)
    boldness = rng.choice([0.03, 0.12, 0.35])
    wild = rng.random() < 0.25
    drawn: dict[str, str] = {}
    for name in list_parameters(estimator):
        if name == FIRST:
            if rng.random() < 0.5:
                drawn[FIRST] = _draw_first(rng, estimator)
            continue
        if name in MOST:
            drawn[name] = _draw_count(rng, name)
            continue
        is_choice = bool(_list_names(known[name].annotation))
        if rng.random() < (max(boldness, 0.3) if is_choice else boldness):
            drawn[name] = _draw_value(rng, kind, name, shape, wild)
    if rng.random() < 0.02:
        name = str(rng.choice(list(known)))
        if refused := allowed(kind, name)[2]:
            drawn[name] = str(rng.choice(refused))
    return drawn if rng.random() < 0.1 else _keep_promises(estimator, drawn)


def draw_other(rng: Generator, estimator: str, name: str, shape: Shape) -> str:
    """Return a value of one parameter that is not its default."""
    if name == FIRST:
        return _draw_first(rng, estimator)
    if name in MOST:
        return _draw_count(rng, name)
    if name in OTHER_THAN_DEFAULT:
        return OTHER_THAN_DEFAULT[name](rng, shape)
    default = repr(inspect.signature(getattr(pb, estimator)).parameters[name].default)
    wild = rng.random() < 0.15
    for _ in range(1000):
        text = _draw_value(rng, list_estimators()[estimator], name, shape, wild)
        if not _shows(text, default):
            return text
    raise AssertionError(f"{name} must have a value to draw besides {default}")


def _shows(text: str, shown: str) -> bool:
    """Whether an expression is of a value that is shown so; some are refused when they are made."""
    try:
        return repr(evaluate(text)) == shown
    except (ValueError, TypeError):
        return False


def list_parameters(estimator: str) -> list[str]:
    """Return the parameters of an estimator; `FIRST` stands for the one that a preset has."""
    return [
        FIRST if own.kind == inspect.Parameter.POSITIONAL_ONLY else name
        for name, own in inspect.signature(getattr(pb, estimator)).parameters.items()
    ]


def _draw_first(rng: Generator, estimator: str) -> str:
    first, *_ = inspect.signature(getattr(pb, estimator)).parameters.values()
    values = _list_names(first.annotation) or FLOATS
    return repr(values[rng.integers(len(values))])


def _draw_count(rng: Generator, name: str) -> str:
    return repr(int(rng.integers(1, MOST[name] + 1)))


def _keep_promises(estimator: str, drawn: dict[str, str]) -> dict[str, str]:
    """Leave out what would be refused beside the other parameters."""
    known = declared(list_estimators()[estimator])
    defaults = inspect.signature(getattr(pb, estimator)).parameters

    def find(name: str) -> object:
        return evaluate(drawn[name]) if name in drawn else defaults[name].default

    broken = [
        name for name in drawn if name in known and known[name].promise
        and known[name].find_obstacle(find) is not None
    ]  # fmt: skip
    kept = {name: text for name, text in drawn.items() if name not in broken}
    if "multiclass" in kept and "step" in known and not _can_couple(find):
        del kept["multiclass"]
    if "max_depth" in kept and "grow_policy" in known and not _can_grow(find):
        del kept["max_depth"]
    if "linear_leaves" in kept and find("monotonic_cst") is not None:
        del kept["linear_leaves"]
    return kept


def _can_grow(find: Callable[[str], object]) -> bool:
    """Whether the tree has no more levels than it may."""
    depths, policies = find("max_depth"), find("grow_policy")
    # A value that is refused may be of any type.
    numbers = [d for d in np.ravel(np.array(depths, object)) if isinstance(d, int | np.integer)]
    deepest = max(numbers, default=0)
    return deepest <= MOST_LEVELS or "symmetric" not in np.atleast_1d(policies)


def _can_couple(find: Callable[[str], object]) -> bool:
    """Whether the loss and the step have the coupling of classes."""
    try:
        find_coupling(find("multiclass"), get_loss(find("loss")), find("step"))
    except (ValueError, TypeError):
        return False
    return True


def _draw_value(rng: Generator, kind: type, name: str, shape: Shape, wild: bool) -> str:
    is_search = any(entry.takes_lists for entry in declared(kind).values())
    special = (OF_SEARCH.get(name) if is_search else None) or OF_TABLE.get(name)
    if special is not None:
        return special(rng, shape)
    ordinary, extreme, _ = allowed(kind, name)
    if wild and extreme and rng.random() < 0.6:
        return str(rng.choice(extreme))
    if not ordinary:
        return repr(declared(kind)[name].default)
    text = str(rng.choice(ordinary))
    lists = [t for t in ordinary if t.startswith("[")]
    if len(lists) > 1 and text.startswith("["):
        some = rng.permutation(lists)[: rng.integers(1, 4)]
        return f"[{', '.join(t[1:-1] for t in some)}]"
    entry = declared(kind)[name]
    if not text.startswith("[") and "." in text and rng.random() < 0.5:
        anything = repr(float(10.0 ** rng.uniform(-2, 2)))
        return anything if _takes(entry, anything) else text
    return text
