"""scikit-learn's callbacks, which are called while a fit runs and may end it."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

from properboost.data.lending import lend
from properboost.models.ensemble import Fits

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """A stand-in for callbacks, where scikit-learn has none."""

        def set_callbacks(self, *_: Any) -> Any:
            """Refuse, because callbacks came with scikit-learn 1.9."""
            raise ImportError("set_callbacks needs scikit-learn 1.9 or later")

    def _with_callbacks(method: Any) -> Any:
        return method


__all__ = ["CallbackSupportMixin", "Calls", "SeesRounds", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """Return a method after which callbacks are torn down, however it ends."""
    return cast("Method", _with_callbacks(method))


class SeesRounds(Protocol):
    """A look at a fit after every estimator, which may end it."""

    def describe_by(self, remake: Callable[[Fits], Mapping[str, Any]], /) -> None:
        """Set the function that makes fitted attributes from the rounds so far."""

    def see(self, find_rounds: Callable[[], Fits], /) -> bool:
        """Look after an estimator, and return whether to end the fit."""


class Calls:
    """The callbacks of one fit, which are called after every estimator.

    The fit is scikit-learn's root task, and every round or cycle a task of it.
    """

    def __init__(self, model: Any, n_estimators: int) -> None:
        self._model = model
        self._root = model._init_callback_context(max_subtasks=n_estimators)
        self._arguments: dict[str, Any] = {}
        self._remake: Callable[[Fits], Mapping[str, Any]] = lambda _: {}

    @classmethod
    def open(cls, model: Any, n_estimators: int) -> "Calls | None":
        """Return the callbacks of a model, or None if neither it nor an outer fit has any."""
        if not (hasattr(model, "_skl_callbacks") or hasattr(model, "_parent_callback_ctx")):
            return None
        return cls(model, n_estimators)

    def begin(self, X: Any, y: Any, metadata: Mapping[str, Any]) -> None:
        """Call the callbacks at the beginning of the fit."""
        lent = {name: lend(value) for name, value in metadata.items()}
        self._arguments = {"X": lend(X), "y": lend(y), "metadata": lent}
        self._root.call_on_fit_task_begin(estimator=self._model, **self._arguments)

    def describe_by(self, remake: Callable[[Fits], Mapping[str, Any]]) -> None:
        """Set the function that makes fitted attributes from the rounds so far."""
        self._remake = remake

    def see(self, find_rounds: Callable[[], Fits]) -> bool:
        """Call the callbacks after an estimator, and return whether one ends the fit.

        The rounds so far are joined only if a callback uses the model.
        """
        task = self._root.subcontext(task_name="estimator")
        task.call_on_fit_task_begin(estimator=self._model, **self._arguments)
        return bool(
            task.call_on_fit_task_end(
                estimator=self._model,
                **self._arguments,
                reconstruction_attributes=lambda: self._remake(find_rounds()),
            )
        )

    def end(self) -> None:
        """Call the callbacks at the end of the fit, when the model is fitted."""
        self._root.call_on_fit_task_end(
            estimator=self._model,
            **self._arguments,
            reconstruction_attributes=dict,
        )
