"""The JSON form of ensembles: bins, pairs, and the rounds of every model."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data.binning import Binning
from properboost.models.bag_design import MOST_BAGS
from properboost.models.damped_ensemble import DampedEnsemble
from properboost.models.ensemble import LARGEST_RAW, Ensemble, Moves, Rounds
from properboost.models.lines import Lines
from properboost.models.make_ensemble import make_ensemble
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.tree import MOST_NODES, TreeNodes
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.persistence.bins import build_weighted_bins, describe_weighted_bins
from properboost.persistence.edits import RECORD, build_edits, describe_edits
from properboost.persistence.json_node import Node
from properboost.persistence.origins import (
    ORIGIN,
    ORIGINS,
    build_origin,
    build_origins,
    describe_origins,
)
from properboost.persistence.pairs import build_pairs, describe_pairs
from properboost.persistence.terms import add_terms, describe_terms
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
"""The fields of an ensemble, and the first format version of each."""

INTERCEPTS, SLOPES = "intercepts", "slopes"
"""The fields of the intercepts and slopes of ensembles: a number per model, or none."""

COMPACT_FROM = "n_estimators"
"""The extra field of compact ensembles: the number of estimators that were added up."""

_LARGEST = 2**30  # the most look-up values of a model, 8 GiB, even for a small file
BAG = "bag"
"""The field of rounds whose trees are of several bags."""

_HISTORY = ("score", "risk")  # the fields of rounds that compact models lack
_MOVES = tuple(field.name for field in dataclasses.fields(Moves))
_MEANS_SINCE = 13
"""The first format version with the means of lines' features."""


def describe_ensemble(ensemble: Ensemble) -> dict[str, Any]:
    """Return the fields of an ensemble."""
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
        **describe_origins(ensemble),
        **describe_terms(ensemble),
    }


def _describe_rounds(rounds: Rounds, compact: bool) -> dict[str, Any]:
    offsets = rounds.offsets.tolist()
    values = rounds.values.tolist()
    tables = [values[a:b] for a, b in pairwise(offsets)]
    trees = None
    if rounds.trees is not None:
        trees = [describe_tree(rounds.trees.part(a, b)) for a, b in pairwise(offsets)]
    optional: dict[str, Any] = {}
    if rounds.lines is not None and trees is not None:  # a model without rounds has no trees
        parts = [rounds.lines.part(a, b) for a, b in pairwise(offsets)]
        optional["lines"] = [describe_lines(part) for part in parts]
    numbers = {"estimator": rounds.estimator, BAG: rounds.bag, ORIGIN: rounds.origin}
    optional |= {
        name: of_rounds.tolist() for name, of_rounds in numbers.items() if of_rounds is not None
    }
    if rounds.moves is not None:
        optional["moves"] = {name: getattr(rounds.moves, name).tolist() for name in _MOVES}
    described = {
        "feature": rounds.feature.tolist(),
        "score": rounds.cost.tolist(),
        "step": rounds.step.tolist(),
        "risk": rounds.risk.tolist(),
        "tables": tables,
        "trees": trees,
        **optional,
    }
    return {name: value for name, value in described.items() if not (compact and name in _HISTORY)}


def build_ensemble(
    fields: dict[str, Node],
    version: int,
    n_classes: int,
    damping: float = 0.0,
    joint: bool = False,
) -> Ensemble:
    """Return the ensemble of the fields of a file of this version."""
    from_dtype = fields["categorical_from_dtype"].boolean()
    binning, weights = build_weighted_bins(fields["features"], from_dtype)
    n_models = 1 if n_classes == 2 else n_classes
    pairs, pair_weights = build_pairs(fields["pairs"], binning) if version > 2 else ((), ())
    widths = [bins.width for bins in (*binning.features, *pairs)]
    if n_models * sum(widths) > _LARGEST:
        fields["features"].fail(f"needs more than {_LARGEST} look-up values")
    compact = COMPACT_FROM in fields
    origins = build_origins(fields[ORIGINS], binning) if ORIGINS in fields else ()
    models = tuple(
        _build_rounds(node, binning, origins, widths, version, compact)
        for node in fields["models"].entries(n_models)
    )
    _check_kinds(fields["models"], models)
    selection = "greedy"
    if version > 1:
        selection = fields["selection"].choice(_core.selection_names())
    intercepts = _build_intercepts(fields, models)
    slopes = _build_slopes(fields, n_models)
    ensemble = make_ensemble(
        binning, models, weights, selection, pairs, pair_weights, damping, joint, intercepts,
        slopes,
    )  # fmt: skip
    if compact:
        ensemble = replace(ensemble, compact_from=fields[COMPACT_FROM].integer(0, 2**31 - 1))
    if RECORD in fields:
        edits = build_edits(fields[RECORD], len(binning.features), n_classes)
        ensemble = replace(ensemble, edits=edits)
    if isinstance(ensemble, TreeEnsemble):
        ensemble = replace(ensemble, origins=origins)
    elif origins:
        fields[ORIGINS].fail("must be of a model of trees")
    if pairs and not isinstance(ensemble, TableEnsemble):
        fields["pairs"].fail("must be empty in a model of trees")
    _check_order(fields["models"], ensemble)
    return add_terms(fields, ensemble)


