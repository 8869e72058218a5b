"""Test plans of fits: estimators and searches make the same, and running them needs neither."""

import dataclasses

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import properboost as pb
from properboost.data.frames import open_table
from properboost.data.labels import read_rows
from properboost.engine.local import TableSource
from properboost.estimators.properboost_parameters import check_parameters, find_loss, make_link
from properboost.fitting.assemble import assemble
from properboost.fitting.bag_assignment import deal_to_bags, design_for
from properboost.fitting.evidence import RowEvidence
from properboost.fitting.plan import count_estimators, for_pairs, plan_fit
from properboost.fitting.run import Run
from properboost.fitting.scaling import find_scaling
from properboost.parameters.boosting import BoostingOptions
from properboost.parameters.declare import read
from properboost.parameters.learners import make_learner
from properboost.parameters.rows import read_binning


def test_options_for_pairs():
    options = read(
        BoostingOptions,
        pb.ProperBoostClassifier(learning_rate=0.5, weak_learner=pb.Table(smoothing=0.1)),
    )
    later = for_pairs(options, pb.Interactions(2, learning_rate=0.25, smoothing=0.2))
    assert (later.learning_rate, later.weak_learner.smoothing) == (0.25, 0.2)
    assert later.response == options.response
    assert (options.learning_rate, options.weak_learner.smoothing) == (0.5, 0.1)


@pytest.mark.parametrize(
    ("learner", "expected"),
    [
        (pb.Table(), pb.Table(max_cells=4, min_saving=0.5, smoothing=0.3)),
        (pb.Table(min_saving=2.0), pb.Table(max_cells=4, min_saving=2.0, smoothing=0.3)),
        (pb.Table(max_cells=None), pb.Table(max_cells=None, smoothing=0.3)),
        (pb.Stump(), pb.Table(max_cells=4, min_saving=0.5, smoothing=0.3)),
    ],
)
def test_pairs_have_few_cells_where_features_have(learner, expected):
    options = read(BoostingOptions, pb.ProperBoostClassifier(weak_learner=learner))
    assert for_pairs(options, pb.Interactions(2, smoothing=0.3)).weak_learner == expected


def plan_by_hand(model, X, y):
    """Return the plan of a fit, and the rows it learns from, without fitting the model."""
    loss = check_parameters(model)
    source = TableSource(open_table(model, X, reset=True))
    rows = read_rows(y, source.n_rows)
    order, bags = rows.sort(), None
    learner = make_learner(model.weak_learner)
    if model.outer_bags:
        design = design_for(learner, model.outer_bags)
        order, bags = deal_to_bags(rows, design, model.random_state or 0)
    training = source.encode(read_binning(model, learner.rows_per_bin), rows, order)
    loss = find_loss(model, loss, training.class_weights, keeps_gain=False)
    link = make_link(model, loss, len(rows.classes), training.n_threads)
    return plan_fit(model, link, len(rows.classes), bags=bags), training


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"interactions": 2}, {"outer_bags": 4}, {"weak_learner": pb.Tree(n_draws=2)}],
    ids=str,
)
def test_a_plan_that_runs_by_itself_is_the_fit(load, parameters):
    X, y = load(return_X_y=True)
    model = pb.ProperBoostClassifier(
        n_estimators=5, n_jobs=1, **{"weak_learner": "table"} | parameters
    )
    plan, rows = plan_by_hand(model, X, y)
    scaling = find_scaling(plan, RowEvidence(rows))
    stages = Run(plan, scaling, rows).finish()
    expected = model.fit(X, y).ensemble_
    for _ in range(2):  # assembling leaves its inputs unchanged
        ensemble = assemble(plan, scaling, stages, rows)
        for rounds, others in zip(ensemble.models, expected.models, strict=True):
            np.testing.assert_array_equal(rounds.values, others.values)
            np.testing.assert_array_equal(rounds.step, others.step)
        assert ensemble.intercepts == expected.intercepts
        assert ensemble.slopes == expected.slopes


def test_a_plan_cannot_be_changed():
    plan, _ = plan_by_hand(
        pb.ProperBoostClassifier(weak_learner="table"), *load_breast_cancer(return_X_y=True)
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.n_estimators = 3


def test_the_most_estimators_are_those_of_both_stages():
    model = pb.ProperBoostClassifier(n_estimators=7, weak_learner="table")
    assert count_estimators(model) == 7
    assert count_estimators(model.set_params(interactions=2)) == 14
    assert count_estimators(model.set_params(interactions__n_estimators=3)) == 10
    plan, rows = plan_by_hand(model, *load_iris(return_X_y=True))
    assert plan.count_rounds() == [21, 9]
    assert rows.n_rows == 150
    np.testing.assert_array_equal(rows.rows_of_class, [50, 50, 50])
