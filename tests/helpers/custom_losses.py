"""Helpers for tests of custom losses: losses of every form, and rows to fit them to."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings
from scipy import LowLevelCallable, stats

import properboost as pb
from properboost import native_losses
from properboost.losses import (
    Exponential,
    GBoost,
    GGauss,
    GLaplacian,
    GLog,
    Savage,
    from_functions,
    from_pdf,
    from_risk,
)

drawn = settings(max_examples=25, deadline=None, derandomize=True)
CERTAIN = math.tan(0.5)

TWINS = [
    (stats.logistic(), GLog),
    (stats.norm(scale=4.0 / math.sqrt(2.0 * math.pi)), GGauss),
    (stats.laplace(scale=2.0), GLaplacian),
    (stats.t(2, scale=math.sqrt(2.0)), GBoost),
]
twins = pytest.mark.parametrize(("pdf", "built_in"), TWINS, ids=[t[1].__name__ for t in TWINS])


def logistic_weight(u):
    return 1.0 / (1.0 + np.exp(u))


def raw_tangent_weight(u):
    return 4.0 * (1.0 - 2.0 * np.arctan(u)) / (1.0 + u * u)


def raw_tangent_loss(u):
    return (2.0 * np.arctan(u) - 1.0) ** 2


def tangent_callable(what):
    return LowLevelCallable.from_cython(native_losses, f"tangent_{what}")


def make_rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 6)).round(1)
    y = X[:, 0] + X[:, 1] ** 2 + rng.logistic(size=len(X)) > 1.0
    return X, y


def fit(loss, rows, **settings):
    gain = 1.0 if isinstance(loss, str) else None  # a loss object has a gain
    return pb.ProperBoostClassifier(
        loss, **{"n_estimators": 40, "gain": gain, "weak_learner": "table", **settings}
    ).fit(*rows)


def logit(p):
    return np.log(p / (1.0 - p))


RISKS = {
    "savage": (lambda p: p * (1.0 - p), lambda p: logit(p) / 2.0, Savage()),
    "entropy": (lambda p: -p * np.log(p) - (1.0 - p) * np.log(1.0 - p), logit, GLog()),
    "root, logit": (lambda p: 2.0 * np.sqrt(p * (1 - p)), lambda p: logit(p) / 2.0, Exponential()),
    "probit": (
        lambda p: p * (1.0 - p),
        stats.norm.ppf,
        SimpleNamespace(
            weight=lambda u: 2.0 * stats.norm.sf(u) * stats.norm.pdf(u),
            loss=lambda u: stats.norm.sf(u) ** 2,
            probability=stats.norm.cdf,
            convex=False,
            loss_margin=math.sqrt(math.pi / 2.0),
        ),
    ),
    "root": (
        lambda p: 2.0 * np.sqrt(p * (1.0 - p)),
        lambda p: (2.0 * p - 1.0) / np.sqrt(p * (1.0 - p)),
        GBoost(),
    ),
}

BAD = {
    "nan": (lambda u: np.where(u > 1.25, np.nan, logistic_weight(u)), "weight at margin 1.2.* nan"),
    "infinite": (lambda u: np.where(u < -2.0, np.inf, logistic_weight(u)), "margin -2.* inf"),
    "negative": (lambda u: logistic_weight(u) - 0.1, "phi does not decrease: .*margin 2.19722"),
    "zero": (lambda u: 0.0 * u, "its weight is 0 everywhere"),
    "huge": (lambda u: 1e30 * logistic_weight(u), r"at margin 0 is 5e\+29; .* at most e\^64"),
    "even": (
        lambda u: logistic_weight(np.abs(u)) * logistic_weight(-np.abs(u)),
        "does not rise strictly, as a proper loss's does, at margin 0.0078125",
    ),
    "bell": (lambda u: np.exp(-u * u), "does not rise strictly.* at margin 0.0078125"),
    "falling": (
        lambda u: (1.0 + 0.5 * np.sin(3.0 * u)) * logistic_weight(u),
        r"the inverse link .* falls at margin -0.0078125 \(it is 0.50",
    ),
    "negative beside what grows": (
        lambda u: np.exp(-u) + 50.0 * np.sin(u),
        "its weight is below 0 at margin -0.0204",
    ),
    "rising": (lambda u: -np.tanh(u), "below 0 at margin 9"),
    "jumping": (lambda u: np.where(u < 2.0, logistic_weight(u), 0.0), "not smooth at margin 1.9"),
    "heavy": (lambda u: 1.0 / (1.0 + np.abs(u)), r"falls like u\^-1 "),
    "raw tangent": (raw_tangent_weight, "below 0 at margin 0.546302"),
}


def custom_losses():
    yield from_pdf(stats.logistic(), gain=2.0)
    yield from_risk(*RISKS["savage"][:2], name="savage of one's own")
    yield from_functions(logistic_weight, name="mine", tabulate=False)


def scalar_weight(u):
    return 1.0 / (1.0 + math.exp(u))
