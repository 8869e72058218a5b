"""Combinations of a space with the settings of a family that the classifier accepts."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from properboost.model_selection.space import (
    Combination,
    Combinations,
    Settings,
    Space,
    order_names,
)
from properboost.parameters.declare import Component, check_component, declared, read_parameter
from properboost.parameters.learners import Grown, Learner, Table, make_learner
from properboost.parameters.stages import Bags

__all__ = ["DEFAULT_LEARNER", "FamilyExcludedError", "combine", "settle_draws", "show"]

DEFAULT_LEARNER = "table"
"""The weak learner of a space that names none: "auto" has folds of its own."""


class FamilyExcludedError(ValueError):
    """The settings of a family exclude a value of the space."""


def combine(
    space: Space,
    settings: Settings,
    start: Mapping[str, Sequence[Any]],
    n_draws: int,
    check: Callable[[Any], object] | None = None,
    never: Settings | None = None,
) -> Combinations:
    """Return the product of the space's lists, each with a family's settings.

    Names that the space lacks begin with the values of `start`, as far as these are compatible with
    the others.  `n_draws` is the number of draws of trees and rules, unless the space has one.
    `check` is a further check of the classifier.  Each value of `never` excludes the family.

    Raises
    ------
    FamilyExcludedError
        If the settings exclude all values of a name.
    """
    never = never or {}
    lists = {name: _list_agreeing(space, name, settings, never) for name in space.combined}
    more = {name: list(enumerate(values)) for name, values in start.items() if name not in lists}
    names = order_names([*lists, *more])
    combinations: dict[object, Combination] = {}
    refused: list[tuple[Mapping[str, int], Exception]] = []
    careful = []
    for chosen in itertools.product(*({**lists, **more}[name] for name in names)):
        values = dict(zip(names, chosen, strict=True))
        places = {name: values[name][0] for name in lists}
        written = {name: values[name][1] for name in lists}
        maker = _Maker(space, settings, never, n_draws, check, written)
        try:
            model, begun = maker.make({name: values[name][1] for name in start if name in more})
        except (TypeError, ValueError) as error:
            refused.append((places, error))
            continue
        careful.append(maker.cuts_carefully)
        touched = dict.fromkeys(name.partition("__")[0] for name in (*maker.base, *begun))
        params = {name: getattr(model, name) for name in order_names([*touched, "weak_learner"])}
        params["weak_learner"] = read_parameter(model, "weak_learner")
        key = (tuple(places.items()), tuple(begun.items()))
        made = Combination(params, places, begun, maker.keeps_learner)
        combinations.setdefault(key, made)
    return Combinations([*combinations.values()], refused, bool(careful) and all(careful))


def _list_agreeing(
    space: Space, name: str, settings: Settings, never: Settings
) -> list[tuple[int, Any]]:
    """Return the values of a name that agree with a family's settings, with their places."""
    agreeing = [
        (k, value)
        for k, value in enumerate(space.choices[name])
        if _agrees(name, value, settings) and not (name in never and _agrees(name, value, never))
    ]
    if not agreeing:
        raise FamilyExcludedError(f"{name}={show(space.written[name])}")
    return agreeing


def _agrees(name: str, value: Any, settings: Settings) -> bool:
    if name not in settings:
        return True
    wanted, value = settings[name], getattr(value, "name", value)
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


