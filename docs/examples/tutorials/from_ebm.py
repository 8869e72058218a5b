"""
Coming from an EBM
==================

InterpretML's explainable boosting machine and a readable model here are the same kind of model: a
sum of one function per feature, and of some pairs.
"""

# %%
# The closest to an EBM at its defaults is the readable search: cyclic tables of few cells, pairs if
# they help, and the mean of 16 bags.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import properboost as pb

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :10]
X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)

model = pb.ProperBoostClassifierCV({"outer_bags": 16}, readable=True, effort=1).fit(X, y)
print(model.describe_search())
print(f"log loss {log_loss(y_test, model.predict_proba(X_test)):.3f}")

# %%
# Without a search, the same in one fit: ``outer_bags`` and ``interactions`` bear the EBM's names.

plain = pb.ProperBoostClassifier(outer_bags=16, interactions=3, weak_learner="table").fit(X, y)
print(plain.pairs_)

# %%
# ``explain_global``
# ------------------
# Functions with bands.
# The bands are intervals for what the fit says on average over other rows, by a jackknife; the
# EBM's error bars are standard deviations over its bags, and shorter.

shape = plain.shape_function("mean concave points")
low, high = shape.interval(0.9)
print(shape.p_value, shape.within_noise)
pb.plots.plot_shape_function(plain, "mean concave points")
plt.show()

# %%
# Importances are the mean sizes of what features add, as the EBM's ``term_importances``, divided by
# their sum.

order = np.argsort(-plain.feature_importances_)[:5]
for j in order:
    print(f"{plain.feature_names_in_[j]:22s} {plain.feature_importances_[j]:.3f}")

# %%
# ``explain_local``
# -----------------

effects = plain.contributions(X_test[:1])
pb.plots.plot_contributions(effects)
plt.show()

# %%
# ``monotonize``
# --------------
# The EBM's ``monotonize`` makes one function monotone after the fit; so does ours.
# ``monotonic_cst`` makes it so while fitting, which is better where it can be had.

rising = pb.ProperBoostClassifier(monotonic_cst={"mean radius": -1}, weak_learner="table").fit(X, y)
steps = np.diff(rising.shape_function("mean radius").values)
print("ever rises:", bool(np.any(steps > 1e-9)))

# %%
# ``predict_with_uncertainty``
# ----------------------------
# Intervals of probabilities, at a level of confidence:

intervals = plain.predict_interval(X_test[:3], confidence_level=0.9)
for p, (low, high) in zip(plain.predict_proba(X_test[:3])[:, 1], intervals[:, 1], strict=True):
    print(f"{p:.3f} between {low:.3f} and {high:.3f}")

# %%
# Differences
# -----------
# - Values are in raw predictions: log-odds times the gain, under the default loss.
# - Missing values have a bin of their own, as in an EBM; a category that is not known adds nothing.
# - Bags share their bins and pairs, and are boosted side by side, so 16 of them take less time than
#   16 fits.
# - There are losses beside the logistic one, and several classes are one joint model.
# - No regression.
