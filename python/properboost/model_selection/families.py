"""The families of models that a search compares, and what may be changed in each.

A family is a weak learner with settings that go well together.  It begins with few candidates;
a search then moves the best of them along the family's ladders, a step at a time.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from properboost.engine.options import list_couplings
from properboost.losses.builtin import MarginLoss
from properboost.model_selection.search_space import (
    Candidate,
    SearchParameters,
    Step,
    bound_gains,
    check_grid,
    count_draws,
    list_candidates,
    with_gain,
)
from properboost.parameters.checks import is_list
from properboost.parameters.declare import AUTO, check_declared, declared
from properboost.parameters.kinds import Coupling
from properboost.parameters.shared import GROWN, BoostingOptions

__all__ = [
    "FAMILIES",
    "GRID",
    "NAMES",
    "ROWS_PER_BIN",
    "Family",
    "Plan",
    "check_search",
    "find_grid",
    "is_auto",
    "list_plans",
]

Settings: TypeAlias = Mapping[str, Any]
"""Parameters of a search, or of the candidate that a step makes of another."""


@dataclasses.dataclass(frozen=True)
class Family:
    """What a search compares with other families."""

    name: str
    rung: int
    """The least effort with which it is compared."""
    settings: Settings
    """What it is, as parameters of the search: other values exclude it."""
    start: Settings = dataclasses.field(default_factory=dict)
    """What it begins with, where the user gives nothing."""
    ladders: Sequence[Sequence[Settings]] = ()
    """Settings that a step exchanges for the next ones, up or down."""
    additive: bool = False
    """Whether its models are sums of functions of one feature, which can be looked at."""
    gains: int | None = None
    """How many gains "auto" begins with."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """A family as one search compares it."""

    family: Family
    set_by_user: frozenset[str]
    """The parameters that the user has a value or a list for: no step changes them."""
    candidates: list[Candidate]
    """What is compared first."""

    @property
    def name(self) -> str:
        """The family's name."""
        return self.family.name

    def list_steps(self, best: Candidate) -> list[Step]:
        """Return what is one step away from a candidate."""
        changes = [
            *self._list_rungs(best),
            *self._list_gains(best),
            *self._list_other_couplings(best),
        ]
        if best.options.response == "exact":  # its cells spread less
            changes = [settings for settings in changes if settings.get("smoothing", 0.0) <= 0.25]
        return [Step(settings, _change(best, settings)) for settings in changes]

    def _list_rungs(self, best: Candidate) -> Iterator[Settings]:
        """Yield the neighbours of a candidate on the family's ladders, unless these are fixed."""
        for ladder in self.family.ladders:
            names = {name for rung in ladder for name in rung}
            at = next((k for k, rung in enumerate(ladder) if _has(best, rung)), None)
            if (
                at is None
                or names & self.set_by_user
                or {f"{name}s" for name in names} & self.set_by_user
            ):
                continue
            if (
                "response" in names and "criterion" in self.set_by_user
            ):  # not every response has one
                continue
            yield from (ladder[k] for k in (at - 1, at + 1) if 0 <= k < len(ladder))

    def _list_gains(self, best: Candidate) -> list[Settings]:
        """Return half a candidate's gain and twice it, unless gains are fixed."""
        if self.family.gains is None or "gains" in self.set_by_user:
            return []
        least = float(f"{bound_gains(with_gain(best.loss, 1.0), 1.0, 1.0)[0]:.3g}")
        gains = best.loss.gain / 2.0, best.loss.gain * 2.0
        return [{"gain": gain} for gain in gains if gain >= least]

    def _list_other_couplings(self, best: Candidate) -> list[Settings]:
        """Return the other way to couple several classes, unless it is fixed."""
        if best.coupling is None or "multiclass" in self.set_by_user:
            return []
        both = {_first_coupling(best.loss, best.options), "one_vs_rest"}
        return [{"multiclass": coupling} for coupling in sorted(both - {best.coupling})]

    def combine(self, best: Candidate, steps: Sequence[Step]) -> Candidate:
        """Return a candidate that takes several steps at once; a later one of a ladder counts."""
        return _change(best, {k: v for step in steps for k, v in step.settings.items()})


def list_plans(
    search: SearchParameters, total: float, n_classes: int, told: Settings
) -> list[Plan]:
    """Return the families that a search compares, simple ones first.

    Without an effort, and where no family has what the user gives, there is one: all that the
    search's lists combine.  `told` are parameters that candidates of families have besides.
    """
    set_by_user = _find_given(search)
    plans: list[Plan] = []
    for family in FAMILIES if search.effort is not None else ():
        settled = _settle(search, family, set_by_user) if _may_have(search, family) else None
        if settled is not None:
            candidates = _list_family(search, family, settled, total, n_classes, set_by_user)
            more = dict(told) | _list_settings(search, settled)
            candidates = [
                dataclasses.replace(c, family=family.name, params=more | c.params)
                for c in candidates
            ]
            plans.append(Plan(family, set_by_user, candidates))
    if not plans:
        plans = [Plan(GRID, set_by_user, list_candidates(find_grid(search), total, n_classes))]
    return plans


