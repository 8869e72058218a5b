"""Writing a report."""

from typing import Any

from numpy.typing import ArrayLike

from properboost.estimators.base import TableClassifier
from properboost.parameters import checks
from properboost.report.collect import collect
from properboost.report.page import make_page
from properboost.report.view import make_view
from properboost.whole_file import AnyPath, write_whole

__all__ = ["write_report"]


def write_report(
    model: TableClassifier,
    X: Any,
    y: ArrayLike | None,
    path: AnyPath,
    *,
    sample_weight: ArrayLike | None = None,
    title: str | None = None,
    class_: Any = None,
    confidence_level: float = 0.9,
    max_features: int = 20,
    max_pairs: int = 10,
    max_rows: int = 2,
    random_state: int = 0,
) -> None:
    """Write a page that tells what a model is, how good it is, and what to beware of.

    The page is one HTML file, for a browser without a network.  It has the scores and the
    calibration on the rows with intervals, every important shape function and pair, the most
    telling rows with what each feature adds, what the search compared, warnings, and a list of
    words for readers who do not know boosting.

    Parameters
    ----------
    model : classifier
        A fitted model of the package.
    X : array or table of shape (n_rows, n_features)
        Test rows, with the columns the model was fitted on.  Rows that it was fitted on flatter it.
    y : array-like of shape (n_rows,), or None
        Their labels, all among ``classes_``; without them there are no scores.
    path : str, bytes or path
        The file, which is replaced if it exists.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts in scores.
    title : str, optional
        The title of the page; by default it names the estimator.
    class_ : label, optional
        The class whose shape functions are drawn; by default the second of two, or the most
        frequent of several.
    confidence_level : float, default=0.9
        The share of intervals that hold what they are about, in (0, 1).
    max_features, max_pairs : int, default=20, 10
        The most important shape functions and pairs, of which so many are drawn at most.
    max_rows : int, default=2
        Rows of each kind that are told, at most: surest and right, surest and wrong, hardly decided.
    random_state : int, default=0
        The seed by which the bootstrap draws rows.

    Raises
    ------
    ImportError
        If vl-convert or jinja2 is missing: ``pip install 'properboost[report]'``.
    ValueError, TypeError
        If an argument is not as described, or the model cannot read `X`; the message names it.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import properboost as pb
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = pb.ProperBoostClassifier().fit(X[::2], y[::2])
    >>> pb.report.write_report(model, X[1::2], y[1::2], "report.html")  # doctest: +SKIP
    """
    model._check_fitted()
    level = checks.between("confidence_level", confidence_level, 0.0, 1.0)
    if not 0.0 < level < 1.0:
        raise ValueError(f"confidence_level must be above 0 and below 1; got {level!r}")
    found = collect(
        model,
        X,
        y,
        sample_weight,
        class_=class_,
        confidence_level=level,
        max_features=checks.integer("max_features", max_features, 0),
        max_pairs=checks.integer("max_pairs", max_pairs, 0),
        max_rows=checks.integer("max_rows", max_rows, 0),
        random_state=checks.integer("random_state", random_state, 0),
    )
    words = title if title is not None else f"{type(model).__name__} of {len(model.classes_)} classes"
    page = make_page(found, make_view(found), words)
    write_whole(path, [page.encode("utf-8", "backslashreplace")])
