"""A running search: it compares families, then pairs, and calibrates the winner."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.distinct import find_distinct
from properboost.data.labels import read_groups
from properboost.data.sorted_rows import LEARNS, Rows, SortedRows
from properboost.data.whole_sums import add_up_by
from properboost.engine.protocols import RowSource, TrainingRows
from properboost.fitting.intercept import add_intercepts
from properboost.fitting.patience import make_patience
from properboost.losses.probabilities import Link
from properboost.model_selection.boosted_together import (
    SplitPairs,
    boost_candidates,
    predict_held_out,
    time_a_round,
)
from properboost.model_selection.calibration import calibrate, make_scaled
from properboost.model_selection.compare_families import (
    PAIRS,
    CandidateRecord,
    add_pairs,
    compare,
    describe_families,
)
from properboost.model_selection.compare_pairs import (
    PairTrial,
    Winner,
    compare_pairs,
    list_trials,
    wants_pairs,
)
from properboost.model_selection.cross_validation import (
    CVTask,
    MakePatience,
    check_best_score,
    cross_validate,
    describe_results,
    read_task,
)
from properboost.model_selection.cv_scores import CVScores, find_best_numbers, mean_scores
from properboost.model_selection.cv_splits import (
    are_representative,
    choose_folds,
    choose_split,
)
from properboost.model_selection.deadline import Deadline, StopInTime
from properboost.model_selection.families import (
    NAMES,
    SearchDesign,
    is_auto,
    list_plans,
)
from properboost.model_selection.final_model import FinalModel
from properboost.model_selection.fit_in_time import FinalFit
from properboost.model_selection.limited_time import choose_sample
from properboost.model_selection.one_standard_error import regularize
from properboost.model_selection.prefer_readable import prefer_readable
from properboost.model_selection.race import Race
from properboost.model_selection.row_order import ROUNDS as ROUNDS_OF_ORDER
from properboost.model_selection.row_order import OrderEffect, hold_out_both_ways
from properboost.model_selection.search_record import flatten, is_default
from properboost.model_selection.search_results import SearchResults
from properboost.model_selection.search_space import Candidate, warn_of_free_gains
from properboost.model_selection.space import Space
from properboost.model_selection.split_rows import SplitRows, arrange, count_models
from properboost.model_selection.through_joblib import has_workers, score_outside
from properboost.models.bag_design import BagPlan
from properboost.notices import warn
from properboost.parameters.boosting import BoostingOptions
from properboost.parameters.declare import Parameter, declared
from properboost.parameters.kinds import CONDITIONAL, SOLVED
from properboost.parameters.learners import LEARNERS
from properboost.parameters.rows import read_binning
from properboost.parameters.splitters import CV
from properboost.progress import Report, show_progress
from properboost.scoring import BUILT_IN, HeldOutRows, Score

__all__ = ["SearchRun"]

FOLDS_FROM = 3
"""The least effort at which cv="auto" is folds, and not one split."""

REPEATS: Mapping[int, int] = {4: 2, 5: 3}
"""How many times random folds are cut anew, by effort: more splits choose less by chance."""

COMPARING = 0.6
"""The share of a time limit in which candidates are compared; the final fit has the rest."""

ROUNDS = 0.95
"""The share after which the final fit ends; the rest is for the terms of its model."""

COMPARING_SAMPLES, FEW_COMPARED = 0.4, 2.0
"""The same share where all rows are more times as many as those of a split."""

OF_A_GROUP, LEAST_OF_A_GROUP = 0.4, 0.04
"""The share of the time left for comparing that candidates boosted together may take.

