"""Joint losses in plain numpy and scipy, one row at a time, written the way the formulas read.

Nothing here imports the package.  Scores are raw predictions / gain.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import erf, log_expit, log_ndtr, logsumexp

from helpers.reference.losses import GBoost, GGauss, GLaplacian, GLog

CANONICAL = {"glog": GLog, "ggauss": GGauss, "glaplacian": GLaplacian, "gboost": GBoost}


def log_inverse_link(name, u):
    """log c(u), with all its digits in the left tail."""
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


def phi(name, u):
    """The margin loss."""
    u = np.asarray(u, float)
    if name == "glog":
        return np.logaddexp(0.0, -u)
    if name == "ggauss":
        x = np.sqrt(np.pi) / 4.0 * u
        return u / 2.0 * (erf(x) - 1.0) + 2.0 / np.pi * np.exp(-(x**2))
    if name == "glaplacian":
        return np.exp(-np.abs(u) / 2.0) + (np.abs(u) - u) / 2.0
    return 2.0 / (np.hypot(2.0, u) + u) if u.ndim == 0 and u > 0.0 else (np.hypot(2.0, u) - u) / 2.0


class Softmax:
    """p = softmax(z / 2), loss 2 logsumexp(z / 2) - z_y."""

    def __init__(self, name="glog"):
        assert name == "glog"

    def log_probabilities(self, z):
        others = [logsumexp((np.delete(z, k) - z[k]) / 2.0) for k in range(len(z))]
        return -np.logaddexp(0.0, others)

    def loss(self, z, y):
        return 2.0 * logsumexp((z - z[y]) / 2.0)

    def curvatures(self, z):
        p = np.exp(self.log_probabilities(z))
        return p * -np.expm1(self.log_probabilities(z)) / 2.0


class Canonical:
    """p_k = c(z_k - tau) where tau makes them add up to 1."""

    def __init__(self, name):
        self.name = name
        self.margin_loss = CANONICAL[name]()

    def shift(self, z):
        """The zero of the log odds of `the others` against `not the largest`."""
        top = int(np.argmax(z))
        d = z - z[top]
        others = np.delete(d, top)

        def odds(tau):
            left = logsumexp(log_inverse_link(self.name, others - tau))
            return left - float(log_inverse_link(self.name, tau))

        low, high = others.max() / 2.0 - 1.0, 4.0 * np.sqrt(len(z)) + 10.0
        return z[top] + brentq(odds, low, high, xtol=1e-15, rtol=1e-15, maxiter=500)

    def log_probabilities(self, z):
        return log_inverse_link(self.name, z - self.shift(z))

    def loss(self, z, y):
        u = z - self.shift(z)
        others = np.delete(u, y)
        return float(phi(self.name, u[y])) + float(np.sum(phi(self.name, -others)))

    def curvatures(self, z):
        w = self.margin_loss.curvature(z - self.shift(z))
        return w * (1.0 - w / w.sum())


FORMS = {"softmax": Softmax, "canonical": Canonical}


def evaluate(form, z, y):
    """Weights, Newton's divisors and the loss of one row."""
    log_p = form.log_probabilities(z)
    weights = np.exp(log_p)
    weights[y] = np.exp(logsumexp(np.delete(log_p, y)))
    return weights, form.curvatures(z) * len(z) / (len(z) - 1), form.loss(z, y)
