"""The families of models that a search compares, and the steps that change them.

A family is a weak learner with settings that suit each other.  It begins with few candidates; a
search then moves the best of them along the family's ladders, a step at a time.
"""

import contextlib
import dataclasses
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.model_selection.combinations import (
    DEFAULT_LEARNER,
    FamilyExcludedError,
    combine,
    settle_draws,
    show,
)
from properboost.model_selection.search_space import (
    BAGS_FROM,
    DRAWS_OF_EFFORT,
    Candidate,
    SearchParameters,
    Step,
    bound_gains,
    first_coupling,
    list_candidates,
    with_gain,
)
from properboost.model_selection.space import Combinations, Settings, Space, read_space
from properboost.parameters.boosting import BoostingOptions
from properboost.parameters.declare import check_declared, declared, read, read_parameter
from properboost.parameters.learners import LEARNERS, MOST_READABLE, ROWS_PER_BIN, Learner, Tree

__all__ = [
    "FAMILIES",
    "GRID",
    "NAMES",
    "Family",
    "FamilyPlan",
    "SearchDesign",
    "check_search",
    "design_search",
    "find_rung",
    "is_auto",
    "is_readable",
    "list_plans",
]


Start: TypeAlias = Mapping[str, Sequence[Any]]
"""The start values of parameters."""

MOST_OBJECTS = 6
"""The most weak learners that an error lists as code."""


@dataclasses.dataclass(frozen=True)
class Family:
    """A kind of model that a search compares with others."""

    name: str
    rung: int
    """The least effort with which it is compared."""
    settings: Settings
    """Its weak learner: other values in the space exclude it."""
    start: Start = dataclasses.field(default_factory=dict)
    """Its start values, for names that the space lacks and where they have an effect."""
    ladders: Sequence[Sequence[Settings]] = ()
    """Settings in order: a step replaces one by its neighbour."""
    fine: Sequence[Sequence[Settings]] = ()
    """More ladders from `FINE_FROM` on."""
    additive: bool = False
    """Whether its models are sums of functions of one feature, to which pairs can be added."""
    readable: bool = False
    """Whether its models are sums of functions of at most three features."""
    gains: int | None = None
    """The number of gains that it begins with, and may step from; None is only those of `start`."""
    never: Settings = dataclasses.field(default_factory=dict)
    """Values that exclude it, too."""


@dataclasses.dataclass(frozen=True, eq=False)
class SearchDesign:
    """The design of a search that no rows change: its space, and the families to compare."""

    space: Space
    families: Mapping[str, Combinations]
    """The combinations of each family, or of the plain grid."""
    left_out: Mapping[str, str]
    """The families that exclude a value of the space, with the reason."""

    @property
    def by_family(self) -> bool:
        """Whether families are compared, and not the plain grid of the space."""
        return GRID.name not in self.families

    @property
    def learners(self) -> list[Learner]:
        """The weak learners of all combinations."""
        return [
            combination.params["weak_learner"]
            for combined in self.families.values()
            for combination in combined.combinations
        ]

    @property
    def rows_per_bin(self) -> float:
        """The rows for a bin in the bins that all candidates share."""
        if self.by_family:
            return ROWS_PER_BIN
        return max(learner.rows_per_bin for learner in self.learners)

    @property
    def needs_means(self) -> bool:
        """Whether any weak learner needs the means of bins."""
        return any(learner.needs_means for learner in self.learners)

    def describe(self) -> list[str]:
        """Return lines of text: the values of the space, and the families that exclude them."""
        written = self.space.written
        if not written:
            return []
        lines = ["kept: " + ", ".join(f"{name}={show(written[name])}" for name in written)]
        reasons: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            reasons.setdefault(reason.partition(";")[0], []).append(name)
        lines += [f"left out: {', '.join(names)} ({why})" for why, names in reasons.items()]
        if self.left_out and not self.by_family:
            lines.append("no family has it: the lists alone were compared")
        return lines


