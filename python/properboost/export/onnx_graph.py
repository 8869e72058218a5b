"""Models as ONNX graphs, in double.

One ``TreeEnsembleRegressor`` turns values into the number that each term looks up.  It has a target
per term, so that it adds nothing up: runtimes add up trees in any order, and return float32.
``Gather`` takes the values of the numbers from a constant, and ``CumSum`` adds a row's terms one
after the other, in the order of `decision_function`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.export.decisions import CodedColumn, Cut, Decision, Leaf, choose
from properboost.export.description import (
    Description,
    Linear,
    Lookup,
    check_doubles,
    check_outputs,
    describe,
)
from properboost.export.links import (
    CELLS_PER_OCTAVE,
    OCTAVES,
    Value,
    ordered_probabilities,
    probabilities,
)
from properboost.extras import import_extra
from properboost.losses.ordered_link import OrderedLink
from properboost.parameters.elsewhere import advise_calls

__all__ = [
    "OUTPUTS",
    "Input",
    "list_inputs",
    "make_graph",
    "read_pipeline_classes",
    "to_onnx",
]

OUTPUTS = ("label", "probabilities", "raw")
"""The possible results of a graph."""

OPSET, ML_OPSET = 18, 3
"""Versions of operators, the first with ReduceMax's axes as an input and with double trees."""

_IR_VERSION = 8
"""The least version for `OPSET`."""

_ALL = 2**62
"""A number above all places of a feature."""

_NODE_FIELDS = (
    "treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
    "missing_value_tracks_true",
)  # fmt: skip


@dataclass(frozen=True)
class Input:
    """A tensor (n_rows, width) of the next columns."""

    name: str
    width: int = 1
    kind: str = "DOUBLE"
    """ONNX's name of the type of the entries."""


@advise_calls("onnx.save(to_onnx(model), 'model.onnx')")
def to_onnx(
    model: Any,
    *,
    outputs: Sequence[str] = ("label", "probabilities"),
    missing: str = "",
) -> Any:
    """Return a fitted model as an ONNX model, in double throughout.

    Parameters
    ----------
    model : classifier
        A fitted model of this package; of a search, its `best_estimator_` counts.
    outputs : sequence of {"label", "probabilities", "raw"}, default=("label", "probabilities")
        The results, in this order: ``predict``, ``predict_proba`` and ``decision_function``, by
        these names (followed by ``_`` where a column has the name).
    missing : str, default=""
        The string that stands for a missing category: ONNX has no missing strings.

    Returns
    -------
    onnx.ModelProto
        Without categories that are strings it has one input ``X`` of doubles, (n_rows,
        n_features).  With such, there is an input (n_rows, 1) per column, by its name: strings, or
        doubles.  NaN is a missing number.

    Raises
    ------
    TypeError, ValueError
        If the model cannot be exported, or `outputs` or `missing` is not as described; the message
        names it.
    ImportError
        If onnx is not installed: ``pip install 'properboost[onnx]'``.

    Notes
    -----
    Raw predictions have the bits of `decision_function`, and labels are those of `predict`:
    strings, booleans, int64 (uint64 where one is beyond), float32 or float64.
    Probabilities are within 1e-14 of `predict_proba`; where one class against the rest has less
    than 1e-300 for all classes together, they are equal.  The operators are those of ONNX
    opset 18 and ai.onnx.ml opset 3, which onnxruntime has since 1.14.

    Examples
    --------
    >>> from properboost import ProperBoostClassifier, export
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> graph = export.to_onnx(ProperBoostClassifier().fit(X, y))  # doctest: +SKIP
    >>> graph.SerializeToString()  # doctest: +SKIP
    """
    onnx = import_extra("onnx", "to_onnx needs", "onnx")
    described = describe(model)
    chosen = check_outputs(outputs, OUTPUTS)
    return make_graph(onnx, described, list_inputs(described), chosen, missing)


def list_inputs(described: Description) -> list[Input]:
    """Return the inputs that stand for the columns."""
    if not described.has_text:
        return [Input("X", len(described.features))]
    names = [feature.name for feature in described.features]
    for name in names:
        _encode(name, "the name of a column")
        if not name or names.count(name) > 1:
            raise ValueError(
                f"inputs are named by columns, and {name!r} is "
                f"{'the name of several' if name else 'no name'}: rename the columns and fit again"
            )
    return [
        Input(feature.name, kind="STRING" if feature.is_text else "DOUBLE")
        for feature in described.features
    ]


