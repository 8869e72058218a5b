"""
Wrong labels
============

Some labels are wrong: somebody clicked the wrong button, or a sensor was off.
What does that do to a model, and what helps?
"""

# %%
# The task is to tell the first letters of LETTER from the last ones.
# We flip labels of the training rows, and keep those of the test rows as they are.

import numpy as np
from sklearn.metrics import log_loss

import properboost as pb

X, y = pb.datasets.load_letter("p2", subset="train", return_X_y=True)
X_test, y_test = pb.datasets.load_letter("p2", subset="test", return_X_y=True)
X_test, y_test = X_test[:4000], y_test[:4000]

rng = np.random.default_rng(0)


def flip(share):
    """Return the labels, a share of them wrong."""
    classes, codes = np.unique(y, return_inverse=True)
    return classes[np.where(rng.random(len(y)) < share, 1 - codes, codes)]


# %%
# A plain fit
# -----------
# Errors on clean test rows, as more and more labels are wrong:

for share in (0.0, 0.05, 0.2):
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X, flip(share))
    print(f"{share:.0%} wrong: {1 - model.score(X_test, y_test):.3f} errors")

# %%
# The gain
# --------
# A larger gain keeps a model from learning labels by heart.
# A search finds it from the wrong labels themselves, because rows that are held out cannot be
# learnt by heart.

noisy = flip(0.2)
space = {"weak_learner": "table", "gain": [0.125, 0.5, 2, 8, 32]}
lists = {"effort": None, "max_estimators": 100}  # these gains alone
for loss in ("glog", "exponential", "savage"):
    search = pb.ProperBoostClassifierCV({"loss": loss, **space}, **lists).fit(X, noisy)
    error = 1 - search.score(X_test, y_test)
    print(f"{loss:12s} gain {search.gain_:<5g} {error:.3f} errors")

# %%
# The loss
# --------
# Losses differ in what they do with rows that contradict the model.
# Under the exponential loss such a row pulls harder and harder; under the Savage loss it is given
# up.

import matplotlib.pyplot as plt

from properboost import losses

several = [losses.GLog(), losses.Exponential(), losses.Savage()]
pb.plots.plot_loss(several, ["loss", "weight"], limits={"loss": (0, 6), "weight": (0, 3)})
plt.show()

# %%
# On this table the three make about as many errors, and hardly fewer than the plain fit, whose gain
# restrains it already.  :doc:`/evidence/wrong_labels` has the cases where a loss is worth more.
#
# Which rows are wrong?
# ---------------------
# Rows that the model finds unlikely are worth a look.
# Here we know which labels we flipped, and can count how many we would find.

search = pb.ProperBoostClassifierCV(space, **lists).fit(X, noisy)
p = search.predict_proba(X)
of_label = p[np.arange(len(y)), np.searchsorted(search.classes_, noisy)]
suspects = np.argsort(of_label)[:100]
print(f"of the 100 most unlikely labels {np.sum(noisy[suspects] != y[suspects])} are wrong")

# %%
# Probabilities
# -------------
# A model of wrong labels predicts wrong labels: with a fifth flipped, no probability should be
# above .8, and on clean rows it looks too cautious.

for name, labels in (("clean", y), ("a fifth wrong", noisy)):
    model = pb.ProperBoostClassifierCV(space, **lists).fit(X, labels)
    p = model.predict_proba(X_test)
    high = np.quantile(p, 0.99)
    print(f"{name:14s} log loss {log_loss(y_test, p):.3f}, 99% are below {high:.2f}")

# %%
# If the share of wrong labels e is known, and they are wrong by chance alone, the probability of
# the right label is (p - e)/(1 - 2e).

corrected = np.clip((p - 0.2) / 0.6, 0.001, 0.999)
print(f"corrected      log loss {log_loss(y_test, corrected):.3f}")