def design_search(search: SearchParameters) -> SearchDesign:
    """Return the design of a search, which no rows change.

    Without an effort, or where no family has a value of the space, it is the plain grid: all
    combinations of the space's lists.
    """
    space = read_space(search)
    tried, left_out = _try_families(search, space)
    families = {name: combined for name, combined in tried.items() if name not in left_out}
    not_had = _list_not_had(space, families.values())
    if families and not not_had:
        return SearchDesign(space, families, left_out)
    grid = _combine_lists(search, space)
    refused = _list_not_had(space, [grid])
    if refused:
        name, place = next((entry for entry in refused if entry in not_had), refused[0])
        raise _explain(search, space, tried, grid, name, place)
    for name in families:
        lacking, place = not_had[0]
        left_out[name] = f"{lacking}={show(space.choices[lacking][place])}"
    in_order = {name: left_out[name] for name in _BY_NAME if name in left_out}
    return SearchDesign(space, {GRID.name: grid}, in_order)


def _try_families(
    search: SearchParameters, space: Space
) -> tuple[dict[str, Combinations], dict[str, str]]:
    """Return the families that a space does not exclude, and the reasons against the others."""
    tried: dict[str, Combinations] = {}
    left_out: dict[str, str] = {}
    for family in FAMILIES:
        if family.rung > (search.effort or 0) or (search.readable and not family.readable):
            continue
        try:
            tried[family.name] = combined = _combine(family, space, search.effort)
        except FamilyExcludedError as error:
            left_out[family.name] = str(error)
            continue
        if not combined.combinations:
            left_out[family.name] = str(combined.refused[0][1])
    return tried, left_out


def _combine_lists(
    search: SearchParameters, space: Space, settings: Settings | None = None
) -> Combinations:
    """Return the plain grid of a space."""
    check = _check_readable if search.readable else _check_terms
    return combine(space, settings or {}, GRID.start, 0, check)


def _explain(
    search: SearchParameters,
    space: Space,
    tried: Mapping[str, Combinations],
    grid: Combinations,
    name: str,
    place: int,
) -> Exception:
    """Return the error that neither the families nor the plain grid have a value, with advice.

    `tried` are the families whose settings exclude no value.
    """
    error, prefix = grid.find_error(name, place), "weak_learner__"
    fields = {n.removeprefix(prefix) for n in space.combined if n.startswith(prefix)}
    if "weak_learner" in space:
        return _explain_named(space, fields, error)
    kinds = [kind for kind, cls in LEARNERS.items() if fields <= {*declared(cls)}]
    if not kinds:
        return ValueError(
            f"no weak_learner has all of {', '.join(sorted(fields))}, which space has"
        )
    if DEFAULT_LEARNER in kinds:
        return error
    reason = str(error)
    if search.effort is not None:
        reason = _describe_refusal(search, space, tried, name, place)
    advice = _find_effort(search, space, name, place)
    for kind in kinds:
        if not advice and _combine_lists(search, space, {"weak_learner": kind}).has(name, place):
            advice = f"add 'weak_learner': {kind!r}"
    return ValueError(f"{reason}; {advice}" if advice else reason)


def _explain_named(space: Space, fields: Collection[str], error: Exception) -> Exception:
    """Return the error about fields of learners that the space names, with advice."""
    kinds = [value for value in space.choices["weak_learner"] if isinstance(value, str)]
    fields_of = [{*declared(LEARNERS[kind])} for kind in kinds]
    all_fields = set().union(*fields_of)
    if all(known >= {*fields} for known in fields_of) or not all_fields >= {*fields}:
        return error
    return ValueError(f"{error}: write [{_write_objects(space, kinds)}] as 'weak_learner' alone")


def _describe_refusal(
    search: SearchParameters,
    space: Space,
    tried: Mapping[str, Combinations],
    name: str,
    place: int,
) -> str:
    """Return a text: no family has a value, with the reason of one whose learner has the field."""
    _, _, field = name.partition("__")
    reasons = [
        f": {str(error).partition(';')[0]}"
        for family, combined in tried.items()
        if not field or field in declared(LEARNERS[_BY_NAME[family].settings["weak_learner"]])
        for places, error in combined.refused
        if places[name] == place
    ]
    value, readable = show(space.choices[name][place]), " and readable=True" * search.readable
    return (
        f"space has {name}={value}, which no family has with effort={search.effort}{readable}"
        + "".join(reasons[:1])
    )


