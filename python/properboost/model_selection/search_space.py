"""What a search compares: the product of all there is to choose from.

Every function takes the `ProperBoostClassifierCV`, whose parameters are read.
"""

import dataclasses
import itertools
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from properboost import _core
from properboost.boosting.options import gain_is_free
from properboost.estimators.properboost import (
    ProperBoostClassifier,
    check_parameters,
)
from properboost.losses.builtin import MarginLoss
from properboost.losses.registry import get_loss
from properboost.model_selection.boosted_together import Candidate
from properboost.parameters import checks
from properboost.parameters.declare import declared
from properboost.parameters.groups import GROWN

__all__ = [
    "MAY_BE_LISTS",
    "PASSED_ON",
    "bound_gains",
    "check_search",
    "for_pairs",
    "list_candidates",
    "list_interactions",
    "warn_of_free_gains",
    "with_gain",
]

N_GAINS = 16
"""Gains that "auto" tries: as many as the engine takes together."""

GAIN_RANGE = 64.0
"""Largest gain that "auto" tries, as a multiple of the smallest, for FEW_ROWS rows or more."""

FEW_ROWS = 1000.0
"""Below so many rows the largest gain grows, like the noise, with one over the square root."""

PASSED_ON = (
    "weak_learner",
    "max_depth",
    "monotonic_cst",
    "response",
    "criterion",
    "step",
    "l2",
    "max_bins",
    "rows_per_bin",
    "categorical_features",
    "class_weight",
    "n_jobs",
    "random_state",
    "verbose",
)
"""The parameters that both estimators have and that the search does not touch."""

MAY_BE_LISTS = (
    "learning_rate",
    "max_leaf_nodes",
    "max_literals",
    "min_child_weight",
    "max_features",
    "subsample",
)
"""Those it does not touch unless they are lists to choose from."""


def check_search(model: Any) -> None:
    """Check every parameter that does not depend on the data."""
    if not isinstance(model.n_estimators, str):
        checks.integer("n_estimators", model.n_estimators, 1, 2**31 - 1)
    elif model.n_estimators != "auto":
        raise ValueError(f"n_estimators must be 'auto' or an integer; got {model.n_estimators!r}")
    if model.max_estimators is not None:
        checks.integer("max_estimators", model.max_estimators, 1, 2**31 - 1)
    for name in ("one_standard_error", "refit"):
        value = getattr(model, name)
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name} must be True or False; got {value!r}")
    list_candidates(model, FEW_ROWS, check=True)
    if max(list_interactions(model)[0]) > 0:
        declared(ProperBoostClassifier)["interactions"].check_promise(
            max(list_interactions(model)[0]), partial(getattr, model)
        )


def list_candidates(model: Any, total: float, *, check: bool = False) -> list[Candidate]:
    """List the product of all there is to choose from, gains changing fastest.

    Candidates of one selection are neighbours: the engine takes them together.
    """
    losses = _list_losses(model)
    smoothings = [0.0] if model.smoothings is None else model.smoothings
    between = partial(checks.between, low=0.0, high=0.25)
    smoothings = checks.entries("smoothings", smoothings, between)
    priors = [None] if model.priors is None else model.priors
    priors = checks.entries("priors", priors, _read_prior)
    choice = partial(checks.choice, known=_core.selection_names())
    if model.weak_learner in GROWN:
        selections = ["greedy"]  # these have one of their own
    elif isinstance(model.selection, str):
        selections = [choice("selection", model.selection)]
    else:
        names = "a name or a list of names"
        selections = checks.entries("selection", model.selection, choice, names)
    listed = _read_lists(model)
    fixed = [*PASSED_ON, *(name for name in MAY_BE_LISTS if name not in listed)]
    passed_on = {name: getattr(model, name) for name in fixed}
    candidates = []
    gains = _read_gains(model)
    for selection, (name, loss), smoothing, prior, *others in itertools.product(
        selections, losses, smoothings, priors, *listed.values()
    ):
        for gain in _make_gains(loss, total) if gains is None else gains:
            tuned = with_gain(loss, gain)
            params: dict[str, Any] = {
                "loss": tuned if name is None else name,
                "gain": gain,
                "smoothing": smoothing,
                "prior": prior,
                "selection": selection,
                **dict(zip(listed, others, strict=True)),
            }
            settings = ProperBoostClassifier(**params, **passed_on)
            if check:
                check_parameters(settings)
            candidates.append(Candidate(tuned, settings, params))
    return candidates


def _read_lists(model: Any) -> dict[str, list[Any]]:
    """Return the values of the parameters that are lists."""
    lists = {}
    for name in MAY_BE_LISTS:
        given = getattr(model, name)
        if _is_list(given):
            lists[name] = checks.entries(name, given, lambda _, value: value)
    return lists


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


