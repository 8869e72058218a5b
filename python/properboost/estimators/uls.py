"""ULS on a user's features: linear separators under a permissible surrogate."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.columns import ColumnReader, LinearColumns, find_columns
from properboost.data.frames import open_table
from properboost.data.labels import read_rows, refuse_several_classes
from properboost.data.names import read_names
from properboost.data.sorted_rows import Rows
from properboost.engine.available_memory import require_memory
from properboost.estimators.linear import LinearClassifier
from properboost.estimators.linear_predicting import check_finite
from properboost.fitting.leveraging import ULSFit, leverage
from properboost.fitting.signed_columns import Indicators, SignedColumns
from properboost.losses.probabilities import Link
from properboost.models.uls_model import ULSModel, find_loss
from properboost.notices import warn
from properboost.parameters import checks
from properboost.parameters.checks import LARGEST_INT
from properboost.parameters.declare import check_declared, estimator, parameter
from properboost.parameters.kinds import Permissible as PhiName
from properboost.parameters.kinds import RandomState
from properboost.parameters.rows import ClassifierParameters, VerboseParameters
from properboost.progress import show_progress

__all__ = ["ULSClassifier"]

_LEAST_SIZE, _MOST_SIZE = 1e-140, 1e140  # so that squares are finite


@estimator
class ULSClassifier(ClassifierParameters, LinearClassifier, VerboseParameters):
    """Universal linear separators on features of your own, real ones too (ULS [1]_).

    It minimises the sum over the rows of a permissible surrogate F_phi(y theta . x).  A round takes
    the columns whose edges are largest for their lengths, and solves for their coefficients, which
    leaves these columns no edge on the next weights (Fig. 4, eq. 35).  With all columns in a round
    that is the minimum at once; with one, the model is sparse until it gets there.  `ULS` boosts
    features that it cuts itself.

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
    n_iter_ : int
        The number of rounds.  Fewer than `n_estimators` have reached the minimum, where no column
        has an edge left.
    edges_ : ndarray of shape (n_iter_,)
        gamma of each round: the mean over its columns of the size of the edge, sum w y h(x) over Z
        (eq. 42).  It is in the units of the features.
    weight_sums_ : ndarray of shape (n_iter_,)
        Z, the sum of the weights before each round; a row's weight is 1 - P(its class), times
        the row's sample weight.
    feature_norms_ : ndarray of shape (n_columns,)
        The length of each column as a vector over the rows, the column of ones last.

    Notes
    -----
    *Scale.*  Predictions do not depend on the scale of the features, nor does the order in which
    columns are taken.

    *Missing values* are not allowed in numbers.  A missing or unknown category has no column, and
    adds 0.

    *Separated classes.*  Where the columns of a round together separate rows without error, no
    finite coefficients are optimal (Lemma 5 excludes this for one column).  From then on an error
    of 0 counts as half a row, as with `ULS`, and there is a warning.

    *Memory*: 8 bytes for each row and column of numbers, twice, and as much for the columns that a
    round solves for; 16 for each row and feature of categories.

    References
    ----------
    .. [1] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE
       Transactions on Pattern Analysis and Machine Intelligence 31(11).

    Examples
    --------
    >>> from properboost import ULSClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ULSClassifier("entropy", n_estimators=20).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> bounds = model.surrogate_bounds()
    >>> bool((bounds["fall"] >= bounds["least_fall"]).all())
    True
    """

    phi: PhiName = parameter(
        default="matsushita",
        check=checks.one_of(PhiName),
        kw_only=False,
        doc="""
        The permissible function: -sqrt(p(1-p)); p log p + (1-p) log(1-p), whose surrogate is the
        logistic loss; -(mu + (1-mu) sqrt(p(1-p))), mu being 1/2, which makes Matsushita's
        probabilities and half his coefficients.
        """,
    )
    n_corrected: int | Literal["so_far", "all"] = parameter(
        default=1,
        kw_only=False,
        check=checks.either(partial(checks.integer, low=1, high=LARGEST_INT), "so_far", "all"),
        kind='int, "so_far" or "all"',
        doc="""
        The number of coefficients that a round solves for: of the columns of largest edge for
        their length.
        1 is classical boosting; "so_far" are all columns that had the largest edge in a round so
        far, totally corrective boosting; "all" is every column.
        """,
    )
    n_estimators: int = parameter(
        default=100,
        check=partial(checks.integer, low=1, high=LARGEST_INT),
        doc="The most rounds.",
    )
    fit_intercept: bool = parameter(
        default=True,
        check=checks.boolean,
        doc="Whether there is a column of ones, taken like any other.",
    )
    random_state: RandomState = parameter(
        default=None,
        doc="Without effect, because nothing is drawn; it is there for code that sets it.",
    )

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | float | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows: finite numbers, and categories.
        y : array-like of shape (n_rows,)
            Their labels: integers, booleans or strings, two different ones.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row, finite and at least 0.

        Returns
        -------
        self : ULSClassifier

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described, or a column is not 0 and of a length
            below 1e-140 or above 1e140; the message names it.
        """
        with self._restored_on_failure():
            check_declared(self)
            table = open_table(self, X, reset=True)
            rows = read_rows(
                y, table.n_rows, sample_weight, self.class_weight, self.normalize_weights
            )
            refuse_several_classes(rows.classes)
            columns = find_columns(
                table,
                self.categorical_features,
                read_names(self),
                intercept=bool(self.fit_intercept),
            )
            reader = columns.open(table)
            check_finite(table, reader)
            return self._set_fitted(rows.classes, self._leverage(columns, reader, rows))

    def _leverage(self, columns: LinearColumns, reader: ColumnReader, rows: Rows) -> ULSModel:
        """Compute the coefficients of the columns."""
        if len(columns) == 0:
            raise ValueError(
                "X must give at least one column: no feature is numeric or has a category, and "
                "there is no intercept"
            )
        counted = np.flatnonzero(rows.codes < 2)
        weight = rows.training_weight
        counts = np.ones(len(counted)) if weight is None else weight[counted]
        sides = np.where(rows.codes[counted] == 1, 1.0, -1.0)
        signed = _sign(columns, reader, counted, sides)
        solved = len(columns)
        if self.n_corrected != "all":
            solved = 1 if self.n_corrected == "so_far" else min(int(self.n_corrected), solved)
        require_memory(8 * solved * (2 * len(counted) + solved), "a smaller n_corrected")
        with show_progress(self.verbose, self.n_estimators) as report:
            fit = leverage(
                signed, counts, find_loss(self.phi), self.n_corrected, self.n_estimators, report
            )
        _warn_of_separation(fit)
        return ULSModel(
            self.phi, columns, fit.coefficients, float(np.sum(counts)), fit.norms,
            fit.rounds, len(fit.rounds["edge"]),
        )  # fmt: skip

    def _set_fitted(self, classes: NDArray[Any], model: ULSModel) -> Self:
        """Set the attributes of a fitted model."""
        self.classes_ = classes
        self._model = model
        self._set_coefficients(model.coefficients)
        return self

    @property
    def _columns(self) -> LinearColumns:
        return self._model.columns

    @property
    def _link(self) -> Link:
        return Link(self._model.loss)

    # -- keeping ----------------------------------------------------------------------------------

    @property
    def is_compact(self) -> bool:
        """Whether the model has only what its predictions need."""
        return self._model.rounds is None

    def _compacted(self) -> Self:
        return self._copy_with(_model=self._model.compacted())

    # -- explaining -------------------------------------------------------------------------------

    @property
    def n_iter_(self) -> int:
        """The number of rounds."""
        self._check_fitted()
        return self._model.n_rounds

    @property
    def edges_(self) -> NDArray[np.float64]:
        """Gamma of each round."""
        return self._copy_rounds("edges_")["edge"]

    @property
    def weight_sums_(self) -> NDArray[np.float64]:
        """Z before each round."""
        return self._copy_rounds("weight_sums_")["weight_sum"]

    @property
    def feature_norms_(self) -> NDArray[np.float64]:
        """The length of each column."""
        self._copy_rounds("feature_norms_")
        assert self._model.norms is not None
        return self._model.norms.copy()

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        """The rounds: arrays of equal length, ready for ``pandas.DataFrame``.

        ``feature`` is the column of largest edge for its length, ``n_corrected`` the number of
        coefficients that were solved for; ``edge`` is gamma, ``weight_sum`` Z and ``feature_norm``
        the largest length among the round's columns; ``risk`` is the mean loss of the rows after
        the round; ``exact`` is whether the round lowered that risk, which holds until the columns
        separate the classes.
        """
        rounds = self._copy_rounds("history_")
        return {**rounds, "risk": rounds["risk"] / self._model.total}

    def _copy_rounds(self, request: str) -> dict[str, NDArray[Any]]:
        """Return copies of the arrays of the rounds; an error names the `request`."""
        self._check_fitted()
        self._check_complete(request, AttributeError)
        assert self._model.rounds is not None
        return {name: values.copy() for name, values in self._model.rounds.items()}

    def surrogate_bounds(self) -> dict[str, Any]:
        """Return the bounds of Theorem 2 for this fit, and the actual values.

        Returns
        -------
        dict
            ``surrogate``, ndarray of shape (n_iter_ + 1,): the sum of F_phi over the rows before
            the first round, where it is the sum of their weights, and after each; ``fall``, ndarray
            of shape (n_iter_,): the decrease in each round; ``least_fall``, the least that
            eq. 47 allows, with each round's own gamma, Z and lengths; ``most_rounds``, int: the
            rounds after which the theorem has the sum where it is now, at the latest, from the mean
            of gamma, the least Z and the largest length (0 without rounds).

        Raises
        ------
        ValueError
            If classes were separated, or the model is compact.
        """
        self._check_fitted()
        self._check_complete("the record of each round")
        model, rounds = self._model, self._copy_rounds("surrogate_bounds")
        if not rounds["exact"].all():
            raise ValueError(
                "the bounds need rounds that end without an edge, and classes were separated in "
                f"round {int(np.argmin(rounds['exact'])) + 1} of {model.n_rounds}: set n_estimators"
            )
        function = model.function
        surrogate = np.append(model.total, rounds["risk"] / function.depth)
        names = ("edge", "weight_sum", "feature_norm")
        values_of_rounds = zip(*(rounds[name].tolist() for name in names), strict=True)
        most = 0
        if model.n_rounds:
            # The theorem counts whole rows; here rows count by their weights.
            lowered = model.total - float(surrogate[-1])
            least = function.least_fall(
                float(rounds["edge"].mean()),
                float(rounds["weight_sum"].min()),
                float(rounds["feature_norm"].max()),
            )
            most = int(np.ceil(lowered / least))
        return {
            "surrogate": surrogate,
            "fall": -np.diff(surrogate),
            "least_fall": np.array([function.least_fall(*values) for values in values_of_rounds]),
            "most_rounds": most,
        }