def _find_effort(search: SearchParameters, space: Space, name: str, place: int) -> str:
    """Return advice on a greater effort with a family that has a value, or nothing."""
    for family in sorted(FAMILIES, key=lambda family: family.rung):
        later = search.effort is not None and family.rung > search.effort
        if later and (family.readable or not search.readable):
            with contextlib.suppress(FamilyExcludedError):
                if _combine(family, space, family.rung).has(name, place):
                    return f"effort={family.rung} has {family.name} with it"
    return ""


def _write_objects(space: Space, kinds: Sequence[str]) -> str:
    """Return the code of learners that have the fields of a space."""
    codes = []
    for kind in kinds:
        names = [f for f in declared(LEARNERS[kind]) if f"weak_learner__{f}" in space]
        for values in itertools.product(*(space.choices[f"weak_learner__{f}"] for f in names)):
            fields = ", ".join(f"{f}={show(v)}" for f, v in zip(names, values, strict=True))
            codes.append(f"pb.{LEARNERS[kind].__name__}({fields})" if fields else f'"{kind}"')
    return ", ".join(codes if len(codes) <= MOST_OBJECTS else [*codes[:MOST_OBJECTS], "..."])


def _combine(family: Family, space: Space, effort: int | None) -> Combinations:
    start = {name: values for name, values in family.start.items() if name != "gain"}
    if effort == 1:
        start = {name: values[:1] for name, values in start.items()}
    check = _check_readable if family.readable else _check_terms
    n_draws = _count_draws(family, effort)
    return combine(space, family.settings, start, n_draws, check, never=family.never)


def _list_not_had(space: Space, parts: Collection[Combinations]) -> list[tuple[str, int]]:
    """Return the names and places of values that no combination has."""
    return [
        (name, place)
        for name, values in space.combined.items()
        for place in range(len(values))
        if not any(combined.has(name, place) for combined in parts)
    ]


def _check_terms(model: Any) -> None:
    learner = read_parameter(model, "weak_learner")
    if isinstance(learner, Tree) and learner.max_terms is not None:
        raise ValueError(
            "weak_learner__max_terms must be None in a search, whose folds are fitted once: fit "
            "best_params_ with it"
        )


def _check_readable(model: Any) -> None:
    _check_terms(model)
    learner = read_parameter(model, "weak_learner")
    if not learner.is_readable:
        raise ValueError(
            f"readable must be False with weak_learner={learner.name!r}, whose models are sums of "
            f"functions of at most {MOST_READABLE} features only with a limit, such as "
            f"Tree(interaction_cst={MOST_READABLE})"
        )


FINE_FROM = 4
"""The least effort with steps on the fine ladders, which seldom help."""


