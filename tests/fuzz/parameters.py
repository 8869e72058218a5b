"""Random parameters of any estimator, drawn from its declarations.

Each declaration's check is tried on a pool of values, ordinary and extreme, and accepted values may
be drawn. So a new estimator or parameter joins by itself. Only parameters whose values depend on
the table, and slow ones, have a line here.
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
from fuzz.cases import FIRST, evaluate, make_model
from properboost import _core, losses
from properboost.estimators import presets
from properboost.estimators.arboost import check_voting
from properboost.estimators.base import TableClassifier
from properboost.estimators.properboost_parameters import check_parameters
from properboost.model_selection.families import check_search
from properboost.parameters.declare import (
    Component,
    Parameter,
    check_component,
    check_declared,
    declared,
)
from properboost.parameters.flat import OWNERS
from properboost.parameters.learners import LEARNERS

__all__ = [
    "Shape",
    "check_model",
    "draw_estimator",
    "draw_others",
    "draw_parameters",
    "list_classes",
    "list_estimators",
    "list_names",
    "list_parameters",
]


@dataclass(frozen=True)
class Shape:
    """Inputs that parameters may depend on: rows, columns and labels, as expressions."""

    n: int
    d: int
    labels: Sequence[str]


Draw: TypeAlias = Callable[[Generator, Shape], str]

Texts: TypeAlias = dict[str, str]
"""Expressions by names of parameters, which may be nested."""


@functools.cache
def list_estimators() -> dict[str, type]:
    """Return the class of every public estimator and preset, by name."""
    classes = {
        name: kind
        for name in pb.__all__
        if isinstance(kind := getattr(pb, name), type) and issubclass(kind, TableClassifier)
    }
    return classes | {name: type(getattr(pb, name)()) for name in presets.__all__}


def draw_estimator(rng: Generator) -> str:
    """Return a name, of estimators with many choices more often than of presets."""
    known = list_estimators()
    share = np.array([1.0 if name in presets.__all__ else 4.0 for name in known])
    share[list(known).index("ProperBoostClassifier")] = 16.0
    return str(rng.choice(list(known), p=share / share.sum()))


def list_classes(name: str) -> tuple[type[Component], ...]:
    """Return the classes of the objects that a parameter may be."""
    return tuple(OWNERS.get(name, ()))


@functools.cache
def list_names(estimator: str) -> tuple[str, ...]:
    """Return the parameters of an estimator, and the nested names of the objects that they are."""
    known = declared(list_estimators()[estimator])
    names = list_parameters(estimator)
    fields = [
        f"{name}__{field}"
        for name in names
        if name in known and known[name].component is not None
        for cls in list_classes(name)
        for field in declared(cls)
    ]
    return (*names, *dict.fromkeys(fields))


def check_model(model: Any) -> None:
    """Check the parameters of an estimator or the fields of an object, as fits do first."""
    checks = {
        pb.ProperBoostClassifier: check_parameters,
        pb.ProperBoostClassifierCV: check_search,
        pb.ARBoostClassifier: check_voting,
    }
    is_part = isinstance(model, Component)
    checks.get(type(model), check_component if is_part else check_declared)(model)


def _goes(kind: str, texts: Texts) -> bool:
    """Return whether parameters of an estimator, or fields of an object, go together."""
    try:
        check_model(make_model(kind, {name: evaluate(text) for name, text in texts.items()}))
    except (ValueError, TypeError):
        return False
    return True


# -- allowed values -------------------------------------------------------------------------------

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


Sorted: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def allowed(kind: type, name: str) -> Sorted:
    """Return the ordinary, the extreme and the refused values of a parameter."""
    return _sort(declared(kind)[name])


@functools.cache
def _sort(entry: Parameter) -> Sorted:
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
    """Return every name that a type allows; for any text, the names of weak learners."""
    if annotation is str:
        return [*LEARNERS]
    if get_origin(annotation) is Literal:
        return [name for name in get_args(annotation) if isinstance(name, str)]
    if get_origin(annotation) in (Union, UnionType):
        return [name for part in get_args(annotation) for name in _list_names(part)]
    return []


# -- parameters that depend on the table ----------------------------------------------------------


def _one(*texts: str) -> Draw:
    return lambda rng, shape: texts[rng.integers(len(texts))]


def _draw_loss(rng: Generator, shape: Shape) -> str:
    built_in = [f"losses.{kind.__name__}()" for kind in losses.LOSSES.values()]
    custom = [
        "losses.Alpha(0.2)", "losses.Alpha(0.5)", "losses.Permissible('mu', 0.3)",
        "losses.from_pdf(stats.logistic())", "losses.from_pdf(stats.t(2))",
        "losses.from_pdf(stats.logistic(), losses.Savage(2), alpha=0.5)",
        "losses.from_risk(*custom_losses.RISKS['savage'][:2])",
        "losses.from_functions(lambda u: special.expit(-u), name='mine')",
        "losses.from_functions(lambda u: special.expit(-u), name='mine', tabulate=False)",
        ("losses.from_functions(custom_losses.tangent_callable('weight'), "
         "scale=custom_losses.CERTAIN)"),
    ]  # fmt: skip
    if rng.random() < 0.7:
        return repr(str(rng.choice(list(losses.LOSSES))))
    return str(rng.choice(built_in if rng.random() < 0.5 else custom))


def _draw_directions(rng: Generator, shape: Shape) -> str:
    if rng.random() < 0.3:
        return f"{{{rng.integers(shape.d)}: {rng.choice([-1, 1])}}}"
    return repr(rng.integers(-1, 2, shape.d).tolist())


def _draw_pairs(rng: Generator, shape: Shape) -> str:
    if rng.random() < 0.6 or shape.d < 2:
        return repr(int(rng.integers(0, 4)))
    return repr([rng.permutation(shape.d)[:2].tolist()])


def _draw_categories(rng: Generator, shape: Shape) -> str:
    chosen = rng.random(shape.d) < 0.3
    return ("None", "'from_dtype'", repr(np.flatnonzero(chosen).tolist()), repr(chosen.tolist()))[
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
    classes = numbers[:1] if len(numbers) == 2 else numbers
    known = ["'share'", "'auto'", "None", repr(numbers[0]), repr(classes)]
    return known[rng.integers(len(known))]


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
    known += ["model_selection.LeaveOneOut()"] if shape.n < 20 else []  # this many fits are slow
    return known[rng.integers(len(known))]


def _draw_interactions(rng: Generator, shape: Shape) -> str:
    if rng.random() < 0.6:
        return str(rng.choice(["None", "1", "2", "3", "'pairwise'", "'no_interactions'"]))
    sets = [
        [int(f) for f in rng.integers(0, shape.d, rng.integers(1, 4))]
        for _ in range(rng.integers(1, 4))
    ]
    return repr(sets)


OF_TABLE: dict[str, Draw] = {
    "loss": _draw_loss,
    "monotonic_cst": _draw_directions,
    "interactions": _draw_pairs,
    "interaction_cst": _draw_interactions,
    "max_terms": _one("None", "0", "2", "5"),
    "pairs": _draw_pairs,
    "categorical_features": _draw_categories,
    "class_weight": _draw_class_weight,
    "intercept": _draw_intercept,
    "outer_bags": _one("0", "4", "5", "16", "37", "64"),
    "n_bags": _one("4", "5", "16", "37", "64"),
    "ridge_matrix": _draw_matrix,
    "regularizer": _draw_regularizer,
    "random_state": _one("0", "1", "4294967295", "None"),
    "n_jobs": _one("1", "2", "-1", "None", "3"),
    "verbose": _one("0"),
    "time_limit": _one("None", "1e6"),  # the result of a limited time depends on the machine
    "n_draws": _one("1", "2", "3", "16"),
    "q": _one("0.05", "0.5", "1e-9", "1.0", "0.0"),
    "l1_ratio": _one("0.0", "0.5", "1.0", "-1.0"),
    "cv": _draw_splits,
    "scoring": _one(
        "None", "'neg_log_loss'", "'accuracy'", "'neg_brier_score'", "'roc_auc'", "'f1_macro'",
        "'balanced_accuracy'", "'average_precision'", "'roc_auc_ovr'",
    ),
}  # fmt: skip

OTHER_THAN_DEFAULT: dict[str, Draw] = {
    "verbose": _one("1"),
    "time_limit": _one("1e6"),
    "n_draws": _one("2", "3", "16"),
}
"""Draws of values besides the default, for parameters that most inputs leave alone."""

MOST = {"n_estimators": 12, "max_estimators": 12, "n_rados": 200}
"""Parameters that time is proportional to, and their largest drawn values."""

MOST_SOLVED = 120
"""Largest number of coefficients or rounds that are solved for together, as time is its cube."""

SOLVED_IN_TURN = ["'totally_corrective'", "'cyclic'"]
"""Step and selection for which the rounds that are solved for are as many as all features."""

OF_FINAL_MODEL = (
    "n_estimators", "outer_bags", "calibration", "weak_learner__n_draws",
    "interactions__n_estimators",
)  # fmt: skip
"""Parameters for which a search takes no list."""

NEEDED = {"n_draws": {"max_features": "0.5"}, "min_saving": {"max_cells": "4"}}
"""Fields that need others to have an effect, in presets, too."""

MOST_COMBINATIONS = 8
"""Largest number of combinations of a space's lists."""

