"""The classifier of Dask collections."""

from __future__ import annotations

from typing import Any, Self

from properboost.dask.on_dask import OnDask
from properboost.dask.partitions import is_collection, list_partitions
from properboost.estimators.learner_choice import read_learner
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.estimators.properboost_parameters import check_parameters
from properboost.parameters.declare import estimator, read_parameter
from properboost.parameters.rows import read_binning
from properboost.parameters.stages import EarlyStopping

__all__ = ["DaskProperBoostClassifier"]


@estimator
class DaskProperBoostClassifier(OnDask, ProperBoostClassifier):
    """`ProperBoostClassifier` of Dask arrays and data frames.

    The model is the same, bit for bit, whatever the partitions and the workers, and also where
    workers are lost on the way: it is that of ``ProperBoostClassifier()`` on the same rows in
    memory.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in ascending order.

    See Also
    --------
    properboost.ProperBoostClassifier : The model, and its other attributes.

    Notes
    -----
    Workers hold a byte for each cell, and 8 to 24 for each row; the client holds 17 for each row,
    and 8 more with weights.  Rows are read three times (four where leaves may have lines), labels
    and weights twice, so collections that fit into the cluster's memory should be persisted first.
    Those that give other rows when they are read again are refused.

    Steps that are solved for, `warm_start` and rows held out by ``early_stopping=True`` are
    refused.  Validation rows come to the client, a byte for each cell.
    Pairs that are chosen (`interactions` as a number) are compared on the client, to which the
    codes of at most 256 features come; and so are weak learners, by the codes of 10,000 rows.

    Where a worker dies, or keeps the fit waiting and is not heard of or paused for the `deadline`,
    it is given up for this fit: its partitions are computed again on others, and boosting goes on
    from the last estimator.  Nothing else of it is touched, as a cluster may have other users.

    References
    ----------
    .. [2] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE
       Transactions on Pattern Analysis and Machine Intelligence 31(11).

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

    local = ProperBoostClassifier

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
            Their labels; a series has the partitions of X.
        sample_weight : dask array or series, or array-like, of shape (n_rows,), optional
            How often each row counts.
        X_val, y_val, sample_weight_val : optional
            Validation rows, of the same kinds or in memory: see `ProperBoostClassifier.fit`.

        Returns
        -------
        self : DaskProperBoostClassifier

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described.
        RuntimeError
            If no worker could be used for the `deadline`, or some have other versions than the
            client.
        ImportError
            If distributed is missing.
        """
        self._check_supported()
        check_parameters(self)
        if self.warm_start:
            raise ValueError("warm_start must be False with Dask")
        stopping: EarlyStopping = read_parameter(self, "early_stopping")
        if stopping.validation_fraction is not None and X_val is None:
            raise ValueError(
                f"early_stopping={self.early_stopping!r} needs X_val and y_val with Dask"
            )
        learner = read_learner(self)
        options = read_binning(self, learner.rows_per_bin)
        with self._read(X, y, sample_weight, options, learner.needs_means) as table:
            if is_collection(X_val):
                names = ("X_val", "y_val", "sample_weight_val")
                X_val = table.bring(list_partitions(X_val, y_val, sample_weight_val, names))
                y_val = sample_weight_val = None
            return super().fit(table, X_val=X_val, y_val=y_val, sample_weight_val=sample_weight_val)
