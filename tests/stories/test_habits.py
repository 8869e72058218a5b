"""A newcomer types what worked elsewhere: it works, or one sentence has the line to write."""

import pickle
import pydoc

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import properboost as pb

# -- tables and labels ----------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_my_table_has_nullable_types(backend, customers):
    pytest.importorskip("pyarrow")
    X, y = customers
    nullable = X.convert_dtypes(dtype_backend=backend)
    model = pb.ProperBoostClassifier().fit(nullable, y)
    same = pb.ProperBoostClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(nullable), same.predict_proba(X))


def test_i_turn_dates_into_the_parts_that_the_error_names(customers):
    X, y = customers
    X = X.assign(day=pd.date_range("2026-01-01", periods=len(X)))
    with pytest.raises(ValueError, match=r"X\['day'\]\.dt\.month") as caught:
        pb.ProperBoostClassifier().fit(X, y)
    line = str(caught.value).split("datetime64")[1].split(": ", 1)[1]
    scope = {"X": X}
    exec(line, scope)
    assert pb.ProperBoostClassifier().fit(scope["X"], y).score(scope["X"], y) > 0.95


@pytest.mark.parametrize("kind", ["category", "float", "Int64", "bool"])
def test_my_labels_have_another_type(kind, cancer):
    X, y = cancer
    labels = y.astype(kind)
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, labels)
    assert (model.predict(X) == labels).mean() > 0.9


def test_i_encode_texts_as_sparse_columns(customers):
    X, y = customers
    encoded = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")),
        remainder="passthrough",
        sparse_threshold=1.0,
    )
    assert sp.issparse(encoded.fit_transform(X))
    assert make_pipeline(encoded, pb.ProperBoostClassifier()).fit(X, y).score(X, y) > 0.95


def test_i_count_words():
    texts = ["a ship at sea", "the sea and a boat", "a car on a road", "the road to town"] * 30
    model = make_pipeline(CountVectorizer(), pb.ProperBoostClassifier())
    assert model.fit(texts, [0, 0, 1, 1] * 30).predict(["sea", "road"]).tolist() == [0, 1]


def test_i_hash_words_into_many_columns():
    texts = [f"{word} {k}" for k in range(200) for word in ("ship sea", "car road")]
    model = make_pipeline(HashingVectorizer(n_features=2**14), pb.ProperBoostClassifier())
    assert model.fit(texts, [0, 1] * 200).predict(["the ship", "my car"]).tolist() == [0, 1]


def test_a_row_has_several_labels(cancer):
    X, y = cancer
    both = np.stack([y, X["mean area"] > 600], axis=1)
    with pytest.raises(ValueError, match=r"sklearn\.multioutput\.MultiOutputClassifier\(model\)"):
        pb.ProperBoostClassifier().fit(X, both)
    model = MultiOutputClassifier(pb.ProperBoostClassifier(n_estimators=5)).fit(X, both)
    assert model.predict(X).shape == both.shape


def test_my_survey_has_weights(census):
    X, y = (part[:2000] for part in census)
    with pytest.warns(UserWarning, match="as in surveys, use normalize_weights=True"):
        pb.ProperBoostClassifier(n_estimators=5).fit(X, y, sample_weight=X["fnlwgt"])


# -- fits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "line"),
    [
        ("eval_set", r"fit\(X, y, X_val=\.\.\., y_val=\.\.\.\)"),
        ("early_stopping_rounds", r"early_stopping=pb\.EarlyStopping\(n_iter_no_change="),
        ("eval_metric", r"early_stopping=pb\.EarlyStopping\(scoring="),
        ("init_model", "warm_start=True"),
        ("callbacks", "set_callbacks"),
        ("categorical_feature", "categorical_features="),
        ("target", r"fit\(df\.drop\(columns=name\), df\[name\]\)"),
        ("validation_data", r"fit\(X, y, X_val=\.\.\., y_val=\.\.\.\)"),
        ("sample_weights", r"did you mean sample_weight\?"),
        ("weights", r"did you mean sample_weight\?"),
        ("obj", r"loss=pb\.losses\.from_functions\(\.\.\.\)"),
        ("epochs", r"n_estimators="),
        ("n_estimators", r"it is a parameter of ProperBoostClassifier\(\.\.\.\)"),
    ],
)
def test_fit_had_that_argument_elsewhere(argument, line, cancer):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{argument}'.*{line}"):
        pb.ProperBoostClassifier().fit(*cancer, **{argument: 1})


