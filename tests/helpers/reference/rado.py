"""Omega-R.AdaBoost and rados in plain numpy, the standard for the engine."""

import numpy as np

from helpers.reference.draws import draw_bits

LARGEST_EDGE = 1.0 - 1e-9
TIE = 1e-10


def rados_of(X, y, sigma):
    """Return rados of rows with labels -1 and 1 and given signs, (n_rados, n_rows)."""
    return 0.5 * (sigma + y) @ X


def signs(seed, n_rados, rows):
    """Return the engine's signs: one draw covers sixty rows."""
    rows = list(rows)
    sigma = np.empty((n_rados, len(rows)))
    for j in range(n_rados):
        for i, row in enumerate(rows):
            word = draw_bits(seed, j, row // 60)
            sigma[j, i] = 1.0 if word >> (row % 60) & 1 else -1.0
    return sigma


def penalty(theta, regularizers):
    """Return Omega, times its factors; regularizers are (name, factor, parameter)."""
    total = 0.0
    for name, factor, parameter in regularizers:
        if name == "lasso":
            value = np.abs(theta).sum()
        elif name == "linf":
            value = np.abs(theta).max()
        elif name == "ridge":
            value = theta @ theta if parameter is None else theta @ parameter @ theta
        else:
            value = np.sort(np.abs(theta))[::-1] @ parameter
        total += factor * value
    return total


def boost(rados, regularizers, rounds, gamma=1.0):
    """Run algorithms 1 and 2; return feature, edge, step, penalty and log loss by round."""
    n, d = rados.shape
    largest = np.abs(rados).max(axis=0)
    theta, log_weight = np.zeros(d), np.zeros(n)
    history = []
    most = min(gamma, LARGEST_EDGE)
    before = 0.0
    for _ in range(rounds):
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        best = None
        for k in np.flatnonzero(largest):
            r = weight @ rados[:, k] / largest[k]
            edge = np.clip(r, -most, most)
            step = np.log((1.0 + edge) / (1.0 - edge)) / (2.0 * largest[k])
            after = theta.copy()
            after[k] += step
            delta = penalty(after, regularizers) - before if regularizers else 0.0
            score = abs(r) - delta
            if best is None or score > best[0] + TIE:
                best = score, k, edge, step, delta
        if best is None:
            break
        _, k, edge, step, delta = best
        theta[k] += step
        before = penalty(theta, regularizers) if regularizers else 0.0
        log_weight -= step * rados[:, k]
        top = log_weight.max()
        log_loss = top + np.log(np.mean(np.exp(log_weight - top))) + before
        history.append((k, edge, step, delta, log_loss))
    return [np.array(column) for column in zip(*history, strict=True)] or [np.empty(0)] * 5


def expected(X, y, n_rados, seed, offset=0):
    sigma = signs(seed, n_rados, range(offset, offset + len(X)))
    return rados_of(np.asarray(X, dtype=np.float64), 2.0 * y - 1.0, sigma)


def random_rados(seed, n, d):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) * random.exponential(size=d) + random.normal(size=d)
