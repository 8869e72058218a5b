"""A clerk needs classes to choose from, with a promise, rather than the most probable one."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import train_test_split

import properboost as pb


def test_i_get_sets_that_hold_the_class_nine_times_of_ten(digits):
    X, X_test, y, y_test = train_test_split(*digits, random_state=0, stratify=digits[1])
    X_fit, X_new, y_fit, y_new = train_test_split(X, y, random_state=0, stratify=y)
    model = pb.ProperBoostClassifier(n_estimators=20).fit(X_fit, y_fit)
    sets = pb.ConformalClassifier(model).fit(X_new, y_new)
    rows = sets.predict_set(X_test, confidence_level=0.9)
    covered = rows[np.arange(len(y_test)), y_test].mean()
    assert 0.85 < covered < 0.96
    assert rows.sum(axis=1).mean() < 2.0


def test_i_use_few_rows_twice_by_folds(cancer):
    X, X_test, y, y_test = train_test_split(*cancer, random_state=0, stratify=cancer[1])
    sets = pb.ConformalClassifier(pb.ProperBoostClassifier(n_estimators=20), cv=5).fit(X, y)
    rows = sets.predict_set(X_test, confidence_level=0.95)
    assert rows[np.arange(len(y_test)), y_test].mean() > 0.9
    assert len(sets.models_) == 5


def test_the_promise_holds_in_each_of_my_subgroups(cancer):
    X, X_new, y, y_new = train_test_split(*cancer, test_size=0.5, random_state=0)
    model = pb.ProperBoostClassifier(n_estimators=20).fit(X, y)
    size = np.where(X_new["mean area"] > 550, "large", "small")
    sets = pb.ConformalClassifier(model).fit(X_new[:180], y_new[:180], subgroups=size[:180])
    assert sum(sets.n_calibration_rows_.values()) == 180
    rows = sets.predict_set(X_new[180:], subgroups=size[180:])
    covered = rows[np.arange(len(rows)), y_new[180:]]
    assert min(covered[size[180:] == kind].mean() for kind in ("large", "small")) > 0.75


def test_i_keep_the_sets_in_a_file_and_copy_them(iris, tmp_path):
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=10).fit(X[::2], y[::2])
    sets = pb.ConformalClassifier(model, conformity_score="aps").fit(X[1::2], y[1::2])
    sets.save_model(tmp_path / "sets.json")
    loaded = pb.load_model(tmp_path / "sets.json")
    np.testing.assert_array_equal(loaded.predict_set(X), sets.predict_set(X))
    again = clone(sets).fit(X[1::2], y[1::2])
    np.testing.assert_array_equal(again.predict_set(X), sets.predict_set(X))


def test_i_see_how_far_few_rows_can_move_a_probability(cancer):
    X, X_new, y, y_new = train_test_split(*cancer, random_state=0, stratify=cancer[1])
    model = pb.ProperBoostClassifier(n_estimators=20).fit(X, y)
    few = pb.VennAbersClassifier(model).fit(X_new[:40], y_new[:40])
    many = pb.VennAbersClassifier(model).fit(X_new, y_new)
    widths = [np.ptp(c.predict_multiprobability(X), axis=1).mean() for c in (few, many)]
    assert widths[0] > 1.5 * widths[1]
    assert np.abs(many.predict_proba(X).sum(axis=1) - 1.0).max() < 1e-12


def test_i_grade_rows_on_one_scale(wine, tmp_path):
    X, _ = wine
    grades = np.array(["plain", "good", "fine"])[np.digitize(X.pop("alcohol"), [12.5, 13.3])]
    model = pb.OrderedClassifier(classes=["plain", "good", "fine"]).fit(X, grades)
    assert np.all(np.diff(model.thresholds_) > 0.0)
    shape = model.estimator_.shape_function("color_intensity")
    assert shape.values[-1] > shape.values[0]  # of one scale: darker wines are stronger
    assert model.ranked_probability_score(X, grades) < 0.15
    model.save_model(tmp_path / "grades.json")
    loaded = pb.load_model(tmp_path / "grades.json")
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_i_see_in_the_report_what_my_costs_mean(cancer, tmp_path):
    pytest.importorskip("vl_convert")
    pytest.importorskip("jinja2")
    X, X_test, y, y_test = train_test_split(*cancer, random_state=0, stratify=cancer[1])
    model = pb.ProperBoostClassifier(n_estimators=20).fit(X, y)
    careful = pb.LeastCostClassifier(model, {0: 20.0, 1: 1.0})  # 0 is malignant
    pb.report.write_report(careful, X_test, y_test, tmp_path / "report.html", max_rows=0)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "by the costs of mistakes the limit would be 95.2%" in page
    assert f"{careful.mean_cost(X_test, y_test):.4g}" in page
