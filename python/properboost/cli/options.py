"""Options of `fit` that are parameters of a classifier, made from their declarations.

A parameter whose declaration has an `option` text has an option of its name, which reads values of
its type; so have the fields of its objects.  An absent option leaves the default to the classifier.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

from properboost.cli.shared_arguments import OptionGroup
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.estimators.properboost_parameters import check_parameters
from properboost.losses.registry import get_loss
from properboost.model_selection.combinations import DEFAULT_LEARNER
from properboost.model_selection.families import check_search
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.parameters.declare import Parameter, declared
from properboost.parameters.flat import PLACES, find_learners, nest
from properboost.parameters.learners import LEARNERS
from properboost.rado.estimator import RadoBoostClassifier
from properboost.rado.estimator import check_parameters as check_rado_parameters

__all__ = ["MODELS", "add_parameters", "make_classifier"]

MODELS = ("properboost", "rado")

Classifier: TypeAlias = ProperBoostClassifier | ProperBoostClassifierCV | RadoBoostClassifier

AUTO = "auto"
"""The value that leaves a parameter to cross-validation."""

CHOSEN = (
    "gain",
    "n_estimators",
    "weak_learner",
    "smoothing",
    "n_draws",
    "response",
    "selection",
    "interactions",
    "outer_bags",
)
"""The parameters that a search chooses where its space has none, and that may be "auto"."""

SEARCHED = tuple(name for name in CHOSEN if name != "weak_learner")
"""Those of which "auto" starts a search without families; a fit compares weak learners itself."""

NONE = "none"
"""The name of None on the command line."""

METAVARS: dict[type | None, str] = {int: "N", float: "X"}
CALLED: dict[type | None, list[str]] = {int: ["an integer"], float: ["a number"]}


@dataclass(frozen=True)
class OptionReader:
    """A reader of option values: a number, one of some words, or either."""

    number: type[int] | type[float] | None
    words: tuple[str, ...]

    def __call__(self, text: str) -> object:
        if text in self.words:
            return None if text == NONE else text
        try:
            if self.number is not None:
                return self.number(text)
        except ValueError:
            pass
        *allowed, last = [*CALLED.get(self.number, []), *self.words]
        shown = f"{', '.join(allowed)} or {last}" if allowed else last
        raise argparse.ArgumentTypeError(f"must be {shown}; got {text!r}")

    @property
    def metavar(self) -> str:
        """The placeholder of the value in the help."""
        return METAVARS.get(self.number) or f"{{{','.join(self.words)}}}"


def _make_reader(annotation: Any, *, auto: bool) -> OptionReader:
    """Return the reader of a type's values, without those that a command line cannot have."""
    united = get_origin(annotation) in (Union, UnionType)
    number, words = None, []
    for kind in get_args(annotation) if united else [annotation]:
        if kind in (int, float):
            number = kind
        elif kind is NoneType:
            words.append(NONE)
        elif kind is str:
            words += LEARNERS
        elif get_origin(kind) is Literal:
            words += get_args(kind)
    return OptionReader(number, tuple([*words, AUTO] if auto and AUTO not in words else words))


# -- the options ----------------------------------------------------------------------------------


def _offer(owner: type) -> dict[str, Parameter]:
    """Return the parameters that have options, and such fields of their objects, by flat names."""
    offered: dict[str, Parameter] = {}
    for name, entry in declared(owner).items():
        offered[name] = entry
        offered |= {flat: place.entry for flat, place in PLACES.items() if place.owner == name}
    return {name: entry for name, entry in offered.items() if entry.option is not None}


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """Add the options of all models; those that are not given are absent from the namespace."""
    tables, search, rados = map(
        _offer, (ProperBoostClassifier, ProperBoostClassifierCV, RadoBoostClassifier)
    )
    groups: dict[str, OptionGroup] = {"": parser.add_argument_group("model")}
    for name, entry in tables.items():
        learners = " or ".join(find_learners(name))
        if learners not in groups:
            groups[learners] = parser.add_argument_group(f"with --weak-learner {learners}")
        others: dict[str, object] = {"in a search": AUTO} if name in CHOSEN else {}
        for when, known in {"in a search": search, "with --model rado": rados}.items():
            others |= {when: known[name].default} if name in known else {}
        _add(groups[learners], name, entry, others, auto=name in CHOSEN)
    group = parser.add_argument_group(
        f"search by cross-validation; with --effort none only for {_name_autos()}"
    )
    for name, entry in search.items():
        if name not in tables:
            _add(group, name, entry)
    shared = ", ".join(name_option(name) for name in rados if name in tables)
    group = parser.add_argument_group(f"model rado, in addition to {shared}")
    for name, entry in rados.items():
        if name not in tables:
            _add(group, name, entry)


