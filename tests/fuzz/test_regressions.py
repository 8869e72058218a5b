"""Test the failures that the fuzzer found, in their shrunk form."""

import re
import sqlite3

import numpy as np
import pytest
from scipy import sparse

import properboost as pb
from fuzz.cases import Case, Column
from fuzz.invariants import hold
from fuzz.labels import hold_labels
from fuzz.parameters import Shape, draw_parameters
from fuzz.reference import Reference
from helpers.databases import open_database, skip_without
from properboost.losses.probabilities import Link


def test_a_tree_predicts_the_class_whose_raw_prediction_is_positive():
    """One of two shares of 1/2 is rounded down."""
    X = np.zeros((42, 1))
    y = np.arange(42) % 2
    for size in (7.414778637686608e-274, 0.1, 1 / 3):
        weight = np.full(42, size)
        weight[1] = np.nextafter(size, 1.0)
        model = pb.UDTClassifier(normalize_weights=True).fit(X, y, weight)
        hold(model, X, y, weight, only="probabilities are finite, in [0, 1] and add up to 1")


def test_a_class_next_to_nothing_is_not_balanced():
    """The class's factor was infinite, and numpy warned."""
    X = np.array([[0], [0]], dtype=np.uint8)
    y, weight = np.array([0, 1]), np.array([5e-324, 1.0])
    for model in (pb.ARBoostClassifier, pb.ProperBoostClassifier, pb.UDTClassifier):
        with pytest.raises(ValueError, match=r"class_weight .* got 4.9.*e-324 of 1 for the class"):
            model(class_weight="balanced").fit(X, y, weight)


def test_trees_of_some_rows_are_not_compared_once_all_rows_are_in_balance():
    """A step reaches the minimiser, and the slope along a tree of one leaf is rounding noise."""
    x = np.array([2.0, 0.0, 4.0, 3.0, 1.0, 2.0])
    weight = [2.914685377152662, 0.006307026471411096, 0.5164717427310416, 0.7358700557982021,
              0.4635662480912958, 3.6236275417842734]  # fmt: skip
    parameters = {"weak_learner": "'tree'", "n_estimators": "2", "rows_per_bin": "None"}
    case = Case(
        "ProperBoostClassifier",
        parameters | {"weak_learner__subsample": "0.7", "learning_rate": "1.0"},
        (Column(x),),
        np.array([1, 0, 1, 1, 1, 0]),
        np.array(weight),
    )
    assert Reference().check(case).kind == "fitted"


def test_features_of_objects_are_checked_in_their_order():
    """NumPy cannot sort objects with NaN among them."""
    x = np.full(17, np.nan)
    x[[1, 5]] = -1.0, 0.0
    X = np.stack([np.ones(17), x], axis=1).astype(object)
    y = np.array([1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1])
    model = pb.ProperBoostClassifier("tangent", weak_learner="tree", monotonic_cst=[0, 1]).fit(X, y)
    hold(model, X, y, only="raw predictions follow the directions of features")


def test_a_class_without_weight_gets_none():
    """WeightBoost refuses three classes, because of its damping."""
    X, y = np.array([[2.0], [1.0], [0.0]], dtype=np.float32), np.array([1, 0, 2])
    weight = np.array([0.0, 1.0, 1.0])
    model = pb.WeightBoost().fit(X, y, weight)
    hold(model, X, y, weight, only="uniform weights, normalised, are no weights")


def test_files_have_no_room_for_a_label_without_weight():
    X, weight = np.array([[1.0], [0.0], [2.0]]), np.array([0.0, 1.0, 1.0])
    values = ("aa, the longest", "b", "c")
    hold_labels("list: str", values, "ARBoostClassifier", {}, X, np.arange(3), weight)