It is at least the other share of the limit: in less time they would hardly begin.
"""

MOST_ROUNDS, MOST_CYCLES = 1000, 200
"""The most estimators where ``max_estimators`` is None."""


class SearchRun:
    """A search over rows: `search` has the parameters of a `ProperBoostClassifierCV`."""

    def __init__(
        self,
        search: Any,
        settled: SearchDesign,
        source: RowSource,
        rows: Rows,
        groups: ArrayLike | None,
    ) -> None:
        self.deadline = Deadline.after(search.time_limit)
        self._end_of_rounds = self.deadline.share(ROUNDS)
        self._search, self._source, self._rows = search, source, rows
        self._settled = settled
        self._space, self._by_family = settled.space, settled.by_family
        self._groups = read_groups(groups, source.n_rows)
        sample = self._choose_sample()
        self._task = self._read_task(self._choose_cv() if sample is None else sample)
        class_weights = add_up_by(rows.codes, rows.training_weight, len(rows.classes))
        self._plans = list_plans(search, settled, rows.total, class_weights)
        if not self._by_family:
            warn_of_free_gains(self._space, self._plans[0].candidates)
        self._all_rows, self._split_rows = self._encode()
        if is_auto(search, "cv") and self._groups is None and sample is None:
            self._follow_order()
        most = self._count_estimators(self._space.n_estimators)
        self._final = FinalFit(
            self.deadline, self._space, self._split_rows, self.training.n_rows, most
        )
        self._model = FinalModel(
            search, self._space, rows, self._groups, most, self._final.count_bags
        )
        self._is_sample = self.deadline.is_limited and self._final.row_ratio > FEW_COMPARED
        self._limit = self.deadline.share(COMPARING_SAMPLES if self._is_sample else COMPARING)
        self._race = self._make_race()

    @property
    def training(self) -> TrainingRows:
        """All rows."""
        return self._all_rows.training

    @property
    def stop(self) -> StopInTime | None:
        """The end of the final fit, if the time is limited."""
        return StopInTime(self._end_of_rounds) if self.deadline.is_limited else None

    def choose(self) -> tuple[Winner, SearchResults]:
        """Compare candidates, then pairs; return the winner, and the results."""
        search = self._search
        compared = self._compare()
        winner, results = self._choose(compared)
        winner = self._add_pairs(compared, winner, results)
        if self.deadline.is_limited and not search.one_standard_error:
            winner = self._go_on(winner, results)
        if search.calibrate and not self._space.pins_calibration:
            self._calibrate(winner, results)
        if self._by_family and not self._is_sample and not search.one_standard_error:
            self._final.expect_rounds(self._model.average(winner.candidate, results))
        if self.deadline.is_limited:
            self._fit_to_time(winner.candidate, results)
        return winner, results

    def _add_pairs(
        self, compared: CandidateRecord, winner: Winner, results: SearchResults
    ) -> Winner:
        """Return the winner, or tables with pairs if these are better and there is time."""
        pairs = wants_pairs(self._space, self._search.effort)
        if results.ended is None and pairs and self._limit():
            results.ended = "time_limit"
            self._warn_if_cut_short(results)
        base = None
        if results.ended is None and pairs:
            base = self._find_base(compared, results, winner)
        if base is not None:
            return self._search_pairs(base, winner, results)
        if self._space.pins_pairs:
            results.best_params["interactions"] = self._take_pairs_untried()
        return winner

    def _go_on(self, winner: Winner, results: SearchResults) -> Winner:
        """Return the winner with as many estimators as help, if its group had too little time."""
        if results.ended == "interrupted" or results.of_winner["family_"] == PAIRS:
            return winner
        chosen, curves = winner.candidate, results.validation_curves[winner.index]
        try:
            scores = self._final.go_on(chosen, winner.n_estimators, curves, self._boost_on)
        except KeyboardInterrupt:
            results.ended = "interrupted"
            return winner
        if scores is None:
            return winner
        any_number = self._space.n_estimators is None
        _, best_at = find_best_numbers(scores, any_number=any_number)
        if best_at[0] < winner.n_estimators:
            return winner
        longer = _pick([chosen], scores, 0, int(best_at[0]), self._split_rows)
        before = results.best_params
        taken = replace(longer, index=winner.index)
        results.take(taken.params, taken.attributes)
        results.best_params = before | results.best_params
        return longer

    def _fit_to_time(self, chosen: Candidate, results: SearchResults) -> None:
        """Choose rounds, draws and the rate of the final fit by the rows and the time."""
        params, final = results.best_params, self._final
        if self._is_sample:
            n_before = results.of_winner["n_estimators_"]
            params["n_estimators"] = final.fit_rounds_to_rows(chosen, n_before, self._time_a_round)
        params["weak_learner"] = final.take_fewer_draws(chosen, params["weak_learner"])
        params |= final.hurry(chosen, params["n_estimators"])
        results.of_winner["n_estimators_"] = params["n_estimators"]

    def _calibrate(self, winner: Winner, results: SearchResults) -> None:
        """Record the corrections of the winner's probabilities, and the time of a fit."""
        begin = time.perf_counter()
        judged = _calibrate(winner, self._task)
        results.calibration, results.held_out_scores = judged.record, judged.scores
        results.best_params |= judged.corrections
        self._final.learn_seconds((time.perf_counter() - begin) / results.n_splits)

    def _time_a_round(self, chosen: Candidate) -> float:
        """Return the seconds of a candidate's round with all rows."""
        batch = self._all_rows.splits
        learns = replace(batch, roles=np.full_like(batch.roles[:1], LEARNS))
        return time_a_round(chosen, replace(self._all_rows, splits=learns))

    def deal_to_bags(self, results: SearchResults) -> tuple[SortedRows, BagPlan] | None:
        """Deal the rows to the bags of the model that was chosen, if it has any."""
        return self._model.deal_to_bags(results)

    # -- setting up --------------------------------------------------------------------------------

    def _choose_sample(self) -> CV | None:
        """Return the split of a sample that is all a time limit allows, if it allows no more."""
        search = self._search
        is_open = is_auto(search, "cv") and self._groups is None
        if not is_open or not self._by_family or search.one_standard_error:
            return None
        return choose_sample(search, self._rows)

    def _choose_cv(self, *, in_blocks: bool = False) -> CV:
        """Return the splitter of the rows; `in_blocks` keeps neighbours together."""
        search = self._search
        if not is_auto(search, "cv"):
            chosen: CV = search.cv
            return chosen
        grouped, effort = self._groups is not None, search.effort or FOLDS_FROM
        if effort < FOLDS_FROM and not search.one_standard_error:
            return choose_split(self._rows, grouped=grouped, in_blocks=in_blocks)
        # Repeated folds share rows, so their standard errors would be too small.
        n_repeats = 1 if search.one_standard_error else REPEATS.get(effort, 1)
        return choose_folds(self._rows, grouped=grouped, in_blocks=in_blocks, n_repeats=n_repeats)

    def _read_task(self, cv: CV) -> CVTask:
        source, scoring = self._source.source, self._search.scoring
        return read_task(source, self._rows, cv=cv, scoring=scoring, groups=self._groups)

    def _encode(self) -> tuple[SplitRows, list[SplitRows]]:
        """Return the rows as codes, all of them and in the orders that splits need."""
        first = self._task.split_batches[0]
        order = self._rows.sort(first.part, first.roles.shape[1])
        options = read_binning(self._search, self._settled.rows_per_bin)
        needs_means = self._settled.needs_means
        training = self._source.encode(options, self._rows, order, with_means=needs_means)
        batches, limited = self._task.split_batches, self.deadline.is_limited
        split_rows = arrange(self._rows, batches, order, training, copies_used=limited)
        return SplitRows(self._rows, order, first, training), list(split_rows)

    def _follow_order(self) -> None:
        """Warn if neighbouring rows are alike, and cut blocks if they give each other away."""
        both = hold_out_both_ways(self._all_rows, self._source.source)
        if both is None:
            return
        small = self._plans[-1].candidates[0]
        held_out, raws = predict_held_out(small, ROUNDS_OF_ORDER, [both])
        effect = OrderEffect.of(held_out, raws, small.link(self.training.n_threads))
        if effect.is_clear:
            warn(str(effect))
        if effect.needs_blocks:
            self._task = self._read_task(self._choose_cv(in_blocks=True))
            batches = self._task.split_batches
            self._split_rows = [self._all_rows.for_splits(batch) for batch in batches]
            self._all_rows = self._split_rows[0]

    def _make_race(self) -> Race | None:
        """Return the race that drops candidates or ends when the time is up, if there is one."""
        limit_group = None
        if self._by_family and self.deadline.is_limited:
            least = LEAST_OF_A_GROUP * self._search.time_limit
            limit_group = partial(self._limit.share, OF_A_GROUP, least)
        if self._by_family and not self._search.one_standard_error:
            in_parts = are_representative(self._rows)
            return Race(self._limit, in_parts=in_parts, limit_group=limit_group)
        if self._search.time_limit is None:
            return None
        return Race(self._limit, drops=False, limit_group=limit_group)

    # -- comparing ---------------------------------------------------------------------------------

    def _compare(self) -> CandidateRecord:
        """Return the record of all candidates of all families."""
        any_number = self._space.n_estimators is None

        def evaluate(candidates: Sequence[Candidate], family: str) -> CVScores:
            what = family if self._by_family else "searching"
            return self._boost(candidates, self._split_rows, what)

        def rate(scores: CVScores) -> NDArray[np.float64]:
            means = mean_scores(scores.values[0])
            best: NDArray[np.float64] = means.max(axis=1)
            return best if any_number else means[:, -1]

        return compare(
            self._plans,
            evaluate,
            rate,
            self._race,
            self._search.effort,
            by_effort=self.deadline.is_limited,
            may_go_on=self._leaves_time if self._is_sample else None,
        )

    def _leaves_time(self, compared: CandidateRecord) -> bool:
        """Whether the best candidate so far can still be fitted to all rows in time."""
        best = int(np.argmax(compared.ratings))
        seconds = compared.seconds[best] / self._task.n_splits
        return self._final.leaves_time(compared.candidates[best], seconds)

    def _boost_on(self, candidate: Candidate, race: Race) -> CVScores:
        name = candidate.family or "searching"
        return self._boost([candidate], self._split_rows, name, race=race)

    def _boost(
        self,
        candidates: Sequence[Candidate],
        split_rows: Sequence[SplitRows],
        what: str,
        n_estimators: int | None = None,
        *,
        race: Race | None = None,
    ) -> CVScores:
        """Return the scores and log losses of all candidates, splits and numbers of estimators.

        `n_estimators` is the number for pairs, if it is fixed.  A `race` takes the place of that of
        all candidates.
        """
        search, task, race = self._search, self._task, race or self._race
        if n_estimators is None:
            n_estimators = self._space.n_estimators
        caps = self._count_estimators(n_estimators)
        total = count_models(split_rows) * sum(caps[c.selection] for c in candidates)
        scores = (task.score, BUILT_IN["neg_log_loss"])
        stop = None
        if n_estimators is None:
            stop = make_patience(search)
        if has_workers() and split_rows[0].training.can_be_copied:
            alone = [
                replace(rows, training=replace(rows.training, n_threads=1)) for rows in split_rows
            ]
            score = partial(_score, split_rows=alone, caps=caps, scores=scores, stop=stop)
            return score_outside(candidates, score, race)
        with show_progress(search.verbose, total, what, f"best {task.score_name}") as report:
            return _score(candidates, split_rows, caps, scores, stop=stop, report=report, race=race)

    def _count_estimators(self, fixed: int | None) -> dict[str, int]:
        """Return the most estimators that are tried, by selection."""
        most = {"greedy": MOST_ROUNDS, "unbiased": MOST_ROUNDS, "cyclic": MOST_CYCLES}
        limit = self._search.max_estimators if fixed is None else fixed
        return most if limit is None else dict.fromkeys(most, int(limit))

    def _choose(self, compared: CandidateRecord) -> tuple[Winner, SearchResults]:
        """Return the winner, and the results of all candidates."""
        search, candidates, scores = self._search, compared.candidates, compared.scores
        curves = scores.values[0]
        any_number = self._space.n_estimators is None
        c, best_at = find_best_numbers(scores, any_number=any_number)
        tuned = [
            candidate.with_temperature(scores.temperatures[k, best_at[k]])
            for k, candidate in enumerate(candidates)
        ]
        at_best = curves[np.arange(len(curves)), :, best_at]
        columns = {"n_estimators": best_at + 1} | (compared.columns if self._by_family else {})
        results = SearchResults(
            describe_results(
                [candidate.params for candidate in tuned],
                _describe_candidates(tuned, self._space), at_best, columns,
            ),
            curves,
            ended=compared.ended,
        )  # fmt: skip
        at = int(best_at[c])
        check_best_score(mean_scores(curves)[c, at], search.scoring)
        if self._by_family and not search.one_standard_error:
            readable = [candidate.options.weak_learner.is_readable for candidate in candidates]
            c = prefer_readable(readable, at_best, c)
            at = int(best_at[c])
        if self._by_family:
            names = [plan.family.name for plan in self._plans]
            results.family_results = describe_families(names, compared, at_best)
        if search.one_standard_error:
            c, at = regularize(candidates, NAMES, curves, best_at, c, any_number=any_number)
        winner = _pick(candidates, scores, c, at, self._split_rows)
        results.take(winner.params, winner.attributes)
        self._warn_if_cut_short(results)
        self._warn_of_the_last_gain(results)
        return winner, results

    def _warn_if_cut_short(self, results: SearchResults) -> None:
        """Warn of a search that was cut short."""
        if results.ended is not None:
            why = {
                "time_limit": f"the time_limit of {self._search.time_limit!r} seconds is over",
                "interrupted": "the search was interrupted",
            }[results.ended]
            n_candidates = len(results.cv_results["params"])
            left_out = self._describe_left_out(results)
            warn(f"{why}: the best of {n_candidates} candidates, not all, is taken{left_out}")

    def _describe_left_out(self, results: SearchResults) -> str:
        """Return a text: the rows and the families that were not compared, if any."""
        text = ""
        if self._is_sample:
            n_rows, n_all = self._split_rows[0].training.n_rows, self.training.n_rows
            text = f", compared on {n_rows:,} of {n_all:,} rows"
        begun = [] if results.family_results is None else [*results.family_results["family"]]
        missing = [plan.name for plan in self._plans if plan.name not in begun]
        if missing and self._by_family:
            text += f"; no time was left for {', '.join(missing)}"
        return text

    def _warn_of_the_last_gain(self, results: SearchResults) -> None:
        """Warn of a chosen gain at an end of the user's list; the search's list is wide enough."""
        gains = find_distinct(results.cv_results["param_gain"].astype(np.float64))
        gain, listed = results.of_winner["gain_"], self._space.gains or [None]
        if None in listed or len(gains) < 3 or gain not in gains[[0, -1]]:
            return
        end, other = ("smallest", "smaller") if gain == gains[0] else ("largest", "larger")
        warn(f"the chosen gain {gain:g} is the {end} of the space: a {other} one may be better")

    # -- pairs -------------------------------------------------------------------------------------

    def _find_base(
        self, compared: CandidateRecord, results: SearchResults, winner: Winner
    ) -> Winner | None:
        """Return the best additive candidate, to which pairs are added; None for no pairs.

        Where no families are compared, it is the winner.  If it is far behind, pairs are not
        compared, unless the space has them.
        """
        if not self._by_family:
            return winner if self._space.pins_pairs else None
        additive = {plan.family.name for plan in self._plans if plan.family.additive}
        candidates = compared.candidates
        for k in np.argsort(-np.array(compared.ratings), kind="stable").tolist():
            if candidates[k].family in additive and candidates[k].options.step not in SOLVED:
                if not self._space.pins_pairs and compared.is_far_behind(k):
                    return None
                at = int(results.cv_results["n_estimators"][k]) - 1
                return _pick(candidates, compared.scores, k, at, winner.split_rows)
        return None

    def _search_pairs(self, base: Winner, winner: Winner, results: SearchResults) -> Winner:
        """Choose how many pairs a candidate gets, and their parameters; return the winner.

        Where families are compared, the winner so far stays unless pairs are better.
        """
        search = self._search

        def evaluate(
            candidates: Sequence[Candidate],
            rows: Sequence[SplitRows],
            n_pairs: int,
            n_estimators: int | None,
        ) -> CVScores:
            return self._boost(candidates, rows, f"{n_pairs} pairs", n_estimators)

        def take(trial: PairTrial) -> Sequence[SplitRows]:
            if trial.are_listed:
                return split_pairs.take_listed(trial.interactions.pairs)
            return split_pairs.take_strongest(trial.n_pairs)

        begin = time.perf_counter()
        n_features = len(self.training.binning.features)
        trials = self._list_trials()
        most = max(0 if trial.are_listed else trial.n_pairs for trial in trials)
        split_pairs = SplitPairs(base.candidate, base.n_estimators, base.split_rows, most)
        families = results.family_results
        may_have_none = self._space.may_have_no_pairs or n_features < 2
        pairs = compare_pairs(
            base,
            trials if n_features > 1 else [],
            take,
            evaluate,
            may_have_none=may_have_none,
            fixed_number=self._space.n_estimators is not None,
            is_over=self._limit,
            race=self._race,
        )
        if self._limit():
            results.ended = "time_limit"
            self._warn_if_cut_short(results)
        results.interaction_results = pairs.columns
        best = pairs.find_best()
        taken = pairs.tried[best]
        check_best_score(taken.score, search.scoring)
        if families is not None:
            of_families = np.column_stack(
                [
                    results.cv_results[f"split{k}_test_score"][families["best_index"]]
                    for k in range(results.n_splits)
                ]
            )
            results.family_results = add_pairs(
                families,
                of_families,
                taken.scores,
                mean_test_score=taken.score,
                candidates=len(pairs.tried) - 1,
                dropped=pairs.dropped,
                seconds=time.perf_counter() - begin,
            )
            is_better = taken is not base and (taken.score > winner.score or not may_have_none)
            if not is_better:
                results.best_params |= {"interactions": 0} if self._space.pins_pairs else {}
                return winner
            results.take(base.params, base.attributes)
            results.of_winner["family_"] = PAIRS
        results.of_winner["best_score_"] = taken.score
        results.best_params |= {"interactions": 0, **taken.candidate.params}
        return taken

    def _list_trials(self) -> list[PairTrial]:
        n_rows, n_features = self._source.n_rows, len(self.training.binning.features)
        return list_trials(self._space, self._search.effort, n_rows, n_features)

    def _take_pairs_untried(self) -> Any:
        """Return pairs of the space without a comparison: there is one choice, or no time."""
        return 0 if self._space.may_have_no_pairs else self._list_trials()[0].interactions