def _add(
    group: OptionGroup,
    name: str,
    entry: Parameter,
    others: Mapping[str, object] | None = None,
    *,
    auto: bool = False,
) -> None:
    """Add an option; `others` are the defaults of other models."""
    text = f"{entry.option}; {AUTO} chooses by cross-validation" if auto else entry.option
    defaults = [_show(entry.default)]
    for when, default in (others or {}).items():
        if default != entry.default:
            defaults.append(f"{_show(default)} {when}")
    reading: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
    if entry.annotation is not bool:
        reader = _make_reader(entry.annotation, auto=auto)
        reading = {"type": reader, "metavar": reader.metavar}
    group.add_argument(
        name_option(name),
        default=argparse.SUPPRESS,
        help=f"{text} (default: {'; '.join(defaults)})".replace("%", "%%"),
        **reading,
    )


def name_option(name: str) -> str:
    """Return the option of a parameter."""
    return f"--{name.replace('_', '-')}"


def _name_autos() -> str:
    """Return the options that start a search."""
    return " or ".join(f"{name_option(name)} {AUTO}" for name in SEARCHED)


def _show(default: object) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    return NONE if default is None else str(default)


# -- the classifier -------------------------------------------------------------------------------


def make_classifier(arguments: argparse.Namespace) -> Classifier:
    """Return the classifier, or the search for one, of the arguments.

    Raises
    ------
    ValueError, TypeError
        If they do not fit together, or a parameter is not allowed.
    """
    tables, search, rados = map(
        _offer, (ProperBoostClassifier, ProperBoostClassifierCV, RadoBoostClassifier)
    )
    values = {k: value for k, value in vars(arguments).items() if k in tables | search | rados}
    foreign = values.keys() - (rados if arguments.model == "rado" else tables | search).keys()
    if arguments.model == "rado" and arguments.sample_weight is not None:
        foreign.add("sample_weight")
    if foreign:
        raise ValueError(
            f"{name_option(min(foreign))} cannot be combined with --model {arguments.model}"
        )
    values |= {"n_jobs": arguments.n_jobs, "verbose": arguments.verbose}
    if arguments.model == "rado":
        rado = RadoBoostClassifier(**values)
        check_rado_parameters(rado)
        return rado
    effort = values.setdefault("effort", declared(ProperBoostClassifierCV)["effort"].default)
    searches = effort is not None or any(values.get(name) == AUTO for name in SEARCHED)
    _check_learner(values, searches=searches)
    if searches:
        return _make_search(values)
    del values["effort"]
    if of_search := values.keys() & (search.keys() - tables.keys()):
        raise ValueError(
            f"{name_option(min(of_search))} is for a search: leave out --effort none, or add "
            f"{_name_autos()}"
        )
    model = ProperBoostClassifier().set_params(**nest(values))
    check_parameters(model)
    return model


def _check_learner(values: Mapping[str, object], *, searches: bool) -> None:
    """Refuse the fields of weak learners other than the chosen one."""
    learner = values.get("weak_learner", AUTO)
    if learner == AUTO and searches and values["effort"] is None:
        learner = DEFAULT_LEARNER
    for name, value in values.items():
        learners = [] if _is_auto(name, value) else find_learners(name)
        if learners and learner not in learners:
            raise ValueError(f"{name_option(name)} is for --weak-learner {' or '.join(learners)}")


def _is_auto(name: str, value: object) -> bool:
    """Whether an option leaves its parameter to a search."""
    return name in CHOSEN and value == AUTO


def _make_search(values: dict[str, Any]) -> ProperBoostClassifierCV:
    families = values["effort"] is not None
    if values.get("gain") is None and not (families and "gain" not in values):
        # None is the loss's gain, and a search for the rounds alone has that gain, too.
        loss = values.get("loss", declared(ProperBoostClassifier)["loss"].default)
        values["gain"] = get_loss(loss, None).gain
    of_search = {name: values[name] for name in values.keys() & declared(ProperBoostClassifierCV)}
    space = {k: v for k, v in values.items() if k not in of_search and not _is_auto(k, v)}
    search = ProperBoostClassifierCV(nest(space) or None, **of_search)
    check_search(search)
    if values.get("cv", AUTO) != AUTO and values["cv"] < 2:
        raise ValueError(f"--cv must be at least 2; got {values['cv']}")
    return search
