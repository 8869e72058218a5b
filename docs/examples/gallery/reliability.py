"""
Reliability
===========

How often rows of a predicted probability are positive.
Two models in one picture: called again with the same axes, the function adds a line.
"""

import matplotlib.pyplot as plt

import properboost as pb

X, y = pb.datasets.load_letter("p2", subset="train", return_X_y=True)
X_test, y_test = pb.datasets.load_letter("p2", subset="test", return_X_y=True)
ax = None
for name, model in (
    ("tables", pb.ProperBoostClassifier(weak_learner="table")),
    ("AdaBoost", pb.AdaBoost()),
):
    p = model.fit(X, y).predict_proba(X_test)[:, 1]
    ax = pb.plots.plot_reliability(
        y_test, p, ax, label=name, strategy="quantile", pos_label=model.classes_[1]
    )
plt.show()
