"""Losses and scorers of users that raise at one of their calls.

python tests/faults/raising.py --every 1

The exception must reach the caller, and the estimator must keep its earlier fit.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import properboost as pb
from properboost import losses


class PlannedError(Exception):
    """Exception that the functions of these tests raise."""


class Fuse:
    """Wrapper that counts the calls of a function and raises at one of them."""

    def __init__(
        self, function: Callable[..., Any], kind: type[BaseException] = PlannedError
    ) -> None:
        self.function = function
        self.kind = kind
        self.calls = 0
        self.blows_at = 0

    def arm(self, call: int) -> None:
        """Set the call at which to raise, counted from now; 0 is never."""
        self.calls, self.blows_at = 0, call

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.calls += 1
        if self.calls == self.blows_at:
            raise self.kind(f"call {self.calls}")
        return self.function(*args, **named)


def make_cases(
    kind: type[BaseException] = PlannedError,
) -> Iterator[tuple[str, Fuse, Callable[[], object], Callable[[], bytes]]]:
    """Yield names, functions, calls that use them, and functions of the models' states."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = X[:, 0] + rng.normal(size=len(X)) > 0
    weight = Fuse(lambda u: 1.0 / (1.0 + np.exp(u)), kind)
    loss = losses.from_functions(weight, name="mine", tabulate=False)
    scorer = Fuse(lambda model, X, y: float(np.mean(model.predict(X) == y)), kind)
    models = {
        "loss": (
            weight,
            pb.ProperBoostClassifier(loss=loss, n_estimators=3, n_jobs=2, weak_learner="table"),
        ),
        "loss, trees": (
            weight,
            pb.ProperBoostClassifier(loss=loss, weak_learner="tree", n_estimators=2, n_jobs=2),
        ),
        "loss, search": (
            weight,
            pb.ProperBoostClassifierCV(
                space={"loss": loss, "gain": [1.0]}, max_estimators=2, cv=2, n_jobs=2, effort=None
            ),
        ),
        "scorer": (
            scorer,
            pb.ProperBoostClassifierCV(
                scoring=scorer, max_estimators=4, space={"gain": [1.0]}, n_jobs=2, effort=None
            ),
        ),
    }
    for name, (fuse, model) in models.items():
        fuse.arm(0)
        model.fit(X, y)
        yield (
            name,
            fuse,
            lambda model=model: model.fit(X, y),
            lambda model=model: model.decision_function(X).tobytes(),
        )


def blow_every(
    fuse: Fuse, call: Callable[[], object], state: Callable[[], bytes], every: int
) -> int:
    """Raise at one in `every` calls of a function; return the number of raises."""
    fuse.arm(0)
    call()
    calls, before = fuse.calls, state()
    tried = 0
    for n in range(1, calls + 1, every):
        fuse.arm(n)
        try:
            call()
        except BaseException as error:
            chain = [error, error.__cause__, error.__context__]
            if not any(isinstance(e, fuse.kind) for e in chain):
                raise
        else:
            raise AssertionError(f"call {n} of {calls} raised, and nobody heard")
        fuse.arm(0)
        if state() != before:
            raise AssertionError(f"after call {n} of {calls} the model is another")
        tried += 1
    fuse.arm(0)
    call()
    if state() != before:
        raise AssertionError("the next fit has other bits")
    return tried


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="raise at one in so many calls")
    every = parser.parse_args().every
    for kind in (PlannedError, KeyboardInterrupt, MemoryError):
        for name, fuse, call, state in make_cases(kind):
            print(
                f"{kind.__name__:18} {name:14} {blow_every(fuse, call, state, every)}", flush=True
            )


if __name__ == "__main__":
    main()
