"""Objects that parameters may be: scikit-learn's conventions, equality, and sharing."""

import pickle

import pytest
from sklearn.base import clone

import properboost as pb
from properboost.parameters.declare import ComponentSupport
from properboost.parameters.learners import LEARNERS

ESTIMATORS = [
    pb.ProperBoostClassifier,
    pb.ProperBoostClassifierCV,
    pb.ARBoostClassifier,
    pb.ARBoostClassifierCV,
]

OBJECTS = [
    pb.Table(max_cells=None, smoothing=0.5),
    pb.Stump(),
    pb.Tree(max_depth=3, linear_leaves=True),
    pb.Rule(max_conditions=3),
    pb.Interactions([(0, 1)], learning_rate=0.5),
    pb.Calibration(slope=0.5, intercept=[0.0, 1.0]),
    pb.EarlyStopping(scoring="roc_auc"),
    pb.Bags(16, tables=False),
]


@pytest.mark.parametrize("part", OBJECTS, ids=lambda part: type(part).__name__)
def test_equal_fields_make_equal_objects_without_a_hash(part):
    for copy in (clone(part), pickle.loads(pickle.dumps(part)), part.replace()):
        assert copy == part
        assert copy is not part
    assert part != type(part)() or part == pb.Stump()
    assert part != "tree"
    with pytest.raises(TypeError, match="unhashable"):
        hash(part)


def test_an_object_shows_what_differs_from_its_defaults():
    assert repr(pb.Tree(max_depth=3)) == "Tree(max_depth=3)"
    model = pb.ProperBoostClassifier(weak_learner=pb.Tree(max_depth=3))
    assert repr(model) == "ProperBoostClassifier(weak_learner=Tree(max_depth=3))"
    assert "Tree(max_depth=3)" in model._repr_html_()


def test_names_have_no_nested_names_and_objects_have():
    model = pb.ProperBoostClassifier(weak_learner="tree")
    assert not any("__" in name for name in model.get_params())
    model = pb.ProperBoostClassifier(weak_learner=pb.Tree(max_depth=3))
    assert model.get_params()["weak_learner__max_depth"] == 3
    assert not any("__" in name for name in model.get_params(deep=False))


@pytest.mark.parametrize("first", [0, 1])
def test_a_name_becomes_an_object_first_in_any_order(first):
    changes = [("weak_learner", "tree"), ("weak_learner__max_depth", 3)]
    model = pb.ProperBoostClassifier(weak_learner="table").set_params(
        **dict([changes[first], changes[1 - first]])
    )
    assert model.weak_learner == pb.Tree(max_depth=3)
    assert model.set_params(weak_learner__max_leaf_nodes=4).weak_learner == pb.Tree(
        max_depth=3, max_leaf_nodes=4
    )


@pytest.mark.parametrize(
    ("value", "changes", "expected"),
    [
        ({"interactions": 3}, {"interactions__smoothing": 0.0}, pb.Interactions(3, smoothing=0.0)),
        ({"outer_bags": 8}, {"outer_bags__tables": False}, pb.Bags(8, tables=False)),
        (
            {"calibration": None},
            {"calibration__slope": 0.5},
            pb.Calibration(slope=0.5, intercept=None),
        ),
        ({}, {"calibration__slope": 0.5}, pb.Calibration(slope=0.5)),
        (
            {"early_stopping": True},
            {"early_stopping__scoring": "accuracy"},
            pb.EarlyStopping(validation_fraction=0.1, scoring="accuracy"),
        ),
        (
            {"early_stopping": False},
            {"early_stopping__scoring": "accuracy"},
            pb.EarlyStopping(validation_fraction=None, n_iter_no_change=None, scoring="accuracy"),
        ),
    ],
)
def test_values_become_the_objects_that_they_stand_for(value, changes, expected):
    model = pb.ProperBoostClassifier(**value).set_params(**changes)
    (name,) = {key.partition("__")[0] for key in changes}
    assert getattr(model, name) == expected


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_set_params_is_that_of_component_support(cls):
    assert cls.set_params is ComponentSupport.set_params


