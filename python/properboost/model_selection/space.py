"""The space of a search: the user's values, by the names of the classifier's parameters."""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from properboost.parameters.boosting import SHARED
from properboost.parameters.declare import Component, Parameter, declared
from properboost.parameters.flat import OWNERS
from properboost.parameters.stages import Interactions, make_interactions
from properboost.parameters.words import IN_SEARCHES, advise

__all__ = [
    "FEWEST_PAIRS",
    "Classifier",
    "Combination",
    "Combinations",
    "Settings",
    "Space",
    "order_names",
    "read_space",
]

Settings: TypeAlias = Mapping[str, Any]
"""Parameters of the classifier, nested names included."""

_FIRST = (
    "selection", "multiclass", "weak_learner", "weak_learner__multi_strategy", *SHARED,
    "loss", "weak_learner__smoothing", "prior", "weak_learner__max_cells",
    "weak_learner__min_saving", "learning_rate", "weak_learner__grow_policy",
    "weak_learner__linear_leaves", "weak_learner__linear_l2", "weak_learner__max_leaf_nodes",
    "weak_learner__max_depth", "weak_learner__max_conditions", "weak_learner__min_child_weight",
    "weak_learner__max_features", "weak_learner__subsample",
)  # fmt: skip
"""Names in the order in which candidates combine their values, the last one changing fastest.  So
candidates that the engine can batch are neighbours."""

_APART = ("gain", "n_estimators", "interactions")
"""Parameters that candidates do not combine with the others."""

_SINGLE = (
    "n_estimators", "outer_bags", "calibration", "weak_learner__n_draws",
    "interactions__n_estimators",
)  # fmt: skip
"""Parameters of the final model alone."""

_LISTS = ("interactions", "monotonic_cst", "interactions__pairs")
"""Parameters whose values may be lists."""

FEWEST_PAIRS = 10
"""The smallest number of pairs that is tried where the space has none."""


@dataclass(frozen=True)
class Classifier:
    """The estimator of a search, and functions that check its parameters."""

    make: Callable[..., Any]
    """`ProperBoostClassifier`."""
    check: Callable[[Any], Any]
    """Function that raises an error if its parameters are not compatible."""
    find_loss: Callable[..., Any]
    """Function that returns the loss without a gain: see `estimators.properboost_parameters`."""

    @property
    def known(self) -> Mapping[str, Parameter]:
        """Its parameters."""
        return declared(self.make)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Space:
    """The values to choose from, by the user's names: one value, or those of a list."""

    classifier: Classifier
    written: Settings
    choices: Mapping[str, Sequence[Any]]

    def __contains__(self, name: str) -> bool:
        return name in self.written

    @property
    def combined(self) -> dict[str, Sequence[Any]]:
        """The values that candidates combine."""
        names = [name for name in self.choices if name.partition("__")[0] not in _APART]
        return {name: self.choices[name] for name in order_names(names)}

    @property
    def gains(self) -> list[float | None] | None:
        """The gains to choose from, with None for the loss's; None if the search chooses gains."""
        if "gain" not in self:
            return None
        return [None if gain is None else float(gain) for gain in self.choices["gain"]]

    @property
    def n_estimators(self) -> int | None:
        """The number of estimators; None if the search chooses it."""
        return int(self.choices["n_estimators"][0]) if "n_estimators" in self else None

    @property
    def pins_calibration(self) -> bool:
        """Whether the user wrote a calibration, so that the search fits none."""
        return self._has_any_of("calibration")

    @property
    def pins_pairs(self) -> bool:
        """Whether the model must have pairs, or none if 0 is among their numbers."""
        return self._has_any_of("interactions")

    def _has_any_of(self, owner: str) -> bool:
        """Whether the space has a parameter, or a field of its object."""
        return any(name.partition("__")[0] == owner for name in self.written)

    @property
    def pairs(self) -> Sequence[Any] | None:
        """The pairs to choose from; None if the search chooses their number."""
        return self.choices.get("interactions", self.choices.get("interactions__pairs"))

    @property
    def may_have_no_pairs(self) -> bool:
        """Whether a model without pairs agrees with the user's values."""
        return not self.pins_pairs or not all(map(_are_wanted, self.pairs or ()))

    @property
    def excludes_pairs(self) -> bool:
        """Whether the user wrote that there are no pairs."""
        return self.pairs is not None and not any(map(_are_wanted, self.pairs))

    def list_pairs(
        self,
        numbers: Sequence[int] = (FEWEST_PAIRS,),
        fields: Mapping[str, Sequence[Any]] | None = None,
    ) -> Iterator[tuple[Interactions, bool]]:
        """Yield the pairs to choose from, and whether the search sets their number of estimators.

        `numbers` and `fields` are the numbers of pairs, and the values of fields, that the space
        lacks.  An object has all fields itself.
        """
        written = {
            name.removeprefix("interactions__"): values
            for name, values in self.choices.items()
            if name.startswith("interactions__") and name != "interactions__pairs"
        }
        for value in numbers if self.pairs is None else self.pairs:
            pairs, is_whole = make_interactions(value), isinstance(value, Interactions)
            lists = written if is_whole else {**(fields or {}), **written}
            for chosen in itertools.product(*lists.values()) if pairs.are_wanted else ():
                changed = pairs.replace(**dict(zip(lists, chosen, strict=True)))
                yield changed, not is_whole and "n_estimators" not in lists