WRONG_SPACES = [
    "[]", "'gain'", "{1: 2}", "{'gain': []}", "{'gain': [1.0, 'two']}", "{'n_estimators': [1, 2]}",
    "{'outer_bags': [0, 4]}", "{'early_stopping': True}", "{'warm_start': False}",
    "{'max_bins': [8, 16]}", "{'max_depth': 3}", "{'histogram': 1}", "{'weak_learner__depth': 3}",
    "{'weak_learner': 'stump', 'weak_learner__max_depth': 3}", "{'gain__max_depth': 3}",
    "{'monotonic_cst': [1, 0]}", "{'interactions': [[0, 1]]}", "{'n_estimators': None}",
    "{'weak_learner': pb.Tree(max_depth=3), 'weak_learner__max_depth': 4}",
    "{'loss': losses.Savage(2.0), 'gain': [1.0, 3.0]}", "{'l2': [0.0, 0.1], 'response': 'real'}",
    "{'weak_learner': ['table', 'tree'], 'interactions': 2}",
]  # fmt: skip
"""Spaces that are refused, or have a value that fits none of the others."""


# -- drawing --------------------------------------------------------------------------------------


def draw_parameters(rng: Generator, estimator: str, shape: Shape) -> Texts:
    """Return some parameters as expressions; most are left at their defaults."""
    boldness = float(rng.choice([0.03, 0.12, 0.35]))
    drawer = _Drawer(rng, shape, boldness, wild=rng.random() < 0.25, repairs=rng.random() < 0.9)
    return drawer.draw(estimator)