@pytest.mark.parametrize(
    ("argument", "method"),
    [
        ("raw_score", "decision_function"),
        ("pred_contrib", "contributions"),
        ("threshold", "predict_proba"),
    ],
)
def test_predict_had_that_argument_elsewhere(argument, method, cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(TypeError, match=rf"'{argument}': use {method}\(X\)"):
        model.predict(X, **{argument: True})


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("partial_fit", "warm_start=True"),
        ("evals_result_", "validation_scores_"),
        ("best_iteration_", "n_iter_"),
        ("load_model", r"pb\.load_model\(path\)"),
        ("n_classes_", r"classes_\.size"),
        ("validation_scores_", r"fit\(X, y, X_val=\.\.\., y_val=\.\.\.\)"),
        ("shap_values", r"contributions\(X\)"),
        ("report", r"pb\.report\.write_report\("),
        ("feature_importances", "feature_importances_"),
        ("counterfactuals", r"changes\(X\)"),
        ("predict_set", r"pb\.ConformalClassifier\(model\)"),
        ("plot_shape_function", r"pb\.plots\.plot_shape_function\(model, feature\)"),
    ],
)
def test_models_had_that_attribute_elsewhere(name, line, cancer):
    model = pb.ProperBoostClassifier(n_estimators=5).fit(*cancer)
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=f"no attribute '{name}': use .*{line}"):
        getattr(model, name)


def test_the_package_had_that_name_elsewhere():
    for name, line in [("load", "load_model"), ("Dataset", "fit"), ("ProperBoostRegressor", "no")]:
        with pytest.raises(AttributeError, match=f"no attribute '{name}': use .*{line}"):
            getattr(pb, name)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("ProperboostClassifier", r"did you mean ProperBoostClassifier\?"),
        ("ProperBoostCV", r"did you mean ProperBoostClassifierCV\?"),
        ("Classifier", r"use pb\.ProperBoostClassifier"),
        ("ProperBoost", r"use pb\.ProperBoostClassifier$"),
        ("LGBMClassifier", r"use pb\.ProperBoostClassifier$"),
        ("save_model", r"use model\.save_model\(path\)"),
        ("read_parquet", r"use pandas\.read_parquet\(path\), or pb\.QuantizedTable\.from_batches"),
        ("read_csv", r"use pandas\.read_csv\(path\)"),
    ],
)
def test_i_misspell_a_name(name, line):
    with pytest.raises(AttributeError, match=f"no attribute '{name}': {line}"):
        getattr(pb, name)


def test_names_that_are_like_no_other_get_no_advice():
    for name in ("zebra", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'$"):
            getattr(pb, name)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("plot_roc_curve", "use sklearn.metrics.RocCurveDisplay.from_estimator"),
        ("plot_tree", r"use model\.describe_tree\(k\)"),
        ("plot_calibration", "use plot_reliability"),
        ("plot_shape", "use plot_shape_function"),
        ("plot_importances", r"did you mean plot_importance\?"),
    ],
)
def test_plots_have_other_names_elsewhere(name, line):
    with pytest.raises(AttributeError, match=f"no attribute '{name}': {line}"):
        getattr(pb.plots, name)


@pytest.mark.parametrize(
    ("module", "name", "line"),
    [
        (pb.metrics, "log_loss", r"use sklearn\.metrics\.log_loss\(y, p\)"),
        (pb.metrics, "expected_calibration_error", r"use pb\.plots\.plot_reliability\(y, p\)"),
        (pb.losses, "LogLoss", r"use GLog\(\)"),
        (pb.losses, "Focal", r"use from_functions\(\.\.\.\)"),
        (pb.export, "onnx", r"use to_onnx\(model\)"),
        (pb.report, "create_report", r"did you mean write_report\?"),
    ],
)
def test_modules_have_other_names_elsewhere(module, name, line):
    with pytest.raises(AttributeError, match=f"no attribute '{name}': {line}"):
        getattr(module, name)


@pytest.mark.parametrize(
    ("parameter", "line"),
    [
        ("is_unbalance", 'class_weight="balanced"'),
        ("scale_pos_weight", r"class_weight=\{positive: \.\.\.\}"),
        ("objective", r'loss=\.\.\. here: "glog" is the logistic loss'),
        ("eval_metric", r"early_stopping=pb\.EarlyStopping\(scoring=\.\.\.\)"),
        ("interaction_constraints", r"weak_learner=pb\.Tree\(interaction_cst="),
        ("seed", "random_state="),
        ("patience", r"early_stopping=pb\.EarlyStopping\(n_iter_no_change=\.\.\.\)"),
    ],
)
def test_the_classifier_had_that_parameter_elsewhere(parameter, line):
    with pytest.raises(TypeError, match=f"has no parameter '{parameter}': .*{line}"):
        pb.ProperBoostClassifier(**{parameter: 1})


