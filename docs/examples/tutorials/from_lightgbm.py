"""
Coming from LightGBM
====================

The habits that carry over, and those that do not.
XGBoost and CatBoost differ from LightGBM in words only; :doc:`/reference/parameters` has all words.
"""

# %%
# The first differences
# ---------------------
# - A plain fit makes **look-up tables**, one per feature.  ``weak_learner="tree"`` makes trees,
#   and ``pb.Tree`` has the parameters that only trees have.
# - **Steps are not small.**  The ``gain`` does here what a small ``learning_rate`` does in
#   LightGBM, and a plain fit finds it from the number of rows.  So 100 rounds are often enough.
# - **Probabilities are the aim**, so nothing balances classes by itself.

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import properboost as pb

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=1, stratify=y)
X, X_val, y, y_val = train_test_split(X, y, random_state=1, stratify=y)

tables = pb.ProperBoostClassifier(weak_learner="table").fit(X, y)
trees = pb.ProperBoostClassifier(weak_learner=pb.Tree(max_leaf_nodes=16)).fit(X, y)
for name, model in (("tables", tables), ("trees", trees)):
    print(f"{name}: log loss {log_loss(y_test, model.predict_proba(X_test)):.3f}")

# %%
# ``num_leaves`` is the field ``max_leaf_nodes`` of ``pb.Tree``; ``min_sum_hessian_in_leaf`` is its
# ``min_child_weight``, and ``feature_fraction_bynode`` its ``max_features``.
# Trees that grow level by level, as CatBoost's, have ``grow_policy="symmetric"``.
# Any of LightGBM's words is answered by ours:

try:
    pb.ProperBoostClassifier(num_leaves=16, weak_learner="table")
except TypeError as error:
    print(error)

# %%
# In a grid of scikit-learn the field has the name ``weak_learner__max_leaf_nodes``.
#
# ``eval_set`` and early stopping
# -------------------------------
# Validation rows are arguments of ``fit``; no callback is needed to stop.

model = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=1000, learning_rate=0.05)
model.fit(X, y, X_val=X_val, y_val=y_val)
print(f"{model.n_iter_} rounds kept of {len(model.validation_scores_)}")

# %%
# ``n_iter_`` counts what is kept, and later rounds are thrown away: ``predict`` needs no
# ``num_iteration``.
#
# Grid or random search
# ---------------------
# The search binds families, gains and the number of rounds together, on the same bins, and drops
# what cannot win.

search = pb.ProperBoostClassifierCV(effort=1).fit(X, y)
print(search.describe_search())

# %%
# ``pred_contrib``
# ----------------
# Contributions of tables are exact: they are what each function adds.
# Those of trees are the Shapley values along their paths.

effects = tables.contributions(X_test[:2])
print(effects.values.shape, np.allclose(
    effects.baseline + effects.values.sum(axis=1), tables.decision_function(X_test[:2])
))  # fmt: skip

# %%
# Categories
# ----------
# Columns of a categorical type are categories, as in LightGBM.
# A model stores its categories: `predict` takes strings, and an unseen one is no error.

X2 = X.assign(size=np.where(X["mean radius"] > 14, "large", "small"))
X2["size"] = X2["size"].astype("category")
model = pb.ProperBoostClassifier(weak_learner="table").fit(X2, y)
row = X2.iloc[[0]].assign(size="unheard of")
print(model.predict_proba(row).round(3))

# %%
# Going on, saving, serving
# -------------------------
# ``init_model`` is ``warm_start``; ``n_estimators`` then counts all rounds.
# Files are JSON, and ``compile`` makes what takes a dict.

tables.set_params(warm_start=True, n_estimators=120).fit(X, y)
tables.save_model("model.json")
scorer = pb.load_model("model.json").compile()
print(scorer(X_test.iloc[0].to_dict()).round(3))
