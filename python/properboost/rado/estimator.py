"""Omega-R.AdaBoost: linear classifiers from rados."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost import _core
from properboost.data.columns import ColumnReader, LinearColumns, find_columns
from properboost.data.frames import open_table
from properboost.data.names import read_names
from properboost.estimators.linear import LinearClassifier
from properboost.losses.builtin import GLog
from properboost.losses.probabilities import Link
from properboost.models.rado_model import RadoModel
from properboost.parameters import checks
from properboost.parameters.checks import LARGEST_INT
from properboost.parameters.declare import check_declared, estimator, parameter
from properboost.parameters.kinds import CategoricalFeatures, RandomState
from properboost.parameters.rows import VerboseParameters
from properboost.progress import show_progress
from properboost.rado.rados import Rados, read_binary, sum_rows
from properboost.rado.regularizers import Regularizer, check_regularizer, find_terms

__all__ = ["RadoBoostClassifier", "RadoModel", "check_parameters", "count_rados"]

AUTO = "auto"
FEW_ROWS, MANY_ROWS_RADOS = 40_000, 10_000
"""The rows up to which there are as many rados as rows; above, there are 10,000 (section 5)."""

_LEAST_SIZE, _MOST_SIZE = (
    1e-150,
    1e150,
)  # of a coordinate, so that squares of coefficients are finite


def _check_gamma(name: str, value: object) -> float:
    gamma = checks.between(name, value, 0.0, 1.0)
    if gamma in (0.0, 1.0):
        raise ValueError(f"{name} must be above 0 and below 1; got {gamma:g}")
    return gamma


@estimator
class RadoBoostClassifier(LinearClassifier, VerboseParameters):
    """A linear classifier boosted from Rademacher observations (Omega-R.AdaBoost [1]_).

    It minimises the regularised exponential loss of rados pi_1 ... pi_n,
    1/n sum_j exp(-theta . pi_j + omega Omega(theta)), one coefficient a round.  Over all rados that
    is the logistic loss of the rows, log(1 + exp(-y theta . x)) summed up, plus omega Omega(theta).

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels of y = -1 and y = +1.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.
    coef_ : ndarray of shape (1, n_coefficients)
        theta, without the intercept: one per numeric feature and one per category.
    intercept_ : ndarray of shape (1,)
        The coefficient of the column of ones; 0 without.
    sparse_coef_ : sparse array of shape (1, n_coefficients)
        `coef_`, its zeros left out.
    coef_names_ : tuple of str
        The names of the coefficients: features, or ``feature=category``.
    categories_ : tuple
        The categories of each feature; None of a number.
    n_rados_ : int
        The number of rados of the fit.
    n_iter_ : int
        The number of rounds up to the best.

    Notes
    -----
    *Scaling.*  Edges do not depend on the scale of the features, and coefficients are inversely
    proportional to it.  So without a regulariser predictions do not depend on scale.  With one they
    do: put features on one scale (`StandardScaler`).  Rados are sums over all rows: with
    more rows coefficients are smaller, and omega matters less.

    *Missing values* are not allowed in numbers: rados are sums.  A missing or unknown category has
    no column, and adds 0.

    Where a coordinate has one sign in all rados, its edge is large and the loss goes to 0, however
    rows are classified.  In that case use more rados, a larger omega, or `keep="error"`.

    References
    ----------
    .. [1] Nock (2016). On regularizing Rademacher observation losses. NIPS.

    Examples
    --------
    >>> from properboost import RadoBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), RadoBoostClassifier()).fit(X, y)
    >>> model.score(X, y) > 0.93
    True
    """

    regularizer: Regularizer = parameter(
        default="ridge",
        kw_only=False,
        check=lambda _, value: value,  # checked together with its factor
        kind='{"ridge", "lasso", "linf", "slope", "elasticnet"}, dict or None',
        doc="""
        Omega: theta' Gamma theta; the sum of |theta_k|; the largest |theta_k|; SLOPE, the sum of
        xi_k times the k-th largest |theta_k|; `l1_ratio` times the lasso's plus 1 - `l1_ratio`
        times the ridge's; a dict from names to factors is a sum of that kind; None is 0.
        """,
        option="regularizer of the coefficients; none leaves them free",
    )
    omega: float = parameter(
        default=10.0,
        kw_only=False,
        check=checks.non_negative,
        doc="""
        Strength of the regulariser, at least 0, relative to a sum over the rows, as 1 / C is in
        scikit-learn's `LogisticRegression`.
        """,
        option="strength of the regularizer, at least 0",
    )
    gamma: float | None = parameter(
        default=None,
        check=checks.either(_check_gamma, None),
        doc="""
        The bound in (0, 1) to which the size of edges is clamped; None clamps none.  The paper
        clamps for ridge only.
        """,
    )
    q: float = parameter(
        default=0.05,
        check=lambda _, value: value,  # with the regulariser
        doc="For SLOPE: xi_k = Phi^-1(1 - k q / (2 d)), in (0, 1).",
    )
    l1_ratio: float = parameter(
        default=0.5,
        check=lambda _, value: value,  # with the regulariser
        doc="For the elastic net, in [0, 1].",
    )
    ridge_matrix: ArrayLike | None = parameter(
        default=None,
        check=lambda _, value: value,  # checked with the columns
        kind="array-like of shape (n_coefficients, n_coefficients) or None",
        form="matrix",
        doc="Gamma, symmetric and positive definite; None is the identity.",
    )
    n_rados: int | Literal["auto"] = parameter(
        default=AUTO,
        check=checks.either(partial(checks.integer, low=1), AUTO),
        doc="""
        The number of rados that `fit` makes; "auto" is as many as there are rows, but 10,000 for
        more than 40,000 rows (as in the paper).
        """,
        option="sums of rows; auto makes as many as there are rows, or 10,000 above 40,000 rows",
    )
    n_estimators: int = parameter(
        default=1000,
        check=partial(checks.integer, low=1, high=LARGEST_INT),
        doc="The number of rounds.",
        option="rounds",
    )
    keep: Literal["loss", "error"] = parameter(
        default="loss",
        check=checks.one_of(Literal["loss", "error"]),
        doc="""
        The classifier to keep among those after 0, 1, 2, ... rounds: the one of least regularised
        rado loss, or of least training error, which needs the rows and so `fit`.  Among equals it
        is the first.
        """,
    )
    fit_intercept: bool = parameter(
        default=True,
        check=checks.boolean,
        doc="Whether `fit` adds a column of ones, whose coefficient is regularised like any other.",
        option="add a column of ones",
    )
    categorical_features: CategoricalFeatures = parameter(
        default="from_dtype",
        doc="""
        The categorical features, as in `ProperBoostClassifier`; each of their categories has a
        coefficient.
        """,
    )
    random_state: RandomState = parameter(
        default=None, doc="Seed of the rados' signs; None stands for 0."
    )

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Make rados from the rows, and fit the model.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows: finite numbers, and categories.
        y : array-like of shape (n_rows,)
            Their labels: integers, booleans or strings, two different ones.

        Returns
        -------
        self : RadoBoostClassifier

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described, or the rados of a column are not 0
            and their largest is below 1e-150 or above 1e150 in size; the message names it.
        """
        with self._restored_on_failure():
            factors = check_parameters(self)
            seed = checks.seed(self.random_state)
            n_threads = checks.count_threads(self.n_jobs)
            table = open_table(self, X, reset=True)
            classes, positive = read_binary(y, table.n_rows)
            columns = find_columns(
                table,
                self.categorical_features,
                read_names(self),
                intercept=self.fit_intercept,
            )
            n_rados = count_rados(self, table.n_rows)
            values = sum_rows(table, columns, positive, n_rados, seed, n_threads)
            rounds = self._boost(values, columns, factors, n_threads)
            if self.keep == "error":
                rounds["training_error"] = _find_errors(columns.open(table), rounds, positive)
            return self._set_fitted(classes, _keep_best(columns, rounds, positive, n_rados, seed))

    def fit_rados(self, rados: Rados | ArrayLike) -> Self:
        """Fit the model to existing rados.

        The parameters by which `fit` makes rados are not used: `n_rados`, `fit_intercept`,
        `categorical_features` and `random_state`.

        Parameters
        ----------
        rados : Rados, or array-like of shape (n_rados, n_features)
            The result of `make_rados` or `combine`, or other rados: with an array, the features are
            numbers and the classes -1 and 1.

        Returns
        -------
        self : RadoBoostClassifier

        Raises
        ------
        ValueError, TypeError
            If a parameter is not as described, the rados are empty, not finite or of a size that
            `fit` refuses, or `keep` is "error", which needs the rows.
        """
        with self._restored_on_failure():
            factors = check_parameters(self)
            if self.keep == "error":
                raise ValueError("keep='error' needs rows, which only fit has; use keep='loss'")
            checked = rados if isinstance(rados, Rados) else _wrap(rados)
            values = _check_values(checked)
            n_threads = checks.count_threads(self.n_jobs)
            rounds = self._boost(values, checked.columns, factors, n_threads)
            model = _keep_best(checked.columns, rounds, None, len(values), checked.seed)
            return self._set_fitted(checked.classes, model)

    def _boost(
        self,
        values: NDArray[np.float64],
        columns: LinearColumns,
        factors: Mapping[str, float],
        n_threads: int,
    ) -> dict[str, NDArray[Any]]:
        _check_sizes(values, columns)
        terms = find_terms(factors, self.q, self.ridge_matrix, values.shape[1])
        shown = "logarithm of the loss"
        with show_progress(self.verbose, self.n_estimators, shown=shown) as report:
            return _core.boost_rados(
                values,
                terms,
                self.n_estimators,
                gamma=1.0 if self.gamma is None else float(self.gamma),
                progress=report,
                n_threads=n_threads,
            )

    def _set_fitted(self, classes: NDArray[Any], model: RadoModel) -> Self:
        """Set the attributes of a fitted model."""
        self.classes_ = classes
        self._model = model
        self._set_coefficients(model.coefficients())
        return self

    @property
    def _columns(self) -> LinearColumns:
        return self._model.columns

    @property
    def _link(self) -> Link:
        return Link(GLog(1.0))

    # -- keeping ----------------------------------------------------------------------------------

    @property
    def is_compact(self) -> bool:
        """Whether the model has only what its predictions need."""
        return self._model.is_compact

    def _compacted(self) -> Self:
        return self._copy_with(_model=self._model.compacted())

    # -- explaining -------------------------------------------------------------------------------

    @property
    def n_iter_(self) -> int:
        """The number of rounds up to the best."""
        self._check_fitted()
        return self._model.n_kept

    @property
    def n_rados_(self) -> int:
        """The number of rados of the fit."""
        self._check_fitted()
        return self._model.n_rados

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        """The rounds: arrays of equal length, ready for ``pandas.DataFrame``.

        ``feature`` is the column of the round's coefficient; ``edge`` is r (eq. 19); ``step`` is
        alpha (eq. 16), the change of the coefficient; ``penalty`` is delta, the change of omega
        Omega by that; ``log_rado_loss`` is the logarithm of the regularised rado loss after the
        round; ``training_error``, with ``keep="error"``, is the share of wrong rows.
        """
        self._check_fitted()
        self._check_complete("history_", AttributeError)
        return {name: values.copy() for name, values in self._model.rounds.items()}


