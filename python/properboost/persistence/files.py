"""Models as files: versioned JSON, every field of which is checked on loading.

The file holds what `fit` left: parameters, loss, classes, bins and rounds.  Nothing in it is ever
executed, and nothing derived is stored, so that what is loaded predicts bit for bit what was saved.
Numbers are written with the digits that give the same float64 back; infinite ones are strings.
"""

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.boosting.ensemble import (
    LARGEST_RAW,
    Ensemble,
    Rounds,
    TableEnsemble,
    make_ensemble,
)
from properboost.boosting.interactions import MOST_CELLS, PairBins
from properboost.boosting.tree import Tree
from properboost.data.binning import (
    MAX_CATEGORIES,
    Binning,
    CategoricalBins,
    FeatureBins,
    NumericBins,
)
from properboost.data.table import Category
from properboost.estimators.arboost import ARBoostClassifier, Voting, check_voting
from properboost.estimators.properboost import ProperBoostClassifier, check_parameters
from properboost.losses import CustomLoss, Exponential, LossTable, MarginLoss, get_loss
from properboost.parameters import non_negative, positive
from properboost.persistence.json_node import (
    FORMAT,
    INFINITE,
    VERSION,
    Node,
    build_category,
    build_classes,
    check_categorical,
    check_format,
    name_type,
    plain,
    write_category,
)

if TYPE_CHECKING:
    from properboost.rado import RadoBoostClassifier

__all__ = ["load_model", "save_model"]

Model = ProperBoostClassifier | ARBoostClassifier

_CHECKS = {ProperBoostClassifier: check_parameters, ARBoostClassifier: check_voting}
_ESTIMATORS: dict[str, type[Model]] = {cls.__name__: cls for cls in _CHECKS}

_LARGEST = 2**30  # look-up values of a model, 8 GiB: a small file must not ask for more
_MOST_NODES = 255  # of a tree: a row's node is a byte
_TABLE_SIDES = ("right", "right_slope", "left", "left_slope")
_LARGEST_WEIGHT = 1e35
_FITTED = "of the fitted loss"