def make_graph(
    onnx: Any,
    described: Description,
    inputs: Sequence[Input],
    outputs: Sequence[str],
    missing: str,
    *,
    scores: str | None = None,
) -> Any:
    """Return the model whose graph has these inputs.

    With `scores`, the type of probabilities and raw predictions, it follows skl2onnx's graphs: with
    two classes there are two columns of raw predictions, and labels are those of
    `read_pipeline_classes`.

    The checker infers types and shapes and compares them with the declared ones, as runtimes do
    before they load the graph.
    """
    names = {tensor.name for tensor in inputs}
    if scores:
        described = replace(described, classes=read_pipeline_classes(described.classes))
    graph = _Graph(onnx, names)
    X = _read_columns(graph, described, inputs, missing)
    raw, numbers = _add_up(graph, described, X)
    results = {}
    for output in outputs:
        results[output] = _finish(graph, described, output, raw, numbers)
        if output == "raw" and scores and described.of_f.n_models == 1:
            both = graph.add("Neg", raw), raw
            results[output] = graph.add("Concat", *both, axis=1)
        if output != "label" and scores:
            results[output] = graph.cast(results[output], scores)
    exported = graph.build(described, inputs, results, scores)
    onnx.checker.check_model(exported, full_check=True)
    return exported


def read_pipeline_classes(classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels in a type of skl2onnx's pipelines: strings, or int64.

    Raises
    ------
    ValueError
        If a label is neither.
    """
    if classes.dtype.kind == "O":
        return classes
    whole = classes.astype(np.int64)
    for label in classes[whole != classes].tolist():
        raise ValueError(
            f"the label {label!r} is no 64-bit integer, and skl2onnx's pipelines have no other "
            "numbers for labels: export the classifier alone, by to_onnx"
        )
    return whole


class _Graph:
    """A graph under construction: nodes and constants; values are the names of their results."""

    def __init__(self, onnx: Any, taken: set[str]) -> None:
        self._onnx = onnx
        self._taken = taken
        self._count = 0
        self._nodes: list[Any] = []
        self._constants: dict[tuple[Any, ...], str] = {}
        self._initializers: list[Any] = []

    def name(self, stem: str) -> str:
        """Return a free name."""
        while (name := f"{stem}_{self._count}") in self._taken:
            self._count += 1
        self._taken.add(name)
        return name

    def constant(self, array: NDArray[Any]) -> str:
        """Return the name of a constant."""
        array = np.asarray(array)
        if array.dtype.kind in "OU":
            array = array.astype(object)
        key = (
            array.dtype.str,
            array.shape,
            repr(array.tolist()) if array.dtype == object else array.tobytes(),
        )
        if key not in self._constants:
            name = self.name("constant")
            self._constants[key] = name
            self._initializers.append(self._tensor(array, name))
        return self._constants[key]

    def _tensor(self, array: NDArray[Any], name: str = "") -> Any:
        helper = self._onnx.helper
        if array.dtype == object:
            encoded = [_encode(text) for text in array.ravel().tolist()]
            kind = self._onnx.TensorProto.STRING
            return helper.make_tensor(name, kind, array.shape, encoded)
        return self._onnx.numpy_helper.from_array(np.asarray(array, order="C"), name)

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node; return the name of its result."""
        output = self.name(kind.lower())
        for key, value in attributes.items():
            if isinstance(value, np.ndarray):
                attributes[key] = self._tensor(value)
        node = self._onnx.helper.make_node(
            kind, list(inputs), [output], self.name("node"), domain=domain, **attributes
        )
        self._nodes.append(node)
        return output

    def combine(self, kind: str, value: str, numbers: NDArray[np.float64]) -> str:
        """Return the sum, difference, product or quotient of a value and numbers.

        onnxruntime skips the addition of a constant that is 0 in single precision, and the
        multiplication by one that is 1 there.  A number that depends on the value is no constant.
        """
        operand = self.constant(numbers)
        with np.errstate(under="ignore", over="ignore"):
            single = numbers.astype(np.float32)
        neutral = 0.0 if kind in ("Add", "Sub") else 1.0
        if numbers.size == 1 and np.all(single == neutral) and np.any(numbers != neutral):
            operand = self.add("Where", self.add("IsNaN", value), operand, operand)
        return self.add(kind, value, operand)

    def cast(self, value: str, kind: str) -> str:
        """Return the values in another type."""
        return self.add("Cast", value, to=getattr(self._onnx.TensorProto, kind))

    def build(
        self,
        described: Description,
        inputs: Sequence[Input],
        results: dict[str, str],
        scores: str | None,
    ) -> Any:
        """Return the model."""
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        n_classes = len(described.classes)
        several = described.of_f.n_models > 1 or scores is not None
        kind = getattr(kinds, scores or "DOUBLE")
        label = self._onnx.helper.np_dtype_to_tensor_dtype(described.classes.dtype)
        shapes = {
            "label": (label, ["rows"]),
            "probabilities": (kind, ["rows", n_classes]),
            "raw": (kind, ["rows", n_classes] if several else ["rows"]),
        }
        taken = {tensor.name for tensor in inputs}
        outputs = []
        for output, value in results.items():
            name = output
            while name in taken:
                name += "_"
            taken.add(name)
            self._nodes.append(helper.make_node("Identity", [value], [name], self.name("node")))
            outputs.append(helper.make_tensor_value_info(name, *shapes[output]))
        declared = [
            helper.make_tensor_value_info(
                tensor.name, getattr(kinds, tensor.kind), ["rows", tensor.width]
            )
            for tensor in inputs
        ]
        graph = helper.make_graph(
            self._nodes, described.name, declared, outputs, initializer=self._initializers
        )
        versions = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        return helper.make_model(
            graph, opset_imports=versions, ir_version=_IR_VERSION, producer_name="properboost"
        )


# -- reading ---------------------------------------------------------------------------------------


def _read_columns(
    graph: _Graph, described: Description, inputs: Sequence[Input], missing: str
) -> str:
    """Return (n_rows, n_features) doubles: numbers, and the places of categories."""
    if not isinstance(missing, str):
        raise TypeError(f"missing must be a string; got {missing!r}")
    waiting = list(described.features)
    blocks: list[str] = []
    for tensor in inputs:
        features, waiting = waiting[: tensor.width], waiting[tensor.width :]
        is_text = tensor.kind == "STRING"
        value = tensor.name
        if tensor.kind not in ("STRING", "DOUBLE"):
            value = graph.cast(value, "DOUBLE")
        if not is_text and all(feature.categories is None for feature in features):
            blocks.append(value)
            continue
        for k, feature in enumerate(features):
            if is_text != feature.is_text:
                kinds = {True: "strings", False: "numbers"}
                raise ValueError(
                    f"input {tensor.name!r} holds {kinds[is_text]}, and column {feature.name!r} of "
                    f"the model {kinds[feature.is_text]}"
                )
            column = value
            if tensor.width > 1:
                column = graph.add("Gather", value, graph.constant(np.array([k])), axis=1)
            if feature.is_text:
                column = _read_text(graph, feature, column, missing)
            elif feature.categories is not None:
                column = _read_numbers(graph, feature, column)
            blocks.append(column)
    return blocks[0] if len(blocks) == 1 else graph.add("Concat", *blocks, axis=1)


def _read_text(graph: _Graph, feature: CodedColumn, name: str, missing: str) -> str:
    assert feature.categories is not None
    if missing in feature.categories:
        raise ValueError(
            f"missing={missing!r} is a category of column {feature.name!r}: name a string that "
            "none is"
        )
    known = [str(category) for category in feature.categories]
    for category in known:
        _encode(category, f"the category {category!r} of column {feature.name!r}")
    place: str = graph.add(
        "LabelEncoder",
        name,
        domain="ai.onnx.ml",
        keys_strings=[*known, missing],
        values_int64s=[*range(len(known)), -1],
        default_int64=len(known),
    )
    place = graph.cast(place, "DOUBLE")
    is_missing = graph.add("Less", place, graph.constant(np.array(0.0)))
    read: str = graph.add("Where", is_missing, graph.constant(np.array(np.nan)), place)
    return read


def _encode(text: str, what: str = "a label") -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} is no Unicode text: {text!r}") from error


