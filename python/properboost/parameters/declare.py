"""Parameters that are declared once.

A declaration is a class attribute: ``max_bins: int = parameter(default=255, check=..., doc=...)``.
Estimators, components (the objects that parameters may be) and the engine's options inherit classes
of declarations.  The signature, the documentation, the checks, the options of the command line and
the fields of files are made from them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from importlib import import_module
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Any,
    Literal,
    NoReturn,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

import numpy as np
from sklearn.base import BaseEstimator, clone

__all__ = [
    "Component",
    "ComponentSupport",
    "Form",
    "Options",
    "Parameter",
    "check_component",
    "check_declared",
    "component",
    "declared",
    "estimator",
    "parameter",
    "parameters",
    "read",
    "read_parameter",
]

Reader: TypeAlias = Callable[[str, object], object]
"""A function of a name for errors and a value, which returns the checked value."""

Form: TypeAlias = Literal["by label", "by feature", "features", "losses", "matrix", "not saved"]
"""The kinds of values that have a special form in files."""

Class = TypeVar("Class", bound=type)
O = TypeVar("O", bound="Options")  # noqa: E741
C = TypeVar("C", bound="Component")


@dataclass(frozen=True, eq=False)
class Parameter:
    """The declaration of a parameter; None in a redeclaration keeps the earlier value."""

    default: object
    name: str = ""
    annotation: Any = None
    check: Reader | None = None
    doc: str | None = None
    kind: str | None = None
    """The name of its type in the documentation, where the annotation is not plain enough."""
    option: str | None = None
    """The help of its option on the command line; None if it has no option."""
    only_with: Mapping[str, Sequence[object]] | None = None
    """Other parameters, and their values with which this one has an effect."""
    why: Mapping[str, str] | None = None
    """The reason why it has no effect otherwise, for each of the other parameters."""
    harmless: Sequence[object] = ()
    """Values besides the default that are allowed where it has no effect."""
    form: Form | None = None
    component: Callable[[object], Component] | None = None
    """The function that makes the object of a value, if values stand for objects."""
    kw_only: bool = True
    engine: bool = True
    """Whether the engine reads this field of a learner."""

    def read(self, value: object, owner: str = "") -> object:
        """Return the checked value, or a copy of the object of a value."""
        if self.component is not None:
            return check_component(self.component(value))
        assert self.check is not None, f"{self.name} has no check"
        return self.check(owner + self.name, value)

    def find_obstacle(self, values: Callable[[str], object]) -> str | None:
        """Return the first other parameter whose value makes this one ineffective, if any."""
        for other, effective_with in (self.only_with or {}).items():
            if _name_of(values(other)) not in effective_with:
                return other
        return None

    def refuse_without_effect(
        self, value: object, values: Callable[[str], object], owner: str = ""
    ) -> None:
        """Raise ValueError for a value that has no effect beside those of other parameters.

        The default is always allowed.  `values` returns the value of a parameter by its name.
        """
        other = self.find_obstacle(values)
        if other is None or self.only_with is None or _is_among(value, self._harmless):
            return
        effective_with = " or ".join(map(repr, self.only_with[other]))
        reason = f": {self.why[other]}" if self.why else ""
        raise ValueError(
            f"{owner}{self.name} must be {self.default!r} with {other}={_name_of(values(other))!r}"
            f"{reason}; use {other}={effective_with}, or leave {self.name} at {self.default!r}; "
            f"got {value!r}"
        )

    @property
    def _harmless(self) -> list[object]:
        default = self.default if self.component is None else self.component(self.default)
        return [default, *self.harmless]


def _name_of(value: object) -> object:
    """Return the name of an object, as "tree" of `Tree()`, and any other value as it is."""
    return getattr(value, "name", value)


def _is_among(value: object, others: Sequence[object]) -> bool:
    return any(_is_same(value, other) for other in others)


def _is_same(a: Any, b: Any) -> bool:
    """Return whether two values are equal; lists and arrays are compared by entry."""
    if a is b:
        return True
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str) and a == b
    if isinstance(a, bool | np.bool_) != isinstance(b, bool | np.bool_):
        return False
    if _has_entries(a) or _has_entries(b):
        both = _has_entries(a) and _has_entries(b)
        return both and len(a) == len(b) and all(map(_is_same, a, b))
    return bool(a == b)


def _has_entries(value: object) -> bool:
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def parameter(
    *,
    default: object,
    kw_only: bool = True,
    check: Reader | None = None,
    doc: str | None = None,
    kind: str | None = None,
    option: str | None = None,
    only_with: Mapping[str, Sequence[object]] | None = None,
    why: Mapping[str, str] | None = None,
    harmless: Sequence[object] = (),
    form: Form | None = None,
    component: Callable[[object], Component] | None = None,
    engine: bool = True,
) -> Any:
    """Declare a parameter; arguments of None are those of the declaration that it replaces."""
    return Parameter(
        default=default,
        check=check,
        doc=doc,
        kind=kind,
        option=option,
        only_with=only_with,
        why=why,
        harmless=harmless,
        form=form,
        component=component,
        kw_only=kw_only,
        engine=engine,
    )


class Options:
    """Options of the engine, whose values are checked and all apply; see `read`."""

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__} must be made by read, which checks every value")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed; use replace")

    def replace(self, **changes: object) -> Self:
        """Return a copy with other values of these options."""
        return _make(type(self), self.__dict__ | changes)


def _make(cls: type[O], values: Mapping[str, object]) -> O:
    options = object.__new__(cls)
    options.__dict__.update(values)
    return options


# -- objects that parameters may be ----------------------------------------------------------------


class Component(BaseEstimator):  # type: ignore[misc]
    """A group of parameters, as an object that is the value of a parameter of an estimator.

    Objects of one class with the same fields are equal, and have no hash, since they can be
    changed.  A fit never writes into them.
    """

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_is_same(getattr(self, p), getattr(other, p)) for p in declared(type(self)))

    __hash__ = None  # type: ignore[assignment]

    def set_params(self, **params: object) -> Self:
        """Set fields by name; the error for an unknown field suggests another."""
        for name in params:
            if name not in declared(type(self)):
                raise ValueError(_describe_unknown(type(self).__name__, name, declared(type(self))))
            setattr(self, name, params[name])
        return self

    def check_fields(self, owner: str) -> None:
        """Refuse fields that do not go together; errors have `owner` before their names."""

    def replace(self, **changes: object) -> Self:
        """Return a copy with other values of these fields."""
        values = {name: getattr(self, name) for name in declared(type(self))}
        return type(self)(**(values | changes))


def check_component(part: C) -> C:
    """Return a copy of an object with checked fields."""
    cls = type(part)
    owner = f"{cls.__name__}."
    known = declared(cls)
    values = {name: p.read(getattr(part, name), owner) for name, p in known.items()}
    for name, p in known.items():
        p.refuse_without_effect(values[name], values.__getitem__, owner)
    checked = cls(**values)
    checked.check_fields(owner)
    return checked


class ComponentSupport:
    """The support of an estimator for parameters that are objects, or names of objects."""

    def set_params(self, **params: object) -> Self:
        """Set parameters, or fields of the objects that are parameters.

        Parameters
        ----------
        **params : object
            By name.  ``weak_learner__max_depth=3`` sets a field of the object `weak_learner`, of
            which a changed copy is made.  A name, such as ``weak_learner="tree"``, becomes its
            object first.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            If there is no parameter of that name.
        """
        known = declared(type(self))
        nested: dict[str, dict[str, object]] = {}
        for name in params:
            owner, _, field = name.partition("__")
            if owner not in known:
                words = import_module("properboost.parameters.words")
                problem = _describe_unknown(type(self).__name__, name, known)
                raise ValueError(problem + words.nest(name, known))
            if field:
                nested.setdefault(owner, {})[field] = params[name]
            else:
                setattr(self, name, params[name])
        for owner, changes in nested.items():
            value, make = getattr(self, owner), known[owner].component
            part = value if make is None else make(value)
            if not isinstance(part, Component):
                first = f"{owner}__{next(iter(changes))}"
                raise ValueError(_describe_unknown(type(self).__name__, first, known))
            wrong = [name for name in changes if name not in declared(type(part))]
            if wrong and part is not value:
                advice = _advise(f"{owner}__{wrong[0]}", known, value)
                raise ValueError(f"{owner} is {value!r}, which has no {wrong[0]}{advice}")
            setattr(self, owner, clone(part).set_params(**changes))
        return self


# -- classes with parameters --------------------------------------------------------------------


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def parameters(cls: Class) -> Class:
    """Declare parameters for other classes to inherit."""
    declarations = {}
    for name, annotation in inspect.get_annotations(cls, eval_str=True).items():
        if isinstance(cls.__dict__.get(name), Parameter):
            declarations[name] = replace(cls.__dict__[name], name=name, annotation=annotation)
            delattr(cls, name)
    cls._declared_here = MappingProxyType(declarations)  # type: ignore[attr-defined]
    return cls


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def estimator(cls: Class) -> Class:
    """Make the constructor and the documentation of a class from its parameters."""
    known = declared(parameters(cls))
    cls.__init__ = _make_init(cls, known)  # type: ignore[misc]
    if cls.__doc__ is not None:
        cls.__doc__ = _document(inspect.cleandoc(cls.__doc__), known)
    return cls


# With an alias type checkers would not see that it makes a constructor.
@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def component(cls: Class) -> Class:
    """Make the constructor and the documentation of a component from its parameters."""
    return estimator(cls)


def declared(cls: type[object]) -> Mapping[str, Parameter]:
    """Return the parameters of a class: first the declared ones, then the inherited ones."""
    known: Mapping[str, Parameter] | None = cls.__dict__.get("_declared")
    if known is None:
        gathered: dict[str, Parameter] = {}
        for base in cls.__mro__:
            for name, entry in base.__dict__.get("_declared_here", {}).items():
                # A redeclaration has the place of the first declaration.
                later = gathered.pop(name, None)
                gathered[name] = entry if later is None else _fill(later, entry)
        known = MappingProxyType(gathered)
        cls._declared = known  # type: ignore[attr-defined]
    return known


def _fill(later: Parameter, earlier: Parameter) -> Parameter:
    """Return a redeclaration, with the values of the earlier declaration where it has none."""
    left = [f.name for f in fields(Parameter) if getattr(later, f.name) in (None, ())]
    return replace(later, **{name: getattr(earlier, name) for name in left if name != "default"})


def _make_init(cls: type, known: Mapping[str, Parameter]) -> Callable[..., None]:
    """Return a constructor that follows scikit-learn's rule: it only stores its arguments.

    The error for an unknown keyword suggests another.
    """
    names = sorted(known, key=lambda name: known[name].kw_only)
    arguments = [f"{name}=defaults[{name!r}]" for name in names]
    first = sum(not known[name].kw_only for name in names)
    keywords = ["*", *arguments[first:]] if arguments[first:] else []
    lines = [f"def __init__({', '.join(['self', *arguments[:first], *keywords])}):"]
    lines += [f"    self.{name} = {name}" for name in names] or ["    pass"]
    scope: dict[str, Any] = {"defaults": {name: known[name].default for name in names}}
    exec("\n".join(lines), scope)
    store: Callable[..., None] = scope["__init__"]
    store.__module__, store.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    store.__annotations__ = {name: known[name].annotation for name in names} | {"return": None}

    @wraps(store)
    def init(self: Any, *values: Any, **keywords: Any) -> None:
        for name in keywords:
            if name not in known:
                raise TypeError(_describe_unknown(type(self).__name__, name, known))
        store(self, *values, **keywords)

    return init


def _describe_unknown(called: str, name: str, known: Mapping[str, Parameter]) -> str:
    return f"{called} has no parameter {name!r}{_advise(name, known)}"


def _advise(name: str, known: Mapping[str, Parameter], value: object = None) -> str:
    # By name: the words are of classes that are declared with this module.
    advice = import_module("properboost.parameters.words").advise(name, known, value)
    return f": {advice}" if advice else ""


# -- documentation --------------------------------------------------------------------------------


def _document(text: str, known: Mapping[str, Parameter]) -> str:
    """Return a class's documentation with a section of parameters before its next section."""
    if not known:
        return text
    section = "Parameters\n----------\n" + "".join(map(describe, known.values()))
    for heading in ("Attributes\n----------\n", "Examples\n--------\n"):
        before, at, after = text.partition(heading)
        if at:
            return f"{before}{section}\n{at}{after}"
    return f"{text}\n\n{section}"