class _Maker:
    """A maker of classifiers from written values, a family's settings and its start values."""

    def __init__(
        self,
        space: Space,
        settings: Settings,
        never: Settings,
        n_draws: int,
        check: Callable[[Any], object] | None,
        written: Settings,
    ) -> None:
        self.keeps_learner = isinstance(written.get("weak_learner"), Component)
        self.base = written if self.keeps_learner else {**settings, **written}
        self.cuts_carefully = False
        self._space, self._check = space, check
        self._settings, self._never = settings, never
        has_draws = self.keeps_learner or "weak_learner__n_draws" in space
        self._n_draws = 0 if has_draws else n_draws
        self._learner = make_learner(self.base.get("weak_learner", DEFAULT_LEARNER))

    def make(self, start: Settings) -> tuple[Any, Settings]:
        """Return the classifier of the written values, and the compatible values of `start`.

        Raises the classifier's error about the written values if no value of `start` helps.
        """
        start = {name: value for name, value in start.items() if self._may_have(name, value)}
        self.cuts_carefully = _are_careful(self._learner, {**self.base, **start})
        model = self._try(start)
        if not isinstance(model, Exception):
            return model, start
        effective: dict[str, Any] = {}
        first = model = self._try({})
        for name, value in start.items():
            tried = self._try({**effective, name: value})
            # The user's values may need a value of the family first.
            if isinstance(model, Exception) or not isinstance(tried, Exception):
                model, effective[name] = tried, value
        if isinstance(model, Exception):
            raise first
        return model, effective

    def _may_have(self, name: str, value: Any) -> bool:
        """Whether the weak learner may begin with a value."""
        field = name.removeprefix("weak_learner__")
        if field != name:
            return not self.keeps_learner and field in declared(type(self._learner))
        return not (value == "cyclic" and self._learner.is_grown)

    def _try(self, more: Settings) -> Any:
        """Return the classifier with these values, too, or the error of its checks."""
        try:
            model = self._build({**self.base, **more})
            settle_draws(model, self._n_draws)
            self._space.classifier.check(model)
            if self._check is not None:
                self._check(model)
            self._check_family(model.weak_learner)
            for pairs, _ in self._space.list_pairs() if self._space.pins_pairs else ():
                self._space.classifier.check(model.set_params(interactions=pairs))
            return model.set_params(interactions=0)
        except (TypeError, ValueError) as error:
            return error

    def _build(self, params: Settings) -> Any:
        """Return the classifier with these parameters."""
        kind, flat, fields, others = type(self._learner), {}, {}, {}
        for name, value in params.items():
            owner, _, field = name.partition("__")
            if not field:
                flat[name] = value
            elif owner != "weak_learner":
                others[name] = value
            elif field in declared(kind):
                fields[field] = value
            else:
                default = "" if "weak_learner" in params else ", the weak_learner if none is named"
                raise ValueError(f"{name} is no field of a {kind.__name__}{default}")
        flat["weak_learner"] = self._learner.replace(**fields)
        return self._space.classifier.make(**flat).set_params(**others)

    def _check_family(self, learner: Any) -> None:
        """Refuse an object of another family."""
        for settings, excludes in ((self._settings, False), (self._never, True)):
            for name, value in settings.items():
                field = name.removeprefix("weak_learner__")
                if field != name and (getattr(learner, field) == value) is excludes:
                    raise FamilyExcludedError(f"weak_learner={show(self.base['weak_learner'])}")


def settle_draws(model: Any, n_draws: int) -> None:
    """Set the number of fits that a model averages: one without draws, and with bags.

    `n_draws` of 0 leaves the number as it is.
    """
    learner = make_learner(model.weak_learner)
    if n_draws and isinstance(learner, Grown):
        once = check_component(learner.replace(n_draws=1))
        bags: Bags = read_parameter(model, "outer_bags")
        draws = once.draws and bags.n_bags == 0
        model.weak_learner = once.replace(n_draws=n_draws) if draws else once


def _are_careful(learner: Learner, params: Settings) -> bool:
    """Whether the learner is a table of few cells whose cuts must save more than chance."""
    if not isinstance(learner, Table):
        return False
    cells = params.get("weak_learner__max_cells", learner.max_cells)
    saving = params.get("weak_learner__min_saving", learner.min_saving)
    return cells is not None and saving > 0.0


def show(value: object) -> str:
    """Return a value as text in one line."""
    return " ".join(repr(value).split())
