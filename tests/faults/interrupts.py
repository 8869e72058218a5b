"""Ctrl-C at random moments of long calls: how long they go on, and what they leave behind.

    python tests/faults/interrupts.py --moments 500 [--rows 600000]

Each call is timed once, then interrupted again and again, as Ctrl-C would, at moments that are
spread evenly over its time.  It must raise KeyboardInterrupt, the model must be what it was, and
what the call returns afterwards must have the same bits as before.
"""

import argparse
import random
import signal
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import properboost as pb
from properboost import rado

N_JOBS = 2


@dataclass
class Case:
    """A long call, and what says whether the state it leaves is the one before."""

    name: str
    call: Callable[[], object]
    state: Callable[[], np.ndarray]


@dataclass
class Outcome:
    """What the interrupts of a case did: how long each took, in seconds."""

    name: str
    seconds: float
    delays: list[float]
    finished: int
    """Calls that were over before the interrupt."""


def make_rows(rows: int, features: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=rows) > 0
    return X, y


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Raise KeyboardInterrupt in this thread after so many seconds, as Ctrl-C does."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def interrupt(case: Case, moments: int, random_moments: random.Random) -> Outcome:
    """Interrupt a case at so many moments."""
    before = case.state()
    begin = time.perf_counter()
    case.call()
    seconds = time.perf_counter() - begin
    kept = case.state()
    delays, finished = [], 0
    for k in range(moments):
        moment = seconds * (k + random_moments.random()) / moments
        begin = time.perf_counter()
        try:
            with interrupted_after(max(moment, 1e-5)):
                case.call()
            finished += 1
            kept = case.state()
        except KeyboardInterrupt:
            delays.append(time.perf_counter() - begin - moment)
            if not same_bits(case.state(), kept):
                raise AssertionError(f"{case.name}: the model is not what it was") from None
    case.call()
    if not same_bits(case.state(), kept):
        raise AssertionError(f"{case.name}: the next call does not give the same bits")
    assert before.shape == kept.shape
    return Outcome(case.name, seconds, delays, finished)
