"""
Would more rows help?
=====================

The score and the best gain as rows are added.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import properboost as pb

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :10]
curve = pb.diagnostics.gain_curve(X, y, n_repeats=3, n_estimators=20)
print(curve.reading)
curve.plot()
plt.show()