@dataclass(frozen=True, eq=False)
class Combination:
    """Values of the space, with the compatible values of a family."""

    params: dict[str, Any]
    """Parameters of the classifier, the weak learner as an object."""
    places: Mapping[str, int]
    """The place of each value of the space among those of its name."""
    begun: Settings
    """The start values of the family."""
    keeps_learner: bool
    """Whether the weak learner was written as an object, with all its fields."""


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations of a space that the classifier accepts."""

    combinations: Sequence[Combination]
    refused: Sequence[tuple[Mapping[str, int], Exception]]
    """The places of incompatible values, with the error about them."""
    cuts_carefully: bool
    """Whether the cuts of every table must save more than chance, so that fewer gains suffice."""

    def has(self, name: str, place: int) -> bool:
        """Whether a combination has a value."""
        return any(c.places[name] == place for c in self.combinations)

    def find_error(self, name: str, place: int) -> Exception:
        """Return the first error about a value that no combination has."""
        return next(error for places, error in self.refused if places[name] == place)


def read_space(search: Any) -> Space:
    """Return the space of a search, with each of its names and values checked."""
    written, classifier = search.space, search._classifier
    if written is None:
        return Space(classifier, {}, {})
    if not isinstance(written, Mapping):
        raise TypeError(
            "space must be a mapping from parameters of the classifier to values and lists of "
            f"values, or None; got {written!r}"
        )
    for name in written:
        _check_name(name, classifier.known, declared(type(search)))
    choices = {name: _read_choices(name, written[name], classifier.known) for name in written}
    space = Space(classifier, written, choices)
    for name in written:
        _check_beside_owner(name, choices, classifier.known)
    _check_fields_of_pairs(space)
    for loss in choices.get("loss", ()):
        _check_gain_of_loss(loss, space.gains)
    return space


def order_names(names: Iterable[str]) -> list[str]:
    """Return names in the order in which candidates combine them."""
    known = {name: k for k, name in enumerate(_FIRST)}
    return sorted(names, key=lambda name: known.get(name, len(known)))


def _check_name(name: object, known: Mapping[str, Parameter], of_search: Collection[str]) -> None:
    """Refuse a name that no space may have."""
    if not isinstance(name, str):
        raise TypeError(f"space must have names as keys; got {name!r}")
    owner, _, field = name.partition("__")
    if owner in of_search:
        raise ValueError(f"space must not have {name!r}, which is a parameter of the search itself")
    if owner in IN_SEARCHES and owner != "calibration":
        raise ValueError(f"space must not have {name!r}: {IN_SEARCHES[owner]}")
    if owner not in known:
        raise ValueError(_answer(name, advise(name, of_search) or advise(name, known)))
    fields = {name for cls in OWNERS.get(owner, ()) for name in declared(cls)}
    if field and field not in fields:
        raise ValueError(_answer(name, advise(field, fields)))


def _answer(name: str, advice: str) -> str:
    problem = f"space has {name!r}, which is no parameter of the classifier"
    return f"{problem}: {advice}" if advice else problem


def _read_choices(name: str, value: Any, known: Mapping[str, Parameter]) -> list[Any]:
    """Return the different values to choose from, each checked by itself."""
    single = name in _SINGLE or name.partition("__")[0] in _SINGLE
    if isinstance(value, list) and single:
        raise ValueError(
            f"space must have one value of {name!r}, and no list: it is of the final model alone; "
            f"got {value!r}"
        )
    if isinstance(value, list) and not value:
        raise ValueError(f"space must not have an empty list of {name!r}")
    values = value if isinstance(value, list) else [value]
    different: list[Any] = []
    keys: list[tuple[bool, object]] = []
    for choice in values:
        try:
            read = _check_value(name, choice, known)
        except (TypeError, ValueError) as error:
            raise type(error)(_explain_lists(name, value, error)) from None
        key = isinstance(choice, Component), read  # an object stays whole, unlike its name
        if not any(map(partial(_are_equal, key), keys)):
            keys.append(key)
            different.append(choice)
    return different


def _are_equal(a: tuple[bool, Any], b: tuple[bool, Any]) -> bool:
    """Whether two values are one choice."""
    if a[0] is not b[0] or type(a[1]) is not type(b[1]):
        return False
    try:
        return hash(a[1]) == hash(b[1]) and bool(a[1] == b[1])
    except TypeError:  # objects, lists and arrays have no hash
        return np.array_equal(a[1], b[1])


def _explain_lists(name: str, value: object, error: Exception) -> str:
    """Return the message of an error, with the meaning of lists where it may help."""
    if isinstance(value, list) and name in _LISTS:
        return (
            f"space must have [{value!r}] as {name!r} if that list is one value, as the values to "
            f"choose from stand in a list; {error}"
        )
    if isinstance(value, tuple | np.ndarray) and name != "monotonic_cst":
        return f"{error}; a tuple or an array is one value: write a list to search"
    return str(error)


def _check_value(name: str, value: object, known: Mapping[str, Parameter]) -> object:
    """Return the checked value of a name; losses are checked with the other parameters."""
    if name == "n_estimators" and value is None:
        raise ValueError(
            "space must have an integer as 'n_estimators'; without, the search chooses it"
        )
    owner, _, field = name.partition("__")
    entry, of_owner = known[owner], ""
    if field:
        kind = next(cls for cls in OWNERS[owner] if field in declared(cls))
        entry, of_owner = declared(kind)[field], f"{kind.__name__}."
    return entry.read(value, of_owner)


def _check_beside_owner(
    name: str, choices: Mapping[str, Sequence[Any]], known: Mapping[str, Parameter]
) -> None:
    """Refuse a field beside an object, or beside a value of its owner that sets the field."""
    owner, _, field = name.partition("__")
    for value in choices.get(owner, ()) if field else ():
        if isinstance(value, Component):
            raise ValueError(
                f"space must not have {name!r} beside {owner}={value!r}: an object stays whole, so "
                "write its fields in it"
            )
        whole = known[owner].component(value)  # type: ignore[misc]
        entry = declared(type(whole)).get(field)
        if entry and not (entry.kw_only and getattr(whole, field) == entry.default):
            raise ValueError(
                f"space must not have {name!r} beside {owner}={value!r}, which has a {field} "
                "itself: write it once"
            )


def _check_fields_of_pairs(space: Space) -> None:
    """Refuse fields of pairs where there are none."""
    for name in space.written if space.excludes_pairs else ():
        if name.startswith("interactions__") and name != "interactions__pairs":
            assert space.pairs is not None
            raise ValueError(
                f"space must not have {name!r} without pairs: write a number above 0, or pairs, as "
                f"'interactions', or leave that out; got {space.pairs[0]!r}"
            )


def _are_wanted(pairs: Any) -> bool:
    return make_interactions(pairs).are_wanted


def _check_gain_of_loss(loss: Any, gains: Sequence[float | None] | None) -> None:
    """Refuse a loss with a gain of its own where others are tried."""
    gain = getattr(loss, "gain", 1.0)
    if gain != 1.0 and (gains is None or any(other not in (None, gain) for other in gains)):
        raise ValueError(
            f"loss={loss!r} has its own gain, but the gain is searched: write the loss with gain "
            f"1, and 'gain': [{gain!r}], or 'gain': None"
        )