def _sign(
    columns: LinearColumns,
    reader: ColumnReader,
    counted: NDArray[np.intp],
    sides: NDArray[np.float64],
) -> SignedColumns:
    """Return the columns of rows of positive weight, times the rows' sides."""
    native = columns.native
    places = np.flatnonzero([level < 0 for _, level in native])
    numbers = np.empty((len(counted), len(places)))
    for u, k in enumerate(places.tolist()):
        numbers[:, u] = np.asarray(reader.column(k), np.float64)[counted] * sides
    _check_sizes(numbers, places, columns)
    indicators = []
    for k, (feature, level) in enumerate(native):
        if level == 0:  # the first of a feature's categories
            levels = np.maximum(reader.data[feature][counted].astype(np.intp) + 1, 0)
            number = len(columns.categories[feature] or ())
            indicators.append(Indicators(k, number, levels, sides.copy()))
    return SignedColumns(numbers, places, indicators)


def _check_sizes(
    numbers: NDArray[np.float64], places: NDArray[np.intp], columns: LinearColumns
) -> None:
    sizes = np.maximum(numbers.max(axis=0), -numbers.min(axis=0))
    wrong = (sizes != 0.0) & ~((sizes >= _LEAST_SIZE) & (sizes <= _MOST_SIZE))
    if np.any(wrong):
        k = int(wrong.argmax())
        raise ValueError(
            f"{columns.labels[places[k]]} must be 0 or hold a number of a size from "
            f"{_LEAST_SIZE:g} to {_MOST_SIZE:g}; the largest is {sizes[k]:g}: scale the features"
        )


def _warn_of_separation(fit: ULSFit) -> None:
    exact = fit.rounds["exact"]
    if not exact.all():
        warn(
            f"in round {int(np.argmin(exact)) + 1} the features separate rows of the two classes "
            "without error, so that no finite coefficients are optimal: from there on an error of "
            "0 counts as half a row. Fewer rounds, or a smaller n_corrected, keep to the surrogate"
        )
