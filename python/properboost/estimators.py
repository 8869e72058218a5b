"""The classifier: scikit-learn's interface to the engine."""

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from properboost import _core, parameters
from properboost.binning import Binning, count_numeric_bins, find_bins
from properboost.ensemble import LARGEST_RAW, Ensemble, Rounds
from properboost.losses import MarginLoss, get_loss
from properboost.progress import show_progress
from properboost.rows import find_classes, sort_rows
from properboost.shapes import ShapeFunction, make_shape
from properboost.table import Table, find_categorical, find_feature, open_table

__all__ = ["ProperBoostClassifier"]


class ProperBoostClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Boosted look-up tables under a proper margin loss with a gain.

    Each round picks one feature, gives each of its bins a value and adds that table to the raw
    prediction F (BoostLR, Algorithm 1 [1]_).  The loss decides how rows are weighted, and its
    inverse link turns F into a probability; the gain says how strongly probabilities are
    regularised.  The rounds add up to one table a feature, see `shape_function`.

    Several classes are learnt one against the rest, each by a model of its own over the same bins;
    their probabilities are divided by their sum (and are equal where all are zero).

    Parameters
    ----------
    loss : str or loss object, default="glog"
        A loss's name, one of `properboost.losses`, or an object from there, which carries its own
        gain (`gain` must then be left at 1 or be the same).
    gain : float, default=1.0
        The gain sigma > 0: the loss is sigma phi(v / sigma), v = y F(x).  Twice the gain with the
        same tables halves how far a round moves the probabilities.
    n_estimators : int, default=100
        Rounds, a class where there are more than two.  Boosting stops earlier if nothing is left
        to learn.
    learning_rate : float, default=1.0
        Shrinkage > 0 of each step.
    weak_learner : {"histogram", "stump"}, default="histogram"
        A value for every bin of a feature, or one for each side of a split.
    response : {"real", "sign", "newton", "exact"}, default="real"
        The value in a bin: half the log-odds of its class weights; the heavier class; a Newton
        step; the exact minimiser of the bin's risk.
    step : {"guarded", "unit", "line_search"}, default="guarded"
        Times the table: `learning_rate`, or the minimiser of the risk along the table if that is
        shorter; `learning_rate` always; the minimiser times `learning_rate`.
    prior : float or None, default=None
        What the real and exact responses add to the weight of each class in each bin, as a share
        of the total weight; > 0.  None is 1 / (S B), for S the weight of the training rows and B
        the bins of the feature (or the sides of the stump) that hold any.  The other responses
        take None only.
    smoothing : float, default=0.0
        Share of its weight that each bin of a numeric feature gives to each of its two neighbours
        before the table is made, in [0, 0.25].  Only with the histogram weak learner.
    l2 : float, default=0.0
        What the Newton response adds to the curvature in each bin.  The others take 0 only.
    max_bins : int, default=255
        Bins of a feature at most, in [2, 255]; missing values come on top.
    rows_per_bin : float or None, default=100
        A numeric feature also has at most one bin for every so many training rows (by sample
        weight), but may always have four.  A table with a bin for every row learns the rows by
        heart: over the ten small data sets of the BoostLR paper the cross-validated log loss is
        3.1 with 255 bins and 0.48 with the default (50 rounds, gain 1).  None sets no such limit.
    categorical_features : "from_dtype", None, list of int or str, or mask, default="from_dtype"
        Which features are categorical: those whose column has a categorical type; none; those at
        these positions or of these names; those where the boolean mask is true.
    class_weight : "balanced", dict or None, default=None
        Factor on the sample weight of each class: given by label, or inversely proportional to
        the class's total weight.  It shifts the probabilities.
    n_jobs : int or None, default=None
        Threads.  None and -1 use every CPU this process may use, or ``OMP_NUM_THREADS`` if set.
        The model and its predictions do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the sample of rows from which bins are found (tables of more than 200,000 rows).
        None is the seed 0: fitting the same rows again gives the same model.
    verbose : int, default=0
        With 1, the rounds and the training risk are shown on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.
    loss_ : loss object
        The loss, with its gain.
    n_iter_ : int
        Rounds of the model that has most.
    history_ : dict of ndarray
        What each round did: class, round, feature, score, step, risk.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much each feature moves the raw prediction, adding up to 1.

    Notes
    -----
    *Sample weights are frequencies.*  Weight 2 is the row twice, weight 0 is no row.  So their
    scale matters: `prior` and the longest allowed step depend on their sum.

    *Missing values* (NaN, None, NA) have a bin of their own.  Where training had none for a
    feature, a missing value adds 0 to the raw prediction.  Infinite values are ordinary values.

    *Categories* have a bin each, 254 at most a feature (`max_bins` if that is less): of more, the
    rarest by weight share one.  A category not seen in training falls into that shared bin if the
    feature has one, and otherwise adds 0 to the raw prediction.

    *Tables* may be numpy arrays and pandas, polars and Arrow tables.  They are read as they are,
    whatever their numeric type; only columns of types numpy lacks are converted, a few at a time.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of
       probability estimates. Journal of Machine Learning Research 16.

    Examples
    --------
    >>> from properboost import ProperBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ProperBoostClassifier(loss="gboost", gain=2.0).fit(X, y)
    >>> model.predict_proba(X).shape
    (569, 2)
    """

    classes_: NDArray[Any]
    feature_names_in_: NDArray[np.object_]
    loss_: MarginLoss
    n_features_in_: int
    _ensemble: Ensemble
    _seed: int

    def __init__(
        self,
        loss: Any = "glog",
        *,
        gain: float = 1.0,
        n_estimators: int = 100,
        learning_rate: float = 1.0,
        weak_learner: str = "histogram",
        response: str = "real",
        step: str = "guarded",
        prior: float | None = None,
        smoothing: float = 0.0,
        l2: float = 0.0,
        max_bins: int = 255,
        rows_per_bin: float | None = 100,
        categorical_features: Any = "from_dtype",
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.gain = gain
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.weak_learner = weak_learner
        self.response = response
        self.step = step
        self.prior = prior
        self.smoothing = smoothing
        self.l2 = l2
        self.max_bins = max_bins
        self.rows_per_bin = rows_per_bin
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    # -- fitting ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | float | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            Their labels: integers, booleans or strings, at least two different ones.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts, finite and at least 0.

        Returns
        -------
        self : ProperBoostClassifier

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described; the message names it.
        """
        before = self.__dict__.copy()
        try:
            return self._fit(X, y, sample_weight)
        except BaseException:
            # An interrupted fit leaves the previous model, column names and all.
            self.__dict__ = before
            raise

    def _fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | float | None) -> Self:
        loss = check_parameters(self)
        n_threads = parameters.count_threads(self.n_jobs)
        table = open_table(self, X, reset=True)
        rows = sort_rows(y, table.n_rows, sample_weight, self.class_weight)
        categorical, from_dtype = find_categorical(self.categorical_features, table)
        seed = parameters.seed(self.random_state)
        bins = find_bins(
            table,
            categorical,
            rows.weight,
            max_numeric=count_numeric_bins(self.max_bins, self.rows_per_bin, rows.total),
            max_categories=self.max_bins,
            seed=seed,
            n_threads=n_threads,
        )
        binning = Binning(bins, from_dtype)
        codes = binning.encode(table, rows.order, n_threads)
        weight = None if rows.weight is None else rows.weight[rows.order]
        classes, segments = rows.classes, rows.segments
        del rows  # its order and weights are bytes that boosting does not need
        models = self._boost(loss, codes, binning, segments, weight, n_threads)
        ensemble = Ensemble(binning, models, binning.weigh(codes, weight, n_threads))
        return self._set_fitted(loss, classes, ensemble, seed)

    def _set_fitted(
        self, loss: MarginLoss, classes: NDArray[Any], ensemble: Ensemble, seed: int
    ) -> Self:
        """Take over what was fitted, or loaded."""
        self.loss_ = loss
        self.classes_ = classes
        self._ensemble = ensemble
        self._seed = seed
        return self

    def _boost(
        self,
        loss: MarginLoss,
        codes: NDArray[np.uint8],
        binning: Binning,
        segments: NDArray[np.int64],
        weight: NDArray[np.float64] | None,
        n_threads: int,
    ) -> tuple[Rounds, ...]:
        """Boost one model of two classes, or one a class against the rest."""
        n_classes = len(segments) - 1
        sides = np.eye(n_classes, dtype=bool)
        if n_classes == 2:
            sides = sides[1:]
        models = []
        with show_progress(self.verbose, len(sides) * self.n_estimators) as report:
            for m, positive in enumerate(sides):
                rounds = _core.train(
                    codes,
                    binning.native,
                    segments,
                    positive,
                    loss.native,
                    gain=loss.gain,
                    n_estimators=self.n_estimators,
                    learning_rate=self.learning_rate,
                    weak_learner=self.weak_learner,
                    response=self.response,
                    step=self.step,
                    prior=self.prior,
                    smoothing=self.smoothing,
                    l2=self.l2,
                    weight=weight,
                    n_threads=n_threads,
                    progress=report and _from_round(report, m * self.n_estimators),
                )
                models.append(Rounds.from_native(rounds))
                if models[-1].bound() > LARGEST_RAW:
                    raise ValueError(
                        f"gain={loss.gain!r} and learning_rate={self.learning_rate!r} make raw "
                        f"predictions beyond {LARGEST_RAW:g}: make the learning_rate smaller"
                    )
                if report is not None and len(models[-1]):
                    report((m + 1) * self.n_estimators, float(models[-1].risk[-1]))
        return tuple(models)

    # -- predicting -------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the raw predictions F.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_classes) with more than two classes
            Of two classes, the raw prediction of ``classes_[1]``.
        """
        table, n_threads = self._open(X)
        return self._decide(self._ensemble.raw_predictions(table, n_threads))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes, through the inverse link of the tuned loss.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            ``loss_.probability(F)`` (BoostLR, eq. 51); of more than two classes, each class's
            divided by their sum.
        """
        return self._probabilities(self.decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted labels.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows,)
            Of two classes ``classes_[1]`` where F > 0; of more, the most probable one.
        """
        return self._labels(self.decision_function(X))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield what `decision_function` would return after one round, two rounds, ....

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Yields
        ------
        ndarray
            The last one equals `decision_function` up to rounding.
        """
        table, n_threads = self._open(X)
        for raw in self._ensemble.staged_raw_predictions(table, n_threads):
            yield self._decide(raw)

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield what `predict_proba` would return after one round, two rounds, ....

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
        """
        for raw in self.staged_decision_function(X):
            yield self._probabilities(raw)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield what `predict` would return after one round, two rounds, ....

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Yields
        ------
        ndarray of shape (n_rows,)
        """
        for raw in self.staged_decision_function(X):
            yield self._labels(raw)

    def margins(self, X: Any, y: ArrayLike) -> NDArray[np.float64]:
        """Return the margins of labelled rows: positive where the raw prediction is right.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.
        y : array-like of shape (n_rows,)
            Their labels, all among `classes_`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Of two classes v = y F(x), with y = +1 for ``classes_[1]`` and -1 for ``classes_[0]``.
            Of more, the raw prediction of the row's class minus the largest of the others'.
        """
        raw = self.decision_function(X)
        own = find_classes(y, len(raw), self.classes_)
        if raw.ndim == 1:
            return np.where(own == 1, raw, -raw)
        rows = np.arange(len(raw))
        margins: NDArray[np.float64] = raw[rows, own]
        raw[rows, own] = -np.inf
        margins -= raw.max(axis=1)
        return margins

    def _open(self, X: Any) -> tuple[Table, int]:
        check_is_fitted(self)
        return open_table(self, X, reset=False), parameters.count_threads(self.n_jobs)

    def _decide(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def _probabilities(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        if raw.ndim == 1:
            # Every link is symmetric.  The smaller of the two, straight from the link, keeps its
            # digits where one minus the larger would be 0.
            smaller = self.loss_.probability(-np.abs(raw))
            both: NDArray[np.float64] = np.stack([1.0 - smaller, smaller], axis=1)
            np.copyto(both, both[:, ::-1].copy(), where=raw[:, None] > 0.0)
            return both
        probability = self.loss_.probability(raw)
        total = probability.sum(axis=1, keepdims=True)
        normalized = np.full_like(probability, 1.0 / raw.shape[1])
        np.divide(probability, total, out=normalized, where=total > 0.0)
        return normalized

    def _labels(self, raw: NDArray[np.float64]) -> NDArray[Any]:
        # Links ascend, so the largest F is the most probable; probabilities may be equal at 1.
        chosen = np.where(raw > 0.0, 1, 0) if raw.ndim == 1 else raw.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels

    # -- explaining -------------------------------------------------------------------------------

    @property
    def n_iter_(self) -> int:
        """Rounds of the model that has most."""
        check_is_fitted(self)
        return max(map(len, self._ensemble.models))

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        """What each round did: arrays of equal length, ready for ``pandas.DataFrame``.

        ``class`` is the label the round's model speaks for (``classes_[1]`` of two); ``round``
        counts from 1; ``feature`` is a position; ``score`` is what the feature was chosen by (the
        papers' Z for the real and exact responses, the weighted correlation for sign, the
        reduction of the risk for newton); ``step`` multiplies the round's table; ``risk`` is the
        mean training loss after the round.
        """
        check_is_fitted(self)
        models = self._ensemble.models
        rounds = [len(model) for model in models]
        return {
            "class": np.repeat(self.classes_[-len(models) :], rounds),
            "round": np.concatenate([np.arange(1, n + 1) for n in rounds]),
            "feature": np.concatenate([model.feature for model in models]),
            "score": np.concatenate([model.score for model in models]),
            "step": np.concatenate([model.step for model in models]),
            "risk": np.concatenate([model.risk for model in models]),
        }

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each feature moves the raw prediction, adding up to 1 (or all 0).

        The mean, over the training rows by weight, of the absolute deviation of the feature's
        shape function from its mean (InterpretML's importance of a term), averaged over the
        classes.
        """
        check_is_fitted(self)
        return self._ensemble.importances()

    def shape_function(self, feature: int | str, class_: Any = None) -> ShapeFunction:
        """Return what one feature adds to the raw prediction.

        Parameters
        ----------
        feature : int or str
            Position or name of the feature.
        class_ : label, optional
            The class whose raw prediction is meant.  Of two classes it may be left out, and is
            then ``classes_[1]``; the function of ``classes_[0]`` is its negative.

        Returns
        -------
        ShapeFunction
            The function's values and training weights by bin; it can be called with values of
            the feature.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        j = find_feature(feature, names, self.n_features_in_)
        label, model, sign = self._find_model(class_)
        return make_shape(
            self._ensemble.binning.features[j],
            sign * self._ensemble.table_of(model, j),
            self._ensemble.bin_weights[j],
            feature=j,
            name=None if names is None else str(names[j]),
            class_label=label,
        )

    def _find_model(self, class_: Any) -> tuple[Any, int, float]:
        """Find a class's label, the model that speaks for it, and the sign with which it does."""
        labels = self.classes_.tolist()
        if len(labels) == 2 and class_ is None:
            return labels[1], 0, 1.0
        if class_ not in labels:
            raise ValueError(f"class_ must be one of {labels}; got {class_!r}")
        k = labels.index(class_)
        if len(labels) == 2:
            return labels[k], 0, 1.0 if k == 1 else -1.0
        return labels[k], k, 1.0

    # -- keeping ----------------------------------------------------------------------------------

    def save_model(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a JSON file, for `properboost.load_model`.

        Parameters
        ----------
        path : str or path
            The file.  An existing one is replaced once the new one is complete.
        """
        from properboost.model_io import save_model

        check_is_fitted(self)
        save_model(self, path)


def check_parameters(model: ProperBoostClassifier) -> MarginLoss:
    """Check every parameter that does not depend on the data; returns the loss."""
    parameters.positive("gain", model.gain)
    parameters.integer("n_estimators", model.n_estimators, 1, 2**31 - 1)
    parameters.positive("learning_rate", model.learning_rate)
    parameters.choice("weak_learner", model.weak_learner, _core.weak_learner_names())
    parameters.choice("response", model.response, _core.response_names())
    parameters.choice("step", model.step, _core.step_names())
    parameters.between("smoothing", model.smoothing, 0.0, 0.25)
    parameters.non_negative("l2", model.l2)
    parameters.integer("max_bins", model.max_bins, 2, 255)
    if model.rows_per_bin is not None:
        parameters.positive("rows_per_bin", model.rows_per_bin)
    parameters.integer("verbose", model.verbose, 0)
    parameters.count_threads(model.n_jobs)
    parameters.check_random_state(model.random_state)
    _check_class_weight(model.class_weight)
    if model.prior is not None:
        parameters.positive("prior", model.prior)
        if model.response not in ("real", "exact"):
            raise ValueError(
                f"prior must be None with response={model.response!r}, which does not use it; "
                f"got {model.prior!r}"
            )
    if model.smoothing > 0.0 and model.weak_learner != "histogram":
        raise ValueError(
            f"smoothing must be 0 with weak_learner={model.weak_learner!r}, which does not use "
            f"it; got {model.smoothing!r}"
        )
    if model.l2 > 0.0 and model.response != "newton":
        raise ValueError(
            f"l2 must be 0 with response={model.response!r}, which does not use it; "
            f"got {model.l2!r}"
        )
    return get_loss(model.loss, model.gain)


def _check_class_weight(class_weight: object) -> None:
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict; got {class_weight!r}")
    for label, weight in class_weight.items():
        if not isinstance(label, str | int | float | np.generic):
            raise TypeError(f"class_weight must have labels as keys; got {label!r}")
        parameters.positive(f"class_weight[{label!r}]", weight)


def _from_round(report: Any, first: int) -> Any:
    return lambda done, risk: report(first + done, risk)