def test_factors_of_classes_whose_mean_is_1_may_lead_beyond_the_range():
    X, y = np.array([[8], [8], [8], [0]], dtype=np.int8), np.array([1, 1, 0, 0])
    model = pb.ProperBoostClassifier(
        gain=np.finfo(float).max, n_estimators=1, learning_rate=1e300,
        class_weight={0: 0.010162333509904323, 1: 0.29294180424750715}, weak_learner="table",
    ).fit(X, y)  # fmt: skip
    hold(model, X, y, only="uniform weights, normalised, are no weights", seed=1893897177085473)


def test_the_least_gain_leaves_no_step_to_look_for_an_intercept():
    """The search for the intercept never ended."""
    X, y = np.arange(12.0).reshape(-1, 1), np.arange(12) % 4 // 3
    model = pb.RealBoost(
        gain=5e-324, n_estimators=1, calibration=pb.Calibration(slope=1.0, intercept="share")
    ).fit(X, y)
    hold(model, X, y, only="probabilities are finite, in [0, 1] and add up to 1")


def test_log_odds_of_a_class_that_is_all_but_certain():
    """The difference from 1 was 0 in some bags, and 1e-16 in others."""
    raw = np.zeros((60, 3))
    raw[:, 1] = np.linspace(0.0, 600.0, 60)
    log_odds = Link(pb.losses.GLog(), "softmax").log_odds(raw)
    np.testing.assert_allclose(log_odds[:, 1], raw[:, 1] / 2.0 - np.log(2.0), atol=1e-12)


def test_bags_of_the_largest_raw_predictions_have_finite_standard_errors():
    X, rng = np.arange(80.0).reshape(-1, 1), np.random.default_rng(0)
    y = (rng.random(80) < np.arange(80) / 80).astype(int)
    settings = {
        "gain": 1e290,
        "n_estimators": 2,
        "step": "line_search",
        "calibration": pb.Calibration(slope=1.0),
    }
    model = pb.ProperBoostClassifier(outer_bags=4, **settings).fit(X, y)
    assert model.ensemble_.standard_errors.errors(0).max() > 1e200
    hold(model, X, y, only="standard errors are finite, and intervals contain their values")


def test_bags_of_opposite_signs_may_add_up_to_little():
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) % 2
    model = pb.ProperBoostClassifier(
        outer_bags=5,
        step="totally_corrective",
        n_estimators=4,
        weak_learner=pb.Table(max_cells=None),
    ).fit(X, y)
    hold(model, X, y, only="the mean of the bags is the model, but for intercepts")


def test_bags_lose_the_digits_that_their_intercepts_do_not_have():
    X, y = np.array([[0.0], [1.0], [3.0], [2.0]]), np.array([1, 0, 0, 1])
    scale = pb.Calibration(slope=1.0, intercept="share")
    model = pb.AdaBoost(calibration=scale, learning_rate=1e-100, outer_bags=9).fit(X, y)
    hold(model, X, y, only="the mean of the bags is the model, but for intercepts")


def test_a_large_prior_leaves_few_digits_of_weights():
    X = np.array([[8.0], [10.0], [8.0], [0.0], [4.0], [2.0], [0.0], [6.0], [4.0], [0.0]])
    y = np.array([0, 1, 1, 0, 0, 0, 0, 0, 0, 0])
    model = pb.ProperBoostClassifier(learning_rate=114, prior=2147483624, weak_learner="table").fit(
        X, y
    )
    hold(model, X, y, only="weight 2 is the row twice", seed=3530891299000445)


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_search_may_choose_to_have_no_bags():
    X = np.array([[1.0], [3.0], [0.0], [2.0]])
    y = np.array([1, 2, 0, 0])
    model = pb.ProperBoostClassifierCV().fit(X, y)
    only = "every bag has two rows of every class to choose from"
    hold(model, X, y, only=only, seed=3530891299000279)


