"""
Designing a loss
================

The loss decides two things: how strongly probabilities are restrained (its link), and how much a
row counts that contradicts the model (its binding).
Both can be chosen freely, and the result is proper by construction.
"""

# %%
# From a density
# --------------
# The inverse link is the distribution function of a density.
# A density with heavy tails nears 0 and 1 slowly: such a model is hard to make sure.

import matplotlib.pyplot as plt
from scipy import stats

import properboost as pb
from properboost import losses

heavy = losses.from_pdf(stats.t(3), name="t with 3 degrees")
pb.plots.plot_loss([losses.GLog(), heavy, losses.GBoost()], ["probability", "weight"])
plt.show()

# %%
# From a minimum risk
# -------------------
# A minimum risk and a link make a loss, too: this is the Savage loss, from its two parts.

import numpy as np

savage = losses.from_risk(lambda p: p * (1 - p), lambda p: np.log(p / (1 - p)) / 2, name="mine")
v = np.array([-2.0, 0.0, 2.0])
print(savage.loss(v))
print(losses.Savage().loss(v))

# %%
# From functions
# --------------
# A weight as a function of the margin is enough.
# This one gives up rows that are far on the wrong side, and ignores rows that are far on the right
# side.


def weight(u):
    """Return what a row at margin u pulls."""
    return 1.0 / (1.0 + np.exp(u)) / (1.0 + 0.1 * np.maximum(-u, 0.0) ** 2)


mine = losses.from_functions(weight, name="cautious")
print(losses.check(mine))
pb.plots.plot_loss([losses.GLog(), mine], ["loss", "weight", "probability"])
plt.show()

# %%
# A function that is no loss is refused, with the margin of the fault:

try:
    losses.from_functions(lambda u: np.exp(-(u**2)), name="even")
except ValueError as problem:
    print(problem)

# %%
# In use
# ------
# A loss object stands where a name could.
# A search finds its gain.

from sklearn.metrics import log_loss

X, y = pb.datasets.load_letter("p1", subset="train", return_X_y=True)
X_test, y_test = pb.datasets.load_letter("p1", subset="test", return_X_y=True)
X_test, y_test = X_test[:4000], y_test[:4000]
for loss in (losses.GLog(), heavy, mine):
    space = {"loss": loss, "weak_learner": "table", "gain": [0.25, 1, 4, 16]}
    search = pb.ProperBoostClassifierCV(space, effort=None, max_estimators=100).fit(X, y)
    score = log_loss(y_test, search.predict_proba(X_test))
    print(f"{loss.name:18s} gain {search.gain_:<4g} log loss {score:.4f}")

# %%
# A file keeps the loss as a table, so a model loads where your code is not.

search.save_model("own_loss.json")
again = pb.load_model("own_loss.json")
print(again.loss_.name, np.array_equal(again.predict_proba(X_test), search.predict_proba(X_test)))
