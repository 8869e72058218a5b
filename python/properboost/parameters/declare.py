"""Parameters that are declared once.

A declaration is a class attribute: ``max_bins: int = parameter(default=255, check=..., doc=...)``.
Classes of them are inherited by estimators, searches and what the engine is told.  The signature of
an estimator, its documentation, its checks, its options of the command line and what files hold of
it come from there.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
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

from properboost.cached import cached_property
from properboost.parameters import checks

__all__ = [
    "Form",
    "Options",
    "Parameter",
    "check_declared",
    "declared",
    "estimator",
    "parameter",
    "parameters",
    "read",
    "search",
]

Reader: TypeAlias = Callable[[str, object], object]
"""Takes a name for errors and a value; returns the checked value."""

Form: TypeAlias = Literal["by label", "by feature", "features", "losses", "matrix", "not saved"]
"""What files hold of a parameter, where a value or a list of values does not say it all."""

AUTO = "auto"
"""What a search calls a value that it chooses by itself."""

SAME = object()
"""What stands for the default of estimators as the default of searches: None may be another."""

Class = TypeVar("Class", bound=type)
O = TypeVar("O", bound="Options")  # noqa: E741


@dataclass(frozen=True, eq=False)
class Parameter:
    """A parameter's declaration; None in a redeclaration keeps what stood before."""

    default: object
    name: str = ""
    annotation: Any = None
    check: Reader | None = None
    doc: str | None = None
    kind: str | None = None
    """What the documentation calls its type, where the annotation does not say it well."""
    option: str | None = None
    """Help of its option on the command line; without, it has none."""
    only_with: Mapping[str, Sequence[str | bool]] | None = None
    """Other parameters, and the values of them with which this one has an effect."""
    promise: Mapping[str, str] | None = None
    """If it promises something about the model, it is refused where it has no effect: this says
    why, for each of the other parameters."""
    nothing: object = SAME
    """What promises nothing, where that is not the default."""
    search_default: object = SAME
    """The default of a search that takes lists of it, where that is another."""
    form: Form | None = None
    """What files hold of it; a list of any other form is one to choose from."""
    keyword: bool = True
    single: bool = False
    """Whether searches take no list of it, though its type is a type variable."""
    listable: bool = False
    takes_lists: bool = False

    @property
    def may_be_choices(self) -> bool:
        """Whether a list in a search is one to choose from, and not one value."""
        return self.form in (None, "losses")

    @cached_property
    def read_one(self) -> Reader:
        """What checks and returns a value that is no list to choose from."""
        return self.check or _make_check(self.annotation)

    def read(self, value: object) -> object:
        """Return a value, or a list to choose from, as it is worked with."""
        if not self.takes_lists:
            return self.read_one(self.name, value)
        if checks.is_list(value):
            return checks.entries(self.name, value, self.read_one)
        return checks.or_else(self.read_one, "a list of these")(self.name, value)

    def find_obstacle(self, values: Callable[[str], object]) -> str | None:
        """Return the other parameter whose value makes this one ineffective, if any.

        One with a list to choose from does so if each of them does; one that is still to be chosen
        does not.
        """
        for name, allowed in (self.only_with or {}).items():
            value = values(name)
            choices: Any = value if checks.is_list(value) else [value]
            if not any(choice in (*allowed, AUTO) for choice in choices):
                return name
        return None

    def applies_to(self, model: object) -> bool:
        """Whether this has a meaning beside the other parameters of `model`."""
        return self.find_obstacle(partial(getattr, model)) is None

    def check_promise(self, value: object, values: Callable[[str], object]) -> None:
        """Refuse a promise that the other parameters break."""
        obstacle = self.find_obstacle(values) if self.promise else None
        if obstacle is None or self.promise is None or self.only_with is None:
            return
        possible = " or ".join(map(repr, self.only_with[obstacle]))
        nothing = self.default if self.nothing is SAME else self.nothing
        for entry in value if self.takes_lists and isinstance(value, list) else [value]:
            plain = isinstance(entry, int | float | str) and entry in (self.default, nothing)
            if entry is not self.default and not plain:
                raise ValueError(
                    f"{self.name} must be {nothing!r} with {obstacle}={values(obstacle)!r}: "
                    f"{self.promise[obstacle]}; use {obstacle}={possible}, or leave {self.name} "
                    f"at {self.default!r}; got {value!r}"
                )