def list_interactions(
    model: Any,
) -> tuple[list[int], list[tuple[float, float]]]:
    """Return the numbers of pairs to choose from, and the product of their rates and smoothings."""

    def read(name: str, value: Any, check: Callable[[str, object], Any]) -> list[Any]:
        return checks.entries(name, value, check) if _is_list(value) else [check(name, value)]

    integer = partial(checks.integer, low=0, high=2**31 - 1)
    numbers = read("interactions", model.interactions, integer)
    rates = read("interaction_rate", model.interaction_rate, checks.positive)
    between = partial(checks.between, low=0.0, high=0.25)
    smoothings = read("interaction_smoothing", model.interaction_smoothing, between)
    if model.weak_learner != "histogram":
        smoothings = [0.0]
    return numbers, list(itertools.product(rates, smoothings))


def for_pairs(chosen: Candidate, n: int, rate: float, smoothing: float) -> Candidate:
    """Return the candidate with which `n` pairs are boosted from where `chosen` ended."""
    params = {
        "interactions": n,
        "interaction_rate": rate,
        "interaction_smoothing": smoothing,
    }
    settings = clone(chosen.settings).set_params(**params)
    settings.set_params(learning_rate=settings.learning_rate * rate, smoothing=smoothing)
    return Candidate(chosen.loss, settings, params)


def _list_losses(model: Any) -> list[tuple[str | None, MarginLoss]]:
    """Return the losses at gain 1, with their names where these say it all."""
    given = model.loss if isinstance(model.loss, list | tuple) else [model.loss]
    if len(given) == 0:
        raise ValueError("loss must not be an empty list")
    losses: dict[MarginLoss, str | None] = {}
    for entry in given:
        loss = get_loss(entry)
        if loss.gain != 1.0:
            raise ValueError(
                f"loss={entry!r} carries a gain of its own, but the gain is searched: give "
                f"gains=[{loss.gain!r}], and the loss with gain 1"
            )
        if entry == "alpha" and model.alphas is not None:
            between = partial(checks.between, low=0.0, high=0.5)
            alphas = checks.entries("alphas", model.alphas, between)
            losses |= {get_loss("alpha", alpha=alpha): None for alpha in alphas}
        else:
            losses[loss] = entry if isinstance(entry, str) else None
    if model.alphas is not None and "alpha" not in [e for e in given if isinstance(e, str)]:
        raise ValueError(
            f"alphas must be None unless loss is, or has, 'alpha'; got {model.alphas!r} with "
            f"loss={model.loss!r}"
        )
    return [(name, loss) for loss, name in losses.items()]


def _read_gains(model: Any) -> list[float] | None:
    """Return the gains the user gave, None for "auto"; one only where it cannot matter."""
    gains = checks.auto_or_list("gains", model.gains, checks.positive)
    checks.non_negative("l2", model.l2)
    if not gain_is_free(model.response, model.step, model.l2):
        return gains
    return [1.0 if gains is None or 1.0 in gains else gains[0]]


def warn_of_free_gains(model: Any, gain: float) -> None:
    """Tell that gains were not tried, as they cannot matter."""
    if not gain_is_free(model.response, model.step, model.l2):
        return
    if not isinstance(model.gains, str) and set(model.gains) == {gain}:
        return
    settings = f"response={model.response!r} and step={model.step!r}"
    settings += f" and l2={model.l2!r}" if model.response == "newton" else ""
    warnings.warn(
        f"with {settings} the gain cannot matter: it scales the raw predictions, and the link "
        f"divides by it. Only gain {gain:g} is fitted; the learning_rate and the number of "
        "estimators regularise instead",
        UserWarning,
        stacklevel=3,
    )


def bound_gains(loss: MarginLoss, n_rows: float, ratio: float) -> tuple[float, float]:
    """Return the smallest and the largest gain worth trying for a loss at gain 1.

    The smallest is the least that regularises (BoostLR, eq. 30); the largest is `ratio` times as
    much, and more for fewer than FEW_ROWS rows.
    """
    least = 0.5 / loss.loss_margin
    return least, least * ratio * max(1.0, (FEW_ROWS / n_rows) ** 0.5)


def _make_gains(loss: MarginLoss, total: float) -> list[float]:
    """Return what "auto" tries for a loss at gain 1 and so many rows."""
    gains = np.geomspace(*bound_gains(loss, total, GAIN_RANGE), N_GAINS)
    return [float(f"{gain:.3g}") for gain in gains]


def with_gain(loss: MarginLoss, gain: float) -> MarginLoss:
    """Return the loss with another gain."""
    tuned: MarginLoss = dataclasses.replace(loss, gain=gain)  # type: ignore[type-var]
    return tuned


def _read_prior(name: str, value: object) -> float | None:
    return None if value is None else checks.positive(name, value)