def _read_numbers(graph: _Graph, feature: CodedColumn, value: str) -> str:
    """Return the places of categories that are numbers."""
    assert feature.categories is not None
    check_doubles(feature)
    keys = np.array([float(category) for category in feature.categories])
    places = np.arange(len(keys) + 1.0)
    place = graph.constant(places[-1:])
    if len(keys):
        equal = graph.add("Equal", value, graph.constant(keys[None, :]))
        # At most one is equal, so that the maximum rounds nothing.
        which = graph.add("ArgMax", graph.cast(equal, "INT32"), axis=1, keepdims=1)
        known = graph.add("Gather", graph.constant(places), which)
        is_known = graph.add("ReduceMax", graph.cast(equal, "INT32"), graph.constant(np.array([1])))
        place = graph.add("Where", graph.cast(is_known, "BOOL"), known, place)
    is_missing = graph.add("IsNaN", value)
    read: str = graph.add("Where", is_missing, graph.constant(np.array(np.nan)), place)
    return read


# -- adding up -------------------------------------------------------------------------------------


def _add_up(graph: _Graph, described: Description, X: str) -> tuple[str, str]:
    """Return the raw predictions (n_rows, n_models), and the numbers that terms look up."""
    lookups = [term for term in described.terms if isinstance(term, Lookup)]
    linear = [term for term in described.terms if isinstance(term, Linear)]
    lined = sorted(
        {int(j) for term in lookups for lines in term.lines or () for j in lines.feature}
    )
    n_models = described.n_models
    described = replace(described, n_models=n_models * described.n_sums)
    numbers = _number_terms(graph, described, lookups, lined, X)
    parts: list[str] = []  # (n_terms, n_models, n_rows)
    if lookups:
        parts.append(_look_up(graph, described, lookups, numbers, lined))
    if linear:
        parts.append(_multiply(graph, linear, X))
    if parts:
        terms = _put_in_order(graph, parts, [*lookups, *linear], described.terms)
        raw = _add_terms(graph, described, terms)
    else:
        raw = _add_nothing(graph, described.n_models, X)
    if described.n_sums > 1:
        ranges = np.arange(described.n_models).reshape(described.n_sums, n_models)
        sums = [graph.add("Gather", raw, graph.constant(places), axis=1) for places in ranges]
        raw = reduce(lambda total, added: graph.add("Add", total, added), sums)
    if described.intercepts is not None:
        raw = graph.combine("Add", raw, described.intercepts[None, :])
    return raw, numbers


