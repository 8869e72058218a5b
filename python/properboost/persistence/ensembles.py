"""What boosting found, as documents hold it: bins, pairs, and the rounds of every model."""

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data.binning import Binning
from properboost.models.damped_ensemble import DampedEnsemble
from properboost.models.ensemble import LARGEST_RAW, Ensemble, Moves, Rounds
from properboost.models.lines import Lines
from properboost.models.make_ensemble import make_ensemble
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.tree import Tree
from properboost.persistence.bins import build_weighted_bins, describe_weighted_bins
from properboost.persistence.edits import RECORD, build_edits, describe_edits
from properboost.persistence.json_node import Node
from properboost.persistence.pairs import build_pairs, describe_pairs
from properboost.persistence.trees import (
    build_lines,
    build_tree,
    describe_lines,
    describe_tree,
)

__all__ = [
    "COMPACT_FROM",
    "ENSEMBLE_FIELDS",
    "INTERCEPTS",
    "SLOPES",
    "build_ensemble",
    "build_tables",
    "describe_ensemble",
]

ENSEMBLE_FIELDS = {
    "categorical_from_dtype": 1,
    "selection": 2,
    "features": 1,
    "pairs": 3,
    "models": 1,
}
"""The fields that stand for an ensemble, and the format versions that they came with."""

INTERCEPTS, SLOPES = "intercepts", "slopes"
"""The fields of ensembles that may have intercepts and slopes: a number per model, or none."""

COMPACT_FROM = "n_estimators"
"""The field that compact ensembles have besides: how many estimators were made one."""

_LARGEST = 2**30  # the most look-up values of a model, 8 GiB: a small file must not ask for more
_SOME = ("lines", "estimator", "moves")  # fields of some rounds
_HISTORY = ("score", "risk")  # of those of models that are not compact
_MOST_NODES = 255  # of a tree: a row's node is a byte


def describe_ensemble(ensemble: Ensemble) -> dict[str, Any]:
    """Return the fields that stand for an ensemble."""
    pairs: list[dict[str, Any]] = []
    if isinstance(ensemble, TableEnsemble):
        pairs = describe_pairs(ensemble.pairs, ensemble.pair_weights)
    return {
        "categorical_from_dtype": ensemble.binning.from_dtype,
        "selection": ensemble.selection,
        "features": describe_weighted_bins(ensemble.binning, ensemble.bin_weights),
        "pairs": pairs,
        "models": [_describe_rounds(rounds, ensemble.is_compact) for rounds in ensemble.models],
        **({} if ensemble.compact_from is None else {COMPACT_FROM: ensemble.compact_from}),
        **({RECORD: describe_edits(ensemble.edits)} if ensemble.edits else {}),
    }


def _describe_rounds(rounds: Rounds, compact: bool) -> dict[str, Any]:
    offsets = rounds.offsets.tolist()
    values = rounds.values.tolist()
    tables = [values[a:b] for a, b in pairwise(offsets)]
    trees = None
    if rounds.trees is not None:
        trees = [describe_tree(rounds.trees.part(a, b)) for a, b in pairwise(offsets)]
    some: dict[str, Any] = {}
    if rounds.lines is not None:
        parts = [rounds.lines.part(a, b) for a, b in pairwise(offsets)]
        some["lines"] = [describe_lines(part) for part in parts]
    if rounds.estimator is not None:
        some["estimator"] = rounds.estimator.tolist()
    if rounds.moves is not None:
        some["moves"] = {f.name: getattr(rounds.moves, f.name).tolist() for f in fields(Moves)}
    described = {
        "feature": rounds.feature.tolist(),
        "score": rounds.cost.tolist(),
        "step": rounds.step.tolist(),
        "risk": rounds.risk.tolist(),
        "tables": tables,
        "trees": trees,
        **some,
    }
    return {name: own for name, own in described.items() if not (compact and name in _HISTORY)}


def build_ensemble(
    fields: dict[str, Node],
    version: int,
    n_classes: int,
    damping: float = 0.0,
    joint: bool = False,
) -> Ensemble:
    """Return the ensemble that the fields of a file of this version stand for."""
    from_dtype = fields["categorical_from_dtype"].boolean()
    binning, weights = build_weighted_bins(fields["features"], from_dtype)
    n_models = 1 if n_classes == 2 else n_classes
    pairs, pair_weights = build_pairs(fields["pairs"], binning) if version > 2 else ((), ())
    widths = [bins.width for bins in (*binning.features, *pairs)]
    if n_models * sum(widths) > _LARGEST:
        fields["features"].fail(f"asks for more than {_LARGEST} look-up values")
    compact = COMPACT_FROM in fields
    models = tuple(
        _build_rounds(node, binning, widths, version, compact)
        for node in fields["models"].entries(n_models)
    )
    if any(rounds.trees is not None for rounds in models) and not all(
        rounds.trees is not None or len(rounds) == 0 for rounds in models
    ):
        fields["models"].fail("must all hold trees, or none")
    selection = "greedy"
    if version > 1:
        selection = fields["selection"].choice(_core.selection_names())
    intercepts: tuple[float, ...] = ()
    if INTERCEPTS in fields and fields[INTERCEPTS].sequence():
        intercepts = tuple(fields[INTERCEPTS].reals(n_models).tolist())
        largest = max(map(abs, intercepts))
        if max(rounds.bound() for rounds in models) + largest > LARGEST_RAW:
            fields[INTERCEPTS].fail(f"must not add up to raw predictions beyond {LARGEST_RAW:g}")
    slopes: tuple[float, ...] = ()
    if SLOPES in fields and fields[SLOPES].sequence():
        slopes = tuple(fields[SLOPES].reals(n_models).tolist())
        if min(slopes) <= 0.0:
            fields[SLOPES].fail("must be above 0")
    ensemble = make_ensemble(
        binning, models, weights, selection, pairs, pair_weights, damping, joint, intercepts,
        slopes,
    )  # fmt: skip
    if compact:
        ensemble = replace(ensemble, compact_from=fields[COMPACT_FROM].integer(0, 2**31 - 1))
    if RECORD in fields:
        edits = build_edits(fields[RECORD], len(binning.features), n_classes)
        ensemble = replace(ensemble, edits=edits)
    if pairs and not isinstance(ensemble, TableEnsemble):
        fields["pairs"].fail("must be empty in a model of trees")
    _check_order(fields["models"], ensemble)
    return ensemble