def test_i_name_the_column_of_labels(customers):
    X, y = customers
    df = X.assign(left=y)
    with pytest.raises(ValueError, match=r"write (fit\(df.drop.*, df\['left'\]\))") as caught:
        pb.ProperBoostClassifier().fit(df, "left")
    line = str(caught.value).split("write ")[1]
    model = pb.ProperBoostClassifier()
    assert eval(f"model.{line}", {"model": model, "df": df}).score(X, y) > 0.95


def test_i_predict_a_row_of_a_table(customers):
    X, y = customers
    model = pb.ProperBoostClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"pass df\.iloc\[\[k\]\].*model\.compile\(\)"):
        model.predict_proba(X.iloc[3])
    one = model.predict_proba(X.iloc[[3]])[0]
    np.testing.assert_array_equal(model.compile()(X.iloc[3]), one)


def test_i_wait_for_ten_rounds(cancer):
    with pytest.raises(TypeError, match=r"write pb\.EarlyStopping\(n_iter_no_change=10\)"):
        pb.ProperBoostClassifier(early_stopping=10).fit(*cancer)


@pytest.mark.parametrize("verbose", [-1, False, 0, True, 1])
def test_i_ask_for_silence_or_news(verbose, cancer, capfd, tmp_path):
    model = pb.ProperBoostClassifier(n_estimators=3, verbose=verbose).fit(*cancer)
    assert bool(capfd.readouterr().err) == (verbose > 0)
    model.save_model(tmp_path / "model.json")
    assert pb.load_model(tmp_path / "model.json").verbose == verbose


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("log_loss", "neg_log_loss"), ("error", "accuracy"), ("auprc", "average_precision")],
)
def test_scores_have_other_names_elsewhere(typed, meant, cancer):
    with pytest.raises(ValueError, match=f"got '{typed}', which may be '{meant}'"):
        pb.ProperBoostClassifierCV(effort=1, scoring=typed).fit(*cancer)


@pytest.mark.parametrize("typed", ["log_loss", "binary:logistic", "multiclass"])
def test_the_logistic_loss_has_another_name(typed, cancer):
    with pytest.raises(ValueError, match=f"got '{typed}', which is 'glog' here"):
        pb.ProperBoostClassifier(typed).fit(*cancer)


def test_i_ask_for_a_regression(cancer):
    with pytest.raises(ValueError, match="got 'squared_error': there is no regression here"):
        pb.ProperBoostClassifier("squared_error").fit(*cancer)


def test_i_bring_gradients_of_my_loss(cancer):
    def gradients(y, raw):
        p = 1.0 / (1.0 + np.exp(-raw))
        return p - y, p * (1.0 - p)

    with pytest.raises(TypeError, match=r"one of your own by pb\.losses\.from_functions"):
        pb.ProperBoostClassifier(gradients).fit(*cancer)


def test_i_try_depths_of_trees_in_a_grid(cancer):
    model = pb.ProperBoostClassifier(n_estimators=5)
    with pytest.raises(ValueError, match="grids weak_learner__max_depth"):
        GridSearchCV(model, {"max_depth": [2, 3]}, cv=2).fit(*cancer)
    grid = {"weak_learner": ["tree"], "weak_learner__max_depth": [2, 3]}
    assert GridSearchCV(model, grid, cv=2).fit(*cancer).best_score_ > 0.9


def test_only_some_features_may_interact(cancer):
    X, y = cancer
    X = X[["mean area", "mean texture", "mean symmetry"]]
    tree = pb.Tree(interaction_cst=[["mean area", "mean texture"], ["mean symmetry"]])
    model = pb.ProperBoostClassifier(weak_learner=tree, n_estimators=10).fit(X, y)
    joint = [term.features for term in model.terms_ if len(term.features) > 1]
    assert joint == [("mean area", "mean texture")]


def test_i_press_ctrl_c_and_keep_the_best_so_far(cancer):
    calls = iter(range(200))

    def press_at_last(model, X, y):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return model.score(X, y)

    with pytest.warns(UserWarning, match="interrupted: the best of . candidates, not all"):
        search = pb.ProperBoostClassifierCV(effort=1, scoring=press_at_last).fit(*cancer)
    assert search.ended_ == "interrupted"
    assert search.score(*cancer) > 0.9


def test_a_notebook_shows_a_model(cancer):
    model = pb.ProperBoostClassifier(n_estimators=5).fit(*cancer)
    assert "ProperBoostClassifier" in model._repr_html_()


