"""A finished search as HTML, for notebooks: its families, their costs, and the next step."""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.scoring import name_score

__all__ = ["write_search"]

_CELL = "style='text-align:right;padding:2px 8px'"
_NAME = "style='text-align:left;padding:2px 8px'"
_HEADS = ("score", "behind", "±", "candidates", "seconds")


def write_search(search: Any, is_readable: Callable[[str], bool]) -> str:
    """Return the families of a search as a table, with the cost of reading and the next step.

    `is_readable` takes the name of a family.
    """
    families: Mapping[str, NDArray[Any]] = search.family_results_
    order = np.argsort(families["behind"], kind="stable")
    heads = "".join(f"<th {_CELL}>{head}</th>" for head in _HEADS)
    rows = "".join(_write_row(families, int(k), search.family_) for k in order)
    lines = [_describe_choice(search), _describe_reading(families, is_readable), _NEXT]
    head = f"<thead><tr><th {_NAME}>family</th>{heads}</tr></thead>"
    below = "".join(f"<p>{line}</p>" for line in lines if line)
    return f"<table>{head}<tbody>{rows}</tbody></table>{below}"


_NEXT = (
    "Next: <code>search.save_model('model.json')</code>, "
    "<code>properboost.plots.plot_search(search)</code>, "
    "<code>search.best_params_</code>."
)


def _write_row(families: Mapping[str, NDArray[Any]], k: int, chosen: str | None) -> str:
    name = str(families["family"][k])
    weight = "bold" if name == chosen else "normal"
    numbers = [
        *(_write(families[column][k]) for column in ("mean_test_score", "behind", "behind_error")),
        f"{families['candidates'][k]} ({families['dropped'][k]} dropped)",
        f"{families['seconds'][k]:.1f}",
    ]
    cells = "".join(f"<td {_CELL}>{number}</td>" for number in numbers)
    return f"<tr style='font-weight:{weight}'><td {_NAME}>{escape(name)}</td>{cells}</tr>"


def _write(number: float) -> str:
    return f"{number:.4f}" if np.isfinite(number) else ""


def _describe_choice(search: Any) -> str:
    score, seconds = name_score(search.scoring), search.family_results_["seconds"].sum()
    return (
        f"The search compared {len(search.cv_results_['params'])} candidates in {seconds:.1f} s by "
        f"{escape(score)}, and chose {escape(str(search.family_))}."
    )


def _describe_reading(
    families: Mapping[str, NDArray[Any]], is_readable: Callable[[str], bool]
) -> str:
    """Return a sentence on the best readable family, or none if there is none."""
    readable = [k for k, name in enumerate(families["family"]) if is_readable(name)]
    if not readable:
        return ""
    best = min(readable, key=lambda k: families["behind"][k])
    name, behind = escape(str(families["family"][best])), families["behind"][best]
    if behind <= 0.0:
        return f"The best family, {name}, is readable."
    error = families["behind_error"][best]
    spread = f" ± {error:.4f}" if np.isfinite(error) else ""
    return f"The best readable family, {name}, is {behind:.4f}{spread} behind the best."
