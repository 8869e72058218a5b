"""Assembling a model: fitted stages become one ensemble.

This multiplies steps by the slopes, averages fits, appends the tables of pairs, adds intercepts and
turns bags into standard errors.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from properboost.engine.protocols import TrainingRows
from properboost.fitting.certainty import reaches_certainty, warn_of_certainty
from properboost.fitting.intercept import find_intercepts, is_known
from properboost.fitting.plan import FitPlan, RawScaling
from properboost.fitting.stages import FittedStages, Stage
from properboost.fitting.watch import Validation
from properboost.losses.probabilities import Link, as_predicted
from properboost.models.averaging import average_rounds
from properboost.models.bag_tables import BagTables, collapse
from properboost.models.ensemble import LARGEST_RAW, Ensemble, Fits, Rounds
from properboost.models.make_ensemble import make_ensemble
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.tree_bags import TreeBags
from properboost.models.tree_ensemble import TreeEnsemble

__all__ = ["add_up_from_base", "assemble", "check_size", "warn_of_costly_certainty"]


def assemble(
    plan: FitPlan, scaling: RawScaling, stages: FittedStages, rows: TrainingRows
) -> Ensemble:
    """Return the ensemble of fitted stages, with intercepts computed on the rows.

    Raises ValueError if raw predictions could overflow.
    """
    n_features, has_pairs = len(rows.binning.features), len(stages.pairs) > 0
    features = stages.features.times(scaling.slopes_of_fits)
    check_size(plan, scaling, features.fits, has_pairs=has_pairs)
    fits = features.fits
    has_errors = plan.bags is not None and plan.options.weak_learner.is_readable
    models = _average(features, n_features if plan.is_cyclic else 1, are_bags=has_errors)
    pair_weights: tuple[NDArray[np.float64], ...] = ()
    if stages.of_pairs is not None:
        of_pairs = stages.of_pairs.times(scaling.slopes_of_fits)
        check_size(plan, scaling, of_pairs.fits, has_pairs=has_pairs)
        fits = [_join(*both, n_features) for both in zip(fits, of_pairs.fits, strict=True)]
        size = len(stages.pairs) if plan.is_cyclic else 1
        models = _join(models, _average(of_pairs, size), n_features)
        pair_weights = of_pairs.bin_weights
    everything = [models] if len(fits) == 1 else [models, *fits]
    check_size(plan, scaling, everything, has_pairs=has_pairs)
    ensemble = make_ensemble(
        rows.binning,
        tuple(models),
        features.bin_weights,
        plan.options.selection,
        () if stages.of_pairs is None else stages.pairs,
        pair_weights,
        joint=bool(plan.link.joint_loss),
        slopes=scaling.slopes,
    )
    bags: list[Ensemble] = []
    if plan.bags is not None and isinstance(ensemble, TableEnsemble):
        bags = [*collapse(ensemble, fits)]
    elif has_errors and isinstance(ensemble, TreeEnsemble):
        bags = [replace(ensemble, models=tuple(of_fit)) for of_fit in fits]
    ensemble, bags = _add_intercepts(plan, scaling, rows, ensemble, bags)
    return _add_bags(plan, ensemble, bags)


def _add_bags(plan: FitPlan, ensemble: Ensemble, bags: Sequence[Ensemble]) -> Ensemble:
    """Return the ensemble with what standard errors need of its bags."""
    if not bags:
        return ensemble
    if isinstance(ensemble, TreeEnsemble):
        assert plan.bags is not None
        intercepts = tuple(bag.intercepts for bag in bags)
        return replace(ensemble, bags=TreeBags(intercepts, plan.bags.design.n_parts))
    assert isinstance(ensemble, TableEnsemble)
    tables = BagTables(len(bags), tuple(bag for bag in bags if isinstance(bag, TableEnsemble)))
    errors = tables if plan.keeps_tables_of_bags else tables.summarize(ensemble)
    return replace(ensemble, standard_errors=errors)


def add_up_from_base(
    plan: FitPlan,
    rows: TrainingRows,
    ensemble: Ensemble,
    segments: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Return the raw predictions of training rows, or of those in some segments."""
    if segments is None:
        raw = rows.add_up(ensemble)
        return raw if plan.base is None else raw + plan.base
    raw = rows.of_segments(segments).add_up(ensemble)
    if plan.base is None:
        return raw
    return raw + plan.base[np.repeat(segments, np.diff(rows.segments))]


