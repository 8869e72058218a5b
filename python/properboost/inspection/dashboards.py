"""Explanations for the dashboards of InterpretML, the argument of ``interpret.show``.

They go to a browser as JSON, so characters that JSON cannot hold are escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.extras import import_extra
from properboost.inspection.bin_ends import find_bin_ends
from properboost.inspection.plot_data import ContributionData, GridData, ShapeData
from properboost.visible import make_visible

__all__ = ["make_global", "make_local"]

_NEED = "explanations for dashboards need"


def make_global(
    shapes: Sequence[ShapeData],
    pairs: Sequence[GridData],
    importances: NDArray[np.float64],
    name: str,
) -> Any:
    """Return an explanation of a model: its functions and the terms' importances."""
    names = [shape.label for shape in shapes] + [" & ".join(pair.labels) for pair in pairs]
    names = list(map(make_visible, names))
    kinds = ["continuous" if shape.kind == "numeric" else "nominal" for shape in shapes]
    kinds += ["interaction"] * len(pairs)
    specific = [*map(_describe_shape, shapes), *map(_describe_pair, pairs)]
    values = [*(shape.values for shape in shapes), *(pair.values for pair in pairs)]
    low, high = min(map(np.min, values)), max(map(np.max, values))
    for entry in specific:
        entry["scores_range"] = (float(low), float(high))
    overall = {"type": "univariate", "names": names, "scores": importances.tolist()}
    columns = {"Name": names, "Type": kinds, "Importance": importances.round(4)}
    return _make("global", overall, specific, names, kinds, name, columns)


def make_local(
    rows: ContributionData,
    probability: NDArray[np.float64],
    classes: Sequence[Any],
    y: Any,
    name: str,
) -> Any:
    """Return an explanation of rows; `y` has their labels' positions, or is None."""
    n_rows, n_terms = rows.values.shape
    predicted = probability.argmax(axis=1)
    actual = np.full(n_rows, np.nan) if y is None else np.asarray(y)
    predicted_probability = probability[np.arange(n_rows), predicted]
    true = predicted_probability + np.nan if y is None else probability[np.arange(n_rows), actual]
    baseline = np.broadcast_to(rows.baseline, n_rows)
    names = list(map(make_visible, rows.names))
    shown = [make_visible(label) if isinstance(label, str) else label for label in classes]
    specific = [
        {
            "type": "univariate",
            "names": names,
            "scores": rows.values[i].tolist(),
            "values": [make_visible(rows.describe_value(i, j)) for j in range(n_terms)],
            "extra": {"names": ["Baseline"], "scores": [float(baseline[i])], "values": [1]},
            "perf": {
                "is_classification": True,
                "predicted": int(predicted[i]),
                "predicted_score": float(predicted_probability[i]),
                "actual": actual[i] if y is None else int(actual[i]),
                "actual_score": float(true[i]),
            },
            "meta": {"label_names": shown},
        }
        for i in range(n_rows)
    ]
    labels = np.array(list(map(str, shown)), dtype=object)
    columns = {"Predicted": labels[predicted], "PrScore": predicted_probability.round(3)}
    if y is not None:
        columns |= {"Actual": labels[actual], "AcScore": true.round(3)}
    return _make("local", None, specific, names, None, name, columns)


def _make(
    kind: str, overall: Any, specific: Any, names: Any, kinds: Any, name: str, columns: Any
) -> Any:
    templates = import_extra("interpret.api.templates", _NEED, "interpret")
    pandas = import_extra("pandas", _NEED, "interpret")
    return templates.FeatureValueExplanation(
        kind,
        {"overall": overall, "specific": specific},
        feature_names=names,
        feature_types=kinds,
        name=make_visible(name),
        selector=pandas.DataFrame(columns),
    )


def _describe_shape(shape: ShapeData) -> dict[str, Any]:
    n_bins = len(shape.labels)
    low, high = shape.interval() if shape.n_bags > 0 else (None, None)
    if shape.kind != "numeric":
        names = list(map(make_visible, shape.labels))
        density = {"names": names, "scores": shape.weights[:n_bins].tolist()}
        scores: dict[str, Any] = {"scores": shape.values[:n_bins]}
        scores |= {} if high is None else {"upper_bounds": high[:n_bins]}
        return {"type": "univariate", "names": names, "density": density, **scores}
    ends, bins = find_bin_ends(np.empty(0) if shape.edges is None else shape.edges)

    def step(heights: NDArray[np.float64]) -> list[float]:
        """Return both ends of each step: dashboards join points by straight lines."""
        ends_of_steps: list[float] = np.repeat(heights[bins], 2).tolist()
        return ends_of_steps

    scores = {"scores": step(shape.values)}
    if low is not None and high is not None:
        scores |= {"lower_bounds": step(low), "upper_bounds": step(high)}
    return {
        "type": "univariate",
        "names": np.repeat(ends, 2)[1:-1].tolist(),
        "density": {"names": ends.tolist(), "scores": shape.weights[bins].tolist()},
        **scores,
    }


def _describe_pair(pair: GridData) -> dict[str, Any]:
    first, second = pair.levels
    return {
        "type": "interaction",
        "left_names": list(map(make_visible, first)),
        "right_names": list(map(make_visible, second)),
        "scores": pair.values,
    }
