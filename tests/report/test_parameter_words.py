"""Every parameter, every loss and every printed fact of a model has a sentence."""

import numpy as np
import pytest

import properboost as pb
from properboost.estimators.base import TableClassifier
from properboost.losses.registry import LOSSES
from properboost.parameters.declare import declared
from properboost.parameters.flat import PLACES
from properboost.report.effects import is_additive
from properboost.report.facts import describe_model
from properboost.report.parameter_words import describe_inside, describe_parameter
from properboost.report.search import describe_family

ESTIMATORS = [
    value
    for name, value in sorted(vars(pb).items())
    if isinstance(value, type) and issubclass(value, TableClassifier)
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_is_described(estimator):
    names = [*declared(estimator)]
    assert {*names} == {*estimator().get_params(deep=False)}
    for name in names:
        description = describe_parameter(name, "7")
        assert description.endswith("."), name
        assert len(description) < 160, name


def test_every_field_of_an_object_is_described():
    for name, place in PLACES.items():
        words = describe_parameter(place.nested, "7")
        assert words == describe_parameter(name, "7")
        assert words.endswith("."), name
        assert len(words) < 160, name


def test_an_object_is_described_with_its_fields():
    plain, depth = (describe_parameter(name, "7") for name in ("weak_learner", "max_depth"))
    tree = pb.Tree(max_depth=3, max_features=1.0)
    words = describe_parameter("weak_learner", repr(tree))
    assert words.startswith(f"{plain}  max_depth: {depth}  max_features: ")
    rate = describe_parameter("interaction_rate", "7")
    words = describe_parameter("interactions", repr(pb.Interactions(3, learning_rate=0.5)))
    assert words.endswith(f"  learning_rate: {rate}")
    assert "=" not in describe_parameter("class_weight", "{'max_depth=': 2.0}")


def test_losses_are_described():
    descriptions = [describe_parameter("loss", repr(name)) for name in LOSSES]
    for name, text in zip(LOSSES, descriptions, strict=True):
        assert text == describe_parameter("loss", name)
        assert text.count(".") == 2
    assert len({*descriptions}) >= len(LOSSES) - 1  # two of them are for wrong labels
    assert describe_parameter("loss", "my own").count(".") == 1
    assert describe_parameter("candles", "7") == ""


@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        (
            pb.ProperBoostClassifier(
                n_estimators=3, interactions=1, outer_bags=4, weak_learner="table"
            ),
            2,
        ),
        (
            pb.ProperBoostClassifier(
                "alpha", n_estimators=2, selection="cyclic", weak_learner="table"
            ),
            2,
        ),
        (pb.ProperBoostClassifier(n_estimators=3, weak_learner="tree"), 3),
        (pb.ProperBoostClassifierCV(effort=1, max_estimators=5), 2),
        (pb.ARBoostClassifier(n_estimators=3), 2),
        (pb.RadoBoostClassifier(), 2),
        (pb.UDTClassifier(), 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_inside_is_described(model, n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=300), [0.0, 1.0][: n_classes - 1])
    model.fit(X, y)
    facts = describe_model(model, is_additive=is_additive(model), class_names=None)
    assert facts.lines
    for name, text in facts.lines:
        description = describe_family(text) if name == "family" else describe_inside(name, text)
        assert description, name
    for name, text in facts.parameters:
        assert describe_parameter(name, text), name