@pytest.mark.parametrize("cls", [pb.ProperBoostClassifier, *ESTIMATORS[2:]])
def test_estimators_that_share_an_object_do_not_change_each_other(cls):
    tree = pb.Tree()
    first, second = cls(weak_learner=tree), cls(weak_learner=tree)
    first.set_params(weak_learner__max_depth=2)
    assert (first.weak_learner.max_depth, second.weak_learner.max_depth) == (2, None)
    assert second.weak_learner is tree


@pytest.mark.parametrize("name", LEARNERS)
def test_a_name_is_the_object_with_its_defaults(name):
    X = [[k % 7, k % 5] for k in range(60)]
    y = [k % 7 + k % 5 > 5 for k in range(60)]
    part = LEARNERS[name]()
    before = part.get_params()
    models = [
        pb.ProperBoostClassifier(weak_learner=learner, n_estimators=5).fit(X, y)
        for learner in (name, part)
    ]
    raw = [model.decision_function(X).tolist() for model in models]
    assert raw[0] == raw[1]
    assert part.get_params() == before
    assert models[1].weak_learner is part


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pb.Tree(max_dept=3), "Tree has no parameter 'max_dept': .*max_depth"),
        (
            lambda: pb.ProperBoostClassifier(max_depth=3, weak_learner="table"),
            r"ProperBoostClassifier has no parameter 'max_depth': .*pb\.Tree\(max_depth",
        ),
        (
            lambda: pb.ProperBoostClassifier(weak_learner="table").set_params(leaning_rate=1.0),
            "learning_rate",
        ),
        (
            lambda: pb.ProperBoostClassifier(weak_learner="table").set_params(
                weak_learner__max_depth=3
            ),
            "weak_learner is 'table', which has no max_depth: set weak_learner='tree', too",
        ),
        (
            lambda: pb.ProperBoostClassifier(weak_learner="table").set_params(gain__x=3),
            "has no parameter 'gain__x'",
        ),
        (
            lambda: pb.ProperBoostClassifier(weak_learner="table").set_params(calibration__slop=3),
            "calibration is 'auto', which has no slop: did you mean calibration__slope",
        ),
        (
            lambda: pb.ARBoostClassifier().set_params(
                weak_learner="tree", weak_learner__max_depth=3
            ),
            "has no parameter 'weak_learner__max_depth': write max_depth=...$",
        ),
        (lambda: pb.ProperBoostClassifierCV(gains=[1]), "ProperBoostClassifierCV has no parameter"),
    ],
)
def test_unknown_names_are_answered(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()


def test_grids_over_nested_names():
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV

    X = [[k % 7, k % 5, k % 3] for k in range(120)]
    y = [(k % 7) * (k % 5) > 6 for k in range(120)]
    grid = {"weak_learner__max_depth": [1, 3], "weak_learner": ["tree"], "n_estimators": [5]}
    model = pb.ProperBoostClassifier(weak_learner=pb.Tree(max_features=1.0))
    search = GridSearchCV(model, grid, cv=2).fit(X, y)
    assert set(search.cv_results_["param_weak_learner__max_depth"]) == {1, 3}
    for start in ("tree", pb.Tree(max_features=1.0)):
        depths = GridSearchCV(
            pb.ProperBoostClassifier(weak_learner=start, n_estimators=5),
            {"weak_learner__max_depth": [1, 3]},
            scoring="neg_log_loss",
            cv=2,
        ).fit(X, y)
        scores = depths.cv_results_["mean_test_score"]
        assert scores[0] != scores[1]
        assert depths.best_estimator_.weak_learner.max_depth in (1, 3)
    halving = HalvingRandomSearchCV(
        pb.ProperBoostClassifier(weak_learner="tree"),
        {"weak_learner__max_depth": [1, 2, 3, 4], "interactions": [0]},
        resource="n_estimators",
        max_resources=8,
        min_resources=2,
        random_state=0,
        cv=2,
    ).fit(X, y)
    assert halving.best_params_["weak_learner__max_depth"] in (1, 2, 3, 4)