def _score(
    candidates: Sequence[Candidate],
    split_rows: Sequence[SplitRows],
    caps: Mapping[str, int],
    scores: Sequence[Score],
    *,
    stop: MakePatience | None,
    race: Race | None,
    report: Report | None = None,
) -> CVScores:
    """Return the scores of boosted candidates on all splits, with `caps` on estimators."""
    n_splits = sum(len(rows.splits) for rows in split_rows)
    batches = boost_candidates(candidates, split_rows, caps)
    return cross_validate(
        batches, len(candidates), n_splits, scores, stop=stop, report=report, race=race
    )


def _pick(
    candidates: Sequence[Candidate],
    scores: CVScores,
    c: int,
    at: int,
    split_rows: Sequence[SplitRows],
) -> Winner:
    """Return a candidate as a winner, with the number of estimators at the place `at`."""
    curves = scores.values[0, c : c + 1]
    tuned = candidates[c].with_temperature(scores.temperatures[c, at])
    score = float(mean_scores(curves)[0, at])
    return Winner(c, tuned, at + 1, split_rows, curves[0, :, at], score)


@dataclass(frozen=True)
class _Calibrated:
    """The calibration of a winner by the rows that its splits hold out."""

    record: dict[str, Any] | None = None
    """The record of the fit, if anything was fitted."""
    corrections: dict[str, Any] = field(default_factory=dict)
    """The parameters that the winner gets."""
    scores: dict[str, Any] | None = None
    """The scores of the winner with them."""