def test_densities_of_a_gain_next_to_0_lead_nowhere():
    """The densities were infinite, and numpy warned of their product with 0."""
    X = np.array([[0.0], [0.0], [0.0], [0.0]], dtype="<f4")
    model = pb.ProperBoostClassifierCV(space={"gain": [1e-310], "outer_bags": 0}).fit(
        X, [0, 1, 1, 0]
    )
    assert np.isfinite(model.predict_proba(X)).all()


def test_bags_have_the_gains_that_all_rows_have():
    """All rows together are in balance, but not those of a bag, whose steps left the range."""
    X, y = np.arange(40.0).reshape(-1, 1) % 2, np.arange(40) // 2 % 2
    usual, *others = (
        pb.ProperBoostClassifier(gain=gain, outer_bags=5, weak_learner="table")
        .fit(X, y)
        .predict_proba(X)
        for gain in (1e-6, 1e-30, 1e-310)
    )
    for gains in others:
        np.testing.assert_allclose(gains, usual, rtol=1e-6)


def test_lines_in_features_without_limits_are_saved():
    """The difference of the means was infinite, and numpy warned."""
    most = np.finfo(np.float64).max
    X = np.zeros((6, 5))
    X[:, 4] = [3.4e38, most, -most, most, most, 3.4e38]
    X[:, 1] = [3.0, 0.0, 2.0, 1.0, 5.0, 4.0]
    y, weight = np.array([0, 0, 1, 0, 0, 0]), np.array([2.0, 2.0, 2.0, 1.0, 3.0, 2.0])
    model = pb.ProperBoostClassifier(weak_learner=pb.Tree(linear_leaves=True)).fit(X, y, weight)
    hold(model, X, y, weight, only="a file holds the same model")
    hold(model, X, y, weight, only="a compact file predicts the same bits")


@pytest.mark.filterwarnings("ignore:step='totally_corrective' found no finite")
def test_steps_that_are_solved_for_add_up_rows_in_the_order_of_screens():
    """Screens order rows by their numbers, and rows of weight 0 have numbers, too."""
    X, y = np.array([[2.0], [0.0], [3.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 0, 0, 1, 1])
    model = pb.ProperBoostClassifier(
        step="totally_corrective", screening=2, weak_learner="table"
    ).fit(X, y)
    hold(model, X, y, only="a row of weight 0 is no row", seed=3495293157000115)


@pytest.mark.parametrize("only", ["a row of weight 0 is no row", "weight 2 is the row twice"])
@pytest.mark.parametrize(
    "settings",
    [
        {"screening": 20},
        {"screening": 20, "weak_learner": "tree"},
        {"screening": 200, "weak_learner": "tree"},  # only the copies are so many
        {"weak_learner": pb.Tree(subsample=0.5)},
        {"weak_learner": pb.Rule(subsample=0.5)},
    ],
    ids=str,
)
def test_rows_are_drawn_by_numbers_that_rows_of_weight_0_and_copies_have_too(settings, only):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=300) > 0.0).astype(int)
    model = pb.ProperBoostClassifier(n_estimators=3, **settings).fit(X, y)
    hold(model, X, y, only=only)