def warn_of_costly_certainty(
    plan: FitPlan, rows: TrainingRows, ensemble: Ensemble, validation: Validation | None
) -> None:
    """Warn if certainty costs more than the model gains, on training or validation rows."""
    if not reaches_certainty(plan.link.loss):
        return
    raw = add_up_from_base(plan, rows, ensemble)
    shares = rows.class_weights / rows.class_weights.sum()
    warned = warn_of_certainty(
        plan.link, as_predicted(raw), rows.class_of_row, rows.weight, shares, "training"
    )
    if validation is not None and not warned:
        validation.warn_of_costly_certainty(ensemble, rows)


def _average(stage: Stage, size: int, *, are_bags: bool = False) -> list[Rounds]:
    """Return the mean of the fits by model; an estimator has `size` rounds."""
    if len(stage.fits) == 1:
        return stage.fits[0]
    by_model = zip(*stage.fits, strict=True)
    return [average_rounds(fits, size, are_bags=are_bags) for fits in by_model]


def _join(first: Sequence[Rounds], second: Sequence[Rounds], n_features: int) -> list[Rounds]:
    """Return the models of features with those of pairs."""
    return [Rounds.join(a, b, n_features) for a, b in zip(first, second, strict=True)]


def check_size(plan: FitPlan, scaling: RawScaling, fits: Fits, *, has_pairs: bool) -> None:
    """Refuse rounds whose sums could overflow; `has_pairs` if those of pairs are among them."""
    intercept = scaling.intercept
    added = max(map(abs, intercept)) if isinstance(intercept, tuple) else 0.0
    if max(rounds.bound() for fit in fits for rounds in fit) + added <= LARGEST_RAW:
        return
    loss = plan.link.loss
    rate = plan.options.find_rate(loss.rate_factor)
    setting, smaller = f"gain={loss.gain!r} and learning_rate={rate!r}", "learning_rate"
    if plan.pairs is not None and has_pairs:
        setting += f" and interactions__learning_rate={plan.pairs.options.learning_rate!r}"
        smaller = "learning_rate or that of interactions"
    if max(scaling.slopes) > 1.0 or added > 0.0:
        setting = f"slope={plan.calibration.slope!r} and intercept={plan.calibration.intercept!r}"
        smaller = "slope or the intercept"
    raise ValueError(
        f"{setting} make raw predictions beyond {LARGEST_RAW:g}: make the {smaller} smaller"
    )


def _add_intercepts(
    plan: FitPlan,
    scaling: RawScaling,
    rows: TrainingRows,
    ensemble: Ensemble,
    bags: list[Ensemble],
) -> tuple[Ensemble, list[Ensemble]]:
    """Return the ensemble and its bags with their intercepts."""
    intercept = scaling.intercept
    if intercept is None:
        return ensemble, bags
    if isinstance(intercept, tuple):
        return replace(ensemble, intercepts=intercept), [
            replace(bag, intercepts=intercept) for bag in bags
        ]
    raw = add_up_from_base(plan, rows, ensemble)
    if intercept != "share" and not is_known(plan.link.loss, raw, rows.weight):
        return ensemble, bags
    ensemble = replace(ensemble, intercepts=_find_shares(plan.link, raw, rows))
    if plan.bags is None:
        return ensemble, bags
    with_intercepts = []
    for bag, segments in zip(bags, plan.bags.segments, strict=False):
        raw = add_up_from_base(plan, rows, bag, segments)
        shares = _find_shares(plan.link, raw, rows.of_segments(segments))
        with_intercepts.append(replace(bag, intercepts=shares))
    return ensemble, with_intercepts


def _find_shares(link: Link, raw: NDArray[np.float64], rows: TrainingRows) -> tuple[float, ...]:
    """Return the intercepts that make the mean probabilities of these rows their shares."""
    return find_intercepts(link, raw, rows.class_of_row, rows.weight)
