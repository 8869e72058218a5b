"""A user of scikit-learn puts a model where any classifier goes; and types `help`."""

import inspect
import pydoc
import typing

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.typing import ArrayLike
from scipy.stats import loguniform
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFECV
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    learning_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import properboost as pb


def test_a_pipeline(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), pb.ProperBoostClassifier(n_estimators=20))
    assert pipeline.fit(X, y).score(X, y) > 0.95


def test_a_pipeline_that_keeps_pandas(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), pb.ProperBoostClassifier(n_estimators=20))
    pipeline.set_output(transform="pandas").fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == X.columns.tolist()


def test_a_column_transformer_lets_categories_pass(customers):
    X, y = customers
    numbers = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")), remainder="passthrough"
    ).set_output(transform="pandas")
    assert make_pipeline(numbers, pb.ProperBoostClassifier()).fit(X, y).score(X, y) > 0.95


def test_a_grid_over_weak_learners_with_eight_leaves(iris):
    model = pb.ProperBoostClassifier(n_estimators=10)
    learners = ["table", "stump", pb.Tree(max_leaf_nodes=8)]
    grid = GridSearchCV(model, {"weak_learner": learners}, cv=3).fit(*iris)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()


def test_a_random_search(cancer):
    search = RandomizedSearchCV(
        pb.ProperBoostClassifier(n_estimators=10), {"gain": loguniform(0.5, 8.0)}, n_iter=3, cv=2
    )
    assert search.fit(*cancer).best_params_["gain"] >= 0.5


def test_probabilities_of_rows_that_were_held_out(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=10)
    assert cross_val_predict(model, X, y, method="predict_proba", cv=3).shape == (569, 2)


def test_a_learning_curve(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=10)
    _, _, scores = learning_curve(model, X, y, cv=3, train_sizes=[0.2, 1.0])
    assert scores[1].mean() >= scores[0].mean()


def test_calibrated_by_scikit_learn(cancer):
    X, y = cancer
    model = CalibratedClassifierCV(pb.ProperBoostClassifier(n_estimators=10), cv=3).fit(X, y)
    assert model.score(X, y) > 0.95


def test_a_reliability_diagram_by_scikit_learn(cancer):
    pytest.importorskip("matplotlib")
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=10).fit(X, y)
    assert len(CalibrationDisplay.from_estimator(model, X, y).prob_true) > 1


def test_a_vote_and_a_stack(iris):
    X, y = iris
    members = [
        ("ours", pb.ProperBoostClassifier(n_estimators=5)),
        ("line", LogisticRegression(max_iter=1000)),
    ]
    assert VotingClassifier(members, voting="soft").fit(X, y).score(X, y) > 0.9
    assert StackingClassifier(members, cv=3).fit(X, y).score(X, y) > 0.9


def test_a_bagging_and_one_against_the_rest(iris):
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=5)
    assert BaggingClassifier(model, n_estimators=3, random_state=0).fit(X, y).score(X, y) > 0.9
    assert OneVsRestClassifier(model).fit(X, y).score(X, y) > 0.9


def test_a_threshold_that_costs_least(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=10)
    tuned = TunedThresholdClassifierCV(model, scoring="balanced_accuracy", cv=3).fit(X, y)
    assert 0.0 < tuned.best_threshold_ < 1.0
    fixed = FixedThresholdClassifier(model, threshold=0.999).fit(X, y)
    assert fixed.predict(X).mean() < tuned.predict(X).mean()


def test_importance_by_permutation(cancer):
    X, y = cancer
    X = X.iloc[:, -10:]
    model = pb.ProperBoostClassifier(n_estimators=10).fit(X, y)
    importance = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert X.columns[importance.importances_mean.argmax()].startswith("worst")


def test_features_are_eliminated_one_after_the_other(cancer):
    selector = RFECV(pb.ProperBoostClassifier(n_estimators=5), step=10, cv=2).fit(*cancer)
    assert 1 <= selector.n_features_ <= 30


@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_sample_weights_are_routed_through_a_grid(cancer):
    X, y = cancer
    with sklearn.config_context(enable_metadata_routing=True):
        model = pb.ProperBoostClassifier(n_estimators=5).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        grid = GridSearchCV(model, {"gain": [1.0, 2.0]}, cv=2)
        assert grid.fit(X, y, sample_weight=np.arange(1.0, 570.0)).best_score_ > 0.9


