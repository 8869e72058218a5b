"""
How long until it happens
=========================

Subscribers leave a shop, and the shop plans by when they will.
Many have not left yet: their time is censored, and a classifier of "has left" would count them
as loyal.
In discrete time this is classification all the same.
Each subscriber gives one row for each month, and the label is whether the subscriber left in it.

The predicted probability of a row is the hazard: the risk of leaving in a month, for those who are
still there.
We make the subscribers ourselves, so that there are true hazards to compare with.
"""

# %%
# Months and subscribers
# ----------------------
# The hazard is high in the first months and when a yearly contract ends, and a discount hides it
# for half a year.

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n, horizon = 2500, 24
people = pd.DataFrame(
    {
        "age": rng.integers(18, 80, n),
        "price": rng.choice([9.0, 15.0, 25.0], n, p=[0.5, 0.3, 0.2]),
        "contract": pd.Categorical(rng.choice(["monthly", "yearly"], n)),
        "discount": rng.random(n) < 0.4,
    }
)


def find_hazard(rows):
    """Return the true risk of leaving in the month of each row."""
    log_odds = (
        -3.4
        + 1.5 * np.exp(-rows["month"] / 3.0)
        + 0.04 * (rows["price"] - 9.0)
        + 1.8 * ((rows["contract"] == "yearly") & (rows["month"] % 12 == 0))
        - 0.6 * (rows["contract"] == "yearly")
        - 1.0 * (rows["discount"] & (rows["month"] <= 6))
        - 0.01 * (rows["age"] - 45)
    )
    return 1.0 / (1.0 + np.exp(-log_odds.to_numpy(float)))


def expand(table, months):
    """Return a row for each subscriber and month up to the subscriber's last one."""
    rows = table.loc[table.index.repeat(months)].copy()
    rows.insert(0, "month", np.concatenate([np.arange(1, m + 1) for m in months]))
    return rows


everything = expand(people, np.full(n, horizon))
leaves = (rng.random(len(everything)) < find_hazard(everything)).reshape(n, horizon)
month_of_leaving = np.where(leaves.any(axis=1), leaves.argmax(axis=1) + 1, horizon + 1)
months_seen = rng.integers(3, horizon + 1, n)  # subscribers joined at different times
months = np.minimum(month_of_leaving, months_seen)
has_left = month_of_leaving <= months_seen
print(f"{has_left.mean():.0%} have left; the others are censored")

# %%
# A row for each month
# --------------------
# A censored subscriber has the label 0 in every month that was seen.
# When that subscriber would have left is open.

train, test = np.arange(n) < 1800, np.arange(n) >= 1800
rows = expand(people[train], months[train])
is_last = rows.index.to_series().diff(-1).ne(0).to_numpy()
y = (is_last & np.repeat(has_left[train], months[train])).astype(int)
print(f"{len(rows):,} rows of {train.sum():,} subscribers; the mean hazard is {y.mean():.3f}")

# %%
# The months of one subscriber belong together, so ``groups`` keeps them in one fold.

import properboost as pb

model = pb.ProperBoostClassifierCV(readable=True, effort=1)
model.fit(rows, y, groups=rows.index)
print(model.describe_search())

# %%
# Hazards and survival
# --------------------
# The probability of staying for t months is the product of the probabilities of staying in each.

everyone = expand(people[test], np.full(test.sum(), horizon))
hazard = model.predict_proba(everyone)[:, 1].reshape(-1, horizon)
truth = find_hazard(everyone).reshape(-1, horizon)
survival, true_survival = np.cumprod(1.0 - hazard, axis=1), np.cumprod(1.0 - truth, axis=1)
error = np.abs(survival - true_survival)
print(f"mean error of survival after a year: {error[:, 11].mean():.3f}")

# %%
# The pictures show the effect of the month, and the curves of four new subscribers.

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
pb.plots.plot_shape_function(model, "month", ax=left)
steps = np.arange(1, horizon + 1)
for k, color in zip((0, 1, 2, 3), ("C0", "C1", "C2", "C3"), strict=True):
    right.plot(steps, survival[k], color=color)
    right.plot(steps, true_survival[k], ":", color=color)
right.set(xlabel="month", ylabel="probability of staying", ylim=(0, 1))
plt.show()

# %%
# Dotted curves are the truth.
# Months of which few subscribers were seen have few rows, and their hazards are less certain.
# A subscriber who was never seen beyond a month adds nothing to later ones, and no assumption on
# proportional hazards is needed: ``month`` may have joint terms with every other feature.

print(model.terms_[:5])