@dataclasses.dataclass(frozen=True)
class FamilyPlan:
    """A family in one search."""

    family: Family
    space: Space
    n_draws: int
    """The draws of trees in the final model, except in objects; 0 where the space has them."""
    candidates: list[Candidate]
    """The candidates that are compared first."""
    ladders: Sequence[Sequence[Settings]] = ()
    """The settings that steps replace, in order."""

    @property
    def name(self) -> str:
        """The family's name."""
        return self.family.name

    @property
    def is_readable(self) -> bool:
        """Whether its models are sums of functions of at most three features."""
        return self.family.readable

    @property
    def rung(self) -> int:
        """The least effort with which it is compared."""
        return self.family.rung

    def pins(self, name: str, candidate: Candidate) -> bool:
        """Whether the user wrote a parameter of a candidate: no step changes it."""
        of_learner = name.startswith("weak_learner__") and candidate.keeps_learner
        return name in self.space or of_learner

    def list_steps(self, best: Candidate) -> list[Step]:
        """Return the candidates one step away from a candidate."""
        steps = []
        for settings in (
            *self._list_rungs(best),
            *self._list_gains(best),
            *self._list_other_couplings(best),
        ):
            candidate = self._change(best, settings)
            if candidate is not None:
                steps.append(Step(settings, candidate))
        return steps

    def _list_rungs(self, best: Candidate) -> Iterator[Settings]:
        """Yield the neighbours of a candidate on the family's ladders, except on pinned ones."""
        for ladder in self.ladders:
            names = {name for rung in ladder for name in rung}
            at = next((k for k, rung in enumerate(ladder) if _has(best, rung)), None)
            if at is not None and not any(self.pins(name, best) for name in names):
                yield from (ladder[k] for k in (at - 1, at + 1) if 0 <= k < len(ladder))

    def _list_gains(self, best: Candidate) -> list[Settings]:
        """Return half a candidate's gain and twice it, unless gains are pinned."""
        if self.family.gains is None or self.pins("gain", best):
            return []
        least = float(f"{bound_gains(with_gain(best.loss, 1.0), 1.0, 1.0)[0]:.3g}")
        gains = best.loss.gain / 2.0, best.loss.gain * 2.0
        return [{"gain": gain} for gain in gains if gain >= least]

    def _list_other_couplings(self, best: Candidate) -> list[Settings]:
        """Return the other coupling of several classes, unless it is pinned."""
        if best.coupling is None or self.pins("multiclass", best):
            return []
        both = {first_coupling(best.loss, best.options), "one_vs_rest"}
        return [{"multiclass": coupling} for coupling in sorted(both - {best.coupling})]

    def combine(self, best: Candidate, steps: Sequence[Step]) -> Candidate | None:
        """Return a candidate that takes several steps at once; later steps of one ladder override.

        None if they are not compatible.
        """
        return self._change(best, {k: v for step in steps for k, v in step.settings.items()})

    def _change(self, candidate: Candidate, settings: Settings) -> Candidate | None:
        """Return a candidate with other settings; None if the classifier refuses them."""
        loss, changes, params = candidate.loss, dict(settings), dict(candidate.params)
        if "gain" in changes:
            loss = with_gain(loss, changes.pop("gain"))
            params["gain"] = loss.gain
            if not isinstance(params["loss"], str):
                params["loss"] = loss
        classifier = self.space.classifier
        model = classifier.make(**params).set_params(**changes)
        try:
            settle_draws(model, 0 if candidate.keeps_learner else self.n_draws)
            classifier.check(model)
        except ValueError:  # one has no effect beside the other, which the user wrote
            return None
        names = dict.fromkeys([*params, *(name.partition("__")[0] for name in changes)])
        return dataclasses.replace(
            candidate,
            loss=loss,
            options=read(BoostingOptions, model),
            params={name: getattr(model, name) for name in names},
            coupling=settings.get("multiclass", candidate.coupling),
        )


def list_plans(
    search: SearchParameters,
    settled: SearchDesign,
    total: float,
    class_weights: NDArray[np.float64],
) -> list[FamilyPlan]:
    """Return the families that a search compares, simple ones first.

    `total` is the sum of the sample weights, and `class_weights` are those of each class's rows in
    training.
    """
    space, by_family = settled.space, settled.by_family
    rows_per_bin = settled.rows_per_bin if is_auto(search, "rows_per_bin") else None
    has_draws = "weak_learner__n_draws" in space or not by_family
    plans: list[FamilyPlan] = []
    for name, combined in settled.families.items():
        family = _BY_NAME[name]
        n_gains = family.gains
        if n_gains is not None and search.effort == 1:
            n_gains -= 1
        candidates = list_candidates(
            combined, space, total, class_weights,
            gains=family.start.get("gain"),
            n_gains=n_gains,
            couples_first=by_family,  # a step tries the other coupling
        )  # fmt: skip
        if by_family and search.time_limit is not None:
            candidates = [*_list_plain(family, space, total, class_weights), *candidates]
        placed = [_place(c, name if by_family else None, rows_per_bin) for c in candidates]
        n_draws = 0 if has_draws else _count_draws(family, search.effort)
        fine = family.fine if (search.effort or 0) >= FINE_FROM else ()
        plans.append(FamilyPlan(family, space, n_draws, placed, [*family.ladders, *fine]))
    return plans