def _number_terms(
    graph: _Graph,
    described: Description,
    lookups: Sequence[Lookup],
    lined: Sequence[int],
    X: str,
) -> str:
    """Return the numbers that terms look up, then the codes of the features of lines.

    Return "" if there is no such term.
    """
    if not lookups:
        return ""
    decisions = [term.decision for term in lookups]
    for j in lined:
        position = described.feature_of(j)
        feature = described.features[position]
        decisions.append(choose(position, feature.codes, feature.missing))
    return _decide(graph, described.features, decisions, X)


def _multiply(graph: _Graph, linear: Sequence[Linear], X: str) -> str:
    """Return the products of linear terms, (n_terms, 1, n_rows)."""
    features = np.array([term.feature for term in linear])
    columns = graph.add("Gather", X, graph.constant(features), axis=1)
    # Linear models refuse infinite values, as they do missing ones.
    is_infinite = graph.add("IsInf", columns)
    columns = graph.add("Where", is_infinite, graph.constant(np.array(np.nan)), columns)
    factors = np.array([term.coefficient for term in linear])
    product = graph.add("Transpose", graph.combine("Mul", columns, factors), perm=[1, 0])
    return graph.add("Unsqueeze", product, graph.constant(np.array([1])))


def _put_in_order(
    graph: _Graph,
    parts: Sequence[str],
    terms: Sequence[Lookup | Linear],
    order: Sequence[Lookup | Linear],
) -> str:
    """Return the parts with these terms as one tensor, in the given order of terms."""
    if len(parts) == 1:
        return parts[0]
    joined = graph.add("Concat", *parts, axis=0)
    where = {id(term): k for k, term in enumerate(terms)}
    places = np.array([where[id(term)] for term in order])
    return graph.add("Gather", joined, graph.constant(places), axis=0)


