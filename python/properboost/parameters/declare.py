"""Parameters that are declared once.

A declaration is a class attribute: ``max_bins: int = parameter(default=255, check=..., doc=...)``.
Classes of them are inherited by estimators, by the objects that parameters may be, and by the
engine's options.  The signature, the documentation, the checks, the options of the command line and
the fields of files come from there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
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
    "answer_by",
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
"""Takes a name for errors and a value; returns the checked value."""

Form: TypeAlias = Literal["by label", "by feature", "features", "losses", "matrix", "not saved"]
"""The kinds of values that files hold in a form of their own."""

Class = TypeVar("Class", bound=type)
O = TypeVar("O", bound="Options")  # noqa: E741
C = TypeVar("C", bound="Component")


@dataclass(frozen=True, eq=False)
class Parameter:
    """A parameter's declaration; None in a redeclaration keeps what stood before."""

    default: object
    name: str = ""
    annotation: Any = None
    check: Reader | None = None
    doc: str | None = None
    kind: str | None = None
    """The name of its type in the documentation, where the annotation is not plain enough."""
    option: str | None = None
    """Help of its option on the command line; without, it has none."""
    only_with: Mapping[str, Sequence[object]] | None = None
    """Other parameters, and the values of them with which this one has an effect."""
    why: Mapping[str, str] | None = None
    """Why it has no effect otherwise, for each of the other parameters."""
    harmless: Sequence[object] = ()
    """Values besides the default that are right where it has no effect."""
    form: Form | None = None
    component: Callable[[object], Component] | None = None
    """Returns the object that a value stands for, where it stands for one."""
    kw_only: bool = True
    engine: bool = True
    """Whether the engine reads it, of a learner."""

    def read(self, value: object, owner: str = "") -> object:
        """Return the checked value; an object that it stands for is a copy."""
        if self.component is not None:
            return check_component(self.component(value))
        assert self.check is not None, f"{self.name} has no check"
        return self.check(owner + self.name, value)

    def find_obstacle(self, values: Callable[[str], object]) -> str | None:
        """Return the other parameter whose value makes this one ineffective, if any."""
        for name, allowed in (self.only_with or {}).items():
            value = values(name)
            if getattr(value, "name", value) not in allowed:
                return name
        return None

    def refuse_without_effect(
        self, value: object, values: Callable[[str], object], owner: str = ""
    ) -> None:
        """Refuse a value that the other parameters make ineffective, but for the default."""
        obstacle = self.find_obstacle(values)
        if obstacle is None or self.only_with is None or _is_among(value, self._harmless):
            return
        beside = values(obstacle)
        beside = getattr(beside, "name", beside)
        possible = " or ".join(map(repr, self.only_with[obstacle]))
        why = f": {self.why[obstacle]}" if self.why else ""
        raise ValueError(
            f"{owner}{self.name} must be {self.default!r} with {obstacle}={beside!r}{why}; use "
            f"{obstacle}={possible}, or leave {self.name} at {self.default!r}; got {value!r}"
        )

    @property
    def _harmless(self) -> list[object]:
        default = self.default if self.component is None else self.component(self.default)
        return [default, *self.harmless]


def _is_among(value: object, others: Sequence[object]) -> bool:
    return any(_is_same(value, other) for other in others)


def _is_same(a: Any, b: Any) -> bool:
    """Whether two values are equal, lists and arrays entry by entry."""
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
    """Declare a parameter; what is left out is as in the declaration that this one replaces."""
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
    """Options for the engine: checked values, all of which apply.  See `read`."""

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__} must be made by read, which checks every value")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed; use replace")

    def replace(self, **changes: object) -> Self:
        """Return a copy with other values of these options."""
        return _make(type(self), self.__dict__ | changes)


def _make(cls: type[O], values: Mapping[str, object]) -> O:
    made = object.__new__(cls)
    made.__dict__.update(values)
    return made