def _may_have(search: SearchParameters, family: Family) -> bool:
    """Whether a search's effort reaches to a family, which can be read if that is asked."""
    assert search.effort is not None
    return family.rung <= search.effort and (family.additive or not search.readable)


def _list_family(
    search: SearchParameters,
    family: Family,
    settled: SearchParameters,
    total: float,
    n_classes: int,
    set_by_user: frozenset[str],
) -> list[Candidate]:
    """Return the candidates that a family begins with."""
    n_gains = family.gains
    if n_gains is not None and search.effort == 1:
        n_gains -= 1
    candidates = list_candidates(settled, total, n_classes, n_gains)
    if "multiclass" in set_by_user:
        return candidates
    return [  # a step tries the other way
        c for c in candidates if c.coupling in (None, _first_coupling(c.loss, c.options))
    ]


def _list_settings(search: SearchParameters, settled: SearchParameters) -> dict[str, Any]:
    """Return the options of a family's candidates that are not those of every fit."""
    more: dict[str, Any] = {}
    for name, entry in declared(BoostingOptions).items():
        if name not in declared(type(search)) or is_list(value := getattr(settled, name)):
            continue
        if value != entry.default or is_list(getattr(search, name)):
            more[name] = value
    if settled.weak_learner in GROWN:
        more["n_draws"] = count_draws(search)
    return more


def check_search(search: SearchParameters) -> None:
    """Check every parameter that does not depend on the data."""
    check_declared(search)
    for name in ("selection", "interactions"):
        value = getattr(search, name)
        if is_list(value) and AUTO in value:
            raise ValueError(f"{name} must not hold {AUTO!r} in a list; got {value!r}")
    if search.effort is None:
        check_grid(find_grid(search))
        return
    set_by_user = _find_given(search)
    settled = [_settle(search, family, set_by_user) for family in FAMILIES]
    for grid in settled:
        if grid is not None:
            check_grid(grid)
    if all(grid is None for grid in settled):  # what is wrong with it?
        check_grid(find_grid(search))


Search = TypeVar("Search", bound=SearchParameters)


def is_auto(search: SearchParameters, name: str) -> bool:
    """Whether a search chooses a parameter by itself."""
    value = getattr(search, name)
    return isinstance(value, str) and value == AUTO


def find_grid(search: Search, **settings: Any) -> Search:
    """Return the search with settings, and with the plain value of what is "auto" then."""
    values = {name: getattr(search, name) for name in declared(type(search))} | settings
    for name, plain in _PLAIN.items():
        if is_auto(search, name) and name not in settings:
            values[name] = plain
    return type(search)(**values)


ROWS_PER_BIN = 20.0
"""Rows for a bin, in the bins that all families share."""

_PLAIN: Settings = {
    "weak_learner": "histogram",
    "selection": "cyclic",
    "response": "real",
    "smoothings": None,
    "n_draws": 1,
}
"""What parameters that name a family are in a search without an effort."""

_OF_TABLES = {
    "selection": ("histogram", "stump"),
    "interactions": ("histogram", "stump"),
    "smoothings": ("histogram",),
}
"""The weak learners of parameters that restrict a search to the families that have them."""


def _find_given(search: SearchParameters) -> frozenset[str]:
    """Return the parameters that are not at their defaults."""
    names = []
    for name, entry in declared(type(search)).items():
        value = getattr(search, name)
        same = value is entry.default
        if not same and isinstance(value, str | int | float | tuple) and not is_list(value):
            same = type(value) is type(entry.default) and value == entry.default
        if not same:
            names.append(name)
    return frozenset(names)


def _settle(
    search: SearchParameters, family: Family, set_by_user: frozenset[str]
) -> SearchParameters | None:
    """Return the search with a family's settings; None if what the user gives excludes it."""
    if _is_excluded(search, family, set_by_user):
        return None
    start = {name: value for name, value in family.start.items() if name not in set_by_user}
    if search.effort == 1:
        start = {name: value[:1] if is_list(value) else value for name, value in start.items()}
    settled = find_grid(search, **start, **family.settings)
    settled.n_draws = count_draws(search)
    known = declared(type(search))
    if any(not known[name].applies_to(settled) for name in family.settings if name in known):
        return None
    return settled


def _is_excluded(search: SearchParameters, family: Family, set_by_user: frozenset[str]) -> bool:
    """Whether a parameter that the user gives has no meaning, or another value, in a family."""
    learner = family.settings["weak_learner"]
    for name, learners in _OF_TABLES.items():
        if name in set_by_user and learner not in learners and getattr(search, name) != 0:
            return True
    for name in set_by_user & family.settings.keys():
        values = getattr(search, name)
        if family.settings[name] not in (values if is_list(values) else [values]):
            return True
    return search.monotonic_cst is not None and bool(family.settings.get("linear_leaves"))


