"""
Calibrated credit risk
======================

A lender needs the probability that a loan is not paid back.
The number itself matters, since it sets the price of the loan: a risk of 4% that is really 8% loses
money, although the order of the applicants may be perfect.

We make the applicants ourselves.
That has an advantage which no real table has: the true risk of everybody is known.
The last section does the same on real rows, if there are any on your machine.
"""

# %%
# The table
# ---------
# Numbers, categories and missing values, as they come: nothing has to be encoded or filled in.

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 8000
age = rng.integers(20, 75, n)
income = np.round(rng.lognormal(7.8, 0.5, n))
loan = np.round(rng.lognormal(8.6, 0.8, n))
work = rng.choice(["employed", "self-employed", "none"], n, p=[0.75, 0.15, 0.1])
late = rng.poisson(0.4, n).astype(float)  # payments that were late
log_odds = (
    -3.2
    + 1.2 * np.log(loan / income / 2.0).clip(-1.0, 2.0)
    + 0.6 * late
    + np.select([work == "none", work == "self-employed"], [1.0, 0.4], 0.0)
    + 0.03 * np.abs(age - 45)
)
risk = 1.0 / (1.0 + np.exp(-log_odds))
y = np.where(rng.random(n) < risk, "default", "paid")
late[rng.random(n) < 0.15] = np.nan  # not on record
X = pd.DataFrame(
    {"age": age, "income": income, "loan": loan, "work": pd.Categorical(work), "late": late}
)
train, test = np.arange(n) < 5000, np.arange(n) >= 5000
print(f"{np.mean(y == 'default'):.1%} of the loans are not paid back")
X.head()

# %%
# A readable model
# ----------------
# ``readable=True`` compares models that are sums of functions of one to three features.
# ``outer_bags`` adds standard errors.

import properboost as pb

model = pb.ProperBoostClassifierCV({"outer_bags": 16}, readable=True, effort=1)
model.fit(X[train], y[train])
print(model.describe_search())

# %%
# The classes are in the order of ``classes_``, so the first column is the risk.

p = model.predict_proba(X[test])[:, 0]
print(model.classes_)

# %%
# Are these risks?
# ----------------
# With real rows there are labels alone: of all applicants with a predicted risk of about 10%, a
# tenth should not pay back.

import matplotlib.pyplot as plt

is_default = y[test] == "default"
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
pb.plots.plot_reliability(is_default, p, left, strategy="quantile", label="the model")
left.set(xlim=(0, 0.6), ylim=(0, 0.6))

right.plot(risk[test], p, ".", markersize=2, alpha=0.4)
right.plot([0, 0.8], [0, 0.8], ":", color="0.4")
right.set(xlabel="true risk", ylabel="predicted risk", xlim=(0, 0.8), ylim=(0, 0.8))
plt.show()

# %%
# Here the truth is known, and the picture on the right compares with it, too.
# Part of the spread there cannot be helped: where late payments are not on record, nobody knows
# them.
#
# One number for the diagram is the calibration slope: the slope of a logistic regression of labels
# on log-odds.
# It is 1 for calibrated probabilities, and less if they are too sure.

from sklearn.linear_model import LogisticRegression

F = np.log(p / (1 - p))[:, np.newaxis]
slope = LogisticRegression(C=np.inf).fit(F, is_default).coef_[0, 0]
print(f"calibration slope {slope:.2f}")
print(f"mean predicted risk {p.mean():.4f}, share of defaults {is_default.mean():.4f}")

# %%
# The model
# ---------
# One function per feature, with a confidence band.

pb.plots.plot_shape_functions(model)
plt.show()

# %%
# One applicant
# -------------
# Contributions explain this risk, and the interval is its uncertainty.
# They are to the second class, paid: bars to the left raise the risk.

worst = X[test].iloc[[int(np.argmax(p))]]
effects = model.contributions(worst)
pb.plots.plot_contributions(effects)
plt.show()

low, high = model.predict_interval(worst)[0, 0]
print(f"risk {p.max():.2f}, between {low:.2f} and {high:.2f} (90% confidence)")

# %%
# A decision
# ----------
# A loan that is paid back earns 8, one that is not costs 60.
# With calibrated risks the limit follows from that: lend if 8 (1 - p) > 60 p.

limit = 8 / (8 + 60)
profit = np.where(is_default, -60, 8)
print(f"lend below a risk of {limit:.3f}: {profit[p < limit].sum()} in all")
for other in (limit / 2, 2 * limit, 1.0):
    print(f"lend below {other:.3f}: {profit[p < other].sum()}")

# %%
# No limit was tuned; it holds for every price list, as long as the risks are risks.
#
# On real rows
# ------------
# German Credit has 1,000 loans, and is not part of the package.
# ``pb.datasets`` finds it in the folder that ``PROPERBOOST_DATA`` names, in its cache, or downloads
# it.

from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

try:
    X_german, y_german = pb.datasets.load_uci("german", return_X_y=True)
except (ImportError, FileNotFoundError) as problem:
    print(f"not at hand: {problem}")
else:
    p = cross_val_predict(
        pb.ProperBoostClassifier(weak_learner="table"),
        X_german,
        y_german,
        cv=5,
        method="predict_proba",
    )
    print(f"log loss {log_loss(y_german, p):.3f}")
    shares = np.bincount(np.unique(y_german, return_inverse=True)[1]) / len(y_german)
    print(f"of the constant share {-np.sum(shares * np.log(shares)):.3f}")