def save_model(model: "Model | RadoBoostClassifier", path: str | os.PathLike[str]) -> None:
    """Write a fitted model; see `BoostedClassifier.save_model`."""
    if isinstance(model, Model):
        document = _describe(model)
    else:
        from properboost.rado import files

        document = files.describe(model)
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    # A reader sees the old file or the new one, never a part.
    unfinished = Path(f"{os.fspath(path)}.{os.getpid()}.part")
    try:
        unfinished.write_text(text + "\n", encoding="ascii")
        unfinished.replace(path)
    except OSError as error:
        if error.filename is not None:
            error.filename = os.fspath(path)  # the file the caller knows of
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def load_model(
    path: str | os.PathLike[str],
) -> "ProperBoostClassifier | ARBoostClassifier | RadoBoostClassifier":
    """Read a model that was written by the method `save_model` of an estimator.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    ProperBoostClassifier, ARBoostClassifier or RadoBoostClassifier
        The fitted model, with its parameters.  Its predictions are bit for bit those of the one
        that was saved.  What a `ProperBoostClassifierCV` or an `ARBoostClassifierCV` saved comes
        back as the classifier it chose, its `best_estimator_`; the search is not kept.

    Raises
    ------
    ValueError
        If the file is not a model this version can read; the message names the file and the field.
    OSError
        If it cannot be read at all.
    """
    try:
        document = json.loads(Path(path).read_bytes(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{os.fspath(path)}: not a properboost model: {error}") from error
    node = Node(document, os.fspath(path))
    version = check_format(node)
    if document.get("estimator") == "RadoBoostClassifier":
        from properboost.rado import files

        return files.build(node)
    return _build(node, version)


# -- writing --------------------------------------------------------------------------------------


def _describe(model: Model) -> dict[str, Any]:
    kind = _find_kind(model)
    _CHECKS[kind](model)  # they may have been set since the fit
    ensemble = model._ensemble
    names = getattr(model, "feature_names_in_", None)
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "library_version": _core.__version__,
        "estimator": kind.__name__,
        "parameters": _describe_parameters(model),
        "loss": _describe_loss(model.loss_),
        "voting": asdict(model._voting) if isinstance(model, ARBoostClassifier) else None,
        "seed": model._seed,
        "classes": {"dtype": name_type(model.classes_), "labels": model.classes_.tolist()},
        "feature_names": None if names is None else [str(name) for name in names],
        "categorical_from_dtype": ensemble.binning.from_dtype,
        "selection": ensemble.selection,
        "features": [
            _describe_feature(bins, weight)
            for bins, weight in zip(ensemble.binning.features, ensemble.bin_weights, strict=True)
        ],
        "pairs": _describe_pairs(ensemble),
        "models": [_describe_rounds(rounds) for rounds in ensemble.models],
    }


def _find_kind(model: Model) -> type[Model]:
    """Return the class that a model, which may be of a class derived from it, comes back as."""
    return next(cls for cls in _CHECKS if isinstance(model, cls))


def _describe_parameters(model: Model) -> dict[str, Any]:
    values = model.get_params(deep=False)
    if isinstance(values.get("loss"), MarginLoss):
        own = _describe_loss(values["loss"])
        if own["table"] is not None and values["loss"] == model.loss_:
            own["table"] = _FITTED  # not twice: it is long
        values["loss"] = own
    if isinstance(values["random_state"], np.random.RandomState):
        values["random_state"] = model._seed  # the one it gave
    if isinstance(values["class_weight"], Mapping):
        pairs = values["class_weight"].items()
        values["class_weight"] = [[plain(label), plain(weight)] for label, weight in pairs]
    if not isinstance(values.get("interactions", 0), int | np.integer):
        values["interactions"] = [[plain(f) for f in pair] for pair in values["interactions"]]
    constraints = values.get("monotonic_cst")
    if isinstance(constraints, Mapping):  # by name or position
        pairs = constraints.items()
        values["monotonic_cst"] = {"of": [[plain(key), plain(value)] for key, value in pairs]}
    elif constraints is not None:
        values["monotonic_cst"] = [plain(v) for v in constraints]
    if not isinstance(values["categorical_features"], str | None):
        values["categorical_features"] = [plain(v) for v in values["categorical_features"]]
    return {name: plain(value) for name, value in values.items()}


def _describe_loss(loss: MarginLoss) -> dict[str, Any]:
    table = None
    if isinstance(loss, CustomLoss):
        fall = loss.table.find_fall()
        if fall is not None:  # of functions that nobody has validated; loading would refuse it
            raise ValueError(
                f"loss {loss.name!r} cannot be saved: its inverse link falls at the margin {fall:g}"
            )
        table = {
            "scale": loss.table.scale,
            "beyond": loss.table.beyond,
            **{name: getattr(loss.table, name).tolist() for name in _TABLE_SIDES},
        }
    return {
        "name": loss.name,
        "parameters": dict(loss.parameters),
        "gain": loss.gain,
        "table": table,
    }


def _describe_feature(bins: FeatureBins, weight: NDArray[np.float64]) -> dict[str, Any]:
    cut: dict[str, Any]
    if isinstance(bins, NumericBins):
        cut = {"kind": "numeric", "edges": [_write_edge(edge) for edge in bins.edges.tolist()]}
    else:
        cut = {
            "kind": "categorical",
            "categories": [write_category(category) for category in bins.categories],
            "has_rare": bins.has_rare,
        }
    return {**cut, "weights": weight.tolist()}


def _describe_pairs(ensemble: Ensemble) -> list[dict[str, Any]]:
    if not isinstance(ensemble, TableEnsemble):
        return []
    return [
        {
            "features": [pair.first, pair.second],
            "levels": [pair.first_level.tolist(), pair.second_level.tolist()],
            "ordered": list(pair.ordered),
            "weights": weight.tolist(),
        }
        for pair, weight in zip(ensemble.pairs, ensemble.pair_weights, strict=True)
    ]


def _describe_rounds(rounds: Rounds) -> dict[str, Any]:
    offsets = rounds.offsets.tolist()
    values = rounds.values.tolist()
    return {
        "feature": rounds.feature.tolist(),
        "score": rounds.score.tolist(),
        "step": rounds.step.tolist(),
        "risk": rounds.risk.tolist(),
        "tables": [values[a:b] for a, b in pairwise(offsets)],
        "trees": None
        if rounds.trees is None
        else [_describe_tree(rounds.trees.part(a, b)) for a, b in pairwise(offsets)],
    }


def _describe_tree(tree: Tree) -> dict[str, Any]:
    return {
        "feature": tree.feature.tolist(),
        "left": tree.left.tolist(),
        "goes_left": [_write_set(words) for words in tree.goes_left.tolist()],
        "goes_right": [_write_set(words) for words in tree.goes_right.tolist()],
        "weight": tree.weight.tolist(),
        "saving": tree.saving.tolist(),
    }


def _write_set(words: list[int]) -> str:
    # Code c is bit c of a number, in hexadecimal digits.
    return f"{sum(word << (64 * k) for k, word in enumerate(words)):x}"


def _write_edge(x: float) -> float | str:
    return x if math.isfinite(x) else str(x)


# -- reading --------------------------------------------------------------------------------------


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed")


_FIELDS = (
    "format",
    "format_version",
    "library_version",
    "estimator",
    "parameters",
    "loss",
    "voting",
    "seed",
    "classes",
    "feature_names",
    "categorical_from_dtype",
    "selection",
    "features",
    "pairs",
    "models",
)

# In which version fields came that the files before do not have.
_SINCE = {"selection": 2, "pairs": 3, "voting": 4}


def _build(document: Node, version: int) -> Model:
    fields = document.fields(*(f for f in _FIELDS if version >= _SINCE.get(f, 1)))
    fields["library_version"].string()
    if fields["estimator"].string() not in _ESTIMATORS:
        fields["estimator"].fail(f"must be one of {list(_ESTIMATORS)}")
    loss = _build_loss(fields["loss"], version)
    cls = _ESTIMATORS[fields["estimator"].string()]
    model = _build_unfitted(fields["parameters"], cls, version, loss)
    classes = build_classes(fields["classes"])
    from_dtype = fields["categorical_from_dtype"].boolean()
    binning, weights = _build_binning(fields["features"], from_dtype)
    n_models = 1 if len(classes) == 2 else len(classes)
    pairs, pair_weights = _build_pairs(fields.get("pairs"), binning)
    widths = [bins.width for bins in (*binning.features, *pairs)]
    if n_models * sum(widths) > _LARGEST:
        document.fail(f"asks for more than {_LARGEST} look-up values")
    models = tuple(
        _build_rounds(node, binning, widths, version) for node in fields["models"].entries(n_models)
    )
    if any(rounds.trees is not None for rounds in models) and not all(
        rounds.trees is not None or len(rounds) == 0 for rounds in models
    ):
        fields["models"].fail("must all hold trees if one does")
    seed = fields["seed"].integer(0, 2**32 - 1)
    selection = _build_selection(fields.get("selection"))
    voting = Voting()
    if isinstance(model, ARBoostClassifier):
        voting = _build_voting(fields.get("voting", fields["parameters"]), n_models)
        if loss != Exponential():
            fields["loss"].fail("must be exponential, of gain 1, of classifiers that vote")
        model._set_voting(voting)
    elif "voting" in fields and fields["voting"].value is not None:
        fields["voting"].fail("must be null")
    ensemble = make_ensemble(
        binning, models, weights, selection, pairs, pair_weights, voting.damping
    )
    if pairs and not isinstance(ensemble, TableEnsemble):
        fields["pairs"].fail("must be empty in a model of trees")
    n_features = len(binning.features)
    for rounds in models:
        mains = int(np.count_nonzero(rounds.feature < n_features))
        if np.any(rounds.feature[:mains] >= n_features):
            fields["models"].fail("must hold the rounds of features before those of pairs")
        cyclic = selection == "cyclic" and isinstance(ensemble, TableEnsemble)
        if cyclic and (mains % n_features or (len(rounds) - mains) % max(1, len(pairs))):
            fields["models"].fail("must hold whole cycles: a round for every feature or pair")
    model._set_fitted(loss, classes, ensemble, seed)
    model.n_features_in_ = len(binning.features)
    if fields["feature_names"].value is not None:
        names = [name.string() for name in fields["feature_names"].entries(model.n_features_in_)]
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _build_unfitted(node: Node, cls: type[Model], version: int, fitted: MarginLoss) -> Model:
    """Return the estimator; a parameter that the file's writer did not know has its default."""
    known = cls().get_params(deep=False)
    values = {}
    for name, entry in node.mapping().items():
        if name not in known:
            node.fail(f"has an unknown field {name!r}")
        values[name] = entry.value
        if name == "loss" and isinstance(entry.value, dict):
            as_fitted = isinstance(fitted, CustomLoss) and entry.value.get("table") == _FITTED
            values[name] = fitted if as_fitted else _build_loss(entry, version)
        elif name == "class_weight" and isinstance(entry.value, list):
            values[name] = _build_class_weight(entry)
        elif name == "categorical_features":
            check_categorical(entry)
        elif name == "monotonic_cst":
            values[name] = _build_constraints(entry)
    model = cls(**values)
    try:
        _CHECKS[cls](model)
    except (TypeError, ValueError) as error:
        node.fail(f"has a value that is not allowed: {error}")
    return model


def _build_loss(node: Node, version: int) -> MarginLoss:
    names = ("name", "parameters", "gain", "table")
    fields = node.fields(*(name for name in names if version > 3 or name != "table"))
    parameters = {name: entry.value for name, entry in fields["parameters"].mapping().items()}
    try:
        if version > 3 and fields["table"].value is not None:
            if parameters:
                fields["parameters"].fail("must be empty beside a table")
            return _build_custom_loss(fields)
        return get_loss(fields["name"].string(), fields["gain"].value, **parameters)
    except (TypeError, ValueError) as error:
        node.fail(f"is not a loss: {error}")


def _build_voting(node: Node, n_models: int) -> Voting:
    fields = node.fields("rho", "by_label", "mistrust", "damping")
    values = {}
    for name in ("rho", "mistrust", "damping"):
        values[name] = fields[name].value
    try:
        check_voting(ARBoostClassifier(**values))
    except (TypeError, ValueError) as error:
        node.fail(f"has a value that is not allowed: {error}")
    if values["damping"] > 0.0 and n_models > 1:
        fields["damping"].fail("must be 0 with more than two classes")
    return Voting(by_label=fields["by_label"].boolean(), **values)


def _build_custom_loss(fields: dict[str, Node]) -> CustomLoss:
    name = fields["name"].string()
    table = fields["table"].fields("scale", "beyond", *_TABLE_SIDES)
    scale = positive("scale", table["scale"].value)
    beyond = non_negative("beyond", table["beyond"].value)
    sides = {side: table[side].reals() for side in _TABLE_SIDES}
    for side, values in sides.items():
        if np.any(np.abs(values) > _LARGEST_WEIGHT):  # so that nothing made of them is infinite
            table[side].fail(f"must hold no number beyond {_LARGEST_WEIGHT:g}")
    built = LossTable(scale, beyond, **sides)
    loss = CustomLoss(name, built, fields["gain"].value)
    _ = loss.native  # which looks at the numbers
    fall = built.find_fall()
    if fall is not None:
        raise ValueError(f"its inverse link falls at the margin {fall:g}")
    return loss


def _build_selection(node: Node | None) -> str:
    if node is None:
        return "greedy"
    if node.string() not in _core.selection_names():
        node.fail(f"must be one of {_core.selection_names()}")
    return node.string()


def _build_class_weight(node: Node) -> dict[Category, float]:
    weights = {}
    for pair in node.entries():
        label, weight = pair.sequence(2)
        if not isinstance(label, str | int | float):
            pair.fail("must begin with a label")
        weights[label] = weight
    return weights


def _build_constraints(node: Node) -> list[int] | dict[str | int, int] | None:
    if isinstance(node.value, dict):
        pairs = [pair.entries(2) for pair in node.fields("of")["of"].entries()]
        for key, _ in pairs:
            if type(key.value) not in (str, int):
                key.fail("must be a name or a position")
        return {key.value: direction.integer(-1, 1) for key, direction in pairs}
    return None if node.value is None else node.integers(-1, 1).tolist()


def _build_binning(node: Node, from_dtype: bool) -> tuple[Binning, tuple[NDArray[np.float64], ...]]:
    features, weights = [], []
    for entry in node.entries():
        bins, held = _build_feature(entry)
        features.append(bins)
        weights.append(_build_weights(held, bins.width))
    if not features:
        node.fail("must not be empty")
    return Binning(tuple(features), from_dtype), tuple(weights)


def _build_feature(node: Node) -> tuple[FeatureBins, Node]:
    kind = node.mapping().get("kind", node).value
    if kind not in ("numeric", "categorical"):
        node.fail("must have the kind 'numeric' or 'categorical'")
    if kind == "numeric":
        fields = node.fields("kind", "edges", "weights")
        return NumericBins(_build_edges(fields["edges"])), fields["weights"]
    fields = node.fields("kind", "categories", "has_rare", "weights")
    has_rare = fields["has_rare"].boolean()
    return _build_categories(fields["categories"], has_rare), fields["weights"]


def _build_edges(node: Node) -> NDArray[np.float64]:
    written = node.sequence()
    finite = [edge for edge in written if not isinstance(edge, str)]
    node.entry("finite", finite).reals()
    strings = {edge for edge in written if isinstance(edge, str)}
    if len(written) > 254 or not strings <= INFINITE.keys():
        node.fail("must hold at most 254 numbers, 'inf' or '-inf'")
    edges = np.array([INFINITE[e] if isinstance(e, str) else e for e in written], dtype=np.float64)
    if np.any(edges[1:] <= edges[:-1]):
        node.fail("must be in strictly ascending order")
    return edges


def _build_categories(node: Node, has_rare: bool) -> CategoricalBins:
    categories = tuple(build_category(entry) for entry in node.entries())
    most = MAX_CATEGORIES - has_rare
    if len(categories) > most or len(set(categories)) < len(categories):
        node.fail(f"must hold at most {most} categories, all different")
    return CategoricalBins(categories, has_rare)


def _build_pairs(
    node: Node | None, binning: Binning
) -> tuple[tuple[PairBins, ...], tuple[NDArray[np.float64], ...]]:
    pairs: list[PairBins] = []
    weights = []
    for entry in [] if node is None else node.entries():
        fields = entry.fields("features", "levels", "ordered", "weights")
        features = fields["features"].integers(0, len(binning.features) - 1)
        if len(features) != 2 or features[0] >= features[1]:
            fields["features"].fail("must hold two positions, the smaller first")
        sides = fields["levels"].entries(2)
        levels = [
            _build_levels(side, binning.features[j].width)
            for side, j in zip(sides, features, strict=True)
        ]
        ordered = fields["ordered"].integers(0, MOST_CELLS).tolist()
        sizes = [int(level.max()) + 1 for level in levels]
        if len(ordered) != 2 or any(a > b for a, b in zip(ordered, sizes, strict=True)):
            fields["ordered"].fail("must hold two numbers, of levels at most")
        first, second = features.tolist()
        pair = PairBins(first, second, levels[0], levels[1], (ordered[0], ordered[1]))
        if pair.n_cells > MOST_CELLS:
            fields["levels"].fail(f"must make at most {MOST_CELLS} cells")
        pairs.append(pair)
        weights.append(_build_weights(fields["weights"], pair.width))
    return tuple(pairs), tuple(weights)


def _build_levels(node: Node, width: int) -> NDArray[np.int16]:
    levels = node.integers(-1, MOST_CELLS - 1)
    if len(levels) != width or not np.array_equal(
        np.unique(levels[levels >= 0]), np.arange(levels.max() + 1)
    ):
        node.fail(f"must hold {width} levels, -1 or from 0 on without a gap")
    if levels.max() < 0:
        node.fail("must hold a level")
    return levels.astype(np.int16)


def _build_weights(node: Node, width: int) -> NDArray[np.float64]:
    weight = node.reals(width)
    with np.errstate(over="ignore"):
        total = weight.sum()
    if np.any(weight < 0.0) or not 0.0 < total < math.inf:
        node.fail("must hold no number below 0, and have a positive finite sum")
    return weight


def _build_rounds(node: Node, binning: Binning, all_widths: list[int], version: int) -> Rounds:
    names = ("feature", "score", "step", "risk", "tables", "trees")
    fields = node.fields(*(name for name in names if version > 2 or name != "trees"))
    trees = None
    if version > 2 and fields["trees"].value is not None:
        entries = fields["trees"].entries()
        trees = [_build_tree(entry, binning) for entry in entries]
        features = fields["feature"].integers(-1, -1)
        widths = [len(tree.feature) for tree in trees]
        if len(features) != len(trees):
            fields["feature"].fail(f"must have {len(trees)} entries, one a tree")
    else:
        features = fields["feature"].integers(0, len(all_widths) - 1)
        widths = [all_widths[feature] for feature in features]
    tables = [
        table.reals(width)
        for table, width in zip(fields["tables"].entries(len(features)), widths, strict=True)
    ]
    rounds = Rounds(
        feature=features.astype(np.int32),
        score=fields["score"].reals(len(features)),
        step=fields["step"].reals(len(features)),
        risk=fields["risk"].reals(len(features)),
        offsets=np.cumsum([0, *map(len, tables)], dtype=np.int64),
        values=np.concatenate([np.empty(0), *tables]),
        trees=None if trees is None else Tree.join(trees),
    )
    if rounds.bound() > LARGEST_RAW:
        fields["tables"].fail(f"must not add up to raw predictions beyond {LARGEST_RAW:g}")
    return rounds


def _build_tree(node: Node, binning: Binning) -> Tree:
    fields = node.fields("feature", "left", "goes_left", "goes_right", "weight", "saving")
    feature = fields["feature"].integers(-1, len(binning.features) - 1)
    n = len(feature)
    if n > _MOST_NODES:
        fields["feature"].fail(f"must have at most {_MOST_NODES} entries")
    left = fields["left"].integers(0, max(0, n - 2))
    sets = {}
    for side in ("goes_left", "goes_right"):
        entries = fields[side].entries(n)
        sets[side] = [
            _build_set(entry, 0 if j < 0 else binning.features[j].width)
            for entry, j in zip(entries, feature, strict=True)
        ]
    if any(a & b for a, b in zip(*sets.values(), strict=True)):
        fields["goes_right"].fail("must not hold codes that go left")
    weight = np.array([pair.reals(2) for pair in fields["weight"].entries(n)]).reshape(n, 2)
    saving = fields["saving"].reals(n)
    for name, numbers in (("weight", weight), ("saving", saving)):
        if np.any(numbers < 0.0):
            fields[name].fail("must hold no number below 0")
    tree = Tree(
        feature=feature.astype(np.int32),
        left=left,
        goes_left=_as_words(sets["goes_left"]),
        goes_right=_as_words(sets["goes_right"]),
        weight=weight,
        saving=saving,
    )
    try:
        _ = tree.native
    except ValueError as error:
        node.fail(f"is no tree: {error}")
    if not np.array_equal(np.sort(left[feature >= 0]), np.arange(1, n, 2)):
        fields["left"].fail("must give every node but the root one parent")
    return tree


def _build_set(node: Node, width: int) -> int:
    text = node.string()
    if not re.fullmatch(r"[0-9a-f]{1,64}", text):
        node.fail("must hold hexadecimal digits")
    members = int(text, 16)
    if members >> width:
        node.fail(f"must hold codes below {width}")
    return members


def _as_words(sets: list[int]) -> NDArray[np.uint64]:
    words = [[members >> (64 * k) & (2**64 - 1) for k in range(4)] for members in sets]
    return np.array(words, dtype=np.uint64).reshape(len(sets), 4)
