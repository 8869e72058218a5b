"""Two values that together turn a row that no single value turns."""

import numpy as np
import pandas as pd

import properboost as pb
from properboost.report.content import ExplainedRow
from properboost.report.counterfactuals import add_counterfactuals
from properboost.report.effects import list_terms
from properboost.report.joint_changes import add_joint_changes


def make():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 9, size=(2_000, 2)), columns=["size", "age"])
    X["town"] = pd.Categorical(rng.choice(["Ulm", "Bonn"], len(X)))
    z = X["size"] / 2.0 + X["age"] / 2.0 + 4.0 * (X["town"] == "Ulm") - 5.0
    return X, (z + rng.logistic(size=len(X)) > 0.0).astype(int)


def tell(model, X):
    labels = model.predict(X)
    rows = [
        ExplainedRow("right", k + 1, None, label, None, 0.5, None, 0.5, (), True)
        for k, label in enumerate(labels)
    ]
    return add_joint_changes(model, X, add_counterfactuals(model, X, rows, list_terms(model)))


def test_two_values_turn_a_row_that_none_turns_alone():
    X, y = make()
    model = pb.ProperBoostClassifier(n_estimators=30, weak_learner="table").fit(X, y)
    table = X.iloc[:60]
    n_joint = 0
    for row, explained in enumerate(tell(model, table)):
        turns = explained.counterfactuals
        assert turns.searched_joint == (not turns.offered)
        if turns.joint is None:
            continue
        n_joint += 1
        assert not turns.offered
        assert len(turns.joint.values) == 2
        changed = table.iloc[[row]].copy()
        for name, value, present in turns.joint.values:
            assert name != "age"  # which the law may protect
            assert present == str(table[name].iloc[row])
            changed[name] = (
                pd.Categorical([value], table[name].cat.categories)
                if name == "town"
                else float(value)
            )
        assert model.predict(changed)[0] == model.classes_[turns.joint.to] != explained.predicted
    assert n_joint > 0


def test_models_without_terms_are_not_searched():
    X, y = make()
    model = pb.UDTClassifier().fit(X, y)
    assert not any(row.counterfactuals.searched_joint for row in tell(model, X.iloc[:20]))