def _score_held_out(held_out: Sequence[HeldOutRows], link: Link, raws: Any) -> dict[str, Any]:
    """Return the number of held-out rows, and the log loss and accuracy, means of the splits."""
    known = {
        name: [BUILT_IN[name](rows, link, raw) for rows, raw in zip(held_out, raws, strict=True)]
        for name in ("neg_log_loss", "accuracy")
    }
    return {
        "rows": len(find_distinct(np.concatenate([rows.in_table for rows in held_out]))),
        "log_loss": -float(np.mean(known["neg_log_loss"])),
        "accuracy": float(np.mean(known["accuracy"])),
    }


def _calibrate(winner: Winner, task: CVTask) -> _Calibrated:
    """Fit a slope and intercepts to the winner's raw predictions of held-out rows."""
    chosen, split_rows = winner.candidate, winner.split_rows
    rows, raws = predict_held_out(chosen, winner.n_estimators, split_rows)
    link = chosen.link(split_rows[0].training.n_threads)
    fitted = calibrate(link, rows, raws, task.rows.training_weight)
    helps = fitted is not None and fitted.helps
    shifted = raws
    if chosen.options.response == CONDITIONAL:
        shifted = [
            add_intercepts(link, raw, held_out.codes, held_out.weight)
            for held_out, raw in zip(rows, raws, strict=True)
        ]
    if fitted is None:
        return _Calibrated(scores=_score_held_out(rows, link, shifted))
    scaled, corrected = make_scaled(link), [fitted.apply(raw) for raw in raws]
    if helps and task.score is not BUILT_IN["neg_log_loss"]:
        # Better probabilities must not cost the score that the user asked for.
        before, after = (
            np.mean(
                [
                    task.score(held_out, by, raw)
                    for held_out, raw in zip(rows, of_splits, strict=True)
                ]
            )
            for by, of_splits in ((link, shifted), (scaled, corrected))
        )
        helps = bool(after >= before)
    scores = _score_held_out(rows, *((scaled, corrected) if helps else (link, shifted)))
    slope, intercepts = fitted.slope, list(fitted.intercepts)
    corrections: dict[str, Any] = {"slope": slope, "intercept": intercepts}
    if chosen.coupling is None:
        corrections["intercept"] = intercepts[0]
    elif chosen.coupling == "one_vs_rest":  # the slope is 1 / T, and the link divides b, too
        corrections = {"temperature": float(f"{1.0 / slope:.6g}")}
        corrections["intercept"] = [b / slope for b in intercepts]
    record = {**corrections, "gain": fitted.gain, "error": fitted.error, "kept": helps}
    taken = {"calibration": chosen.calibration.replace(**corrections)} if helps else {}
    return _Calibrated(record, taken, scores)


