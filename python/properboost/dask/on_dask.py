"""What estimators of Dask collections have: a client, and lazy predictions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

import numpy as np

from properboost.dask.partitions import is_collection, list_partitions
from properboost.dask.table import TableInCluster
from properboost.extras import import_extra
from properboost.parameters import checks
from properboost.parameters.declare import declared, parameter, parameters
from properboost.parameters.shared import SOLVED, BinningOptions

__all__ = ["OnDask"]


@parameters
class OnDask:
    """The client, and what predicts collections lazily.

    It stands before the class of models in memory, `local`.
    """

    local: ClassVar[Any]
    classes_: Any

    client: Any = parameter(
        default=None,
        check=lambda _, value: value,
        kind="distributed.Client or None",
        form="not saved",
        doc="The cluster; None is the client that was made last in this process.",
    )
    deadline: float = parameter(
        default=30.0,
        check=checks.positive,
        form="not saved",
        doc="""
        Seconds after which a worker that is not heard of is given up.  Workers are heard of every
        second or so, also while they work.
        """,
    )

    def _refuse_what_is_not_there(self) -> None:
        model: Any = self
        for own in model.step if checks.is_list(model.step) else [model.step]:
            if own in SOLVED:
                raise ValueError(f"step must not be {own!r} with Dask: all rows solve for it")

    @contextmanager
    def _read(
        self, X: Any, y: Any, sample_weight: Any, options: BinningOptions, bin_means: bool
    ) -> Iterator[TableInCluster]:
        """Read the rows to learn from; at the end, workers forget them."""
        model: Any = self
        client = self._find_client()
        losses = model.loss if checks.is_list(model.loss) else [model.loss]
        for loss in losses:
            _check_sendable(loss)
        partitions = list_partitions(X, y, sample_weight, ("X", "y", "sample_weight"))
        table = TableInCluster.read(
            client, partitions, options, model.class_weight, model.normalize_weights, bin_means,
            float(self.deadline),
        )  # fmt: skip
        try:
            yield table
        finally:
            table.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "client": None}  # which no pickle holds

    def to_local(self) -> Any:
        """Return the model as one of its class in memory, which needs no Dask.

        Returns
        -------
        ProperBoostClassifier or ProperBoostClassifierCV
        """
        model: Any = self
        model._check_fitted()
        known = declared(self.local)
        local = self.local(**{name: getattr(self, name) for name in known})
        own = declared(type(self))
        local.__dict__.update({k: v for k, v in self.__dict__.items() if k not in own})
        return local

    def _find_client(self) -> Any:
        distributed = import_extra("distributed", "reading Dask collections needs", "dask")
        if self.client is not None:
            return self.client
        try:
            return distributed.get_client()
        except ValueError as error:
            raise ValueError(
                "client must be given: there is no distributed.Client in this process"
            ) from error

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

    def _n_columns(self) -> int:
        return 0 if len(self.classes_) == 2 else len(self.classes_)

    def _apply(self, method: str, X: Any, dtype: Any, n_columns: int) -> Any:
        """Return what a method says of a collection, lazily; 0 columns are one dimension."""
        array = import_extra("dask.array", "predicting Dask collections needs", "dask")
        delayed = import_extra("dask", "predicting Dask collections needs", "dask").delayed
        columns = (n_columns,) if n_columns else ()
        model = delayed(self.to_local())
        lazy = delayed(partial(_predict, method, columns, dtype))
        parts = [own.X for own in list_partitions(X)]
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


def _check_sendable(loss: Any) -> None:
    """Refuse a loss that cannot go to workers."""
    serialize = import_extra("distributed.protocol", "sending a loss needs", "dask")
    try:
        serialize.serialize(loss, on_error="raise")
    except Exception as error:
        raise TypeError(
            f"loss must be one that can be pickled, to go to workers: {error}"
        ) from error
