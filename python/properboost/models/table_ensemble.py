"""Ensembles of look-up tables, which add up to one shape function per feature."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.distinct import find_distinct
from properboost.data.entries import find_entries
from properboost.data.table import InputTable
from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.interactions import PairBins, look_up, purify
from properboost.models.isotonic import regress_isotonic
from properboost.models.standard_errors import StandardErrors
from properboost.models.table_terms import TableTerms
from properboost.models.tree import as_shares

__all__ = ["TableEnsemble", "regress_isotonic"]

_MOST_AT_ONCE = 2**18
"""Entries of look-up tables side by side (2 MiB) that are allowed for any number of rounds."""

PairEffects: TypeAlias = dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]
"""The main effects of pairs: the part of either feature alone, by level."""


@dataclass(frozen=True, eq=False)
class TableEnsemble(Ensemble):
    """Rounds of look-up tables over features and, from some round on, over `pairs` of them.

    A pair's rounds have the feature ``n_features`` plus its position, and `pair_weights` holds the
    training weight of its codes.  With cyclic selection an estimator has a round for every feature,
    or for every pair.
    """

    pairs: tuple[PairBins, ...] = ()
    pair_weights: tuple[NDArray[np.float64], ...] = ()
    standard_errors: StandardErrors | None = None
    """The standard errors by the bags whose mean the ensemble is; None without bags."""

    @cached_property
    def terms(self) -> TableTerms:
        """The features and pairs as terms."""
        return TableTerms(self)

    @property
    def bag_errors(self) -> StandardErrors | None:
        """The standard errors by the bags whose mean the ensemble is; None without bags."""
        return self.standard_errors

    def _shares(self) -> list[list[list[range]]]:
        """Return the estimators of features and those of pairs."""
        cyclic = self.selection == "cyclic"
        n_features = len(self.binning.features)
        mains, pairs = [], []
        for rounds in self.models:
            n_mains = int(np.count_nonzero(rounds.feature < n_features))
            mains.append(rounds.cut(0, n_mains, n_features if cyclic else 1))
            pairs.append(rounds.cut(n_mains, len(rounds), max(1, len(self.pairs)) if cyclic else 1))
        return [mains, pairs]

    def extend_codes(self, codes: NDArray[np.uint8], n_threads: int) -> NDArray[np.uint8]:
        """Return codes of features, and after them those of the pairs that rounds look up."""
        if not self.pairs:
            return codes
        of_pairs = _core.encode_pairs([pair.native for pair in self.pairs], codes, n_threads)
        return np.concatenate([codes, of_pairs])

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """The start of each feature's entries, then of each pair's, when all are side by side."""
        widths = [bins.width for bins in (*self.binning.features, *self.pairs)]
        return np.cumsum([0, *widths])

    @cached_property
    def _used(self) -> list[int]:
        """The features that rounds look up, alone or in pairs."""
        terms = np.concatenate([rounds.feature for rounds in self.models])
        of_pairs = [j for pair in self.pairs for j in (pair.first, pair.second)]
        alone = terms[terms < len(self.binning.features)].tolist()
        return sorted({*alone, *of_pairs})

    @cached_property
    def _is_sparse(self) -> bool:
        """Whether all look-up tables side by side have far more entries than all rounds.

        That is so with many classes and features and few rounds.  Models are then taken a few at a
        time, so that a small file never takes much more memory than its size.
        """
        n_entries = sum(len(rounds.values) for rounds in self.models)
        return len(self.models) * int(self.offsets[-1]) > max(_MOST_AT_ONCE, 4 * n_entries)

    def _add_up(self, models: Sequence[Rounds]) -> NDArray[np.float64]:
        sums = np.empty((len(models), self.offsets[-1]))
        for table, rounds in zip(sums, models, strict=True):
            table[:] = rounds.add_up(self.offsets[rounds.feature], len(table))
        return sums

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """The rounds added up: (n_models, all codes), the features side by side, then the pairs."""
        return self._add_up(self.models)

    @cached_property
    def _common(self) -> NDArray[np.float64]:
        """The part that explanations leave out: the mean of a joint model's sums, or zeros."""
        total = np.zeros(self.offsets[-1])
        for rounds in self.models if self.joint else ():
            total += self._add_up([rounds])[0]
        total /= len(self.models)
        return total

    @cached_property
    def _boosted_pairs(self) -> list[list[int]]:
        """The pairs of which each model, or the joint one, has rounds."""
        terms = [
            find_distinct(rounds.feature) - len(self.binning.features) for rounds in self.models
        ]
        if self.joint:
            terms = [find_distinct(np.concatenate(terms))] * len(terms)
        return [pairs[pairs >= 0].tolist() for pairs in terms]

    @cached_property
    def _purified(self) -> list[tuple[NDArray[np.float64], PairEffects]]:
        return [self._purify(m, sums) for m, sums in enumerate(self.sums)]

    def purified(self, model: int) -> tuple[NDArray[np.float64], PairEffects]:
        """Return one model's purified tables, and the main effects of its pairs.

        The main effects of pairs are moved into the tables of their features.  They are returned
        by level of either feature, for each pair that has rounds.
        """
        if not self._is_sparse:
            return self._purified[model]
        return self._purify(model, self.sums_of(model))

    def _purify(
        self, model: int, sums: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], PairEffects]:
        table, effects = sums - self._common, {}
        for p in self._boosted_pairs[model]:
            effects[p] = self.move_effects(table, p)
        return table, effects

    def move_effects(
        self, table: NDArray[np.float64], p: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Move a pair's main effects into its features' tables, and return them by level."""
        pair, grid = self.pairs[p], self.cells_of(table, p)
        first, second = purify(grid, self.cells_of(self.pair_weights[p], p, 0))
        for j, level, effect in (
            (pair.first, pair.first_level, first),
            (pair.second, pair.second_level, second),
        ):
            self.part(table, j)[:] += np.where(level < 0, 0.0, effect[level])
        grid -= first[:, None] + second[None, :]
        return first, second

    def cells_of(
        self, values: NDArray[np.float64], p: int, begin: int | None = None
    ) -> NDArray[np.float64]:
        """Return a view of the grid of pair `p` in the values of all codes, or in its own."""
        pair = self.pairs[p]
        first = int(self.offsets[len(self.binning.features) + p]) if begin is None else begin
        return values[first : first + pair.n_cells].reshape(pair.n_first, -1)

    def look_up_pair(
        self,
        table: NDArray[np.float64],
        p: int,
        effects: tuple[NDArray[np.float64], NDArray[np.float64]],
        codes: NDArray[np.uint8],
    ) -> NDArray[np.float64]:
        """Return the purified entries of a pair for rows of these codes; see `look_up`."""
        pair = self.pairs[p]
        levels = (
            find_entries(pair.first_level, codes[pair.first]),
            find_entries(pair.second_level, codes[pair.second]),
        )
        return look_up(self.cells_of(table, p), effects, *levels)

    def table_of(self, model: int, term: int) -> NDArray[np.float64]:
        """Return the look-up table of one feature, or pair, of one model."""
        return self.part(self.purified(model)[0], term)

    def effects_of(self, model: int, p: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the main effects of a pair's table in one model, by level of either feature."""
        none = np.zeros(self.pairs[p].n_first), np.zeros(self.pairs[p].n_second)
        return self.purified(model)[1].get(p, none)

    def is_in_pairs(self, feature: int) -> bool:
        """Whether pairs' rounds add to the function of a feature in the first model."""
        return any(
            effects.any()
            for p in self._boosted_pairs[0]
            for place, effects in zip(
                (self.pairs[p].first, self.pairs[p].second), self.effects_of(0, p), strict=True
            )
            if place == feature
        )

    def part(self, table: NDArray[np.float64], term: int) -> NDArray[np.float64]:
        """Return a view of the entries of one feature, or pair, in those of all terms."""
        return table[self.offsets[term] : self.offsets[term + 1]]

    def add_up(self, codes: NDArray[np.uint8], n_threads: int) -> NDArray[np.float64]:  # noqa: ARG002
        """Return F of rows of these codes: one look-up per feature and pair."""
        raw = np.tile(self.intercept, (codes.shape[1], 1))
        for m, rounds in enumerate(self.models):
            (sums,) = self._add_up([rounds])
            for term in find_distinct(rounds.feature):
                raw[:, m] += find_entries(self.part(sums, term), codes[term])
        return raw

    def _add_rounds(self, table: InputTable, n_threads: int) -> NDArray[np.float64]:
        pairs = [pair.native for pair in self.pairs]
        if not self._is_sparse:
            return self.binning.predict_raw(table, self.sums, pairs, n_threads, self._used)
        raw = np.empty((table.n_rows, len(self.models)))
        step = max(1, _MOST_AT_ONCE // int(self.offsets[-1]))
        for m in range(0, len(self.models), step):
            sums = self._add_up(self.models[m : m + step])
            raw[:, m : m + step] = self.binning.predict_raw(
                table, sums, pairs, n_threads, self._used
            )
        return raw

    def contributions(
        self, table: InputTable, n_threads: int, models: Sequence[int], *, by_feature: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return each term's entry less its mean over the training rows, and the sum of means."""
        codes = self.binning.encode(table, None, n_threads)
        return self.terms.contribute(codes, models, n_threads, by_feature=by_feature)

    def term_importances(self) -> NDArray[np.float64]:
        """Return the mean absolute deviation of each feature's and pair's table, adding up to 1.

        It is over the training rows and the mean over the models; all are 0 if no table varies.
        """
        deviations = np.zeros(len(self.offsets) - 1)
        for m in range(len(self.models)):
            deviation = self.shares * np.abs(self.centered(m))
            deviations += np.add.reduceat(deviation, self.offsets[:-1])
        return as_shares(deviations / len(self.models))

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the training weight that each code has in its feature or pair."""
        weights = np.concatenate([*self.bin_weights, *self.pair_weights])
        totals = np.add.reduceat(weights, self.offsets[:-1])
        shares: NDArray[np.float64] = weights / np.repeat(
            np.where(totals > 0.0, totals, 1.0), np.diff(self.offsets)
        )
        return shares

    def centered(self, model: int) -> NDArray[np.float64]:
        """Return one model's purified tables less their means over the training rows."""
        table, _ = self.purified(model)
        means = np.add.reduceat(self.shares * table, self.offsets[:-1])
        centered: NDArray[np.float64] = table - np.repeat(means, np.diff(self.offsets))
        return centered

    @cached_property
    def p_values(self) -> list[NDArray[np.float64]]:
        """The p-value of each table, by model and term; an empty list without bags."""
        errors = self.standard_errors
        if errors is None:
            return []
        return [errors.p_values(m, self.centered(m)) for m in range(len(self.models))]

    def sums_of(self, model: int) -> NDArray[np.float64]:
        """Return the rounds of one model, added up, all tables side by side."""
        models = self.models[model : model + 1]
        sums: NDArray[np.float64]
        (sums,) = self._add_up(models) if self._is_sparse else self.sums[model : model + 1]
        return sums

    def _compact(self, rounds: Rounds) -> Rounds:
        return self.collapse(rounds)

    def collapse(self, rounds: Rounds) -> Rounds:
        """Return rounds with the same sums: one for each feature and pair that has rounds."""
        (sums,) = self._add_up([rounds])
        terms = find_distinct(rounds.feature)
        return Rounds.of_tables(terms, [self.part(sums, term) for term in terms.tolist()])

    def put_in_order(self, feature: int, direction: int) -> "TableEnsemble":
        """Return the ensemble with a feature's sum not falling (1) or not rising (-1) in its bins.

        That holds after every round: the sum of the rounds so far is replaced by its isotonic
        regression, by training weight.  Rounds of this feature then add the differences, with a
        step of 1.  The differences are whole multiples of a power of two, so that their sums are
        exact.
        """
        (rounds,) = self.models
        n_bins = self.binning.features[feature].n_bins
        weight = self.bin_weights[feature][:n_bins]
        of_feature = np.flatnonzero((rounds.feature == feature) & (rounds.step != 0.0)).tolist()
        sums = np.cumsum([rounds.table(t) for t in of_feature], axis=0)
        unit = 2.0 ** (np.frexp(np.abs(sums).max(initial=1e-300))[1] - 50)
        values, step = rounds.values.copy(), rounds.step.copy()
        before = np.zeros(len(self.bin_weights[feature]))
        for t, total in zip(of_feature, sums, strict=True):
            total[:n_bins] = regress_isotonic(total[:n_bins], weight, direction)
            total = np.round(total / unit) * unit
            values[rounds.offsets[t] : rounds.offsets[t + 1]] = total - before
            before = total
        step[of_feature] = 1.0
        errors = self.standard_errors and self.standard_errors.edit_bags(
            "monotonize", lambda bag: bag.put_in_order(feature, direction)
        )
        return replace(
            self,
            models=(replace(rounds, values=values, step=step, moves=None),),
            standard_errors=errors,
        )

    def with_table(self, model: int, feature: int, table: NDArray[np.float64]) -> Self:
        """Return the ensemble, compact, with another table of a feature in one model.

        In a joint model the other models keep their differences from each other.  The feature's
        standard errors become NaN.
        """
        sums, before = self.sums_of(model).copy(), self.table_of(model, feature)
        entries = self.part(sums, feature)
        if not self.joint and np.array_equal(before, entries):
            entries[:] = table
        else:  # pairs have a part in it, or it is taken less the mean over the models
            n_models = len(self.models)
            entries += (table - before) * (n_models / (n_models - 1) if self.joint else 1.0)
        models = list(self.compacted().models)
        models[model] = self.of_sums(sums)
        return replace(
            self,
            models=tuple(models),
            compact_from=self.n_estimators,
            standard_errors=self.standard_errors and self.standard_errors.forget(self, feature),
        )

    def without_feature(self, feature: int) -> Self:
        """Return the ensemble, compact, without a feature and its pairs.

        The mean of its table over the training rows moves into the intercept.  The main effects of
        its pairs stay with the other feature.
        """
        n_features = len(self.binning.features)
        gone = [p for p, pair in enumerate(self.pairs) if feature in (pair.first, pair.second)]
        others = [p for p in range(len(self.pairs)) if p not in gone]
        smaller = replace(
            self,
            pairs=tuple(self.pairs[p] for p in others),
            pair_weights=tuple(self.pair_weights[p] for p in others),
        )
        entries = self.entries_of([*range(n_features), *(n_features + p for p in others)])
        models, intercepts = [], self.intercept
        for m in range(len(self.models)):
            sums = self.sums_of(m).copy()
            for p in gone:
                self.move_effects(sums, p)
            feature_table = self.part(sums, feature)
            intercepts[m] += _mean(feature_table, self.bin_weights[feature])
            feature_table[:] = 0.0
            models.append(smaller.of_sums(sums[entries]))
        return replace(
            smaller,
            models=tuple(models),
            intercepts=tuple(intercepts.tolist()),
            compact_from=self.n_estimators,
            standard_errors=self.standard_errors
            and self.standard_errors.without_feature(self, feature, others),
        )

    def entries_of(self, terms: Sequence[int]) -> NDArray[np.int64]:
        """Return the positions of the entries of these features and pairs among those of all."""
        ranges = [np.arange(self.offsets[term], self.offsets[term + 1]) for term in terms]
        return np.concatenate([np.empty(0, dtype=np.int64), *ranges])

    def of_sums(self, sums: NDArray[np.float64]) -> Rounds:
        """Return a round for each feature and pair whose table is not 0."""
        parts = {term: self.part(sums, term) for term in range(len(self.offsets) - 1)}
        tables = {term: table for term, table in parts.items() if table.any()}
        return Rounds.of_tables(np.array(list(tables), dtype=np.int32), list(tables.values()))

    def importances(self) -> NDArray[np.float64]:
        """Return each feature's importance, and half of its pairs'."""
        of_terms = self.term_importances()
        n_features = len(self.binning.features)
        total: NDArray[np.float64] = of_terms[:n_features].copy()
        for pair, share in zip(self.pairs, of_terms[n_features:], strict=True):
            total[[pair.first, pair.second]] += 0.5 * share
        return total


def _mean(table: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    return float(np.sum(weight / weight.sum() * table))