# -- objects that parameters may be ----------------------------------------------------------------


class Component(BaseEstimator):  # type: ignore[misc]
    """Parameters that belong together, as an object that a parameter of an estimator may be.

    Objects of one class with the same fields are equal, and have no hash, since they can be
    changed.  A fit never writes into them.
    """

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_is_same(getattr(self, p), getattr(other, p)) for p in declared(type(self)))

    __hash__ = None  # type: ignore[assignment]

    def set_params(self, **params: object) -> Self:
        """Set fields by name; ValueError names what to write for one that there is not."""
        for name in params:
            if name not in declared(type(self)):
                raise ValueError(_answer(type(self).__name__, name, declared(type(self))))
            setattr(self, name, params[name])
        return self

    def check_fields(self, owner: str) -> None:
        """Refuse fields that do not go together; `owner` stands before their names in errors."""

    def replace(self, **changes: object) -> Self:
        """Return a copy with other values of these fields."""
        values = {name: getattr(self, name) for name in declared(type(self))}
        return type(self)(**(values | changes))


def check_component(part: C) -> C:
    """Return a copy of an object whose fields are checked."""
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
    """Adds to an estimator that its parameters may be names that stand for objects."""

    def set_params(self, **params: object) -> Self:
        """Set parameters, also those of objects that parameters are.

        Parameters
        ----------
        **params : object
            By name.  ``weak_learner__max_depth=3`` is a field of the object that `weak_learner`
            is.  A name, such as ``weak_learner="tree"``, becomes its object first, whatever the
            order.  An object is replaced by a changed copy: others that hold it are not changed.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            If there is no parameter of a name.
        """
        known = declared(type(self))
        nested: dict[str, dict[str, object]] = {}
        for name in params:
            owner, _, field = name.partition("__")
            if owner not in known:
                raise ValueError(_answer(type(self).__name__, name, known))
            if field:
                nested.setdefault(owner, {})[field] = params[name]
            else:
                setattr(self, name, params[name])
        for owner, changes in nested.items():
            value, make = getattr(self, owner), known[owner].component
            part = value if make is None else make(value)
            if not isinstance(part, Component):
                first = f"{owner}__{next(iter(changes))}"
                raise ValueError(_answer(type(self).__name__, first, known))
            wrong = [name for name in changes if name not in declared(type(part))]
            if wrong and part is not value:
                advice = _advise(f"{owner}__{wrong[0]}", known, value)
                raise ValueError(f"{owner} is {value!r}, which has no {wrong[0]}{advice}")
            setattr(self, owner, clone(part).set_params(**changes))
        return self


# -- classes that have parameters -----------------------------------------------------------------


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def parameters(cls: Class) -> Class:
    """Declare parameters for other classes to inherit."""
    mine = {}
    for name, annotation in inspect.get_annotations(cls, eval_str=True).items():
        if isinstance(cls.__dict__.get(name), Parameter):
            mine[name] = replace(cls.__dict__[name], name=name, annotation=annotation)
            delattr(cls, name)
    cls._declared_here = MappingProxyType(mine)  # type: ignore[attr-defined]
    return cls


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def estimator(cls: Class) -> Class:
    """Make the constructor and the documentation of a class from its parameters."""
    known = declared(parameters(cls))
    cls.__init__ = _make_init(cls, known)  # type: ignore[misc]
    if cls.__doc__ is not None:
        cls.__doc__ = _document(inspect.cleandoc(cls.__doc__), known)
    return cls


# An alias would hide from type checkers that it makes a constructor.
@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def component(cls: Class) -> Class:
    """Make the constructor and the documentation of an object that a parameter may be."""
    return estimator(cls)