def check_parameters(model: RadoBoostClassifier) -> dict[str, float]:
    """Check the parameters without data, and return the factor of each regulariser."""
    check_declared(model)
    return check_regularizer(model.regularizer, model.omega, model.l1_ratio, model.q)


def _keep_best(
    columns: LinearColumns,
    rounds: dict[str, NDArray[Any]],
    positive: NDArray[np.uint8] | None,
    n_rados: int,
    seed: int | None,
) -> RadoModel:
    """Return the model after its best round, or before the first if that is best."""
    criterion, at_start = rounds["log_rado_loss"], 0.0
    if "training_error" in rounds and positive is not None:
        criterion, at_start = rounds["training_error"], float(positive.mean())
    n_kept = int(np.argmin(np.append(at_start, criterion)))
    return RadoModel(columns, rounds, n_kept, n_rados, seed)


def _find_errors(
    reader: ColumnReader, rounds: dict[str, NDArray[Any]], positive: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """Return the share of wrong rows after each round."""
    side, raw = positive == 1, np.zeros(len(positive))
    wrong = np.empty(len(rounds["feature"]), dtype=np.int64)
    for t, (k, step) in enumerate(zip(rounds["feature"], rounds["step"], strict=True)):
        raw += reader.column(int(k)) * step
        wrong[t] = np.count_nonzero((raw > 0.0) != side)
    return wrong / len(side)


def _wrap(rados: ArrayLike) -> Rados:
    allowed = "Rados, or numbers of shape (n_rados, n_features)"
    values = checks.numbers_of("rados", rados, allowed)
    if values.ndim != 2:
        raise ValueError(f"rados must be {allowed}; got an array of shape {values.shape}")
    columns = LinearColumns((None,) * values.shape[1])
    return Rados(values, None, (), columns, np.array([-1, 1]))


def _check_values(rados: Rados) -> NDArray[np.float64]:
    values: NDArray[np.float64] = np.ascontiguousarray(rados.values, dtype=np.float64)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"rados must not be empty; got an array of shape {values.shape}")
    if values.shape[1] != len(rados.columns):
        raise ValueError(
            f"rados must have a coordinate for each of {len(rados.columns)} columns; got "
            f"{values.shape[1]}"
        )
    if not np.all(np.isfinite(values)):
        raise ValueError("rados must hold finite numbers; got NaN or infinity")
    return values


def _check_sizes(rados: NDArray[np.float64], columns: LinearColumns) -> None:
    sizes = np.maximum(rados.max(axis=0), -rados.min(axis=0))
    wrong = (sizes != 0.0) & ~((sizes >= _LEAST_SIZE) & (sizes <= _MOST_SIZE))
    if np.any(wrong):
        k = int(wrong.argmax())
        raise ValueError(
            f"rados of {columns.labels[k]} must be 0, or of a size from {_LEAST_SIZE:g} to "
            f"{_MOST_SIZE:g}; the largest is {sizes[k]:g}: scale the features"
        )


def count_rados(model: RadoBoostClassifier, n_rows: int) -> int:
    """Return the number of rados that a model makes of so many rows."""
    if model.n_rados != AUTO:
        return int(model.n_rados)
    return n_rows if n_rows <= FEW_ROWS else MANY_ROWS_RADOS