def _add_terms(graph: _Graph, described: Description, terms: str) -> str:
    """Return the sums (n_rows, n_models) of terms (n_terms, n_models, n_rows)."""
    longest = max(len(described.terms_of(m)) for m in range(described.n_models))
    if longest > 1 or described.has_lines:
        sums = graph.add("CumSum", terms, graph.constant(np.array(0)))
        total = graph.add("Gather", sums, graph.constant(np.array(-1)), axis=0)
    else:
        total = graph.add("Squeeze", terms, graph.constant(np.array([0])))
    return graph.add("Transpose", total, perm=[1, 0])


def _add_nothing(graph: _Graph, n_models: int, X: str) -> str:
    """Return zeros (n_rows, n_models), for a model without terms."""
    first = graph.add("Gather", X, graph.constant(np.array([0])), axis=1)
    is_missing = graph.cast(graph.add("IsNaN", first), "DOUBLE")
    return graph.add("Mul", is_missing, graph.constant(np.zeros((1, n_models))))


def _decide(
    graph: _Graph, features: Sequence[CodedColumn], decisions: Sequence[Decision], X: str
) -> str:
    """Return the numbers (n_decisions, n_rows) at the leaves of decisions, as integers."""
    nodes: dict[str, list[Any]] = {name: [] for name in _NODE_FIELDS}
    leaves: dict[str, list[Any]] = {"treeids": [], "nodeids": [], "ids": [], "weights": []}
    for target, decision in enumerate(decisions):
        for node, (test, yes, no) in enumerate(_lay_out(decision)):
            row: tuple[Any, ...] = (target, node, 0, "LEAF", 0.0, 0, 0, 0)
            if isinstance(test, Leaf):
                for name, value in zip(leaves, (target, node, target, test.number), strict=True):
                    leaves[name].append(value)
            else:
                bound = features[test.feature].bound(test.below)
                row = (target, node, test.feature, "BRANCH_LEQ", bound, yes, no, int(test.missing))
            for name, value in zip(nodes, row, strict=True):
                nodes[name].append(value)
    bounds = np.array(nodes.pop("values"))
    weights = np.array(leaves.pop("weights"), dtype=np.float64)
    named: dict[str, Any] = {f"nodes_{name}": values for name, values in nodes.items()}
    named |= {f"target_{name}": values for name, values in leaves.items()}
    targets = graph.add(
        "TreeEnsembleRegressor",
        X,
        domain="ai.onnx.ml",
        n_targets=len(decisions),
        nodes_values_as_tensor=bounds,
        target_weights_as_tensor=weights,
        **named,
    )
    # The results are float32, which has all whole numbers up to 2^24.
    return graph.cast(graph.add("Transpose", targets, perm=[1, 0]), "INT64")


