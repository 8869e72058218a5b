"""Test rules in words."""

import numpy as np
import pytest

import properboost as pb
from helpers.models import rules


def test_conditions_on_one_feature_are_put_together():
    x = np.repeat(np.arange(6.0), 20)[:, None]
    model = rules(n_estimators=1).fit(x, (x[:, 0] >= 2) & (x[:, 0] < 4))
    (rule,) = model.rules()
    assert rule.conditions == ("1.5 < feature 0 <= 3.5",)
    np.testing.assert_array_equal(model.decision_function(x) > 0, (x[:, 0] >= 2) & (x[:, 0] < 4))


def test_rules_of_no_rows():
    X = np.arange(40.0)[:, None]
    model = rules(n_estimators=2).set_params(weak_learner__subsample=1e-9).fit(X, X[:, 0] > 3)
    assert model.rules() == [pb.FittedRule((), 0.0, 0.0, 0.0, True)] * 2
    np.testing.assert_array_equal(model.predict_proba(X), 0.5)


def test_classes_have_rules_of_their_own(iris):
    X, y = iris
    model = rules(n_estimators=10).fit(X, y)
    assert model.score(X, y) > 0.97
    raw = model.decision_function(X)
    for k in range(3):
        of_class = model.rules(class_=k)
        assert {rule.class_label for rule in of_class} == {k}
        low = sum(min(rule.value, rule.otherwise) for rule in of_class)
        assert low - 1e-9 <= raw[:, k].min()
    with pytest.raises(ValueError, match="class_ must be one of"):
        model.rules()


def test_other_models_have_no_rules(binary):
    X, y = binary
    for weak_learner in ("table", "tree"):
        model = pb.ProperBoostClassifier(weak_learner=weak_learner, n_estimators=2).fit(X, y)
        with pytest.raises(ValueError, match="only a model of rules"):
            model.rules()