def test_validation_rows_go_through_a_pipeline(cancer_parts):
    X, X_val, y, y_val = cancer_parts
    with sklearn.config_context(enable_metadata_routing=True):
        model = pb.ProperBoostClassifier(n_estimators=300, gain=0.5)
        model.set_fit_request(X_val=True, y_val=True)
        pipeline = make_pipeline(StandardScaler(), model, transform_input=["X_val"])
        pipeline.fit(X, y, X_val=X_val, y_val=y_val)
    assert pipeline[-1].n_iter_ < 300


def test_the_words_of_other_libraries_mean_what_they_mean_there():
    words = {
        pb.ProperBoostClassifier: "n_estimators learning_rate max_bins early_stopping warm_start "
        "class_weight categorical_features monotonic_cst interactions outer_bags n_jobs "
        "random_state verbose",
        pb.Tree: "max_depth max_leaf_nodes min_child_weight subsample max_features",
        pb.EarlyStopping: "validation_fraction n_iter_no_change tol scoring",
    }
    assert all(set(names.split()) <= set(kind().get_params()) for kind, names in words.items())


# -- help -----------------------------------------------------------------------------------------


def test_the_signature_of_fit_fits_on_a_screen():
    first = pydoc.render_doc(pb.ProperBoostClassifier.fit, renderer=pydoc.plaintext).splitlines()[2]
    assert "y: 'ArrayLike | None'" in first
    assert "_NestedSequence" not in first
    assert len(first) < 600


def test_no_method_spells_out_what_an_array_is():
    for name in pb.__all__:
        owner = getattr(pb, name)
        for method in vars(owner).values() if inspect.isclass(owner) else [owner]:
            if inspect.isfunction(method) and method.__name__ != "__init__":
                assert "_NestedSequence" not in str(inspect.signature(method)), (name, method)


def test_my_tools_look_up_what_signatures_name():
    hints = typing.get_type_hints(pb.ProperBoostClassifier.fit)
    assert hints["y"] == ArrayLike | None


def test_pb_and_tab_show_what_is_public():
    assert dir(pb) == sorted(pb.__all__)
    assert not {"boosting", "parameters", "persistence", "model_selection"} & set(dir(pb))
    modules = [getattr(pb, name) for name in pb.__all__ if inspect.ismodule(getattr(pb, name))]
    assert {pb.losses, pb.plots, pb.rado} <= {*modules}
    for module in modules:
        assert dir(module) == sorted(module.__all__), module.__name__


def test_my_editor_completes_the_names_of_losses_and_weak_learners():
    shown = inspect.signature(pb.ProperBoostClassifier).parameters
    names = typing.get_args(typing.get_args(shown["loss"].annotation)[0])
    assert {"glog", "savage", "exponential"} <= set(names)
    assert "'tree'" in str(shown["weak_learner"].annotation)


@pytest.mark.parametrize(
    "estimator",
    [
        pb.ProperBoostClassifier, pb.ProperBoostClassifierCV, pb.UDTClassifier,
        pb.ARBoostClassifier, pb.RadoBoostClassifier, pb.ULSClassifier,
    ],
    ids=lambda estimator: estimator.__name__,
)  # fmt: skip
def test_every_parameter_is_documented(estimator):
    for name in estimator().get_params():
        after = estimator.__doc__.split(f"\n{name} : ")[1]
        assert after.split("\n")[1].strip(), name


def test_a_model_shows_only_what_i_changed():
    assert repr(pb.ProperBoostClassifier(gain=2.0)) == "ProperBoostClassifier(gain=2.0)"


def test_what_does_it_run_on(capsys):
    pb.show_config()
    assert "threads" in capsys.readouterr().out


def test_results_of_a_search_are_a_table(cancer):
    search = pb.ProperBoostClassifierCV({"gain": [1.0, 4.0]}, effort=None).fit(*cancer)
    table = pd.DataFrame(search.cv_results_)
    assert {"param_gain", "mean_test_score", "rank_test_score"} <= set(table.columns)