def describe(entry: Parameter) -> str:
    """Return a parameter's entry in the documentation of its class."""
    default = entry.default
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    kind = entry.kind or name_type(entry.annotation)
    body = inspect.cleandoc(entry.doc or "").replace("\n", "\n    ")
    return f"{entry.name} : {kind}, default={shown}\n    {body}\n"


def name_type(annotation: Any) -> str:
    """Return the name of a type in the documentation."""
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(map(name_type, get_args(annotation)))
    if get_origin(annotation) is Literal:
        names = [f'"{name}"' for name in get_args(annotation)]
        return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"
    return "None" if annotation is NoneType else str(annotation.__name__)


# -- reading --------------------------------------------------------------------------------------


def check_declared(model: object) -> None:
    """Check every parameter, and that it has an effect or its default."""
    known = declared(type(model))
    values = {name: p.read(getattr(model, name)) for name, p in known.items()}
    for name, p in known.items():
        p.refuse_without_effect(values[name], values.__getitem__)


def read(options: type[O], model: object, **changes: object) -> O:
    """Return options of the engine: those of an estimator, with `changes`."""
    values = {}
    for name, entry in declared(options).items():
        values[name] = entry.read(changes[name] if name in changes else getattr(model, name))
    return _make(options, values)


def read_parameter(model: object, name: str) -> Any:
    """Return the checked value of a parameter, or the object of a value."""
    return declared(type(model))[name].read(getattr(model, name))
