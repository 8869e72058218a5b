"""Properties that are computed once, on any thread."""

import functools
from typing import Any, Self, TypeVar, overload

__all__ = ["cached_property"]

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801
    """The cached property of functools, without its lock before Python 3.12.

    All instances of a class shared the lock, and a process that was forked while another thread
    held it waited for ever.  Here two threads may compute a value at the same time; both receive
    the value that was stored first.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | T:
        """Return the value of an instance."""
        if instance is None:
            return self
        assert self.attrname is not None
        value: T = instance.__dict__.setdefault(self.attrname, self.func(instance))
        return value
