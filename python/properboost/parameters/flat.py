"""Flat names of the fields of objects.

The command line has them, because its options are flat, and so do files of earlier formats.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from properboost.parameters.declare import Component, Parameter, declared
from properboost.parameters.learners import LEARNERS
from properboost.parameters.stages import Bags, Calibration, EarlyStopping, Interactions
from properboost.parameters.words import OBJECTS

__all__ = [
    "COMPONENTS",
    "OWNERS",
    "PLACES",
    "Place",
    "find_learners",
    "nest",
    "refuse_flat_state",
    "take_apart",
]

COMPONENTS: Mapping[str, type[Component]] = {
    kind.__name__: kind
    for kind in (*LEARNERS.values(), Interactions, EarlyStopping, Bags, Calibration)
}
"""The classes of the objects by name."""

OWNERS: Mapping[str, Collection[type[Component]]] = {
    owner: [COMPONENTS[name] for name in names] for owner, names in OBJECTS.items()
}
"""The parameters of a classifier that may be objects, and the objects' classes."""

_SPELLED = {
    "interactions__n_estimators": "interaction_estimators",
    "interactions__learning_rate": "interaction_rate",
    "interactions__smoothing": "interaction_smoothing",
    "outer_bags__tables": "bag_tables",
}
"""The flat names that differ from the field's."""


def take_apart(part: Component) -> tuple[str, dict[str, Any]]:
    """Return the name of an object's class, or of its nearest base in files, and its fields."""
    [name, *_] = [kind.__name__ for kind in type(part).__mro__ if kind in COMPONENTS.values()]
    return name, {field: getattr(part, field) for field in declared(COMPONENTS[name])}


class Place(NamedTuple):
    """The place of a flat name: a field of the object of a parameter."""

    owner: str
    field: str
    entry: Parameter
    kinds: tuple[type[Component], ...]
    """The classes that have the field."""

    @property
    def nested(self) -> str:
        """The name that `set_params` takes."""
        return f"{self.owner}__{self.field}"


def _find_places() -> dict[str, Place]:
    places: dict[str, Place] = {}
    for owner, kinds in OWNERS.items():
        for kind in kinds:
            for field, entry in declared(kind).items():
                if entry.kw_only:  # the owner's plain value stands for a field by position
                    name = _SPELLED.get(f"{owner}__{field}", field)
                    earlier = places[name].kinds if name in places else ()
                    places[name] = Place(owner, field, entry, (*earlier, kind))
    return places


PLACES: Mapping[str, Place] = _find_places()
"""The fields of objects by their flat names."""


_EARLIER = (*PLACES, "max_literals", "warm_start_bins", "gains", "smoothings", "priors", "alphas")
"""The parameters of estimators of earlier versions that today's do not have."""


def refuse_flat_state(owner: type, state: Mapping[str, object]) -> None:
    """Refuse a pickled estimator of an earlier version, whose parameters were flat."""
    known = declared(owner)
    flat = [name for name in _EARLIER if name in state and name not in known]
    if flat and any(name not in state for name in known):
        raise ValueError(
            f"a {owner.__name__} that an earlier version of properboost pickled, with a parameter "
            f"{flat[0]}, cannot be read: write it with save_model there, whose files can"
        )


def find_learners(name: str) -> list[str]:
    """Return the names of the weak learners with a field of this flat name."""
    place = PLACES.get(name)
    kinds = () if place is None or place.owner != "weak_learner" else place.kinds
    return [learner for learner, kind in LEARNERS.items() if kind in kinds]


def nest(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with nested in place of flat names; others keep their names."""
    return {PLACES[name].nested if name in PLACES else name: v for name, v in values.items()}