def test_links_of_the_least_gain_are_rounded_to_0():
    X, y = np.array([[1.0], [0.0]]), np.array([1, 0])
    model = pb.ProperBoostClassifier(gain=5e-324, weak_learner="table").fit(X, y)
    hold(
        model, X, y, seed=2815589257000636,
        only="shape functions and contributions are finite and add up to the raw prediction",
    )  # fmt: skip


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_probabilities_of_raw_predictions_next_to_nothing(dialect):
    """PostgreSQL ends queries whose products or quotients are rounded to 0."""
    skip_without(dialect)
    x, scale = np.arange(60.0), pb.Calibration(slope=1e-300, intercept=None)
    models = [
        pb.ULS(calibration=scale, n_estimators=3).fit(x[:, None], x > 20.0),
        pb.ProperBoostClassifier(
            multiclass="one_vs_rest", gain=2.0, learning_rate=1e-310,
            calibration=pb.Calibration(temperature=1.7e308),
            n_estimators=3, weak_learner="table",
        ).fit(x[:, None], np.arange(60) // 20),
    ]  # fmt: skip
    for model in models:
        raw = model.decision_function(x[:, None])
        assert 0.0 < np.abs(raw[raw != 0.0]).min() < 1e-290
        query = pb.export.to_sql(model, dialect=dialect, keep=["x0"])
        with open_database(dialect) as base:
            base.fill("rows", {"x0": ("number", x.tolist())})
            rows, _ = base.ask(query)
        answers = np.array(sorted(rows))[:, 1:]
        n = answers.shape[1] - len(model.classes_)
        np.testing.assert_array_equal(answers[:, :n].reshape(raw.shape), raw)
        assert np.abs(answers[:, n:] - model.predict_proba(x[:, None])).max() <= 1e-14


def test_a_temperature_is_sought_no_farther_than_numbers_go():
    """Heavy rows without errors drive the temperature to 0; numpy warned of infinity times 0."""
    X, y = np.zeros((5, 1)), np.array([0, 0, 2, 1, 1])
    weight = np.array([1e300, 1e300, 1.0, 1e300, 1e300])
    search = pb.ProperBoostClassifierCV(space={"response": "conditional"})
    with pytest.warns(UserWarning, match="sample_weight has a mean of|least populated class"):
        search.fit(X, y, weight)
    assert np.isfinite(search.predict_proba(X)).all()


@pytest.mark.filterwarnings("ignore:class_weight makes rows count")
def test_weights_too_far_apart_are_refused_by_name():
    """The error named only the learning rate and the gain."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.arange(60) % 2
    with pytest.raises(ValueError, match=r"\(sample_weight, class_weight\) smaller"):
        pb.ARBoostClassifier(class_weight={0: 1e179, 1: 1.0}).fit(X, y)


def test_a_search_whose_gain_is_too_small_is_refused_by_its_name():
    X, y = np.array([[0.0], [2.0], [3.0], [1.0]]), np.array([1, 1, 0, 0])
    with pytest.raises(ValueError, match=r"the gain larger"):
        pb.ProperBoostClassifierCV(space={"gain": [1e-300]}).fit(X, y)


def test_bags_under_the_largest_of_gains_are_saved(tmp_path):
    """The sum of the bags' risks overflowed, and files cannot hold infinity."""
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    model = pb.ProperBoostClassifier(
        gain=1.797e308, outer_bags=4, n_estimators=3, weak_learner="table"
    ).fit(X, y)
    model.save_model(tmp_path / "model.json")
    assert np.isfinite(model.history_["risk"]).all()


def test_bags_whose_steps_overflow_are_refused():
    """NumPy warned of infinity times 0 while the bags were averaged."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(ValueError, match="make raw predictions beyond"):
        pb.AdaBoost(
            calibration=pb.Calibration(slope=1.79e308, intercept=None),
            outer_bags=16,
            n_estimators=3,
        ).fit(X, X[:, 0] > 0.0)


def test_steps_that_overflow_are_refused_before_they_are_scored():
    """NumPy warned while the validation rows' raw predictions were added up."""
    X = np.arange(40.0)[:, None]
    with pytest.raises(ValueError, match=r"^slope=.* make raw predictions beyond"):
        pb.ProperBoostClassifier(
            calibration=pb.Calibration(slope=1.79e308), early_stopping=True, weak_learner="table"
        ).fit(X, X[:, 0] > 9.0)


def test_a_class_whose_rows_that_count_are_all_held_out_is_refused():
    """The error named y_val, which the user had not passed."""
    X, y = np.zeros((6, 1)), np.array([1, 2, 0, 1, 0, 2])
    model = pb.ProperBoostClassifier(
        early_stopping=pb.EarlyStopping(validation_fraction=0.4),
        random_state=0,
        weak_learner="table",
    )
    with pytest.raises(ValueError, match="early_stopping cannot score the rows it holds out"):
        model.fit(X, y, np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0]))


