"""Models of trees and tables as treelite models, in double."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.export.decisions import CodedColumn, Cut, Decision, Leaf, simplify
from properboost.export.description import Description, Linear, describe
from properboost.extras import import_extra

__all__ = ["to_treelite"]


def to_treelite(model: Any) -> Any:
    """Return a fitted model as a treelite model, which computes raw predictions.

    A look-up table becomes a tree that bisects its bin edges, so there is a tree per feature, pair
    or round, and class.

    Parameters
    ----------
    model : classifier
        A fitted model of this package; of a search, its `best_estimator_` counts.

    Returns
    -------
    treelite.Model
        Its rows are those of `encode_rows`: numbers as they are, the positions of categories, NaN
        for missing values.  Thresholds and leaves are float64.

    Raises
    ------
    TypeError, ValueError
        If the model cannot be exported: with ``linear_leaves``, as treelite's leaves are numbers;
        or a linear model.
    ImportError
        If treelite is not installed: ``pip install 'properboost[treelite]'``.

    Notes
    -----
    ``treelite.gtil.predict`` of float64 rows adds up in the order of `decision_function`, and
    returns its bits.  Compilers of such models may add up in another order, or in float32: each of
    n additions then errs by up to half a unit in the last place of the largest sum.  There is no
    postprocessor: treelite's are float32.

    Examples
    --------
    >>> from properboost import ProperBoostClassifier, export
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ProperBoostClassifier().fit(X, y)
    >>> trees = export.to_treelite(model)  # doctest: +SKIP
    >>> treelite.gtil.predict(trees, export.encode_rows(model, X))  # doctest: +SKIP
    """
    builder = import_extra("treelite.model_builder", "to_treelite needs", "treelite")
    described = describe(model).of_f
    if described.has_lines or described.n_sums > 1:
        raise ValueError(
            f"{described.name} with linear_leaves cannot be exported to treelite, whose leaves are "
            "numbers: fit with weak_learner='table' or Tree(linear_leaves=False)"
        )
    trees: list[tuple[int, Decision, NDArray[np.float64]]] = []
    for term in described.terms:
        if isinstance(term, Linear):
            raise ValueError(
                f"{described.name} cannot be exported to treelite: it multiplies features, and has "
                "no trees"
            )
        for k, m in enumerate(term.models):
            values = term.values[:, k]
            trees.append((m, simplify(term.decision, values), values))
    # Intercepts are trees of one leaf: treelite rounds base scores, and a model needs a tree.
    intercepts = np.zeros(1) if described.intercepts is None else described.intercepts
    if described.intercepts is not None or not trees:
        trees += [
            (m, Leaf(0), np.array([intercept])) for m, intercept in enumerate(intercepts.tolist())
        ]
    return _build(builder, described, trees)


def _build(
    builder: Any,
    described: Description,
    trees: list[tuple[int, Decision, NDArray[np.float64]]],
) -> Any:
    n_models = described.n_models
    several = n_models > 1
    model = builder.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=builder.Metadata(
            num_feature=len(described.features),
            task_type="kMultiClf" if several else "kBinaryClf",
            average_tree_output=False,
            num_target=1,
            num_class=[n_models],
            leaf_vector_shape=(1, 1),
        ),
        tree_annotation=builder.TreeAnnotation(
            num_tree=len(trees), target_id=[0] * len(trees), class_id=[m for m, _, _ in trees]
        ),
        postprocessor=builder.PostProcessorFunc(
            name="identity_multiclass" if several else "identity"
        ),
        base_scores=[0.0] * n_models,
    )
    for _, decision, values in trees:
        model.start_tree()
        _add_nodes(model, decision, values, described.features)
        model.end_tree()
    return model.commit()


def _add_nodes(
    builder: Any,
    decision: Decision,
    values: NDArray[np.float64],
    features: tuple[CodedColumn, ...],
) -> None:
    """Add the nodes of a tree, the root first."""
    waiting = [(0, decision)]
    count = 0
    while waiting:
        key, node = waiting.pop()
        builder.start_node(key)
        if isinstance(node, Leaf):
            builder.leaf(float(values[node.number]))
        else:
            yes, no = count + 1, count + 2
            count += 2
            waiting += [(no, node.no), (yes, node.yes)]
            feature = features[node.feature]
            shared: dict[str, Any] = {
                "feature_id": node.feature,
                "default_left": node.missing,
                "left_child_key": yes,
                "right_child_key": no,
            }
            if feature.categories is None:
                builder.numerical_test(opname="<=", threshold=_bound(feature, node), **shared)
            else:
                members = (
                    np.arange(node.below) if isinstance(node, Cut) else np.flatnonzero(node.members)
                )
                builder.categorical_test(
                    category_list=members.tolist(), category_list_right_child=False, **shared
                )
        builder.end_node()


def _bound(feature: CodedColumn, test: Any) -> float:
    if not isinstance(test, Cut):
        raise ValueError(
            f"a tree divides the values of {feature.name!r} into more than two ranges at once, "
            "which treelite's nodes cannot"
        )
    return feature.bound(test.below)
