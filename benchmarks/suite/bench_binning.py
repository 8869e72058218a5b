"""Binning alone, on columns of every kind: the edges of bins, and the codes of values."""

from typing import Any, ClassVar

from benchmarks.lib import engine
from benchmarks.lib.data import make_synthetic
from properboost import ProperBoostClassifier

from . import measurements

KINDS = ["gaussian", "skewed", "heavy-tailed", "integers"]
ROWS, COLUMNS = 400_000, 10  # more rows than edges are found from


class Binning:
    """The binning of `fit`, before it boosts."""

    params: ClassVar[Any] = [KINDS, measurements.THREADS]
    param_names: ClassVar[Any] = ["kind", "threads"]

    def setup(self, kind: str, threads: int) -> None:
        measurements.skip_too_many(threads)
        self.model = ProperBoostClassifier(n_jobs=threads, weak_learner="table")
        self.problem = make_synthetic(ROWS, COLUMNS, kind=kind)
        with measurements.skipped_where_missing():
            engine.prepare(self.model, *self.problem)

    def time_prepare(self, *_: Any) -> None:
        engine.prepare(self.model, *self.problem)


class BinningStages:
    """Its stages, and its memory, on one thread."""

    params: ClassVar[Any] = [KINDS]
    param_names: ClassVar[Any] = ["kind"]

    def setup(self, kind: str) -> None:
        self.model = ProperBoostClassifier(n_jobs=1, weak_learner="table")
        self.problem = make_synthetic(ROWS, COLUMNS, kind=kind)
        with measurements.skipped_where_missing():
            self.stages = engine.Stages(self.model, *self.problem)

    def time_find_edges(self, kind: str) -> None:  # noqa: ARG002
        self.stages.find_edges(1)

    def time_encode(self, kind: str) -> None:  # noqa: ARG002
        self.stages.encode(1)

    def peakmem_prepare(self, kind: str) -> None:  # noqa: ARG002
        engine.prepare(self.model, *self.problem)
