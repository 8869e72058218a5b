"""The search of Dask collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from properboost.dask.on_dask import OnDask
from properboost.model_selection.families import check_search
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.model_selection.space import read_space
from properboost.parameters.declare import estimator
from properboost.parameters.rows import read_binning

__all__ = ["DaskProperBoostClassifierCV"]


@estimator
class DaskProperBoostClassifierCV(OnDask, ProperBoostClassifierCV):
    """`ProperBoostClassifierCV` of Dask arrays and data frames.

    It compares the same candidates as ``ProperBoostClassifierCV()`` on the same rows in memory, and
    chooses the same, bit for bit, whatever the partitions and the workers.

    See Also
    --------
    properboost.ProperBoostClassifierCV : The candidates, and the attributes.
    DaskProperBoostClassifier : The place of data, and unsupported parameters.

    Notes
    -----
    Candidates are boosted one after the other, each on all workers, and every round takes two or
    more calls of all workers.  Where the rows fit into a worker, the search in memory is many times
    as fast.

    References
    ----------
    .. [2] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE
       Transactions on Pattern Analysis and Machine Intelligence 31(11).
    """

    local = ProperBoostClassifierCV

    def fit(  # type: ignore[override]
        self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None
    ) -> Self:
        """Search, and fit the chosen model to all rows.

        Parameters
        ----------
        X : dask array or data frame of shape (n_rows, n_features)
            The rows.
        y : dask array or series, or array-like where X has known chunks, of shape (n_rows,)
            Their labels.
        sample_weight : dask array or series, or array-like, of shape (n_rows,), optional
            How often each row counts.
        groups : array-like of shape (n_rows,), optional
            The group of each row, for `cv`: see `ProperBoostClassifierCV.fit`.

        Returns
        -------
        self : DaskProperBoostClassifierCV

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
        settled = check_search(self)
        options = read_binning(self, settled.rows_per_bin)
        with self._read(X, y, sample_weight, options, settled.needs_means) as table:
            return super().fit(table, groups=groups)

    def _list_values(self, name: str) -> Sequence[Any]:
        return read_space(self).choices.get(name, ())
