"""
Many classes
============

LETTER's rows are pictures of the 26 capital letters, told by 16 numbers each.
"""

# %%
# Nothing has to be set: under the default loss several classes are one joint model, multinomial
# logistic regression of look-up tables.

import numpy as np
from sklearn.metrics import log_loss

import properboost as pb

X, y = pb.datasets.load_letter(return_X_y=True)
X, y, X_test, y_test = X[:4000], y[:4000], X[-2000:], y[-2000:]

tables = pb.ProperBoostClassifier(weak_learner="table").fit(X, y)
print(tables.multiclass_, len(tables.classes_), "classes")
print(f"log loss {log_loss(y_test, tables.predict_proba(X_test)):.3f}")
print(f"{1 - tables.score(X_test, y_test):.3f} errors")

# %%
# Letters are shapes: strokes that matter together.
# So trees are better here, and one tree a round can serve all classes.

trees = pb.ProperBoostClassifier(weak_learner="tree").fit(X, y)
p = trees.predict_proba(X_test)
print(f"trees: log loss {log_loss(y_test, p):.3f}, {1 - trees.score(X_test, y_test):.3f} errors")

# %%
# Joint or apart?
# ---------------
# ``one_vs_rest`` learns each class against all others; its probabilities do not add up to 1 by
# themselves, and are divided by their sum.
# ``canonical`` is the joint form of other losses.

for loss, multiclass in (("glog", "softmax"), ("glog", "one_vs_rest"), ("gboost", "canonical")):
    model = pb.ProperBoostClassifier(loss, multiclass=multiclass, weak_learner="table").fit(X, y)
    score = log_loss(y_test, model.predict_proba(X_test))
    print(f"{loss:8s} {multiclass:12s} log loss {score:.3f}")

# %%
# Which are taken for which?
# --------------------------

import matplotlib.pyplot as plt
from sklearn.metrics import confusion_matrix

confusions = confusion_matrix(y_test, trees.predict(X_test), labels=trees.classes_)
wrong = confusions - np.diag(np.diag(confusions))
figure, ax = plt.subplots(figsize=(6, 6), layout="constrained")
ax.imshow(wrong, cmap="Blues")
ax.set(
    xticks=range(len(trees.classes_)), xticklabels=trees.classes_, xlabel="predicted",
    yticks=range(len(trees.classes_)), yticklabels=trees.classes_, ylabel="true",
)  # fmt: skip
plt.show()

# %%
# Are they calibrated?
# --------------------
# The probability of the predicted class should be the share of rows that are right.

best = p.max(axis=1)
pb.plots.plot_reliability(
    (trees.predict(X_test) == y_test).astype(int), best, label="the predicted class", n_bins=8
)
plt.show()

# %%
# Reading a class
# ---------------
# Every class has its own shape functions, less the mean over the classes: probabilities depend on
# how classes differ.

shape = tables.shape_function(8, class_=tables.classes_[0])
print(shape.feature, np.round(shape.values[:5], 2))