def _lay_out(decision: Decision) -> list[tuple[Cut | Leaf, int, int]]:
    """Return the nodes of a decision, each with the positions of its branches.

    onnxruntime puts the node for `no` behind its parent, so that several nodes may lead to one by
    their `yes` only.  Where a `no` leads to an existing node, an extra node between them always
    leads to its `yes`.
    """
    nodes: list[Cut | Leaf] = []
    ends: list[list[int]] = []
    position: dict[int, int] = {}
    alive: list[Decision] = []  # their identities, the keys of positions, must not be reused
    waiting: list[tuple[Decision, int, int]] = [(decision, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        known = position.get(id(node), -1)
        if known >= 0 and side == 1:
            between = Cut(0, _ALL, True, node, Leaf(0))
            waiting += [(node, len(ends), 0), (between.no, len(ends), 1)]
            node = between
        elif known >= 0:
            ends[parent][side] = known
            continue
        elif not isinstance(node, Leaf):
            cut = node if isinstance(node, Cut) else node.as_cuts()
            position[id(node)] = len(ends)
            alive.append(node)
            waiting += [(cut.yes, len(ends), 0), (cut.no, len(ends), 1)]
            node = cut
        if parent >= 0:
            ends[parent][side] = len(ends)
        ends.append([0, 0])
        nodes.append(node)
    return [(node, yes, no) for node, (yes, no) in zip(nodes, ends, strict=True)]


def _look_up(
    graph: _Graph,
    described: Description,
    lookups: Sequence[Lookup],
    numbers: str,
    lined: Sequence[int],
) -> str:
    """Return the values of terms in each model, (n_terms, n_models, n_rows).

    With lines each tree has two entries: its value, then its line's.
    """
    n_models = described.n_models
    every = tuple(range(n_models))
    if n_models > 1 and not described.has_lines and all(t.models == every for t in lookups):
        return _look_up_shared(graph, lookups, numbers)
    chain = _chain_tables(lookups, n_models)
    place = numbers
    if n_models > 1 or not np.array_equal(chain.term[:, 0], np.arange(len(lookups) + len(lined))):
        place = graph.add("Gather", numbers, graph.constant(chain.term.ravel()), axis=0)
    place = graph.add("Add", place, graph.constant(chain.begin.reshape(-1, 1)))
    added = graph.add("Gather", graph.constant(np.concatenate(chain.tables)), place, axis=0)
    count = len(chain.term)
    if described.has_lines:
        line = _follow_lines(graph, described, numbers, lined, len(lookups), place, chain)
        shape = graph.constant(np.array([count, 1, n_models, -1]))
        both = [graph.add("Reshape", values, shape) for values in (added, line)]
        added = graph.add("Concat", *both, axis=1)
        count *= 2
    return graph.add("Reshape", added, graph.constant(np.array([count, n_models, -1])))


def _look_up_shared(graph: _Graph, lookups: Sequence[Lookup], numbers: str) -> str:
    """Return the values of terms in each model, where all models share the numbers."""
    sizes = [len(term.values) for term in lookups]
    begin = np.cumsum([0, *sizes[:-1]])[:, None]
    place = graph.add("Add", numbers, graph.constant(begin))
    values = graph.constant(np.concatenate([term.values for term in lookups]))
    rows = graph.add("Gather", values, place, axis=0)  # (n_terms, n_rows, n_models)
    return graph.add("Transpose", rows, perm=[0, 2, 1])


@dataclass(frozen=True, eq=False)
class _Chain:
    """The concatenated tables of all models, each with the lines of its nodes, if any.

    For the terms of each model, (n_terms, n_models), `term` has the position among all lookups and
    `begin` the place of the first entry.  Models of fewer terms have the first table, of zeros.
    """

    term: NDArray[np.int64]
    begin: NDArray[np.int64]
    tables: list[NDArray[np.float64]]
    lines: list[Any]


def _chain_tables(lookups: Sequence[Lookup], n_models: int) -> _Chain:
    by_model = [
        [(t, term) for t, term in enumerate(lookups) if m in term.models] for m in range(n_models)
    ]
    shape = max(map(len, by_model)), n_models
    size = max(len(term.values) for term in lookups)
    chain = _Chain(np.zeros(shape, np.int64), np.zeros(shape, np.int64), [np.zeros(size)], [None])
    for m, terms in enumerate(by_model):
        for k, (t, term) in enumerate(terms):
            column = term.models.index(m)
            chain.term[k, m], chain.begin[k, m] = t, size
            chain.tables.append(term.values[:, column])
            chain.lines.append(None if term.lines is None else term.lines[column])
            size += len(term.values)
    return chain


def _follow_lines(
    graph: _Graph,
    described: Description,
    numbers: str,
    lined: Sequence[int],
    n_lookups: int,
    place: str,
    chain: _Chain,
) -> str:
    """Return the values of the nodes' lines, in the shape of `place`, which counts nodes."""
    tables, lines = chain.tables, chain.lines
    n_nodes = sum(map(len, tables))
    longest = max(
        int(np.diff(node_lines.offsets).max(initial=0))
        for node_lines in lines
        if node_lines is not None
    )
    column = np.full((longest, n_nodes), len(lined))  # the last one has no values
    slope, center = np.zeros((2, longest, n_nodes))
    of_feature = {j: k for k, j in enumerate(lined)}
    begin = 0
    for table, node_lines in zip(tables, lines, strict=True):
        for node in range(len(table)) if node_lines is not None else ():
            first, last = int(node_lines.offsets[node]), int(node_lines.offsets[node + 1])
            for r, t in enumerate(range(first, last)):
                column[r, begin + node] = of_feature[int(node_lines.feature[t])]
                slope[r, begin + node] = node_lines.slope[t]
                center[r, begin + node] = node_lines.center[t]
        begin += len(table)
    bins = [described.positions[j] for j in lined]
    width = max(map(len, bins))
    positions = np.concatenate([np.pad(values, (0, width - len(values))) for values in bins])
    codes = graph.add("Gather", numbers, graph.constant(n_lookups + np.arange(len(lined))), axis=0)
    offsets = graph.constant(width * np.arange(len(lined))[:, None])
    z = graph.add("Gather", graph.constant(positions), graph.add("Add", codes, offsets), axis=0)
    any_z = graph.add("Gather", z, graph.constant(np.array([0])), axis=0)
    none = graph.add("Mul", any_z, graph.constant(np.array(np.nan)))
    z = graph.add("Concat", z, none, axis=0)
    line = ""
    for r in range(longest):
        term_z = graph.add(
            "GatherElements",
            z,
            graph.add("Gather", graph.constant(column[r]), place, axis=0),
            axis=0,
        )
        term_slope, term_center = (
            graph.add("Gather", graph.constant(table[r]), place, axis=0)
            for table in (slope, center)
        )
        product = graph.add("Mul", term_slope, graph.add("Sub", term_z, term_center))
        is_missing = graph.add("IsNaN", term_z)
        term = graph.add("Where", is_missing, graph.constant(np.array(0.0)), product)
        line = graph.add("Add", line, term) if line else term
    return line


# -- predicting ------------------------------------------------------------------------------------


def _finish(graph: _Graph, described: Description, output: str, raw: str, numbers: str) -> str:
    """Return the labels, the probabilities or the raw predictions."""
    last = graph.constant(np.array([1]))
    if output == "raw":
        if described.n_moves:
            return graph.add("Gather", raw, graph.constant(np.array(0)), axis=1)
        return raw if described.n_models > 1 else graph.add("Squeeze", raw, last)
    if described.shares is not None:
        only = graph.add("Gather", numbers, graph.constant(np.array(0)), axis=0)
        class_probabilities = graph.add("Gather", graph.constant(described.shares), only, axis=0)
    elif isinstance(described.link, OrderedLink):
        return _finish_ordered(graph, described, output, raw)
    elif output == "probabilities":
        assert described.link is not None
        class_probabilities = probabilities(
            described.link, _Tensor(graph, raw, described.n_models)
        ).name
    if output == "probabilities":
        return class_probabilities
    if described.n_models > 1:
        position = graph.add("ArgMax", raw, axis=1, keepdims=0)
    else:
        value, bound = raw, 0.0
        if described.shares is not None:
            value, bound = (
                graph.add("Gather", class_probabilities, graph.constant(np.array([1])), axis=1),
                0.5,
            )
        positive = graph.add("Greater", value, graph.constant(np.array(bound)))
        position = graph.cast(graph.add("Squeeze", positive, last), "INT64")
        if described.has_linear:
            # Without a raw prediction there is no label: runtimes refuse a position out of range.
            missing = graph.add("Squeeze", graph.add("IsNaN", raw), last)
            nowhere = graph.constant(np.array(len(described.classes)))
            position = graph.add("Where", missing, nowhere, position)
    return graph.add("Gather", graph.constant(described.classes), position, axis=0)


def _finish_ordered(graph: _Graph, described: Description, output: str, raw: str) -> str:
    """Return the labels or the probabilities of ordered classes."""
    assert isinstance(described.link, OrderedLink)
    assert described.ranks is not None
    numbers = _Tensor(graph, raw, described.n_models)
    ordered = ordered_probabilities(described.link, numbers, described.n_moves)
    if output == "probabilities":
        name: str = ordered.take(described.ranks).name
        return name
    position = graph.add("ArgMax", ordered.name, axis=1, keepdims=0)
    labels = described.classes[np.argsort(described.ranks)]
    return graph.add("Gather", graph.constant(labels), position, axis=0)


class _Tensor(Value):
    """A tensor (n_rows, n)."""

    def __init__(self, graph: _Graph, name: str, n: int) -> None:
        self._graph, self.name, self.n = graph, name, n

    def _make(self, kind: str, *inputs: str, n: int | None = None, **attributes: Any) -> _Tensor:
        name = self._graph.add(kind, *inputs, **attributes)
        return _Tensor(self._graph, name, self.n if n is None else n)

    def _name(self, other: _Tensor | float) -> str:
        return other.name if isinstance(other, _Tensor) else self._number(other)

    def _number(self, number: float | NDArray[Any]) -> str:
        return self._graph.constant(np.asarray(number, dtype=np.float64))

    def _combine(self, operator: str, other: _Tensor | float) -> _Tensor:
        kinds = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "max": "Max"}
        if not isinstance(other, _Tensor):
            name = self._graph.combine(kinds[operator], self.name, np.array(float(other)))
            return _Tensor(self._graph, name, self.n)
        return self._make(kinds[operator], self.name, other.name, n=max(self.n, other.n))

    def apply(self, function: str) -> _Tensor:
        kinds = {"abs": "Abs", "exp": "Exp", "ln": "Log", "sqrt": "Sqrt"}
        return self._make(kinds[function], self.name)

    def where_positive(self, yes: _Tensor | float, no: _Tensor | float) -> _Tensor:
        positive = self._graph.add("Greater", self.name, self._number(0.0))
        sizes = [operand.n for operand in (self, yes, no) if isinstance(operand, _Tensor)]
        return self._make("Where", positive, self._name(yes), self._name(no), n=max(sizes))

    def total(self) -> _Tensor:
        return self._reduce("ReduceSum")

    def largest(self) -> _Tensor:
        return self._reduce("ReduceMax")

    def _reduce(self, kind: str) -> _Tensor:
        axis = self._graph.constant(np.array([1]))
        return self._make(kind, self.name, axis, n=1, keepdims=1)

    def is_top(self) -> _Tensor:
        position = self._graph.add("ArgMax", self.name, axis=1, keepdims=1)
        every = self._graph.constant(np.arange(self.n)[None, :])
        top = self._graph.add("Equal", position, every)
        return _Tensor(self._graph, self._graph.cast(top, "DOUBLE"), self.n)

    def beside(self, other: _Tensor) -> _Tensor:
        return self._make("Concat", self.name, other.name, n=self.n + other.n, axis=1)

    def less_each(self, numbers: NDArray[np.float64]) -> _Tensor:
        name = self._graph.combine("Sub", self.name, numbers[None, :])
        return _Tensor(self._graph, name, len(numbers))

    def take(self, places: NDArray[np.intp]) -> _Tensor:
        where = self._graph.constant(places.astype(np.int64))
        return self._make("Gather", self.name, where, n=len(places), axis=1)

    def keep(self) -> _Tensor:
        return self

    def look_up_cubic(self, cells: NDArray[np.float64]) -> _Tensor:
        add, number = self._graph.add, self._number
        powers = 2.0 ** np.arange(OCTAVES)
        last = np.nextafter(2.0**OCTAVES, 0.0)
        x = add("Min", self.name, number(last))
        axis = self._graph.constant(np.array([-1]))
        reached = add("GreaterOrEqual", add("Unsqueeze", x, axis), number(powers[1:]))
        octave = add("ReduceSum", self._graph.cast(reached, "INT64"), axis, keepdims=0)
        power = add("Gather", number(powers), octave)
        within = add("Mul", add("Sub", add("Div", x, power), number(1.0)), number(CELLS_PER_OCTAVE))
        begin = add("Floor", within)
        t = add("Sub", within, begin)
        first = add("Mul", octave, self._graph.constant(np.array(CELLS_PER_OCTAVE)))
        cell = add("Add", first, self._graph.cast(begin, "INT64"))
        value = add("Gather", number(cells[:, 3]), cell)
        for k in (2, 1, 0):
            value = add("Add", add("Mul", value, t), add("Gather", number(cells[:, k]), cell))
        return _Tensor(self._graph, value, self.n)