def _check_order(node: Node, ensemble: Ensemble) -> None:
    """Check the order of the rounds of every model."""
    pairs = ensemble.pairs if isinstance(ensemble, TableEnsemble) else ()
    if ensemble.is_compact:
        if isinstance(ensemble, TableEnsemble):
            for rounds, entry in zip(ensemble.models, node.entries(), strict=True):
                if np.any(np.diff(rounds.feature) <= 0):
                    entry.mapping()["feature"].fail("must be in strictly ascending order")
        return
    n_features = len(ensemble.binning.features)
    for rounds, entry in zip(ensemble.models, node.entries(), strict=True):
        mains = int(np.count_nonzero(rounds.feature < n_features))
        if np.any(rounds.feature[:mains] >= n_features):
            node.fail("must hold the rounds of features before those of pairs")
        cyclic = ensemble.selection == "cyclic" and isinstance(ensemble, TableEnsemble)
        if cyclic and (mains % n_features or (len(rounds) - mains) % max(1, len(pairs))):
            node.fail("must hold whole cycles: a round for every feature or pair")
        if rounds.estimator is not None:
            counts = [rounds.estimator[:mains], rounds.estimator[mains:]]
            steps = np.concatenate([np.diff(own, prepend=-1) for own in counts])
            firsts = [own[0] for own in counts if len(own)]
            if isinstance(ensemble, DampedEnsemble) or any(firsts) or not set(steps) <= {0, 1}:
                entry.mapping()["estimator"].fail(
                    "must count estimators from 0, those of pairs anew, in a model without damping"
                )


def _build_rounds(
    node: Node, binning: Binning, all_widths: list[int], version: int, compact: bool
) -> Rounds:
    names = ["feature", "score", "step", "risk", "tables", "trees"]
    if version <= 2:
        names.remove("trees")
    with_lines, numbered, moving = ([name] if name in node.mapping() else [] for name in _SOME)
    if compact:
        names, numbered, moving = [name for name in names if name not in _HISTORY], [], []
    given = node.fields(*names, *with_lines, *numbered, *moving)
    trees = lines = None
    if version > 2 and given["trees"].value is not None:
        entries = given["trees"].entries()
        trees = [build_tree(entry, binning, _MOST_NODES, compact=compact) for entry in entries]
        features = given["feature"].integers(-1, -1)
        widths = [len(tree.feature) for tree in trees]
        if len(features) != len(trees):
            given["feature"].fail(f"must have {len(trees)} entries, one per tree")
        if with_lines:
            entries = given["lines"].entries(len(trees))
            lines = [
                build_lines(entry, binning, tree)
                for entry, tree in zip(entries, trees, strict=True)
            ]
    else:
        if with_lines:
            given["lines"].fail("must be of trees")
        features = given["feature"].integers(0, len(all_widths) - 1)
        widths = [all_widths[feature] for feature in features]
    tables = build_tables(given["tables"], widths)
    estimator = None
    if numbered:
        estimator = given["estimator"].integers(0, max(0, len(features) - 1)).astype(np.int32)
        if len(estimator) != len(features):
            given["estimator"].fail(f"must have {len(features)} entries, one per round")
    moves = None
    if moving:
        own = [f.name for f in fields(Moves)]
        parts = given["moves"].fields(*own)
        moves = Moves(**{name: parts[name].reals(len(features)) for name in own})
        if numbered:
            given["moves"].fail("must be of rounds that are not numbered")
    nothing = np.zeros(len(features))
    cost, risk = (nothing if compact else given[name].reals(len(features)) for name in _HISTORY)
    rounds = Rounds(
        feature=features.astype(np.int32),
        cost=cost,
        step=given["step"].reals(len(features)),
        risk=risk,
        offsets=np.cumsum([0, *map(len, tables)], dtype=np.int64),
        values=np.concatenate([np.empty(0), *tables]),
        trees=None if trees is None else Tree.join(trees),
        lines=None if lines is None else Lines.join(lines),
        estimator=estimator,
        moves=moves,
    )
    if rounds.bound() > LARGEST_RAW:
        given["tables"].fail(f"must not add up to raw predictions beyond {LARGEST_RAW:g}")
    return rounds


def build_tables(node: Node, widths: Sequence[int]) -> list[NDArray[np.float64]]:
    """Return look-up tables of so many entries."""
    entries = zip(node.entries(len(widths)), widths, strict=True)
    return [table.reals(width) for table, width in entries]