# -- one row, explanations, files -----------------------------------------------------------------


def test_i_ask_for_help_on_the_package():
    """The first screen has the lines to write, and not the paths of classes."""
    first = "\n".join(pydoc.plain(pydoc.render_doc(pb)).splitlines()[:24])
    for line in (
        "ProperBoostClassifierCV(effort=2).fit(X, y)",
        "write_report(model, X, y, ",
        "load_",
    ):
        assert line in first


def test_i_limit_the_time_of_a_classifier():
    with pytest.raises(TypeError, match=r"ProperBoostClassifierCV\(time_limit=\.\.\.\)"):
        pb.ProperBoostClassifier(max_time=60)


def test_a_row_of_a_frame_goes_into_a_scorer(customers):
    X, y = customers
    model = pb.ProperBoostClassifier().fit(X, y)
    scorer = model.compile()
    for k, (_, row) in enumerate(X[:5].iterrows()):
        np.testing.assert_array_equal(scorer(row), model.predict_proba(X[k : k + 1])[0])


def test_a_dict_goes_into_a_model(customers):
    model = pb.ProperBoostClassifier().fit(*customers)
    row = {"age": 40, "town": "Ulm", "visits": 3}
    for rows, line in ((row, r"DataFrame\(\[X\]\)"), ([row], r"DataFrame\(X\)")):
        with pytest.raises(ValueError, match=rf"as dict: pass pandas\.{line}.*model\.compile\(\)"):
            model.predict(rows)


def test_a_dict_of_columns_is_no_table_yet():
    columns = {"age": [40, 50, 60], "visits": [1, 2, 3]}
    with pytest.raises(ValueError, match=r"got a dict of columns: pass pandas\.DataFrame\(X\)"):
        pb.ProperBoostClassifier().fit(columns, [0, 1, 1])
    pb.ProperBoostClassifier().fit(pd.DataFrame(columns), [0, 1, 1])


def test_i_draw_shap_values(cancer):
    pytest.importorskip("shap")
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=10).fit(X, y)
    shown = model.contributions(X[:20]).to_shap()
    assert shown.shape == (20, 30)
    raw = shown.base_values + shown.values.sum(axis=1)
    np.testing.assert_allclose(raw, model.decision_function(X[:20]), atol=1e-9)


def test_i_write_a_report(cancer_parts, tmp_path):
    X, X_test, y, y_test = cancer_parts
    model = pb.ProperBoostClassifier(n_estimators=10).fit(X, y)
    pb.report.write_report(model, X_test, y_test, tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text("utf-8")


def test_i_export_to_onnx_and_to_a_database(cancer):
    runtime = pytest.importorskip("onnxruntime")
    duckdb = pytest.importorskip("duckdb")
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    session = runtime.InferenceSession(pb.export.to_onnx(model).SerializeToString())
    p = session.run(["probabilities"], {"X": X.to_numpy()})[0]
    np.testing.assert_allclose(p, model.predict_proba(X), rtol=0.0, atol=1e-14)
    with duckdb.connect() as connection:
        connection.register("patients", X)
        rows = connection.execute(pb.export.to_sql(model, table="patients")).fetchall()
    assert len(rows) == len(X)


def test_my_models_go_through_joblib_and_pickle(cancer, tmp_path):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    for copied in (joblib.load(tmp_path / "model.joblib"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copied.predict_proba(X), model.predict_proba(X))


# -- more rows than memory ------------------------------------------------------------------------


def test_my_rows_are_in_files(customers, tmp_path):
    pytest.importorskip("pyarrow")
    X, y = customers
    X.assign(left=y).to_parquet(tmp_path / "rows.parquet")
    X.assign(left=y).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(TypeError, match=r"read_parquet\(X\) reads a file; .*from_batches\(source"):
        pb.ProperBoostClassifier().fit(str(tmp_path / "rows.parquet"))
    rows = pb.QuantizedTable.from_batches(tmp_path / "rows.parquet", label="left")
    assert pb.ProperBoostClassifier().fit(rows).score(X, y) > 0.95
    with pytest.raises(ValueError, match=r"lambda: pandas\.read_csv\('.*rows\.csv', chunksize="):
        pb.QuantizedTable.from_batches(tmp_path / "rows.csv", label="left")
    rows = pb.QuantizedTable.from_batches(
        lambda: pd.read_csv(tmp_path / "rows.csv", chunksize=100), label="left"
    )
    assert pb.ProperBoostClassifier().fit(rows).score(X, y) > 0.95
