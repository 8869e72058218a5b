"""The registered kinds of estimators, by their names in files."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

from properboost.persistence.json_node import Node

__all__ = ["KINDS", "Codec", "Kind", "find_kind", "kind"]

Model = TypeVar("Model")


class Codec(ABC, Generic[Model]):
    """A codec that writes the fitted estimators of one class as JSON, and reads them back."""

    @abstractmethod
    def describe(self, model: Model) -> dict[str, Any]:
        """Return the fields of a fitted model, which are JSON values.

        Raises an error if the model cannot be saved.
        """

    @abstractmethod
    def build(self, node: Node, version: int) -> Model:
        """Return the fitted model of the fields in a file of this format version.

        Every field is checked, because the file may come from a stranger.
        """


@dataclass(frozen=True)
class Kind:
    """A kind of estimator, its first format version, and its codec."""

    name: str
    estimator: type
    since: int
    codec: Codec[Any]


_CODECS = (
    "conformal.classifier_file",
    "conformal.venn_abers_file",
    "estimators.arboost_file",
    "estimators.least_cost_file",
    "estimators.ordered_file",
    "estimators.properboost_file",
    "estimators.udt_file",
    "estimators.uls_file",
    "model_selection.arboost_cv_file",
    "model_selection.search_cv_file",
    "rado.estimator_file",
)
"""The modules that register kinds; they are imported when a kind is first looked for."""

_KINDS: dict[str, Kind] = {}


class _Kinds(Mapping[str, Kind]):
    """The registered kinds, with those of the package."""

    def __getitem__(self, name: str) -> Kind:
        return _read_kinds()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_read_kinds())

    def __len__(self) -> int:
        return len(_read_kinds())


def _read_kinds() -> dict[str, Kind]:
    for module in _CODECS:
        import_module(f"properboost.{module}")
    return _KINDS


KINDS: Mapping[str, Kind] = _Kinds()
"""The registered kinds, by their names in files."""


def kind(
    name: str, estimator: type[Model], *, since: int = 5
) -> Callable[[type[Codec[Model]]], type[Codec[Model]]]:
    """Register the codec of a class under the name of its kind in files.

    Parameters
    ----------
    name : str
        The name of the kind in files.  It stays when the class is renamed.
    estimator : type
        The class.  Models of derived classes that are not registered are saved as this kind.
    since : int, default=5
        The first format version with this kind.

    Returns
    -------
    callable
        A decorator of the codec's class, which takes no arguments.
    """

    def register(codec: type[Codec[Model]]) -> type[Codec[Model]]:
        taken = [known for known in _KINDS.values() if name == known.name]
        taken += [known for known in _KINDS.values() if estimator is known.estimator]
        if taken:
            raise ValueError(
                f"{name!r} and {estimator.__name__} must not be registered before; "
                f"{taken[0].name!r} is, for {taken[0].estimator.__name__}"
            )
        _KINDS[name] = Kind(name, estimator, since, codec())
        return codec

    return register


def find_kind(model: object) -> Kind:
    """Return the kind of a model: that of its class, or of the nearest base."""
    by_class = {known.estimator: known for known in KINDS.values()}
    for cls in type(model).__mro__:
        if cls in by_class:
            return by_class[cls]
    raise TypeError(f"model must be of a class that can be saved; got a {type(model).__name__}")
