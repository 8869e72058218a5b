"""Somebody types something wrong and reads one sentence that names the mistake."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import properboost as pb

# -- the table ------------------------------------------------------------------------------------


def test_all_columns_that_cannot_be_read_are_named_at_once(customers):
    X, y = customers
    dates = pd.date_range("2026-01-01", periods=len(X))
    X = X.assign(day=dates, since=dates - dates[0], code=["a", 1] * (len(X) // 2))
    with pytest.raises(ValueError, match="X: 3 columns cannot be read") as caught:
        pb.ProperBoostClassifier().fit(X, y)
    for line in ("'day_month': X['day'].dt.month", "X['since'].dt.total_seconds()", "map(str"):
        assert line in str(caught.value)


def test_a_column_of_names_is_warned_of(customers):
    X, y = customers
    with pytest.warns(UserWarning, match=r"column 'name' \(240 of 240 rows\).* drop such columns"):
        pb.ProperBoostClassifier().fit(X.assign(name=[f"Nr. {i}" for i in range(len(X))]), y)


def test_a_single_column_is_not_a_table(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="2-dimensional"):
        pb.ProperBoostClassifier().fit(X["mean area"], y)


def test_no_rows(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="0 sample"):
        pb.ProperBoostClassifier().fit(X[:0], y[:0])


def test_no_columns(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="0 feature"):
        pb.ProperBoostClassifier().fit(X[[]], y)


def test_complex_numbers(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="Complex data not supported"):
        pb.ProperBoostClassifier().fit(X.to_numpy() + 1j, y)


def test_a_lazy_frame(cancer):
    X, y = cancer
    with pytest.raises(TypeError, match=r"pass X\.collect\(\)"):
        pb.ProperBoostClassifier().fit(pl.from_pandas(X).lazy(), y)


def test_a_masked_array(cancer):
    X, y = cancer
    with pytest.raises(TypeError, match=r"X is a masked array: pass X\.astype"):
        pb.ProperBoostClassifier().fit(np.ma.masked_less(X.to_numpy(), 1.0), y)


def test_names_of_columns_that_are_not_all_strings(cancer):
    X, y = cancer
    with pytest.raises(TypeError, match="convert them all to strings"):
        pb.ProperBoostClassifier().fit(X.rename(columns={"mean area": 0}), y)


# -- the labels -----------------------------------------------------------------------------------


def test_i_forget_the_labels(cancer):
    with pytest.raises(ValueError, match="requires y to be passed"):
        pb.ProperBoostClassifier().fit(cancer[0], None)


def test_labels_are_missing(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="y contains NaN"):
        pb.ProperBoostClassifier().fit(X, y.where(y == 1))


def test_labels_are_real_numbers(cancer):
    X, _ = cancer
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        pb.ProperBoostClassifier().fit(X, X["mean area"])


def test_there_is_one_class_only(cancer):
    X, _ = cancer
    with pytest.raises(ValueError, match=r"at least two classes .*; got 1 class: \['a'\]"):
        pb.ProperBoostClassifier().fit(X, ["a"] * len(X))


def test_there_is_one_label_too_few(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="X and y must have as many rows; got 569 and 568"):
        pb.ProperBoostClassifier().fit(X, y[:-1])


def test_labels_are_strings_and_none(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="labels of one kind, none missing; got strings and NoneT"):
        pb.ProperBoostClassifier().fit(X, [None if label else "ill" for label in y])


def test_rows_have_several_labels(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match=r"row 0 adds up to 2: several labels of a row need"):
        pb.ProperBoostClassifier().fit(X, np.ones((len(y), 2), dtype=bool))


def test_labels_are_a_column_a_class(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match=r"y should be a 1d array, got an array of shape"):
        pb.UDTClassifier().fit(X, pd.get_dummies(y))


# -- the weights ----------------------------------------------------------------------------------


def test_a_weight_is_negative(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        pb.ProperBoostClassifier().fit(X, y, np.where(y == 1, 1.0, -1.0))


def test_all_weights_are_zero(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="at least one non-zero"):
        pb.ProperBoostClassifier().fit(X, y, np.zeros(len(y)))


def test_weights_are_too_few(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match=r"sample_weight\.shape == \(3,\), expected \(569,\)"):
        pb.ProperBoostClassifier().fit(X, y, [1.0, 1.0, 1.0])


def test_class_weight_is_misspelt(cancer):
    with pytest.raises(ValueError, match="class_weight must be None, 'balanced' or a dict; got 'b"):
        pb.ProperBoostClassifier(class_weight="balance").fit(*cancer)


def test_class_weight_has_a_label_that_is_none(cancer):
    with pytest.raises(ValueError, match="class_weight must name labels among"):
        pb.ProperBoostClassifier(class_weight={"ill": 2.0}).fit(*cancer)


# -- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"loss": "glogg"}, "loss must be one of 'glog', .*; got 'glogg'"),
        ({"learning_rate": 0}, "learning_rate must be above 0, or None; got 0"),
        ({"gain": "2"}, r"gain must be a finite number above 0, or None; got '2' \(str\)"),
        ({"gain": -1}, "gain must be above 0, or None; got -1"),
        ({"n_estimators": 100.0}, "n_estimators must be an integer .*; got 100.0"),
        ({"n_estimators": 0}, "n_estimators must be between 1 and .*; got 0"),
        ({"max_bins": 256}, "max_bins must be between 2 and 255; got 256"),
        ({"n_jobs": 0}, "n_jobs must not be 0: None or -1 use every CPU"),
        ({"random_state": "x"}, "random_state must be None, an integer"),
        ({"multiclass": "ovr"}, "multiclass must be one of 'auto', 'softmax', .*; got 'ovr'"),
        ({"weak_learner": pb.Tree(subsample=1.5)}, "subsample must be between 0 and 1; got 1.5"),
        ({"outer_bags": 2}, "outer_bags must be between 4 and 64, or 0"),
        ({"weak_learner": pb.Table(smoothing=-1.0)}, "smoothing must be between"),
        ({"linear_leaves": True}, r"pb\.Tree\(linear_leaves="),
        ({"weak_learner": "tree", "interactions": 3}, "interactions must be 0 with weak_learner"),
        ({"interactions": [("mean area", "x")]}, r"interactions\[0\]: the name 'x' is unknown"),
        ({"categorical_features": ["city"]}, "categorical_features: the name 'city' is unknown"),
        ({"categorical_features": [99]}, "categorical_features must be between 0 and 29; got 99"),
        ({"monotonic_cst": {"agee": 1}}, "monotonic_cst: the name 'agee' is unknown"),
        ({"monotonic_cst": {"mean area": 2}}, r"monotonic_cst\['mean area'\] must be between -1"),
        ({"monotonic_cst": [1]}, "monotonic_cst must have an entry for each of the 30 features"),
        ({"early_stopping": pb.EarlyStopping(validation_fraction=20)}, "validation_fraction must"),
        ({"early_stopping": pb.EarlyStopping(scoring="rocauc")}, "scoring"),
        ({"early_stopping": pb.EarlyStopping(n_iter_no_change=0)}, "n_iter_no_change must"),
    ],
    ids=str,
)
def test_a_parameter_is_wrong(typed, message, cancer):
    with pytest.raises((TypeError, ValueError), match=message):
        pb.ProperBoostClassifier(**typed).fit(*cancer)


def test_a_parameter_of_another_library():
    with pytest.raises(TypeError, match=r"pb\.Tree\(max_leaf_nodes"):
        pb.ProperBoostClassifier(num_leaves=31)


def test_a_parameter_that_does_not_exist_is_set():
    with pytest.raises(ValueError, match="did you mean n_estimators"):
        pb.ProperBoostClassifier().set_params(n_estimator=50)


def test_several_classes_cannot_be_monotone(iris):
    with pytest.raises(ValueError, match="monotonic_cst must be None with 3 classes"):
        pb.ProperBoostClassifier(monotonic_cst=[1, 0, 0, 0]).fit(*iris)


def test_a_loss_without_a_joint_form_is_refused(iris):
    with pytest.raises(ValueError, match="multiclass must not be 'softmax' with loss='savage'"):
        pb.ProperBoostClassifier("savage", multiclass="softmax").fit(*iris)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"space": {"gain": []}}, "an empty list of 'gain'"),
        ({"cv": 1}, "cv must be at least 2, or a splitter or an iterable of splits; got 1"),
        ({"effort": 9}, "effort must be between 1 and 5, or None; got 9"),
        ({"scoring": "rocauc"}, "scoring"),
        ({"time_limit": 0}, "time_limit must be above 0"),
    ],
    ids=str,
)
def test_a_parameter_of_the_search_is_wrong(typed, message, cancer):
    with pytest.raises((TypeError, ValueError), match=message):
        pb.ProperBoostClassifierCV(**typed).fit(*cancer)


def test_no_class_has_rows_to_hold_out(cancer):
    X, _ = cancer
    with pytest.raises(ValueError, match="cv needs a class of at least two rows"):
        pb.ProperBoostClassifierCV().fit(X[:2], [0, 1])


# -- validation rows and going on -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X_val": [[1.0] * 30]}, "X_val must be given with y_val only"),
        ({"y_val": [0, 1]}, "y_val must be given with X_val only"),
        ({"X_val": [[1.0] * 30], "y_val": [7]}, r"y_val must hold labels among \[0, 1\]; got 7"),
        ({"X_val": [[1.0] * 9], "y_val": [1]}, "X_val: X has 9 features"),
        ({"init_score": [0.0, 1.0]}, r"init_score must have shape .*\(569,\).*; got \(2,\)"),
        ({"eval_set": []}, r"unexpected keyword argument 'eval_set': .*fit\(X, y, X_val="),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)
def test_something_beside_the_rows_is_wrong(arguments, message, cancer):
    X, y = cancer
    with pytest.raises((TypeError, ValueError), match=message):
        pb.ProperBoostClassifier().fit(X.to_numpy(), y, **arguments)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_estimators": 2}, "n_estimators must be at least the 5 estimators of the model"),
        ({"loss": "savage"}, "loss and gain must stay GLog"),
        ({"interactions": 2}, "interactions"),
        ({"step": "totally_corrective"}, "step"),
    ],
    ids=str,
)
def test_the_error_names_what_cannot_go_on(changed, message, cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.set_params(**{"n_estimators": 10, **changed}).fit(X, y)


def test_todays_classes_are_others(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"y must hold the classes \[0, 1\] of the model"):
        model.set_params(n_estimators=10).fit(X, y.map({0: "ill", 1: "well"}))


def test_i_forget_the_raw_predictions_that_the_fit_began_with(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y, init_score=np.zeros(len(y)))
    with pytest.raises(ValueError, match="init_score must be given: the model was fitted with one"):
        model.predict(X)


# -- predicting and reading -----------------------------------------------------------------------


def test_i_predict_before_i_fit(cancer):
    with pytest.raises(ValueError, match="is not fitted yet"):
        pb.ProperBoostClassifier().predict(cancer[0])


def test_columns_are_missing(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="yet now missing:\n- mean area"):
        model.predict(X.drop(columns="mean area"))


def test_columns_are_in_another_order(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(X[X.columns[::-1]])


def test_numbers_come_as_text(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="column 'mean radius' has type"):
        model.predict(X.astype("str"))


def test_categories_come_as_numbers(customers):
    X, y = customers
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match=r"'town' were strings .* and are numbers now"):
        model.predict(X.assign(town=1))


def test_a_dict_lacks_a_key(customers):
    scorer = pb.ProperBoostClassifier(n_estimators=5).fit(*customers).compile()
    with pytest.raises(ValueError, match=r"lacks 'town'.*: give None where a value is missing"):
        scorer({"age": 40, "visits": 3})


def test_a_dict_has_text_for_a_number(customers):
    scorer = pb.ProperBoostClassifier(n_estimators=5).fit(*customers).compile()
    with pytest.raises(ValueError, match="column 'age' must be a number; got '40'"):
        scorer({"age": "40", "town": "Ulm", "visits": 3})


def test_a_feature_is_misspelt(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="the name 'mean aera' is unknown; X had"):
        model.shape_function("mean aera")


def test_a_class_is_none_of_the_models(iris):
    model = pb.ProperBoostClassifier(n_estimators=5).fit(*iris)
    with pytest.raises(ValueError, match=r"class_ must be one of \[0, 1, 2\]; got 'setosa'"):
        model.shape_function(0, class_="setosa")


def test_trees_have_no_shape_functions(cancer):
    model = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=5).fit(*cancer)
    with pytest.raises(ValueError, match="a model of trees has shape functions only if"):
        model.shape_function(0)


def test_intervals_need_bags(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match=r"predict_interval needs .* fitted with outer_bags"):
        model.predict_interval(X)


# -- files ----------------------------------------------------------------------------------------


def test_a_file_is_no_model(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"rows\.csv: not a properboost model"):
        pb.load_model(tmp_path / "rows.csv")


def test_a_file_is_cut_off(cancer, tmp_path):
    path = tmp_path / "model.json"
    pb.ProperBoostClassifier(n_estimators=5).fit(*cancer).save_model(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"model\.json: not a properboost model"):
        pb.load_model(path)


def test_a_file_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"model\.json"):
        pb.load_model(tmp_path / "model.json")
