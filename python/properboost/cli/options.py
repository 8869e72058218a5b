"""Options of `fit` that are parameters of a classifier, made from their declarations.

A parameter whose declaration has an `option` text has an option of its name, which reads what its
type says.  One that is not given leaves the default to the classifier.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

from properboost.cli.shared_arguments import Group
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.estimators.properboost_parameters import check_parameters
from properboost.losses.registry import get_loss
from properboost.model_selection.families import check_search
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.parameters.declare import Parameter, declared
from properboost.rado.estimator import RadoBoostClassifier
from properboost.rado.estimator import check_parameters as check_rado_parameters

__all__ = ["MODELS", "add_parameters", "make_classifier"]

MODELS = ("properboost", "rado")

Classifier: TypeAlias = ProperBoostClassifier | ProperBoostClassifierCV | RadoBoostClassifier

AUTO = "auto"
"""What leaves a parameter to cross-validation."""

NONE = "none"
"""What None is called on the command line."""

METAVARS: dict[type | None, str] = {int: "N", float: "X"}
CALLED: dict[type | None, list[str]] = {int: ["an integer"], float: ["a number"]}


@dataclass(frozen=True)
class Reader:
    """Reads a cell of the command line: a number, one of some words, or either."""

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
        """What stands for the value in the help."""
        return METAVARS.get(self.number) or f"{{{','.join(self.words)}}}"


def _make_reader(annotation: Any, *, auto: bool) -> Reader:
    """Return what reads values of a type; what cannot be written on a command line is left out."""
    united = get_origin(annotation) in (Union, UnionType)
    number, words = None, []
    for kind in get_args(annotation) if united else [annotation]:
        if kind in (int, float):
            number = kind
        elif kind is NoneType:
            words.append(NONE)
        elif get_origin(kind) is Literal:
            words += get_args(kind)
    return Reader(number, tuple([*words, AUTO] if auto else words))


# -- the options ----------------------------------------------------------------------------------


def _offer(owner: type) -> dict[str, Parameter]:
    """Return the parameters that have options."""
    return {name: entry for name, entry in declared(owner).items() if entry.option is not None}


def _find_searched(name: str) -> str | None:
    """Return what a search calls a parameter of the classifier; lists are called by the plural."""
    known = declared(ProperBoostClassifierCV)
    return next((called for called in (name, f"{name}s") if called in known), None)


def _can_be_auto(name: str) -> bool:
    """Whether "auto" tells a search to choose a parameter by itself, and says nothing else."""
    called = _find_searched(name)
    if called is None:
        return False
    known = declared(ProperBoostClassifier).get(name), declared(ProperBoostClassifierCV)[called]
    of_one, of_search = (
        p is not None and AUTO in _make_reader(p.annotation, auto=False).words for p in known
    )
    return of_search and not of_one


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """Add the options of all models; those that are not given are absent from the namespace."""
    tables, search, rados = map(
        _offer, (ProperBoostClassifier, ProperBoostClassifierCV, RadoBoostClassifier)
    )
    group = parser.add_argument_group("model")
    for name, entry in tables.items():
        others = {"in a search": declared(ProperBoostClassifierCV), "with --model rado": rados}
        _add(group, entry, others, auto=_can_be_auto(name))
    group = parser.add_argument_group(
        f"search by cross-validation; with --effort none only for {_name_autos()}"
    )
    for name, entry in search.items():
        if name not in tables:
            _add(group, entry)
    shared = ", ".join(name_option(name) for name in rados if name in tables)
    group = parser.add_argument_group(f"model rado, besides {shared}")
    for name, entry in rados.items():
        if name not in tables:
            _add(group, entry)


def _add(
    group: Group,
    entry: Parameter,
    others: Mapping[str, Mapping[str, Parameter]] | None = None,
    *,
    auto: bool = False,
) -> None:
    """Add an option; `others` are the models whose default may be another one."""
    text = f"{entry.option}; {AUTO} chooses by cross-validation" if auto else entry.option
    defaults = [_show(entry.default)]
    for when, known in (others or {}).items():
        if entry.name in known and known[entry.name].default != entry.default:
            defaults.append(f"{_show(known[entry.name].default)} {when}")
    reading: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
    if entry.annotation is not bool:
        reader = _make_reader(entry.annotation, auto=auto)
        reading = {"type": reader, "metavar": reader.metavar}
    group.add_argument(
        name_option(entry.name),
        default=argparse.SUPPRESS,
        help=f"{text} (default: {'; '.join(defaults)})".replace("%", "%%"),
        **reading,
    )


def name_option(name: str) -> str:
    """Return the option of a parameter."""
    return f"--{name.replace('_', '-')}"


def _name_autos() -> str:
    """Return the options that start a search."""
    names = [name for name in _offer(ProperBoostClassifier) if _can_be_auto(name)]
    return " or ".join(f"{name_option(name)} {AUTO}" for name in names)


def _show(default: object) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    return NONE if default is None else str(default)


# -- the classifier -------------------------------------------------------------------------------


def make_classifier(arguments: argparse.Namespace) -> Classifier:
    """Return the classifier, or the search for one, that the arguments ask for.

    Raises
    ------
    ValueError, TypeError
        If they do not fit together, or a parameter is not allowed.
    """
    tables, search, rados = map(
        _offer, (ProperBoostClassifier, ProperBoostClassifierCV, RadoBoostClassifier)
    )
    given = {k: value for k, value in vars(arguments).items() if k in tables | search | rados}
    foreign = given.keys() - (rados if arguments.model == "rado" else tables | search).keys()
    if arguments.model == "rado" and arguments.sample_weight is not None:
        foreign.add("sample_weight")
    if foreign:
        raise ValueError(f"{name_option(min(foreign))} is not for --model {arguments.model}")
    given |= {"n_jobs": arguments.n_jobs, "verbose": arguments.verbose}
    if arguments.model == "rado":
        rado = RadoBoostClassifier(**given)
        check_rado_parameters(rado)
        return rado
    effort = given.get("effort", declared(ProperBoostClassifierCV)["effort"].default)
    if effort is not None or any(_can_be_auto(name) and given[name] == AUTO for name in given):
        return _make_search(given)
    given.pop("effort", None)
    if of_search := given.keys() & (search.keys() - tables.keys()):
        raise ValueError(
            f"{name_option(min(of_search))} is for a search: leave out --effort none, or add "
            f"{_name_autos()}"
        )
    model = ProperBoostClassifier(**given)
    check_parameters(model)
    return model


def _make_search(given: dict[str, Any]) -> ProperBoostClassifierCV:
    known = declared(ProperBoostClassifierCV)
    chosen = [name for name in given if (_find_searched(name) or name) not in known]
    if chosen:
        raise ValueError(
            f"{name_option(min(chosen))} is not for a search, which chooses it; --effort none fits "
            "one model"
        )
    families = given.get("effort", known["effort"].default) is not None
    if given.get("gain") is None and not (families and "gain" not in given):
        # A search takes no None, and one of the rounds alone has the gain of the loss.
        loss = given.get("loss", declared(ProperBoostClassifierCV)["loss"].default)
        given["gain"] = get_loss(loss, None).gain
    settings: dict[str, Any] = {}
    for name, value in given.items():
        called = _find_searched(name) or name
        settings[called] = value if called == name or value == AUTO else [value]
    search = ProperBoostClassifierCV(**settings)
    check_search(search)
    if given.get("cv", AUTO) != AUTO and given["cv"] < 2:
        raise ValueError(f"--cv must be at least 2; got {given['cv']}")
    return search