ALWAYS = ("loss", "gain", "selection", "prior")
"""The parameters that always have a column of results."""


def _describe_candidates(candidates: Sequence[Candidate], space: Space) -> list[dict[str, Any]]:
    """Return the columns of results on each candidate, one for each parameter.

    These are the parameters of the space, and those in which any candidate differs from the
    classifier's defaults.
    """
    rows = [_describe(candidate) for candidate in candidates]
    shown = [
        name
        for name in dict.fromkeys(name for row in rows for name in row)
        if name in (*ALWAYS, "alpha", "calibration__temperature")
        or name in space
        or any(_stands_out(name, row, space.classifier.known) for row in rows)
    ]
    return [{name: row[name] for name in shown if name in row} for row in rows]


def _describe(candidate: Candidate) -> dict[str, Any]:
    """Return every parameter of a candidate that may have a column."""
    options, alpha = candidate.options, candidate.loss.parameters.get("alpha")
    of_loss = {"loss": candidate.loss.name, "gain": candidate.loss.gain}
    of_loss |= {} if alpha is None else {"alpha": alpha}
    params = {name: getattr(options, name) for name in declared(BoostingOptions)}
    params |= {k: v for k, v in candidate.params.items() if k not in ("calibration", "outer_bags")}
    if candidate.coupling is None:
        params.pop("multiclass", None)
    if candidate.seeks_temperature:
        params["calibration__temperature"] = candidate.calibration.temperature
    return flatten({**of_loss, **params, **of_loss}, defaults=True)


def _stands_out(name: str, row: Mapping[str, Any], known: Mapping[str, Parameter]) -> bool:
    """Whether a candidate has a parameter or a field that differs from its default."""
    owner, _, field = name.partition("__")
    entries = declared(LEARNERS[row[owner]]) if field else known
    return name in row and not is_default(row[name], entries[field or owner].default)