def _find(candidate: Candidate, name: str) -> Any:
    return candidate.loss.gain if name == "gain" else getattr(candidate.options, name)


def _has(candidate: Candidate, settings: Settings) -> bool:
    return all(_find(candidate, name) == value for name, value in settings.items())


def _first_coupling(loss: MarginLoss, options: BoostingOptions) -> Coupling:
    """Return how several classes are coupled where nothing is named."""
    return list_couplings(loss, options.step, options.response)[0]


def _change(candidate: Candidate, settings: Settings) -> Candidate:
    """Return a candidate with other settings."""
    options = {k: v for k, v in settings.items() if k in declared(BoostingOptions)}
    loss = with_gain(candidate.loss, settings.get("gain", candidate.loss.gain))
    params = {**candidate.params, **settings}
    if not isinstance(params["loss"], str):
        params["loss"] = loss
    return dataclasses.replace(
        candidate,
        loss=loss,
        options=candidate.options.replace(**options),
        params=params,
        coupling=settings.get("multiclass", candidate.coupling),
    )


def _ladder(name: str, *values: float | int | str) -> list[Settings]:
    return [{name: value} for value in values]


_OF_TREES = (
    _ladder("max_features", 0.15, 0.3, 0.5, 0.75, 1.0),
    _ladder("min_child_weight", 0.001, 0.01, 0.1, 1.0, 5.0, 20.0),
    _ladder("learning_rate", 0.025, 0.05, 0.1, 0.2),
    _ladder("selection", "unbiased", "greedy"),
    _ladder("response", "newton", "real"),
)
_RESPONSES: Sequence[Settings] = (
    {"response": "real", "learning_rate": 1.0, "l2": 0.0},
    {"response": "newton", "learning_rate": 0.2, "l2": 0.1},
)
_LEAVES = _ladder("max_leaf_nodes", 4, 8, 16, 31, 64)
_DEPTHS = _ladder("max_depth", 2, 3, 4, 5, 6, 7)
_LINES = _ladder("linear_l2", 1.0, 5.0, 20.0, 80.0)
_NEWTON: Settings = {
    "response": "newton", "l2": 0.1, "gains": [1.0], "learning_rate": [0.1],
    "max_features": [0.3], "min_child_weight": [0.1], "selection": ["unbiased", "greedy"],
}  # fmt: skip
_LEAF_WISE: Settings = {"weak_learner": "tree", "grow_policy": "best_first"}
_LEVEL_WISE: Settings = {"weak_learner": "tree", "grow_policy": "symmetric"}

GRID = Family("grid", 0, {}, additive=True)
"""What a search compares that compares no families."""

FAMILIES = (
    Family(
        "tables", 1,
        {"weak_learner": "histogram", "max_cells": 10, "min_saving": 0.5},
        {"selection": ["cyclic"]},
        (_ladder("selection", "cyclic", "greedy", "unbiased"), _ladder("max_cells", 3, 10),
         _RESPONSES),
        additive=True, gains=4,
    ),
    Family(
        "smooth tables", 3,
        {"weak_learner": "histogram", "max_cells": None, "min_saving": 0.0},
        {"selection": ["cyclic"], "smoothings": [0.2]},
        (_ladder("smoothing", 0.05, 0.2, 1.0, 4.0, 16.0, 64.0), _RESPONSES),
        additive=True, gains=4,
    ),
    Family(
        "stumps", 2, {"weak_learner": "stump"}, {"selection": ["cyclic"]}, (_RESPONSES,),
        additive=True, gains=3,
    ),
    Family(
        "trees", 2, {**_LEAF_WISE, "linear_leaves": False},
        {**_NEWTON, "max_leaf_nodes": [16]}, (*_OF_TREES, _LEAVES),
    ),
    Family(
        "symmetric trees", 3, {**_LEVEL_WISE, "linear_leaves": False},
        {**_NEWTON, "max_depth": [5]}, (*_OF_TREES, _DEPTHS),
    ),
    Family(
        "trees with lines", 3, {**_LEAF_WISE, "linear_leaves": True},
        {**_NEWTON, "max_leaf_nodes": [16], "linear_l2": [5.0]}, (*_OF_TREES, _LEAVES, _LINES),
    ),
    Family(
        "symmetric trees with lines", 1, {**_LEVEL_WISE, "linear_leaves": True},
        {**_NEWTON, "max_depth": [5], "linear_l2": [5.0]}, (*_OF_TREES, _DEPTHS, _LINES),
    ),
)  # fmt: skip
"""What is compared, simple ones first."""

NAMES = [None, *(family.name for family in FAMILIES)]
"""The names of families, simple ones first; None where none are compared."""
