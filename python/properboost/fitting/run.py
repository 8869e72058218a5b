"""The run of a plan: it boosts features, and then pairs of them on what features leave."""

import numpy as np

from properboost.engine.protocols import TrainingRows
from properboost.fitting.boost import boost, report_from
from properboost.fitting.pair_search import find_pairs, lay_grids, read_pairs
from properboost.fitting.plan import FitPlan, PairPlan, RawScaling
from properboost.fitting.stages import FittedStages, Stage
from properboost.fitting.watch import Watch
from properboost.models.ensemble import Fits
from properboost.models.interactions import PairBins
from properboost.progress import Report, show_progress

__all__ = ["Run"]


class Run:
    """A plan while it runs over rows."""

    def __init__(self, plan: FitPlan, scaling: RawScaling, rows: TrainingRows) -> None:
        self.plan, self.scaling, self.rows = plan, scaling, rows
        self._features: Stage | None = None
        self._pairs: tuple[PairBins, ...] = ()
        self._rows_of_pairs: TrainingRows | None = None

    def finish(self, watch: Watch | None = None, *, verbose: int = 0) -> FittedStages:
        """Boost all stages; `watch` gets every estimator, and `verbose` shows progress."""
        with show_progress(verbose, sum(self.plan.count_rounds())) as report:
            return self._boost(watch, report)

    def _boost(self, watch: Watch | None, report: Report | None) -> FittedStages:
        plan, rows = self.plan, self.rows
        first = plan.of_features(needs_raw=self.scaling.finds_intercepts)
        features = boost(first, rows, watch, report)
        self._features = features
        if plan.pairs is None:
            return FittedStages(features)
        pairs = self._choose_pairs(plan.pairs, features)
        if not pairs:
            return FittedStages(features)
        self._pairs, self._rows_of_pairs = pairs, rows.of_pairs(pairs)
        if watch is not None:
            watch.begin_stage(pairs)
        second = plan.of_pairs(features.raw)
        assert second is not None
        done = plan.count_rounds()[0]
        of_pairs = boost(second, self._rows_of_pairs, watch, report and report_from(report, done))
        return FittedStages(features, pairs, of_pairs)

    @property
    def has_pairs(self) -> bool:
        """Whether pairs have been chosen."""
        return len(self._pairs) > 0

    def preview(self, fits: Fits) -> FittedStages:
        """Return the stages so far, with these rounds as those of the last stage."""
        rows = self.rows if self._rows_of_pairs is None else self._rows_of_pairs
        everything = np.ones(len(rows.class_of), dtype=bool)
        stage = Stage([list(fit) for fit in fits], None, rows.weigh_segments(everything))
        if self._features is None or self._rows_of_pairs is None:
            return FittedStages(stage)
        return FittedStages(self._features, self._pairs, stage)

    def _choose_pairs(self, plan: PairPlan, features: Stage) -> tuple[PairBins, ...]:
        """Return the pairs of the plan, or as many of the strongest."""
        rows = self.rows
        if isinstance(plan.pairs, int | np.integer):
            raw = np.sum(np.asarray(features.raw), axis=0)
            bags = self.plan.bags
            if bags is not None:  # the mean over the bags that a row is in
                raw /= np.repeat(bags.segments.sum(axis=0), np.diff(rows.segments))
            weights = features.bin_weights
            chosen = find_pairs(self.plan.link, rows, raw, weights, int(plan.pairs))
        else:
            chosen = read_pairs(plan.pairs, rows.n_combined, rows.names)
        return lay_grids(rows, features.bin_weights, chosen)