def _list_plain(
    family: Family, space: Space, total: float, class_weights: NDArray[np.float64]
) -> list[Candidate]:
    """Return the model of a plain fit, if a family has it and the space does not exclude it.

    With little time a search should be no worse than a plain fit, which takes less of it.
    """
    settings = PLAIN.get(family.name)
    if settings is None:
        return []
    try:
        combined = combine(space, settings, {}, 1, _check_terms, never=family.never)
    except FamilyExcludedError:
        return []
    return list_candidates(
        combined, space, total, class_weights, gains=[None], n_gains=None, couples_first=True
    )


def _place(candidate: Candidate, family: str | None, rows_per_bin: float | None) -> Candidate:
    """Return a candidate with its family and the rows per bin of the search.

    In the plain grid the latter are left out if they are its learner's.
    """
    bins = {}
    of_learner = candidate.options.weak_learner.rows_per_bin
    if rows_per_bin is not None and (family is not None or rows_per_bin != of_learner):
        bins = {"rows_per_bin": rows_per_bin}
    return dataclasses.replace(candidate, family=family, params={**bins, **candidate.params})


def check_search(search: SearchParameters) -> SearchDesign:
    """Check every parameter that does not depend on the data; return the families."""
    check_declared(search)
    return design_search(search)


def is_auto(search: Any, name: str) -> bool:
    """Whether a search chooses a parameter by itself."""
    value = getattr(search, name)
    return isinstance(value, str) and value == "auto"


def _count_draws(family: Family, effort: int | None) -> int:
    if family.readable and (effort or 0) >= BAGS_FROM:
        return 1
    return DRAWS_OF_EFFORT.get(effort or 0, 1)


def _has(candidate: Candidate, settings: Settings) -> bool:
    """Whether a candidate has settings."""
    learner = candidate.options.weak_learner
    for name, value in settings.items():
        owner, _, field = name.partition("__")
        if value != (getattr(learner, field) if field else getattr(candidate.options, owner)):
            return False
    return True


def find_rung(name: str) -> int:
    """Return the least effort with which a family is compared."""
    return _BY_NAME[name].rung


def _ladder(name: str, *values: float | int | str) -> list[Settings]:
    return [{name: value} for value in values]


_OF_TREES = (
    _ladder("weak_learner__max_features", 0.15, 0.3, 0.5, 0.75, 1.0),
    _ladder("selection", "unbiased", "greedy"),
)
_WEIGHTS = _ladder("weak_learner__min_child_weight", 0.001, 0.01, 0.1, 1.0, 5.0, 20.0)
_RESPONSES: Sequence[Settings] = (
    {"response": "real", "learning_rate": 1.0, "l2": 0.0},
    {"response": "newton", "learning_rate": 0.2, "l2": 0.1},
)
_LEAVES = _ladder("weak_learner__max_leaf_nodes", 4, 8, 16, 31, 64)
_DEPTHS = _ladder("weak_learner__max_depth", 2, 3, 4, 5, 6, 7)
_LINES = _ladder("weak_learner__linear_l2", 1.0, 5.0, 20.0, 80.0)
_CYCLES: Start = {"selection": ["cyclic"], "learning_rate": [1.0]}
_NEWTON: Start = {
    "response": ["newton"], "l2": [0.1], "gain": [1.0], "learning_rate": [0.2],
    "weak_learner__max_features": [0.3], "weak_learner__min_child_weight": [0.1],
    "selection": ["unbiased", "greedy"],
}  # fmt: skip


def _trees(grow_policy: str, *, lines: bool) -> Settings:
    return {
        "weak_learner": "tree",
        "weak_learner__grow_policy": grow_policy,
        "weak_learner__linear_leaves": lines,
    }


_FEW_LEAVES: Start = {"weak_learner__max_leaf_nodes": [16]}
_FEW_LEVELS: Start = {"weak_learner__max_depth": [5]}
_STIFF_LINES: Start = {"weak_learner__linear_l2": [5.0]}