def _check_kinds(node: Node, models: Sequence[Rounds]) -> None:
    """Check that all models are of trees, or none is; models without rounds fit either."""
    trees = any(rounds.trees is not None for rounds in models)
    tables = any(rounds.trees is None and len(rounds) > 0 for rounds in models)
    if trees and tables:
        node.fail("must all hold trees, or none")


def _build_intercepts(fields: dict[str, Node], models: Sequence[Rounds]) -> tuple[float, ...]:
    intercepts = _build_numbers(fields, INTERCEPTS, len(models))
    largest = max(map(abs, intercepts), default=0.0)
    if intercepts and max(rounds.bound() for rounds in models) + largest > LARGEST_RAW:
        fields[INTERCEPTS].fail(f"must not add up to raw predictions beyond {LARGEST_RAW:g}")
    return intercepts


def _build_slopes(fields: dict[str, Node], n_models: int) -> tuple[float, ...]:
    slopes = _build_numbers(fields, SLOPES, n_models)
    if any(slope <= 0.0 for slope in slopes):
        fields[SLOPES].fail("must be above 0")
    return slopes


def _build_numbers(fields: dict[str, Node], name: str, n_models: int) -> tuple[float, ...]:
    """Return a number per model, or () if the field is absent or empty."""
    if name not in fields or not fields[name].sequence():
        return ()
    return tuple(fields[name].reals(n_models).tolist())


def _check_order(node: Node, ensemble: Ensemble) -> None:
    """Check the order of the rounds of every model."""
    for rounds, entry in zip(ensemble.models, node.entries(), strict=True):
        if not ensemble.is_compact:
            _check_stages(node, entry, rounds, ensemble)
        elif isinstance(ensemble, TableEnsemble) and np.any(np.diff(rounds.feature) <= 0):
            entry.mapping()["feature"].fail("must be in strictly ascending order")


def _check_stages(node: Node, entry: Node, rounds: Rounds, ensemble: Ensemble) -> None:
    """Check that pairs follow features, and that estimators are numbered in order in both."""
    n_features = len(ensemble.binning.features)
    mains = int(np.count_nonzero(rounds.feature < n_features))
    if np.any(rounds.feature[:mains] >= n_features):
        node.fail("must hold the rounds of features before those of pairs")
    if ensemble.selection == "cyclic" and isinstance(ensemble, TableEnsemble):
        n_pairs = max(1, len(ensemble.pairs))
        if mains % n_features or (len(rounds) - mains) % n_pairs:
            node.fail("must hold whole cycles: a round for every feature or pair")
    if rounds.estimator is not None:
        stages = rounds.estimator[:mains], rounds.estimator[mains:]
        if isinstance(ensemble, DampedEnsemble) or not all(map(_counts_up, stages)):
            entry.mapping()["estimator"].fail(
                "must count estimators from 0, those of pairs anew, in a model without damping"
            )


def _counts_up(estimator: NDArray[np.int32]) -> bool:
    """Return whether rounds count estimators from 0, without a gap."""
    if len(estimator) == 0:
        return True
    return bool(estimator[0] == 0) and set(np.diff(estimator)) <= {0, 1}


@dataclass(frozen=True, eq=False)
class _Lookups:
    """The features and pairs, or the trees, in which rounds look up their values.

    `widths` has the number of values of each round.  Trees may have lines, of several origins.
    """

    features: NDArray[np.int64]
    widths: Sequence[int]
    trees: TreeNodes | None = None
    lines: Lines | None = None
    origin: NDArray[np.int32] | None = None


