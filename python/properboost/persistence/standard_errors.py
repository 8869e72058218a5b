"""The JSON form of a model's bags, or of their standard errors without the bags."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.models.bag_tables import BagTables, collapse
from properboost.models.ensemble import LARGEST_RAW, Ensemble, Rounds
from properboost.models.standard_errors import TableErrors
from properboost.models.table_ensemble import TableEnsemble
from properboost.parameters.stages import FEWEST_BAGS, MOST_BAGS
from properboost.persistence.ensembles import build_tables
from properboost.persistence.json_node import NOT_FINITE, UNKNOWN, Node, write_reals

__all__ = ["ERROR_FIELDS", "add_standard_errors", "describe_standard_errors"]

BAGS, ERRORS = ERROR_FIELDS = ("bags", "standard_errors")
"""The fields of models with bags, which have either of them."""


def describe_standard_errors(ensemble: Ensemble) -> dict[str, Any]:
    """Return the field of an ensemble's bags or standard errors, if it has any."""
    errors = ensemble.standard_errors if isinstance(ensemble, TableEnsemble) else None
    if isinstance(errors, BagTables):
        return {BAGS: [_describe_bag(bag) for bag in errors.bags]}
    if isinstance(errors, TableErrors):
        fields = {
            "n_bags": errors.n_bags,
            "entries": [write_reals(entries) for entries in errors.of_entries],
            "ratios": [write_reals(ratios) for ratios, _ in errors.of_terms],
            "degrees": [degrees.tolist() for _, degrees in errors.of_terms],
            "importances": write_reals(errors.of_importances),
        }
        return {ERRORS: fields}
    return {}


def _describe_bag(bag: TableEnsemble) -> dict[str, Any]:
    return {
        "intercepts": list(bag.intercepts),
        "models": [
            {
                "feature": rounds.feature.tolist(),
                "tables": [rounds.table(t).tolist() for t in range(len(rounds))],
            }
            for rounds in bag.models
        ],
    }


def add_standard_errors(fields: dict[str, Node], ensemble: Ensemble) -> Ensemble:
    """Return the ensemble with the standard errors of the fields, if there are any."""
    known = [name for name in ERROR_FIELDS if name in fields]
    if not known:
        return ensemble
    node = fields[known[0]]
    if len(known) > 1:
        fields[known[1]].fail(f"must not be combined with {known[0]}")
    if not isinstance(ensemble, TableEnsemble):
        node.fail("must be of look-up tables")
    if BAGS in known:
        n_bags = len(node.sequence())
        if not FEWEST_BAGS <= n_bags <= MOST_BAGS:
            node.fail(f"must have {FEWEST_BAGS} to {MOST_BAGS} entries; it has {n_bags}")
        parts = [_build_bag(entry, ensemble) for entry in node.entries()]
        collapsed = collapse(ensemble, [models for models, _ in parts])
        bags = [
            replace(bag, intercepts=intercepts)
            for bag, (_, intercepts) in zip(collapsed, parts, strict=True)
        ]
        return replace(ensemble, standard_errors=BagTables(n_bags, tuple(bags)))
    return replace(ensemble, standard_errors=_build_errors(node, ensemble))


def _build_bag(node: Node, ensemble: TableEnsemble) -> tuple[list[Rounds], tuple[float, ...]]:
    """Return the models of a bag and their intercepts."""
    fields = node.fields("intercepts", "models")
    intercepts = fields["intercepts"].reals(len(ensemble.intercepts))
    models = [
        _build_sums(entry, ensemble) for entry in fields["models"].entries(len(ensemble.models))
    ]
    largest = np.abs(intercepts).max(initial=0.0)
    if max(rounds.bound() for rounds in models) + largest > LARGEST_RAW:
        node.fail(f"must not add up to raw predictions beyond {LARGEST_RAW:g}")
    return models, tuple(intercepts.tolist())


def _build_sums(node: Node, ensemble: TableEnsemble) -> Rounds:
    """Return a round for each feature or pair that a model of a bag has."""
    fields = node.fields("feature", "tables")
    widths = np.diff(ensemble.offsets)
    terms = fields["feature"].integers(0, len(widths) - 1)
    if np.any(np.diff(terms) <= 0):
        fields["feature"].fail("must be in strictly ascending order")
    return Rounds.of_tables(terms, build_tables(fields["tables"], widths[terms].tolist()))


def _build_errors(node: Node, ensemble: TableEnsemble) -> TableErrors:
    fields = node.fields("n_bags", "entries", "ratios", "degrees", "importances")
    n_bags = fields["n_bags"].integer(FEWEST_BAGS, MOST_BAGS)
    n_terms, n_entries = len(ensemble.offsets) - 1, int(ensemble.offsets[-1])

    def read(name: str, length: int, also: Collection[str] = ()) -> list[NDArray[np.float64]]:
        entries = fields[name].entries(len(ensemble.models))
        return [_read_sizes(entry, length, also) for entry in entries]

    ratios, degrees = read("ratios", n_terms, NOT_FINITE), read("degrees", n_terms)
    if any(np.any(numbers == 0.0) or np.any(numbers > n_bags) for numbers in degrees):
        fields["degrees"].fail("must hold numbers above 0, as many as there are bags at most")
    entries = read("entries", n_entries, UNKNOWN)
    widths = np.diff(ensemble.offsets)
    for of_terms, of_entries in zip(ratios, entries, strict=True):
        if not np.array_equal(np.repeat(np.isnan(of_terms), widths), np.isnan(of_entries)):
            fields["ratios"].fail("must be 'nan' where all entries of a table are, and only there")
    return TableErrors(
        n_bags=n_bags,
        of_entries=tuple(entries),
        of_terms=tuple(zip(ratios, degrees, strict=True)),
        of_importances=_read_sizes(fields["importances"], n_terms, UNKNOWN),
    )


def _read_sizes(node: Node, length: int, also: Collection[str] = ()) -> NDArray[np.float64]:
    values = node.reals(length, also=also)
    if np.any(values < 0.0):
        node.fail("must hold no number below 0")
    return values