_FEW_FEATURES: Start = {"weak_learner__interaction_cst": [MOST_READABLE]}
_LIMITS = _ladder("weak_learner__interaction_cst", 2, MOST_READABLE)
_WITHOUT_LIMIT: Settings = {"weak_learner__interaction_cst": None}

_FEW_CELLS: Start = {
    **_CYCLES, "weak_learner__max_cells": [10], "weak_learner__min_saving": [0.5],
    "weak_learner__smoothing": [0.1],
}  # fmt: skip

GRID = Family("grid", 0, {}, start=_FEW_CELLS, additive=True, readable=True)
"""The family of a search that compares none."""

FAMILIES = (
    Family(
        "tables", 1, {"weak_learner": "table"}, _FEW_CELLS,
        (_ladder("selection", "cyclic", "greedy", "unbiased"),
         _ladder("weak_learner__max_cells", 3, 10), _RESPONSES),
        additive=True, readable=True, gains=4, never={"weak_learner__max_cells": None},
    ),
    Family(
        "smooth tables", 3,
        {"weak_learner": "table", "weak_learner__max_cells": None},
        {**_CYCLES, "weak_learner__smoothing": [0.2]},
        (_ladder("weak_learner__smoothing", 0.05, 0.2, 1.0, 4.0, 16.0, 64.0), _RESPONSES),
        additive=True, readable=True, gains=4,
    ),
    Family(
        "stumps", 2, {"weak_learner": "stump"}, _CYCLES, (_RESPONSES,),
        additive=True, readable=True, gains=3,
    ),
    Family(
        "readable symmetric trees", 1, _trees("symmetric", lines=True),
        {**_NEWTON, **_FEW_LEVELS, **_STIFF_LINES, **_FEW_FEATURES},
        (*_OF_TREES, _DEPTHS, _LIMITS), (_WEIGHTS, _LINES),
        readable=True, never=_WITHOUT_LIMIT,
    ),
    Family(
        "readable trees", 2, _trees("best_first", lines=True),
        {**_NEWTON, **_FEW_LEAVES, **_STIFF_LINES, **_FEW_FEATURES},
        (*_OF_TREES, _LEAVES, _LIMITS), (_WEIGHTS, _LINES),
        readable=True, never=_WITHOUT_LIMIT,
    ),
    Family(
        "trees", 2, _trees("best_first", lines=False),
        {**_NEWTON, **_FEW_LEAVES}, (*_OF_TREES, _LEAVES), (_WEIGHTS,),
    ),
    Family(
        "symmetric trees", 3, _trees("symmetric", lines=False),
        {**_NEWTON, **_FEW_LEVELS}, (*_OF_TREES, _DEPTHS), (_WEIGHTS,),
    ),
    Family(
        "trees with lines", 3, _trees("best_first", lines=True),
        {**_NEWTON, **_FEW_LEAVES, **_STIFF_LINES}, (*_OF_TREES, _LEAVES),
        (_WEIGHTS, _LINES),
    ),
    Family(
        "symmetric trees with lines", 1, _trees("symmetric", lines=True),
        {**_NEWTON, **_FEW_LEVELS, **_STIFF_LINES}, (*_OF_TREES, _DEPTHS),
        (_WEIGHTS, _LINES),
    ),
)  # fmt: skip
"""The families, simple ones first."""

PLAIN: Mapping[str, Settings] = {
    "tables": {"weak_learner": "table"},
    "readable symmetric trees": {
        **_trees("symmetric", lines=True), "weak_learner__interaction_cst": MOST_READABLE,
    },
}  # fmt: skip
"""The settings of plain fits, by the family that has them."""

_BY_NAME = {family.name: family for family in (GRID, *FAMILIES)}


def is_readable(name: str) -> bool:
    """Return whether people can read the models of a family; names of older versions can be."""
    return name not in _BY_NAME or _BY_NAME[name].readable


NAMES = [None, *(family.name for family in FAMILIES)]
"""The names of families, simple ones first; None where none are compared."""