def test_a_gain_next_to_0_is_calibrated_without_a_word():
    """NumPy warned of the overflow of a density."""
    search = pb.ProperBoostClassifierCV(space={"gain": [1e-300]}).fit(
        np.zeros((4, 1)), [1, 0, 0, 1]
    )
    assert np.isfinite(search.predict_proba(np.zeros((1, 1)))).all()


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_the_least_of_gains_has_no_information_to_invert():
    """NumPy found no eigenvalues of NaN."""
    space = {
        "gain": [5e-324], "weak_learner__smoothing": [1e-100], "weak_learner__max_cells": "auto",
    }  # fmt: skip
    search = pb.ProperBoostClassifierCV(space, effort=None)
    search.fit(np.zeros((5, 1)), [0, 0, 0, 1, 2])
    assert search.calibration_["slope"] == 1.0


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_paces_under_the_least_of_gains_are_compared():
    """The paces were infinite, and their quotient was not a number of estimators."""
    search = pb.ProperBoostClassifierCV(
        space={"gain": [5e-324], "weak_learner__smoothing": [1e-100]}
    )
    with pytest.raises(ValueError, match=r"the gain larger"):
        search.fit(np.zeros((5, 1)), [0, 0, 0, 1, 2])


@pytest.mark.parametrize("response", ["real", "exact", "conditional"])
def test_the_largest_of_priors_leaves_the_share(response):
    """The prior overflowed, and the error named the learning rate."""
    X, y = np.array([[0.0], [1.0], [3.0], [2.0]]), np.array([0, 1, 0, 1])
    search = pb.ProperBoostClassifierCV(
        space={"response": response, "prior": [1.7976931348623157e308]}
    )
    np.testing.assert_allclose(search.fit(X, y).predict_proba(X), 0.5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_search_that_compares_features_by_two_rows_draws_them():
    """`screening` may be a NumPy integer, and rows of weight 0 have numbers, too."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (13, 4)).astype(float), np.arange(13) % 3
    model = pb.ProperBoostClassifierCV(space={"screening": np.int8(2)}).fit(X, y)
    hold(model, X, y, only="a row of weight 0 is no row")


@pytest.mark.filterwarnings("ignore:scoring=")
def test_scores_with_the_intercept_are_no_scores_to_stop_by():
    """A random score may be better the second time."""
    X, y = np.arange(8.0)[:, None], np.arange(8) % 3
    model = pb.ProperBoostClassifier(
        calibration=pb.Calibration(intercept="auto"), n_estimators=3, weak_learner="table"
    ).fit(X, y)
    hold(model, X, y, only="estimators whose score is undefined are never the best", seed=5)


@pytest.mark.filterwarnings("ignore:class_weight makes", "ignore:sample_weight has a mean of")
def test_weights_that_are_numbers_of_rows_are_rounded_as_rows():
    """A model ended one estimator sooner, once certain, than with other weights."""
    X, y = np.zeros((3, 1)), np.array([1, 0, -1])
    factors = {-1: 4.025478106446245e-70, 0: 2.3571980583564223, 1: 21.85697285827219}
    model = pb.AdaBoost(class_weight=factors).fit(X, y)
    hold(model, X, y, only="weights times a power of two give the same bits", seed=65012845)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("multiclass", ["softmax", "one_vs_rest"])
def test_the_largest_of_gains_is_calibrated_in_its_units(multiclass):
    """The square of the gain overflowed."""
    X, y = np.zeros((4, 1)), np.array([2, 1, 0, 0])
    documents = [
        pb.ProperBoostClassifierCV(space={"gain": [gain], "multiclass": multiclass})
        .fit(X, y)
        .calibration_
        for gain in (1e100, 1e300)
    ]
    small, large = (np.array(document["intercept"]) for document in documents)
    assert small[0] > 0.0
    np.testing.assert_allclose(small * 1e200, large, rtol=1e-9)


def test_cuts_of_a_cell_are_ties_by_what_the_cell_costs():
    """Two costs differed by 0.9e-7 of the cost of all cells, which the reference took for a tie."""
    x, y, weight = (
        np.array(list(text), dtype=float)
        for text in (
            "354301022052053122233351521411444111530433223331332",
            "000000011000111100000111010001100101111001101001110",
            "121213121311313323123322113222211332323313232112111",
        )
    )
    parameters = {
        "gain": "1.0", "step": "'line_search'", "n_estimators": "3", "calibration": "None",
        "rows_per_bin": "None", "weak_learner": "'table'",
        "weak_learner__smoothing": "0.16009405955980294", "weak_learner__max_cells": "5",
    }  # fmt: skip
    case = Case("ProperBoostClassifier", parameters, (Column(x),), y.astype(int), weight)
    assert Reference().check(case).kind == "fitted"


def test_a_pair_has_no_standard_error_where_no_training_row_is():
    """The only row with a missing value had no weight."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
    X[0, 0], weight = np.nan, np.arange(60) > 0
    model = pb.ProperBoostClassifier(
        outer_bags=4, interactions=1, n_estimators=3, weak_learner="table"
    )
    model.fit(X, y, weight.astype(float))
    errors = model.contributions(X[:2]).standard_errors
    assert np.isnan(errors).tolist() == [[False, False, True], [False, False, False]]
    hold(model, X, y, only="standard errors are finite, and intervals contain their values")


def test_a_cell_is_cut_between_its_own_bins():
    """The reference tried missing values against the rest too early, and on the left."""
    X = [
        [5.0, 0.0, 3.0, 4.0, 2.0, 1.0],
        [2.1624267286234984, np.nan, 0.002777427670525618, -0.048832160711815016, np.nan,
         -0.24489710580153398],
        [2.0, 5.0, 0.0, 3.0, 1.0, 4.0],
    ]  # fmt: skip
    weight = [0.9057973307964404, 0.12137841138150579, 0.712535149881632, 5.179531853589326,
              0.379760554870834, 0.37076277595557205]  # fmt: skip
    parameters = {
        "loss": "'ggauss'", "gain": "1.0", "step": "'line_search'", "n_estimators": "2",
        "rows_per_bin": "None", "selection": "'cyclic'", "calibration": "None",
        "weak_learner": "'table'", "weak_learner__smoothing": "0.0", "weak_learner__max_cells": "4",
    }  # fmt: skip
    case = Case(
        "ProperBoostClassifier",
        parameters,
        tuple(Column(np.array(x)) for x in X),
        np.array([0, 0, 1, 1, 1, 0]),
        np.array(weight),
    )
    assert Reference().check(case).kind == "fitted"


@pytest.mark.filterwarnings("ignore:sample_weight has a mean of")
def test_values_times_heavy_weights_are_merged():
    """The largest of values times a heavy weight overflowed, and NumPy warned."""
    X, y, weight = np.array([[1.0], [0.0]]), np.array([0, 1]), np.full(2, 5.124e174)
    model = pb.ProperBoostClassifier(
        gain=1e300, n_estimators=1, response="exact", prior=5.0, weak_learner="table"
    ).fit(X, y, weight)
    hold(model, X, y, weight, only="a model merged with itself is the model")


def test_log_odds_of_the_least_gains_have_no_slope():
    """The slope of log-odds over raw predictions overflowed, and NumPy warned."""
    X, y = np.array([[0], [0]]), np.array([0, 1])
    model = pb.ProperBoostClassifier(gain=1e-310, weak_learner="table").fit(X, y)
    hold(
        model, X, y,
        only="shape functions and contributions are finite and add up to the raw prediction",
    )  # fmt: skip


def test_sqlite_reads_numbers_next_to_the_middle_of_two_doubles():
    """It rounded the shortest digits of a constant twice, to the neighbour."""
    X = np.arange(6.0)[:, None]
    y = np.array([0, 0, 1, 0, 1, 1])
    model = pb.ProperBoostClassifier(
        n_estimators=1, calibration=pb.Calibration(intercept=-0.168153272191), weak_learner="table"
    ).fit(X, y)
    query = pb.export.to_sql(model, dialect="sqlite", table="rows")
    literals = re.findall(r"\d+\.\d+e0", query)
    assert "0.16815327219099999e0" in literals
    with sqlite3.connect(":memory:") as database:
        for literal in literals:
            assert database.execute(f"SELECT {literal}").fetchone() == (float(literal),)


def test_heavy_weights_and_large_values_are_put_in_order():
    """The products of both overflowed in the isotonic regression, which then was in no order."""
    X, y = np.array([[1.0], [0.0]]), np.array([0, 1])
    weight = np.full(2, 5.124095151386955e174)
    model = pb.ProperBoostClassifier(
        gain=1e300, n_estimators=1, response="exact", prior=5.0, weak_learner="table"
    )
    with pytest.warns(UserWarning, match="sample_weight has a mean of"):
        model.fit(X, y, weight)
    values = model.monotonize(0, 1).shape_function(0).values
    assert np.isfinite(values).all()
    assert (np.diff(values) >= 0.0).all()


def test_features_that_separate_the_classes_are_ties():
    """The cost of one was the rounding that savings left of its first cut's."""
    parameters = {
        "gain": "4.0", "learning_rate": "0.2", "n_estimators": "3", "calibration": "None",
        "rows_per_bin": "None", "selection": "'greedy'", "weak_learner": "'table'",
        "weak_learner__smoothing": "0.0", "weak_learner__max_cells": "4",
    }  # fmt: skip
    columns = [4.0, 1.0, 3.0, 2.0, 0.0], [1.0, 4.0, 2.0, 0.0, 3.0]
    weight = [0.39536634553223693, 0.9479949302527599, 0.12624227289528292, 0.43549411494055634,
              0.11625233607496019]  # fmt: skip
    case = Case(
        "ProperBoostClassifier",
        parameters,
        tuple(Column(np.array(x)) for x in columns),
        np.array([0, 0, 1, 0, 1]),
        np.array(weight),
    )
    assert Reference().check(case).kind == "fitted"


def test_few_steps_of_wide_tables_are_solved_for_together():
    """A fit of 660 rounds took minutes, as time grows by the cube of the rounds."""

    def is_cyclic(texts):
        return texts.get("selection") == "'cyclic'"

    drawn = [
        draw_parameters(np.random.default_rng(seed), "ULS", Shape(1587, 60, ["0", "1"]))
        for seed in range(300)
    ]
    solved = [texts for texts in drawn if texts.get("step") == "'totally_corrective'"]
    in_turn, others = (
        [int(texts["n_estimators"]) for texts in solved if is_cyclic(texts) is chosen]
        for chosen in (True, False)
    )
    assert 0 < max(in_turn) <= 2 < max(others)


def test_few_columns_of_large_tables_are_solved_for_together():
    """A fit of 1,300 categories took 16 seconds a time."""

    def draw(shape):
        drawn = (
            draw_parameters(np.random.default_rng(seed), "ULSClassifier", shape)
            for seed in range(300)
        )
        return {texts["n_corrected"] for texts in drawn if "n_corrected" in texts}

    assert "'all'" in draw(Shape(40, 4, ["0", "1"]))
    many = draw(Shape(429, 4, ["0", "1"]))
    assert "'so_far'" in many
    assert "'all'" not in many
    assert max(int(text) for text in many if text.isdigit()) == 120


@pytest.mark.parametrize("step", ["line_search", "guarded"])
def test_a_search_along_a_table_next_to_nothing_ends(step):
    """It doubled a step that was infinite, as long as the risk still fell."""
    X, y = np.arange(39.0)[:, None], np.arange(39) % 5 % 2
    model = pb.ProperBoostClassifier(
        "exponential",
        gain=1e-310,
        response="exact",
        step=step,
        n_estimators=3,
        weak_learner="table",
    )
    with pytest.raises(ValueError, match=r"the gain larger"):
        model.fit(X, y)


def test_lines_without_a_round_have_no_trees_in_files():
    X, y = np.array([[1.0], [0.0]]), np.array([0, 1])
    model = pb.SavageBoost(weak_learner=pb.Tree(linear_leaves=True)).fit(X, y)
    assert len(model.ensemble_.models[0]) == 0
    hold(model, X, y, only="a file holds the same model", seed=945155760003918)


@pytest.mark.parametrize(
    "only",
    [
        "names and numbers of features are the table's",
        "a scorer predicts a row alone as the model does",
    ],
)
def test_sparse_tables_have_no_length_and_no_columns(only):
    X, y = sparse.csr_array(np.array([[0], [1]], dtype=np.int8)), np.array([1, 0])
    hold(pb.ProperBoostClassifier(weak_learner="table").fit(X, y), X, y, only=only)


def test_sparse_matrices_are_not_made_of_half_precision_in_the_other_byte_order():
    X, y = np.zeros((2, 1), dtype=np.dtype(np.float16).newbyteorder()), np.array([1, 0])
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X, y)
    hold(model, X, y, only="a sparse matrix makes the model of the same numbers in a table", seed=1)


