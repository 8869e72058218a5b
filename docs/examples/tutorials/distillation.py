"""
A readable model learns from an accurate one
============================================

Few rows have labels, and many have none.
An accurate model, the teacher, learns from the few.
A readable model, the student, then learns from the teacher's probabilities on all rows.
That is called distillation (Hinton, Vinyals and Dean 2015).
"""

# %%
# Letters of which we see little
# ------------------------------
# LETTER's rows are pictures of capital letters.
# We take five letters and half of the sixteen numbers, so that many rows are uncertain.
# Only every sixth row to learn from has a label.

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

import properboost as pb

X, code = pb.datasets.load_letter(return_X_y=True)
first_five = code < 5
X, letter = X[first_five][:, ::2], np.array(list("ABCDE"))[code[first_five]]
n = 3 * len(X) // 4
X_train, X_test, letter_test = X[:n], X[n:], letter[n:]
X_labelled, letter_labelled = X_train[::6], letter[:n:6]
print(f"{len(X_train):,} rows to learn from, {len(X_labelled)} of them with a label")

# %%
# The teacher
# -----------
# The mean of eight fits of trees predicts better than look-up tables do, and nobody can read it.

trees = pb.Tree(n_draws=8, subsample=0.8)
teacher = pb.ProperBoostClassifier(weak_learner=trees, random_state=0)
teacher.fit(X_labelled, letter_labelled)


def rate(model):
    """Return the log loss of the test rows."""
    return log_loss(letter_test, model.predict_proba(X_test))


print(f"the teacher's log loss: {rate(teacher):.3f}")

# %%
# The student
# -----------
# Labels may be probabilities: a column for each class, whose rows add up to 1.
# The names of a data frame's columns are the classes.

p = pd.DataFrame(teacher.predict_proba(X_train), columns=teacher.classes_)
print(p.head(3).round(3))

student = pb.ProperBoostClassifier().fit(X_train, p)
print(student.classes_)

# %%
# The same readable model could learn from the labels alone, or from the letters that the teacher
# predicts.
# Predicted letters claim a certainty that the teacher does not have, so they are worst.

from_labels = pb.ProperBoostClassifier().fit(X_labelled, letter_labelled)
from_letters = pb.ProperBoostClassifier().fit(X_train, teacher.predict(X_train))
for name, model in {
    "few labels": from_labels,
    "predicted letters": from_letters,
    "predicted probabilities": student,
}.items():
    print(f"{name:24s} log loss {rate(model):.3f}")

# %%
# How much a student gains depends on the table.
# With other letters and numbers of LETTER, its log loss was between 2% above and 22% below that of
# the few labels.
#
# Reading the student
# -------------------
# The student's shape functions describe the teacher's predictions.
# They cannot be truer than the teacher is.

import matplotlib.pyplot as plt

pb.plots.plot_shape_function(student, 0, class_=student.classes_[0])
plt.show()

# %%
# A faster student
# ----------------
# The time of folds, bags and one-vs-rest fits grows with the labels of positive probability.
# So you can set small probabilities to 0, and divide the rest by their sum.

cut = p.where(p >= 0.002, 0.0)
cut = cut.div(cut.sum(axis=1), axis=0)
print(f"labels of a row: {(p > 0).sum(axis=1).mean():.1f}, then {(cut > 0).sum(axis=1).mean():.1f}")
print(f"log loss {rate(pb.ProperBoostClassifier().fit(X_train, cut)):.3f}")

# %%
# Searches learn from probabilities, too.
# Their score is then minus the cross-entropy, and a fold holds out whole rows.

search = pb.ProperBoostClassifierCV(readable=True, effort=1).fit(X_train, cut)
print(f"cross-entropy {-search.best_score_:.3f}, log loss {rate(search):.3f}")