def parameter(
    *,
    default: object,
    kw_only: bool = True,
    check: Reader | None = None,
    doc: str | None = None,
    kind: str | None = None,
    option: str | None = None,
    only_with: Mapping[str, Sequence[str | bool]] | None = None,
    promise: Mapping[str, str] | None = None,
    nothing: object = SAME,
    search_default: object = SAME,
    form: Form | None = None,
    single: bool = False,
) -> Any:
    """Declare a parameter; what is left out is as in the declaration that this one replaces.

    Names of a `Literal` and booleans need no `check`.  An annotation that is a type variable says
    that searches take lists, unless it is `single`.
    """
    return Parameter(
        default=default,
        check=check,
        doc=doc,
        kind=kind,
        option=option,
        only_with=only_with,
        promise=promise,
        nothing=nothing,
        search_default=search_default,
        form=form,
        keyword=kw_only,
        single=single,
    )


class Options:
    """Options for the engine: checked values, all of which apply.  See `read`."""

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__} must be made by read, which checks every value")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed; use replace")

    def replace(self, **changes: object) -> Self:
        """Return the same but for some values."""
        return _make(type(self), self.__dict__ | changes)


def _make(cls: type[O], values: Mapping[str, object]) -> O:
    made = object.__new__(cls)
    made.__dict__.update(values)
    return made


# -- classes that have parameters -----------------------------------------------------------------


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def parameters(cls: Class) -> Class:
    """Declare parameters for other classes to inherit."""
    own = {}
    for name, annotation in inspect.get_annotations(cls, eval_str=True).items():
        if isinstance(cls.__dict__.get(name), Parameter):
            listable = isinstance(annotation, TypeVar) and not cls.__dict__[name].single
            own[name] = replace(
                cls.__dict__[name], name=name, annotation=annotation, listable=listable
            )
            delattr(cls, name)
    cls._own_parameters = MappingProxyType(own)  # type: ignore[attr-defined]
    return cls


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def estimator(cls: Class) -> Class:
    """Make the constructor and the documentation of an estimator from its parameters."""
    return _finish(parameters(cls), takes_lists=False)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def search(cls: Class) -> Class:
    """Make those of a search, which takes lists where a parameter's type is a type variable."""
    return _finish(parameters(cls), takes_lists=True)


def _finish(cls: Class, *, takes_lists: bool) -> Class:
    cls._takes_lists = takes_lists  # type: ignore[attr-defined]
    known = declared(cls)
    cls.__init__ = _make_init(cls, known)  # type: ignore[misc]
    if cls.__doc__ is not None:
        cls.__doc__ = _document(inspect.cleandoc(cls.__doc__), known)
    return cls


def declared(cls: type[object]) -> Mapping[str, Parameter]:
    """Return the parameters of a class, its own first, then those it inherits."""
    known: Mapping[str, Parameter] | None = cls.__dict__.get("_declared")
    if known is None:
        found: dict[str, Parameter] = {}
        for base in cls.__mro__:
            for name, entry in base.__dict__.get("_own_parameters", {}).items():
                # A redeclaration stands where the parameter was first declared.
                found[name] = _fill(found.pop(name), entry) if name in found else entry
        lists = getattr(cls, "_takes_lists", False)
        types = _find_types(cls)
        known = MappingProxyType({name: _settle(p, types, lists) for name, p in found.items()})
        cls._declared = known  # type: ignore[attr-defined]
    return known