def declared(cls: type[object]) -> Mapping[str, Parameter]:
    """Return the parameters of a class, those it declares first, then those it inherits."""
    known: Mapping[str, Parameter] | None = cls.__dict__.get("_declared")
    if known is None:
        gathered: dict[str, Parameter] = {}
        for base in cls.__mro__:
            for name, entry in base.__dict__.get("_declared_here", {}).items():
                # A redeclaration stands where the parameter was first declared.
                later = gathered.pop(name, None)
                gathered[name] = entry if later is None else _fill(later, entry)
        known = MappingProxyType(gathered)
        cls._declared = known  # type: ignore[attr-defined]
    return known


def _fill(later: Parameter, earlier: Parameter) -> Parameter:
    """Return a redeclaration with what it leaves to the declaration it replaces."""
    left = [f.name for f in fields(Parameter) if getattr(later, f.name) in (None, ())]
    return replace(later, **{name: getattr(earlier, name) for name in left if name != "default"})


def _make_init(cls: type, known: Mapping[str, Parameter]) -> Callable[..., None]:
    """Return a constructor that does what scikit-learn asks of one: it keeps its arguments.

    An unknown keyword is answered by what to write.
    """
    names = sorted(known, key=lambda name: known[name].kw_only)
    arguments = [f"{name}=defaults[{name!r}]" for name in names]
    first = sum(not known[name].kw_only for name in names)
    keywords = ["*", *arguments[first:]] if arguments[first:] else []
    lines = [f"def __init__({', '.join(['self', *arguments[:first], *keywords])}):"]
    lines += [f"    self.{name} = {name}" for name in names] or ["    pass"]
    scope: dict[str, Any] = {"defaults": {name: known[name].default for name in names}}
    exec("\n".join(lines), scope)
    keep: Callable[..., None] = scope["__init__"]
    keep.__module__, keep.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    keep.__annotations__ = {name: known[name].annotation for name in names} | {"return": None}

    @wraps(keep)
    def init(self: Any, *values: Any, **keywords: Any) -> None:
        for name in keywords:
            if name not in known:
                raise TypeError(_answer(type(self).__name__, name, known))
        keep(self, *values, **keywords)

    return init


Adviser: TypeAlias = Callable[[str, Mapping[str, Parameter], object], str]

_advisers: list[Adviser] = []


def answer_by(advise: Adviser) -> None:
    """Let a function say what to write for a name that is none of the known parameters.

    It gets the name, these parameters and, of a nested name that is set, its owner's value.
    """
    _advisers[:] = [advise]


def _answer(called: str, name: str, known: Mapping[str, Parameter]) -> str:
    return f"{called} has no parameter {name!r}{_advise(name, known)}"


def _advise(name: str, known: Mapping[str, Parameter], value: object = None) -> str:
    advice = "".join(advise(name, known, value) for advise in _advisers)
    return f": {advice}" if advice else ""


# -- documentation --------------------------------------------------------------------------------


def _document(text: str, known: Mapping[str, Parameter]) -> str:
    """Return a class's documentation with a section of its parameters before the next section."""
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
    """Return what the documentation calls a type."""
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(map(name_type, get_args(annotation)))
    if get_origin(annotation) is Literal:
        names = [f'"{name}"' for name in get_args(annotation)]
        return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"
    return "None" if annotation is NoneType else str(annotation.__name__)


# -- reading --------------------------------------------------------------------------------------


def check_declared(model: object) -> None:
    """Check every parameter, and that each has an effect or its default."""
    known = declared(type(model))
    values = {name: p.read(getattr(model, name)) for name, p in known.items()}
    for name, p in known.items():
        p.refuse_without_effect(values[name], values.__getitem__)


def read(options: type[O], model: object, **changes: object) -> O:
    """Return options of the engine: those of an estimator, but for `changes`."""
    values = {}
    for name, entry in declared(options).items():
        values[name] = entry.read(changes[name] if name in changes else getattr(model, name))
    return _make(options, values)


def read_parameter(model: object, name: str) -> Any:
    """Return the checked value of a parameter; the object, where it stands for one."""
    return declared(type(model))[name].read(getattr(model, name))