def _build_rounds(
    node: Node,
    binning: Binning,
    origins: tuple[Binning, ...],
    all_widths: list[int],
    version: int,
    compact: bool,
) -> Rounds:
    fields = node.fields(*_list_fields(node, version, compact))
    if version > 2 and fields["trees"].value is not None:
        lookups = _build_trees(fields, binning, origins, version, compact)
    else:
        lookups = _build_features(fields, all_widths)
    n = len(lookups.features)
    tables = build_tables(fields["tables"], lookups.widths)
    estimator = _build_estimators(fields["estimator"], n) if "estimator" in fields else None
    bag = _build_bag(fields[BAG], n, lookups.trees) if BAG in fields else None
    moves = _build_moves(fields["moves"], n) if "moves" in fields else None
    if estimator is not None and moves is not None:
        fields["moves"].fail("must be of rounds that are not numbered")
    cost, risk = (np.zeros(n) if compact else fields[name].reals(n) for name in _HISTORY)
    rounds = Rounds(
        feature=lookups.features.astype(np.int32),
        cost=cost,
        step=fields["step"].reals(n),
        risk=risk,
        offsets=np.cumsum([0, *map(len, tables)], dtype=np.int64),
        values=np.concatenate([np.empty(0), *tables]),
        trees=lookups.trees,
        lines=lookups.lines,
        estimator=estimator,
        moves=moves,
        bag=bag,
        origin=lookups.origin,
    )
    if rounds.bound() > LARGEST_RAW:
        fields["tables"].fail(f"must not add up to raw predictions beyond {LARGEST_RAW:g}")
    return rounds


def _list_fields(node: Node, version: int, compact: bool) -> list[str]:
    """Return the required fields of rounds, and the optional ones that are present."""
    names = ["feature", "score", "step", "risk", "tables"]
    if version > 2:
        names.append("trees")
    optional = ["lines", "estimator", "moves"]
    if compact:
        names = [name for name in names if name not in _HISTORY]
        optional = ["lines"]
    if version > 12:
        optional += [BAG, ORIGIN]
    return names + [name for name in optional if name in node.object()]


def _build_trees(
    fields: dict[str, Node],
    binning: Binning,
    origins: tuple[Binning, ...],
    version: int,
    compact: bool,
) -> _Lookups:
    trees = [
        build_tree(entry, binning, MOST_NODES, compact=compact)
        for entry in fields["trees"].entries()
    ]
    features = fields["feature"].integers(-1, -1)
    if len(features) != len(trees):
        fields["feature"].fail(f"must have {len(trees)} entries, one per tree")
    origin, bins = None, [binning if not origins else origins[0]] * len(trees)
    if ORIGIN in fields:
        origin = build_origin(fields[ORIGIN], len(trees), len(origins))
        bins = [origins[k] for k in origin.tolist()]
    lines = None
    if "lines" in fields:
        entries = zip(fields["lines"].entries(len(trees)), bins, trees, strict=True)
        has_means = version >= _MEANS_SINCE
        lines = Lines.join(
            [build_lines(entry, of, tree, has_means=has_means) for entry, of, tree in entries]
        )
    widths = [len(tree.feature) for tree in trees]
    return _Lookups(features, widths, TreeNodes.join(trees), lines, origin)


def _build_features(fields: dict[str, Node], widths: Sequence[int]) -> _Lookups:
    """Return the look-ups in features and pairs, whose numbers of codes are `widths`."""
    for name in ("lines", ORIGIN):
        if name in fields:
            fields[name].fail("must be of trees")
    features = fields["feature"].integers(0, len(widths) - 1)
    return _Lookups(features, [widths[feature] for feature in features])


def _build_estimators(node: Node, n_rounds: int) -> NDArray[np.int32]:
    """Return the number of each round's estimator."""
    estimator = node.integers(0, max(0, n_rounds - 1)).astype(np.int32)
    if len(estimator) != n_rounds:
        node.fail(f"must have {n_rounds} entries, one per round")
    return estimator


def _build_bag(node: Node, n_rounds: int, trees: TreeNodes | None) -> NDArray[np.int32]:
    """Return the number of each round's bag."""
    if trees is None:
        node.fail("must be of trees")
    bag = node.integers(0, MOST_BAGS - 1).astype(np.int32)
    if len(bag) != n_rounds:
        node.fail(f"must have {n_rounds} entries, one per round")
    return bag


def _build_moves(node: Node, n_rounds: int) -> Moves:
    fields = node.fields(*_MOVES)
    return Moves(**{name: fields[name].reals(n_rounds) for name in _MOVES})


def build_tables(node: Node, widths: Sequence[int]) -> list[NDArray[np.float64]]:
    """Return look-up tables of these numbers of entries."""
    entries = zip(node.entries(len(widths)), widths, strict=True)
    return [table.reals(width) for table, width in entries]