@dataclass(frozen=True)
class _Drawer:
    """Drawer of parameters, each with the chance `boldness`, and of extreme values if `wild`."""

    rng: Generator
    shape: Shape
    boldness: float
    wild: bool
    repairs: bool
    """Whether values are left out that would be refused together with the others."""

    def draw(self, estimator: str) -> Texts:
        """Return parameters of an estimator."""
        rng, kind = self.rng, list_estimators()[estimator]
        known = declared(kind)
        drawn: Texts = {}
        for name in list_parameters(estimator):
            if name == FIRST:
                if rng.random() < 0.5:
                    drawn[FIRST] = _draw_first(rng, estimator)
            elif self._is_in_vain(name) and rng.random() < 0.8:
                continue
            elif list_classes(name):
                if rng.random() < max(self.boldness, 0.25):
                    drawn |= self.draw_part(known[name])
            elif name in MOST or rng.random() < self._find_chance(known[name]):
                drawn[name] = self.draw_value(known[name])
        drawn |= self._limit_solved_columns(drawn)
        if rng.random() < 0.02:
            name = str(rng.choice(list(known)))
            if refused := WRONG_SPACES if name == "space" else allowed(kind, name)[2]:
                return drawn | {name: str(rng.choice(refused))}
        if self.repairs:
            self._add_needed(estimator, drawn)
            drawn = self._keep(drawn, functools.partial(_goes, estimator))
        return drawn | self._limit_solved_rounds(drawn)

    def _limit_solved_columns(self, drawn: Texts) -> Texts:
        """Return fewer coefficients to solve for where each value may be a category's column."""
        if "n_corrected" not in drawn or self.shape.n * self.shape.d <= 4 * MOST_SOLVED:
            return {}
        corrected = drawn["n_corrected"]
        is_few = corrected.isdigit() and int(corrected) <= MOST_SOLVED
        return {} if is_few or corrected == "'so_far'" else {"n_corrected": repr(MOST_SOLVED)}

    def _limit_solved_rounds(self, drawn: Texts) -> Texts:
        """Return fewer estimators where each has a round per feature, all solved for together."""
        if [drawn.get(name) for name in ("step", "selection")] != SOLVED_IN_TURN:
            return {}
        most = max(1, MOST_SOLVED // self.shape.d)
        return {"n_estimators": repr(min(most, int(drawn.get("n_estimators", most))))}

    def draw_value(self, entry: Parameter) -> str:
        """Return a value, which is no object, of a parameter or field."""
        rng = self.rng
        if entry.name == "space":
            return self.draw_space()
        if entry.name in MOST:
            return repr(int(rng.integers(1, MOST[entry.name] + 1)))
        if entry.name in OF_TABLE:
            return OF_TABLE[entry.name](rng, self.shape)
        ordinary, extreme, _ = _sort(entry)
        if self.wild and extreme and rng.random() < 0.6:
            return str(rng.choice(extreme))
        if not ordinary:
            return repr(entry.default)
        text = str(rng.choice(ordinary))
        lists = [t for t in ordinary if t.startswith("[")]
        if len(lists) > 1 and text.startswith("["):
            chosen = rng.permutation(lists)[: rng.integers(1, 4)]
            return f"[{', '.join(t[1:-1] for t in chosen)}]"
        if not text.startswith("[") and "." in text and rng.random() < 0.5:
            anything = repr(float(10.0 ** rng.uniform(-2, 2)))
            return anything if _takes(entry, anything) else text
        return text

    def draw_alone(self, entry: Parameter) -> str:
        """Return a value that needs no nested names beside it."""
        is_part = list_classes(entry.name)
        return self.draw_part(entry)[entry.name] if is_part else self.draw_value(entry)

    def draw_part(self, entry: Parameter) -> Texts:
        """Return a plain value or an object, with fields by nested names or in it."""
        rng, name = self.rng, entry.name
        classes = list_classes(name)
        cls = classes[rng.integers(len(classes))]
        plain = self.draw_value(entry) if len(classes) == 1 else repr(cls.name)
        way = rng.random()
        if way < 0.35:
            return {name: plain}
        fields = self.draw_fields(cls)
        # Voting models have names without objects, and their fields are flat.
        if way < 0.65 and entry.component is not None:
            return {name: plain} | {f"{name}__{field}": text for field, text in fields.items()}
        return {name: f"pb.{cls.__name__}({', '.join(f'{f}={t}' for f, t in fields.items())})"}

    def draw_fields(self, cls: type[Component]) -> Texts:
        """Return fields of an object."""
        drawn = {
            field: self.draw_value(entry)
            for field, entry in declared(cls).items()
            if self.rng.random() < self._find_chance(entry)
        }
        return self._keep(drawn, functools.partial(_goes, cls.__name__)) if self.repairs else drawn

    def draw_space(self) -> str:
        """Return a space: parameters of a classifier that go together, and lists of others."""
        rng = self.rng
        outside = {*declared(pb.ProperBoostClassifierCV), "early_stopping", "warm_start"}
        drawn = self.draw("ProperBoostClassifier").items()
        texts = {name: text for name, text in drawn if name.partition("__")[0] not in outside}
        if rng.random() < 0.7:
            texts.pop("n_estimators")
        space: Texts = {}
        most = MOST_COMBINATIONS
        for name, text in texts.items():
            values = [text]
            while name not in OF_FINAL_MODEL and len(values) < most and rng.random() < 0.4:
                values += self._draw_besides(texts, name)
            different = list(dict.fromkeys(values))
            most //= len(different)
            is_list = len(different) > 1 or text.startswith("[") or rng.random() < 0.2
            is_list &= name not in OF_FINAL_MODEL
            space[name] = f"[{', '.join(different)}]" if is_list else text
        if self.repairs:
            space = self._keep(space, _space_goes)
        return _show_space(space)

    def _draw_besides(self, texts: Texts, name: str) -> list[str]:
        """Draw another value of a name; return it if it goes with the others."""
        owner, _, field = name.partition("__")
        entry = declared(pb.ProperBoostClassifier)[owner]
        if field:
            entry = next(
                declared(cls)[field] for cls in list_classes(owner) if field in declared(cls)
            )
        text = self.draw_value(entry) if field else self.draw_alone(entry)
        return [text] if _goes("ProperBoostClassifier", texts | {name: text}) else []

    def _is_in_vain(self, name: str) -> bool:
        """Return whether a refusal is likely, because bags and shares lack a rare class."""
        n_classes = len(self.shape.labels)
        if name in ("outer_bags", "early_stopping"):
            return self.shape.n < 12 * n_classes
        return name == "monotonic_cst" and n_classes > 2

    def _find_chance(self, entry: Parameter) -> float:
        if entry.name == "space":
            return 0.7
        return max(self.boldness, 0.3) if _list_names(entry.annotation) else self.boldness

    def _add_needed(self, estimator: str, drawn: Texts) -> None:
        """Add, now and then, parameters that others need to have an effect."""
        for name in [*drawn]:
            if self.rng.random() < 0.5:
                drawn |= _find_needed(estimator, name, drawn)

    def _keep(self, drawn: Texts, go: Callable[[Texts], bool]) -> Texts:
        """Return drawn values that go together; of two that do not, a random one."""
        if go(drawn):
            return drawn
        taken: Texts = {}
        for _ in range(2):  # a value may need another one that comes later
            order = [name for name in self.rng.permutation([*drawn]) if name not in taken]
            for name in map(str, order):
                if go(taken | {name: drawn[name]}):
                    taken[name] = drawn[name]
        return {name: text for name, text in drawn.items() if name in taken}


def _space_goes(texts: Texts) -> bool:
    return _goes("ProperBoostClassifierCV", {"space": _show_space(texts), "effort": "None"})


def _show_space(texts: Texts) -> str:
    return f"{{{', '.join(f'{name!r}: {text}' for name, text in texts.items())}}}"


def _find_needed(estimator: str, name: str, drawn: Texts) -> Texts:
    """Return a value of the parameter that another one needs for an effect, if any."""
    known = declared(list_estimators()[estimator])
    values = getattr(pb, estimator)().get_params(deep=False)
    owner, _, field = name.partition("__")
    within = f"{owner}__" if field else ""
    if field:
        known = next(declared(c) for c in list_classes(owner) if field in declared(c))
        values = {other: entry.default for other, entry in known.items()}
    if field in NEEDED and not any(f"{within}{other}" in drawn for other in NEEDED[field]):
        return {f"{within}{other}": text for other, text in NEEDED[field].items()}
    entry = known.get(field or name)
    if entry is None or entry.only_with is None:
        return {}

    def find(other: str) -> object:
        text = drawn.get(f"{within}{other}")
        return values[other] if text is None else evaluate(text)

    obstacle = entry.find_obstacle(find)
    is_free = within or obstacle in list_parameters(estimator)
    if obstacle is None or f"{within}{obstacle}" in drawn or not is_free:
        return {}
    return {f"{within}{obstacle}": repr(entry.only_with[obstacle][0])}


def draw_others(rng: Generator, estimator: str, names: Sequence[str], shape: Shape) -> Texts:
    """Return values of parameters besides their defaults, and values that these need.

    If they do not go together, others are drawn, a few times.
    """
    for _ in range(3):
        drawn = _draw_others(rng, estimator, names, shape)
        if _goes(estimator, drawn):
            break
    return drawn


def _draw_others(rng: Generator, estimator: str, names: Sequence[str], shape: Shape) -> Texts:
    drawer = _Drawer(rng, shape, 0.1, wild=rng.random() < 0.15, repairs=True)
    defaults = inspect.signature(getattr(pb, estimator)).parameters
    known = declared(list_estimators()[estimator])
    drawn: Texts = {}
    for name in names:
        owner, _, field = name.partition("__")
        if field:
            fields = [n.partition("__")[2] for n in names if n.startswith(f"{owner}__")]
            classes = [c for c in list_classes(owner) if {*fields} <= {*declared(c)}]
            cls = classes[rng.integers(len(classes))]
            drawn.setdefault(owner, STAND_FOR.get(cls) or repr(cls.name))
            entry = declared(cls)[field]
            drawn[name] = _draw_other(drawer, entry, repr(entry.default))
        elif name == FIRST:
            drawn[name] = _draw_first(rng, estimator)
        else:
            drawn[name] = _draw_other(drawer, known[name], repr(defaults[name].default))
    for name in names:
        drawn |= _find_needed(estimator, name, drawn)
    return drawn


STAND_FOR: dict[type[Component], str] = {
    pb.Interactions: "2", pb.Calibration: "'auto'", pb.EarlyStopping: "True", pb.Bags: "4",
}  # fmt: skip
"""Values that stand for objects whose fields have an effect."""


def _draw_other(drawer: _Drawer, entry: Parameter, default: str) -> str:
    """Return a value of one parameter or field besides its default."""
    if entry.name in OTHER_THAN_DEFAULT:
        return OTHER_THAN_DEFAULT[entry.name](drawer.rng, drawer.shape)
    for _ in range(1000):
        text = drawer.draw_alone(entry)
        if not _shows(text, default):
            return text
    raise AssertionError(f"{entry.name} must have a value to draw besides {default}")


def _shows(text: str, shown: str) -> bool:
    """Return whether a value prints like this; some expressions fail."""
    try:
        return repr(evaluate(text)) == shown
    except (ValueError, TypeError):
        return False


def list_parameters(estimator: str) -> list[str]:
    """Return the parameters of an estimator; `FIRST` stands for a preset's positional one."""
    return [
        FIRST if parameter.kind == inspect.Parameter.POSITIONAL_ONLY else name
        for name, parameter in inspect.signature(getattr(pb, estimator)).parameters.items()
    ]


def _draw_first(rng: Generator, estimator: str) -> str:
    first, *_ = inspect.signature(getattr(pb, estimator)).parameters.values()
    values = _list_names(first.annotation) or FLOATS
    return repr(values[rng.integers(len(values))])
