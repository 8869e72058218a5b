"""The options of a page, each declared once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from properboost.estimators.costs import Costs
from properboost.parameters import checks

__all__ = ["ReportOptions"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportOptions:
    """The options of `write_report`, for one page or several.

    Parameters
    ----------
    title : str, optional
        The title of the page; by default it names the estimator.
    purpose, model_source, data_source, date : str, optional
        Facts for the head of the page: the purpose of the model and its cases; who fitted it, when
        and on which rows; the source and the time of the test rows; the date of the report.  The
        page lists those that are missing at its end.
    subgroups : sequence, mapping or table, optional
        The columns of subgroups whose errors, predictions and probabilities are compared: names or
        positions of features, or further columns with the rows of `X`, by name.  An empty one
        compares nothing.  By default the features whose names suggest personal attributes (sex,
        age, origin and the like), or else those of few categories; at most six.
    class_ : label, optional
        The class of shape functions and groups; by default the second of two, or the most frequent
        of several.
    class_names : mapping of label to str, optional
        Names of the classes on the page, as ``{0: "earns up to 50,000", 1: "earns over 50,000"}``.
        Where labels without meaning, such as numbers, have no name, the page notes that their
        meaning was not stated.
    feature_descriptions : mapping of str to str, optional
        Descriptions of features by name, as ``{"fnlwgt": "how many people the row stands for"}``;
        the page adds them wherever it shows one.  Those of other columns are ignored.
    costs : dict or array-like of shape (n_classes, n_classes), optional
        The costs of mistakes, as of `LeastCostClassifier`: by the label of a row's class, or of
        each decision (column) by class (row).  The page then has the costs of the decisions, which
        need labels.  Those of a `LeastCostClassifier` are the default.
    confidence_level : float, default=0.9
        The confidence level of intervals, in (0, 1).
    max_features, max_pairs : int, default=20, 10
        The most shape functions and pairs to draw, the most important first.
    max_rows : int, default=2
        The most rows of each kind to show.  The kinds are surest and right, and surest and wrong,
        by predicted class in turn; hardly decided; with two classes, the last on either side.
    random_state : int, default=0
        The seed by which the bootstrap draws rows.

    Raises
    ------
    ValueError, TypeError
        If a number is not as described; the message names it.  What depends on the model and the
        rows is checked when the page is written.

    Examples
    --------
    >>> from properboost.report import ReportOptions
    >>> options = ReportOptions(purpose="To learn how reports look", max_rows=1)
    >>> options.confidence_level
    0.9
    """

    title: str | None = None
    purpose: str | None = None
    model_source: str | None = None
    data_source: str | None = None
    date: str | None = None
    subgroups: Any = None
    class_: Any = None
    class_names: Mapping[Any, str] | None = None
    feature_descriptions: Mapping[str, str] | None = None
    costs: Costs = None
    confidence_level: float = 0.9
    max_features: int = 20
    max_pairs: int = 10
    max_rows: int = 2
    random_state: int = 0

    def __post_init__(self) -> None:
        self._set("confidence_level", checks.level("confidence_level", self.confidence_level))
        for name in ("max_features", "max_pairs", "max_rows", "random_state"):
            self._set(name, checks.integer(name, getattr(self, name), 0))

    def _set(self, name: str, value: float) -> None:
        """Set a field to the number that was read."""
        object.__setattr__(self, name, value)
