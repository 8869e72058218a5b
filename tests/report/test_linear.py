"""The logistic regression agrees with a pipeline of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import properboost as pb
from properboost.report.feature_subsets import TrainingSet
from properboost.report.linear import score_linear

TOWNS = ["Ulm", "Bonn", "Kiel"]


def make_rows(n, seed, n_classes):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": 9.0 * rng.normal(size=n) + 50.0, "b": rng.normal(size=n)})
    X["town"] = pd.Categorical(rng.choice(TOWNS, n), [*TOWNS, "Jena"])
    z = (X["a"] - 50.0) / 4.0 + X["b"] ** 2 + (X["town"] == "Ulm")
    return X, np.digitize(z + rng.logistic(size=n), [0.0, 2.0][: n_classes - 1])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_scores_as_a_pipeline_does(n_classes, weighted):
    X, y = make_rows(400, 0, n_classes)
    rows, labels = make_rows(200, 1, n_classes)
    rows.loc[:9, "town"] = "Jena"  # which training did not have
    weight = np.random.default_rng(0).random(400) if weighted else None
    counts = np.random.default_rng(1).random(200) if weighted else None
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y)
    scores = score_linear(model, rows, labels, counts, TrainingSet(X, y, weight))
    encode = make_column_transformer(
        (StandardScaler(), ["a", "b"]), (OneHotEncoder(handle_unknown="ignore"), ["town"])
    )
    pipeline = make_pipeline(encode, LogisticRegression(max_iter=1000))
    pipeline.fit(X, y, logisticregression__sample_weight=weight)
    p = pipeline.predict_proba(rows)
    assert scores.log_loss == pytest.approx(log_loss(labels, p, sample_weight=counts), rel=1e-3)
    wrong = np.average(p.argmax(axis=1) != labels, weights=counts)
    assert scores.error == pytest.approx(wrong, abs=0.01)
    assert scores.n_called == n_classes


def test_missing_and_constant_numbers():
    X, y = make_rows(300, 0, 2)
    X = X.drop(columns="town").assign(same=7.0, never=np.nan)
    X.loc[y == 1, "b"] = np.nan  # so that missing values give the class
    X.loc[:20, "b"] = 1.0
    scores = score_linear(
        pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y),
        X,
        y,
        None,
        TrainingSet(X, y),
    )
    blind = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
    expected = log_loss(y, blind.fit(X[["a", "b"]], y).predict_proba(X[["a", "b"]]))
    assert scores.log_loss < 0.5 * expected
