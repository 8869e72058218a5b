"""The options of a page, each declared once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
        What only you know, for the head of the page: what the model is meant to decide, and for
        which cases; who fitted it, when and on which rows; where the test rows come from, and from
        when they are; the date of the report.  The page says "not stated" where they are missing.
    groups : sequence, mapping or table, optional
        The columns by which errors, predictions and probabilities are compared: names or positions
        of features, or columns of as many rows as `X`, by name, which need not be features.  An
        empty one compares nothing.  By default the features whose names suggest that they say who a
        person is (sex, age, origin and the like), or else those of few categories; at most six.
    class_ : label, optional
        The class that shape functions and groups are about; by default the second of two, or the
        most frequent of several.
    class_names : mapping of label to str, optional
        What labels stand for, as ``{0: "earns up to 50,000", 1: "earns over 50,000"}``: the page
        calls the classes so.  Where labels that say nothing by themselves, such as numbers, have no
        name, the page says that what they stand for was not stated.
    feature_descriptions : mapping of str to str, optional
        What features hold, by name, as ``{"fnlwgt": "how many people the row stands for"}``; the
        page says it wherever it shows one.  Those on other columns are ignored.
    confidence_level : float, default=0.9
        The share of intervals that hold what they are about, in (0, 1).
    max_features, max_pairs : int, default=20, 10
        The most important shape functions and pairs, of which so many are drawn at most.
    max_rows : int, default=2
        Rows of each kind that are shown, at most: surest and right, surest and wrong, each
        predicted class in turn; hardly decided; with two classes, of the last on either side.
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
    groups: Any = None
    class_: Any = None
    class_names: Mapping[Any, str] | None = None
    feature_descriptions: Mapping[str, str] | None = None
    confidence_level: float = 0.9
    max_features: int = 20
    max_pairs: int = 10
    max_rows: int = 2
    random_state: int = 0

    def __post_init__(self) -> None:
        level = checks.between("confidence_level", self.confidence_level, 0.0, 1.0)
        if not 0.0 < level < 1.0:
            raise ValueError(f"confidence_level must be above 0 and below 1; got {level!r}")
        self._set("confidence_level", level)
        for name in ("max_features", "max_pairs", "max_rows", "random_state"):
            self._set(name, checks.integer(name, getattr(self, name), 0))

    def _set(self, name: str, value: float) -> None:
        """Set a field to the number that was read."""
        object.__setattr__(self, name, value)
