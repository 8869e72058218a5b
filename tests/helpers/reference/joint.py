"""Joint losses in plain numpy and scipy, written the way the formulas read.

Nothing here imports the package.  Scores are raw predictions / gain; their last axis is the
classes, and classes y have a value for each row, or one for all.
"""

import numpy as np
from scipy.special import log_expit, log_ndtr

from helpers.reference.losses import GBoost, GGauss, GLaplacian, GLog

CANONICAL = {"glog": GLog, "ggauss": GGauss, "glaplacian": GLaplacian, "gboost": GBoost}


def log_inverse_link(name, u):
    """Return log c(u), with all its digits in the left tail."""
    u = np.asarray(u, float)
    if name == "glog":
        return log_expit(u)
    if name == "ggauss":
        return log_ndtr(np.sqrt(np.pi / 8.0) * u)
    t = np.abs(u)
    if name == "glaplacian":
        log_tail = -t / 2.0 - np.log(2.0)
    else:
        root = np.hypot(2.0, t)
        log_tail = np.log(2.0) - np.log(root) - np.log(root + t)
    return np.where(u < 0.0, log_tail, np.log1p(-np.exp(log_tail)))


class Softmax:
    """Form p = softmax(z / 2), with the loss 2 logsumexp(z / 2) - z_y."""

    def __init__(self, name="glog"):
        assert name == "glog"

    def log_probabilities(self, z):
        behind = (z - z.max(axis=-1, keepdims=True)) / 2.0
        others = np.where(_is(behind.argmax(axis=-1), z), 0.0, np.exp(behind))
        return behind - np.log1p(others.sum(axis=-1, keepdims=True))

    def loss(self, z, y):
        return -2.0 * self.log_probabilities(z)[_is(y, z)].reshape(z.shape[:-1])

    def curvatures(self, z):
        log_p = self.log_probabilities(z)
        return np.exp(log_p) * -np.expm1(log_p) / 2.0


class Canonical:
    """Form p_k = c(z_k - tau), where tau makes the probabilities add up to 1."""

    def __init__(self, name):
        self.name = name
        self.margin_loss = CANONICAL[name]()

    def shift(self, z):
        """Return the zero of the log odds of `the others` against `not the largest`."""
        top = z.max(axis=-1, keepdims=True)
        others = np.where(_is(z.argmax(axis=-1), z), -np.inf, z - top)

        def odds(tau):
            left = log_inverse_link(self.name, others - tau)
            left = np.logaddexp.reduce(left, axis=-1, keepdims=True)
            return left - log_inverse_link(self.name, tau)

        low = others.max(axis=-1, keepdims=True) / 2.0 - 1.0
        high = np.full_like(low, 4.0 * np.sqrt(z.shape[-1]) + 10.0)
        return top + _find_zero(odds, low, high)

    def log_probabilities(self, z):
        return log_inverse_link(self.name, z - self.shift(z))

    def loss(self, z, y):
        u = z - self.shift(z)
        return self.margin_loss.loss(np.where(_is(y, z), u, -u)).sum(axis=-1)

    def curvatures(self, z):
        w = self.margin_loss.curvature(z - self.shift(z))
        return w * (1.0 - w / w.sum(axis=-1, keepdims=True))


FORMS = {"softmax": Softmax, "canonical": Canonical}


def weights_of(log_p, y):
    """Return 1 - p for the row's class and p for the others."""
    p, of_label = np.exp(log_p), _is(y, log_p)
    return np.where(of_label, np.where(of_label, 0.0, p).sum(axis=-1, keepdims=True), p)


def evaluate(form, z, y):
    """Return weights, Newton's divisors and losses."""
    n_classes = z.shape[-1]
    divisors = form.curvatures(z) * n_classes / (n_classes - 1)
    return weights_of(form.log_probabilities(z), y), divisors, form.loss(z, y)


def _find_zero(f, a, b):
    """Return a zero of each element of a function between opposite signs (Illinois)."""
    at_a, at_b = f(a), f(b)
    for _ in range(100):
        new = b - at_b * (b - a) / (at_b - at_a)
        at_new = f(new)
        across = at_new * at_b < 0.0
        a, at_a = np.where(across, b, a), np.where(across, at_b, at_a / 2.0)
        moved = np.abs(new - b)
        b, at_b = new, at_new
        if (moved <= 1e-15 * (1.0 + np.abs(b))).all():
            break
    return b


def _is(y, z):
    """Return, for each class, whether it is the row's."""
    return np.broadcast_to(np.arange(z.shape[-1]) == np.asarray(y)[..., None], z.shape)