def _fill(later: Parameter, earlier: Parameter) -> Parameter:
    """Return a redeclaration with what it leaves to the declaration it replaces."""
    left = [
        f.name
        for f in fields(Parameter)
        if getattr(later, f.name) is (SAME if f.name in ("nothing", "search_default") else None)
    ]
    values = {name: getattr(earlier, name) for name in left if name != "default"}
    return replace(later, **values, listable=later.listable or earlier.listable)


def _find_types(cls: type) -> dict[Any, Any]:
    """Return what stands for the type variables of the classes that a class inherits."""
    types: dict[Any, Any] = {}
    for owner in cls.__mro__:
        for base in owner.__dict__.get("__orig_bases__", ()):
            variables = getattr(get_origin(base), "__parameters__", ())
            types |= zip(variables, get_args(base), strict=False)
    return types


def _settle(entry: Parameter, types: Mapping[Any, Any], lists: bool) -> Parameter:
    """Return a parameter with the type, and where lists are taken the default, that a class has."""
    annotation = types.get(entry.annotation, entry.annotation)
    entry = replace(entry, annotation=annotation)
    if not (lists and entry.listable):
        return entry
    default = entry.default if entry.search_default is SAME else entry.search_default
    return replace(entry, default=default, kind=f"{entry.kind} or list", takes_lists=True)


def _make_init(cls: type, known: Mapping[str, Parameter]) -> Callable[..., None]:
    """Return a constructor that does what scikit-learn asks of one: it keeps what it is given."""
    names = sorted(known, key=lambda name: known[name].keyword)
    arguments = [f"{name}=defaults[{name!r}]" for name in names]
    first = sum(not known[name].keyword for name in names)
    lines = [f"def __init__(self, {', '.join([*arguments[:first], '*', *arguments[first:]])}):"]
    lines += [f"    self.{name} = {name}" for name in names]
    scope: dict[str, Any] = {"defaults": {name: known[name].default for name in names}}
    exec("\n".join(lines), scope)
    init: Callable[..., None] = scope["__init__"]
    init.__module__, init.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    init.__annotations__ = {name: known[name].annotation for name in names} | {"return": None}
    return init


# -- documentation --------------------------------------------------------------------------------


def _document(text: str, known: Mapping[str, Parameter]) -> str:
    """Return a class's documentation with a section of its parameters before the attributes'."""
    section = "Parameters\n----------\n" + "".join(map(describe, known.values()))
    before, heading, after = text.partition("Attributes\n----------\n")
    return f"{before}{section}\n{heading}{after}" if heading else f"{text}\n\n{section}"


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
    """Check every parameter, and that every promise can be kept."""
    known = declared(type(model)).values()
    read_values = {p.name: p.read(getattr(model, p.name)) for p in known}
    for p in known:
        p.check_promise(read_values[p.name], partial(getattr, model))


def read(options: type[O], model: object, **given: object) -> O:
    """Return what the engine is told.

    A parameter that has no effect with the others gets its default.

    Parameters
    ----------
    options : type
        What is wanted.
    model : object
        Where values come from: an estimator or a search.
    **given : object
        Values that count instead.
    """

    def find(name: str) -> object:
        return given[name] if name in given else getattr(model, name)

    values = {}
    for name, entry in declared(options).items():
        if entry.find_obstacle(find) is None:
            values[name] = entry.read(find(name))
        else:
            entry.check_promise(entry.read(find(name)), find)
            values[name] = entry.default
    return _make(options, values)


def _make_check(annotation: Any) -> Reader:
    """Return the check of names and booleans, which their type says all about."""
    if annotation is bool:
        return checks.boolean
    if get_origin(annotation) in (Union, UnionType):
        rest = [entry for entry in get_args(annotation) if entry is not NoneType]
        if len(rest) == 1:
            return checks.either(_make_check(rest[0]), None)
    if get_origin(annotation) is Literal:
        return partial(checks.choice, known=get_args(annotation))
    raise TypeError(f"a parameter of type {annotation!r} needs a check")
