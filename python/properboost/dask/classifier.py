"""The classifier of Dask collections."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from properboost.dask.partitions import is_collection, list_partitions
from properboost.dask.table import TableInCluster
from properboost.estimators.properboost import ProperBoostClassifier, check_parameters
from properboost.extras import import_extra
from properboost.parameters import checks
from properboost.parameters.declare import declared, estimator, parameter
from properboost.parameters.shared import SOLVED, read_binning

__all__ = ["DaskProperBoostClassifier"]


def _check_exact(name: str, value: object) -> bool:
    if value is not True:
        raise ValueError(f"{name} must be True: rows of several workers are summed exactly")
    return True


@estimator
class DaskProperBoostClassifier(ProperBoostClassifier):
    """`ProperBoostClassifier` of Dask arrays and data frames.

    The model is the same, bit for bit, whatever the partitions and the workers, and also where
    workers are lost on the way: it is that of ``ProperBoostClassifier(exact_sums=True)`` on the
    same rows in memory.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in ascending order.

    See Also
    --------
    ProperBoostClassifier : What the model is, and its other attributes.

    Notes
    -----
    Workers hold a byte for each cell, and 8 to 24 for each row; the client holds 9 for each row,
    and 8 more with weights.  Rows are read three times (four with `linear_leaves`), so collections
    that fit into the cluster's memory should be persisted first.

    Steps that are solved for, `subsample` below 1, `warm_start` and rows held out by
    ``early_stopping=True`` are refused.  Validation rows come to the client, a byte for each cell.
    Pairs that are chosen (`interactions` as a number) are compared on the client, to which the
    codes of at most 256 features come.

    Where a worker dies or does not answer before the `deadline`, it is given up: its partitions are
    computed again on others, and boosting goes on from the last estimator.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from properboost.dask import DaskProperBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = DaskProperBoostClassifier(client=client, n_estimators=10)
    ...     model = model.fit(da.from_array(X, chunks=(200, -1)), y)
    >>> model.to_local().predict_proba(X).shape
    (569, 2)
    """

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
        Seconds in which a worker must answer, or 20 times as long as is usual if that is more.
        Otherwise it is given up.
        """,
    )
    exact_sums: bool = parameter(default=True, check=_check_exact)

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features)
            The rows.
        y : dask array or series, or array-like where X has known chunks, of shape (n_rows,)
            Their labels.  Of a frame with unknown partitions, it has the same partitions.
        sample_weight : dask array or series, or array-like, of shape (n_rows,), optional
            How often each row counts.
        X_val, y_val, sample_weight_val : optional
            Validation rows, of the same kinds: see `ProperBoostClassifier.fit`.

        Returns
        -------
        self : DaskProperBoostClassifier

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described; the message names it.
        RuntimeError
            If all workers that had rows were lost, or have other versions than the client.
        ImportError
            If distributed is missing.
        """
        loss = check_parameters(self)
        if self.step in SOLVED:
            raise ValueError(f"step must not be {self.step!r} with Dask: it is solved on all rows")
        if self.subsample < 1.0:
            raise ValueError(f"subsample must be 1 with Dask; got {self.subsample!r}")
        if self.warm_start:
            raise ValueError("warm_start must be False with Dask")
        if self.early_stopping and self.early_stopping != "auto" and X_val is None:
            raise ValueError("early_stopping=True needs X_val and y_val with Dask")
        client = self._find_client()
        _check_sendable(loss)
        partitions = list_partitions(X, y, sample_weight, ("X", "y", "sample_weight"))
        table = TableInCluster.read(
            client, partitions, read_binning(self), self.class_weight, self.normalize_weights,
            bool(self.linear_leaves), float(self.deadline),
        )  # fmt: skip
        try:
            validation = None
            if X_val is not None:
                names = ("X_val", "y_val", "sample_weight_val")
                validation = table.bring(list_partitions(X_val, y_val, sample_weight_val, names))
            return super().fit(table, X_val=validation)
        finally:
            table.close()

    def to_local(self) -> ProperBoostClassifier:
        """Return the model as a `ProperBoostClassifier`, which needs no Dask.

        Returns
        -------
        ProperBoostClassifier
        """
        self._check_fitted()
        known = declared(ProperBoostClassifier)
        model = ProperBoostClassifier(**{name: getattr(self, name) for name in known})
        fitted = {k: v for k, v in self.__dict__.items() if k not in declared(type(self))}
        model.__dict__.update(fitted)
        return model

    def _find_client(self) -> Any:
        distributed = import_extra("distributed", "DaskProperBoostClassifier needs", "dask")
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
            return super().decision_function(X, init_score)
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
            return super().predict_proba(X, init_score)
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
            return super().predict_log_proba(X, init_score)
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
            return super().predict(X, init_score)
        return self._apply("predict", X, self.classes_.dtype, 0)

    def _n_columns(self) -> int:
        return 0 if len(self.classes_) == 2 else len(self.classes_)

    def _apply(self, method: str, X: Any, dtype: Any, n_columns: int) -> Any:
        """Return what a method says of a collection, lazily; 0 columns are one dimension."""
        array = import_extra("dask.array", "predicting Dask collections needs", "dask")
        delayed = import_extra("dask", "predicting Dask collections needs", "dask").delayed
        self._check_fitted()
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
    serialize = import_extra("distributed.protocol", "DaskProperBoostClassifier needs", "dask")
    try:
        serialize.serialize(loss, on_error="raise")
    except Exception as error:
        raise TypeError(
            f"loss must be one that can be pickled, to go to workers: {error}"
        ) from error
