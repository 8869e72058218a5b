"""The base of estimators of Dask collections: a client, and lazy predictions."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score

from properboost.dask.partitions import is_collection, list_partitions
from properboost.dask.table import TableInCluster
from properboost.dask.worker_health import Workers
from properboost.data.libraries import is_a
from properboost.estimators.base import check_fitted
from properboost.extras import import_extra
from properboost.parameters import checks
from properboost.parameters.declare import declared, parameter, parameters
from properboost.parameters.kinds import SOLVED
from properboost.parameters.rows import BinningOptions

__all__ = ["OnDask"]


def _check_client(name: str, value: Any) -> Any:
    """Check a client, without a call of it."""
    if value is None or isinstance(value, str):
        return value
    if not hasattr(value, "run_on_scheduler"):
        raise TypeError(
            f"{name} must be a distributed.Client, the address of a scheduler, or None; got a "
            f"{type(value).__name__}"
        )
    if value.asynchronous or getattr(value, "_asynchronous", False):
        raise TypeError(
            f"{name} must be a distributed.Client that waits; got an asynchronous one: pass the "
            "address of its scheduler, and call fit in a separate thread (asyncio.to_thread)"
        )
    if value.status != "running":
        raise ValueError(f"{name} must be connected to a scheduler; got one that is {value.status}")
    return value


def _connect(client_class: Any, address: str) -> Any:
    """Return a client of the scheduler at an address.

    A client that cannot connect is closed at once, because its finaliser stops a loop under a lock:
    if the garbage collector ran it while another client starts, both would wait without end.
    """
    client = client_class.__new__(client_class)  # a constructor that fails returns nothing to close
    try:
        client.__init__(address, set_as_default=False)
    except (OSError, ValueError) as error:
        client.close()
        raise type(error)(
            f"client must be the address of a scheduler; none answers at {address!r}: {error}"
        ) from error
    return client


@parameters
class OnDask:
    """A client, and lazy predictions of collections.

    It comes before the class of models in memory, `local`, among the bases.
    """

    local: ClassVar[Any]
    classes_: Any

    client: Any = parameter(
        default=None,
        check=_check_client,
        kind="distributed.Client, str or None",
        form="not saved",
        doc="""
        The cluster: a client that is not asynchronous, or the address of a scheduler, as
        ``"tcp://10.0.0.1:8786"``; None is the client that was made last in this process.
        """,
    )
    deadline: float = parameter(
        default=30.0,
        check=checks.positive,
        form="not saved",
        doc="""
        Seconds after which a worker is given up that is not heard of, or is paused and keeps this
        fit waiting.  Workers are heard of every second or so, also while they work.
        """,
    )

    def _check_supported(self) -> None:
        for step in self._list_values("step"):
            if step in SOLVED:
                raise ValueError(
                    f"step must not be {step!r} with Dask: it needs all rows in one process"
                )

    def _list_values(self, name: str) -> Sequence[Any]:
        """Return the values of a parameter, of which a search has several."""
        return [getattr(self, name)]

    @contextmanager
    def _read(
        self, X: Any, y: Any, sample_weight: Any, options: BinningOptions, bin_means: bool
    ) -> Iterator[TableInCluster]:
        """Read the training rows; at the end, workers release them."""
        model: Any = self
        for loss in self._list_values("loss"):
            _check_sendable(loss)
        partitions = list_partitions(X, y, sample_weight, ("X", "y", "sample_weight"))
        with self._open_workers() as workers:
            table = TableInCluster.read(
                workers, partitions, options, model.class_weight, model.normalize_weights,
                bin_means,
            )  # fmt: skip
            try:
                yield table
            finally:
                table.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "client": None}  # a pickle holds no client

    def __copy__(self) -> Self:
        return self._with(self.__dict__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._with({**copy.deepcopy(self.__getstate__(), memo), "client": self.client})

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted estimator with these parameters and the same client, uncopied."""
        unfitted: Any = BaseEstimator.__sklearn_clone__(self._with(self.__getstate__()))
        unfitted.client = self.client
        return cast("Self", unfitted)

    def _with(self, state: dict[str, Any]) -> Self:
        same = type(self).__new__(type(self))
        same.__dict__.update(state)
        return same

    def to_local(self) -> Any:
        """Return the model as an instance of the class in memory, which needs no Dask.

        Returns
        -------
        ProperBoostClassifier or ProperBoostClassifierCV
        """
        check_fitted(self)
        known = declared(self.local)
        local = self.local(**{name: getattr(self, name) for name in known})
        of_dask = declared(type(self))
        local.__dict__.update({k: v for k, v in self.__dict__.items() if k not in of_dask})
        return local

    @contextmanager
    def _open_workers(self) -> Iterator[Workers]:
        """Connect to the cluster; at the end, disconnect."""
        distributed = import_extra("distributed", "reading Dask collections needs", "dask")
        client = _check_client("client", self.client)
        opened = None
        if client is None:
            try:
                client = _check_client("client", distributed.get_client())
            except ValueError as error:
                raise ValueError(
                    "client must be given: there is no distributed.Client in this process"
                ) from error
        elif isinstance(client, str):
            client = opened = _connect(distributed.Client, client)
        workers = Workers(client, float(self.deadline))
        try:
            yield workers
        finally:
            workers.close()
            if opened is not None:
                opened.close()

    # -- predicting --------------------------------------------------------------------------------

    def decision_function(self, X: Any, init_score: Any = None) -> Any:
        """Return the raw predictions F; of a collection lazily.

        Parameters
        ----------
        X : dask array or data frame, or what `ProperBoostClassifier` takes
            The rows.
        init_score : None
            As in `ProperBoostClassifier`; not with collections.

        Returns
        -------
        dask array or ndarray of shape (n_rows,), or (n_rows, n_classes)
        """
        if not is_collection(X):
            return self.local.decision_function(self, X, init_score)
        return self._apply("decision_function", X, np.float64, self._n_columns())

    def predict_proba(self, X: Any, init_score: Any = None) -> Any:
        """Return the probabilities of the classes; of a collection lazily.

        Parameters
        ----------
        X : dask array or data frame, or what `ProperBoostClassifier` takes
            The rows.
        init_score : None
            As in `ProperBoostClassifier`; not with collections.

        Returns
        -------
        dask array or ndarray of shape (n_rows, n_classes)
        """
        if not is_collection(X):
            return self.local.predict_proba(self, X, init_score)
        return self._apply("predict_proba", X, np.float64, len(self.classes_))

    def predict_log_proba(self, X: Any, init_score: Any = None) -> Any:
        """Return the logarithms of the probabilities of the classes; of a collection lazily.

        Parameters
        ----------
        X : dask array or data frame, or what `ProperBoostClassifier` takes
            The rows.
        init_score : None
            As in `ProperBoostClassifier`; not with collections.

        Returns
        -------
        dask array or ndarray of shape (n_rows, n_classes)
        """
        if not is_collection(X):
            return self.local.predict_log_proba(self, X, init_score)
        return self._apply("predict_log_proba", X, np.float64, len(self.classes_))

    def predict(self, X: Any, init_score: Any = None) -> Any:
        """Return the predicted labels; of a collection lazily.

        Parameters
        ----------
        X : dask array or data frame, or what `ProperBoostClassifier` takes
            The rows.
        init_score : None
            As in `ProperBoostClassifier`; not with collections.

        Returns
        -------
        dask array or ndarray of shape (n_rows,)
        """
        if not is_collection(X):
            return self.local.predict(self, X, init_score)
        return self._apply("predict", X, self.classes_.dtype, 0)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; rows of collections are predicted where they are.

        Parameters
        ----------
        X : dask array or data frame, or what `ProperBoostClassifier` takes
            The rows.
        y : dask array or series, or array-like where X has known chunks, of shape (n_rows,)
            Their labels, which come to the client, as the predicted ones do.
        sample_weight : dask array or series, or array-like, of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        float
        """
        if not is_collection(X):
            return float(self.local.score(self, X, y, sample_weight))
        check_fitted(self)
        partitions = list_partitions(X, y, sample_weight, ("X", "y", "sample_weight"))
        delayed = import_extra("dask", "scoring Dask collections needs", "dask").delayed
        lazy = delayed(partial(_predict_beside, self.classes_.dtype), pure=False)
        local = delayed(self.to_local())
        with self._open_workers() as workers:
            parts = workers.compute([lazy(local, p.X, p.y, p.weight) for p in partitions])
        labels, predicted, weights = (
            None if values[0] is None else _join(values) for values in zip(*parts, strict=True)
        )
        return float(accuracy_score(labels, predicted, sample_weight=weights))

    def _n_columns(self) -> int:
        return 0 if len(self.classes_) == 2 else len(self.classes_)

    def _apply(self, method: str, X: Any, dtype: Any, n_columns: int) -> Any:
        """Return the lazy result of a method on a collection; 0 columns are one dimension."""
        array = import_extra("dask.array", "predicting Dask collections needs", "dask")
        delayed = import_extra("dask", "predicting Dask collections needs", "dask").delayed
        columns = (n_columns,) if n_columns else ()
        model = delayed(self.to_local())
        lazy = delayed(partial(_predict, method, columns, dtype))
        parts = [partition.X for partition in list_partitions(X)]
        sizes = X.chunks[0] if hasattr(X, "chunks") else (np.nan,) * len(parts)
        return array.concatenate(
            [
                array.from_delayed(lazy(model, part), (size, *columns), dtype)
                for part, size in zip(parts, sizes, strict=True)
            ],
            allow_unknown_chunksizes=True,
        )


def _predict(method: str, columns: tuple[int, ...], dtype: Any, model: Any, X: Any) -> Any:
    if len(X) == 0:
        return np.empty((0, *columns), dtype=dtype)
    return getattr(model, method)(X)


def _predict_beside(dtype: Any, model: Any, X: Any, y: Any, weight: Any) -> tuple[Any, ...]:
    """Return labels, the predictions of the same rows, and their weights."""
    if len(y) != X.shape[0]:
        raise ValueError(
            f"X and y must have as many rows in each partition; one has {X.shape[0]} and {len(y)}"
        )
    predicted = _predict("predict", (), dtype, model, X)
    return y, predicted, weight


def _join(parts: Sequence[Any]) -> Any:
    """Return the labels or weights of all partitions, with their type kept."""
    if all(is_a(part, "pandas", "Series") for part in parts):
        return sys.modules["pandas"].concat(list(parts), ignore_index=True)
    return np.concatenate([np.asarray(part) for part in parts])


def _check_sendable(loss: Any) -> None:
    """Refuse a loss that cannot be sent to workers."""
    serialize = import_extra("distributed.protocol", "sending a loss needs", "dask")
    try:
        serialize.serialize(loss, on_error="raise")
    except Exception as error:
        raise TypeError(
            f"loss must be one that can be pickled, to go to workers: {error}"
        ) from error