def test_terms_are_limited_where_no_round_has_a_tree():
    X, y = np.array([[1.0], [0.0]]), np.array([1, 0])
    learner = pb.Tree(interaction_cst=1, max_terms=1)
    model = pb.ProperBoostClassifier(weak_learner=learner).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), 0.5)


def test_an_integer_of_a_space_is_the_nearest_float():
    X, y = np.array([[0.0], [1.0], [1.0], [0.0]]), np.array([0, 1, 1, 0])
    model = pb.ProperBoostClassifierCV(space={"gain": [10**30]}).fit(X, y)
    hold(model, X, y, only="values of a space are in the best parameters")


@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
@pytest.mark.parametrize("weight", [1.0, 1e20])
def test_a_feature_of_a_pair_is_not_made_monotone(weight):
    """The pair's part of the other feature, which is constant, hid that of this one."""
    X = np.stack([[0, 2, 6, 3, 3, 4, 1, 5, 6, 1, 6], np.zeros(11)], axis=1)
    y = np.array([0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0])
    model = pb.ProperBoostClassifier(
        n_estimators=8, interactions=10, outer_bags=5, weak_learner="table"
    )
    model.fit(X, y, np.full(11, weight))
    with pytest.raises(ValueError, match="must be in no joint term"):
        model.monotonize(0)


@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_terms_add_up_where_weights_differ_by_300_decades():
    inf, nan = np.inf, np.nan
    X = np.array(
        [[inf, 0, 2, 0, 0, 0], [nan, 0, 1, 1, 1, 0], [-inf, 0, 0, 0, 2, 0], [inf, 0, 3, 1, 3, 0]]
    )
    y, weight = np.array([1, 1, 0, 1]), np.array([1e300, 1.0, 1e300, 1e300])
    model = pb.ProperBoostClassifier(weak_learner="rule").fit(X, y, weight)
    only = "shape functions and contributions are finite and add up to the raw prediction"
    hold(model, X, y, weight, only=only)


def test_infinite_raw_predictions_have_no_probabilities():
    """NumPy warned of a difference of two infinite ones, in a search with the largest gain."""
    link = Link(pb.losses.GLog(1e308), "one_vs_rest", temperature=1.0)
    assert np.isnan(link.log_probabilities(np.array([[np.inf, np.inf, 0.0]]))).all()
