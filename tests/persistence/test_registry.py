"""The kinds of estimators in files: by name, and custom classes."""

import inspect
import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import properboost as pb
from properboost import persistence
from properboost.estimators.base import SavingMixin, TableClassifier
from properboost.estimators.udt_file import UDTFile
from properboost.models.fitted_model import FittedModel
from properboost.persistence import registry

X = np.random.default_rng(0).normal(size=(80, 3))
Y = X[:, 0] * X[:, 1] > 0


def round_trip(model, tmp_path):
    model.save_model(tmp_path / "model.json")
    return pb.load_model(tmp_path / "model.json")


@pytest.fixture
def kinds(monkeypatch):
    """Yield the registry, and restore it after the test."""
    known = dict(registry._KINDS)
    monkeypatch.setattr(registry, "_KINDS", known)
    monkeypatch.setattr(registry, "KINDS", known)
    monkeypatch.setattr("properboost.persistence.files.KINDS", known)
    return known


def test_every_public_estimator_is_registered():
    public = {
        getattr(pb, name)
        for name in pb.__all__
        if inspect.isclass(getattr(pb, name)) and issubclass(getattr(pb, name), SavingMixin)
    }
    assert {kind.estimator for kind in registry.KINDS.values()} == public
    assert all(
        name == kind.name == kind.estimator.__name__ for name, kind in registry.KINDS.items()
    )


@pytest.mark.parametrize(
    "name", ["UDTClassifier", "ProperBoostClassifierCV", "ARBoostClassifierCV"]
)
def test_older_files_have_no_newer_kinds(name, tmp_path):
    round_trip(pb.UDTClassifier().fit(X, Y), tmp_path)
    document = json.loads((tmp_path / "model.json").read_text())
    document |= {"estimator": name, "format_version": 4}
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match=rf"model\.json: estimator must be one of .*'{name}'"):
        pb.load_model(tmp_path / "model.json")


class Stubborn(pb.ProperBoostClassifier):
    """A custom class with an additional parameter."""

    def __init__(self, loss="glog", *, gain=1.0, n_estimators=3, stubbornness=0.5):
        super().__init__(loss, gain=gain, n_estimators=n_estimators)
        self.stubbornness = stubbornness


def test_a_derived_class_is_saved_as_its_base(tmp_path):
    model = Stubborn(gain=2.0, stubbornness=0.7).fit(X, Y)
    loaded = round_trip(model, tmp_path)
    assert type(loaded) is pb.ProperBoostClassifier
    assert (loaded.gain, loaded.n_estimators, loaded.max_bins) == (2.0, 3, 255)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_registered_class_is_saved_as_itself(tmp_path, kinds):
    base = kinds["ProperBoostClassifier"].codec

    @persistence.kind("Stubborn", Stubborn)
    class StubbornFile(persistence.Codec):
        def describe(self, model):
            return {"stubbornness": model.stubbornness, "model": base.describe(model)}

        def build(self, node, version):
            fields = node.fields("stubbornness", "model")
            plain = base.build(fields["model"], version)
            model = Stubborn(
                plain.loss, gain=plain.gain, n_estimators=plain.n_estimators,
                stubbornness=fields["stubbornness"].real(),
            )  # fmt: skip
            FittedModel.of(plain).move_to(model)
            model.n_features_in_ = plain.n_features_in_
            return model

    class Derived(Stubborn):
        pass

    model = Stubborn(gain=2.0, stubbornness=0.7).fit(X, Y)
    for estimator in (model, Derived(gain=2.0, stubbornness=0.7).fit(X, Y)):
        loaded = round_trip(estimator, tmp_path)
        assert type(loaded) is Stubborn
        assert loaded.get_params() == model.get_params()
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_what_is_taken_is_not_registered_again(kinds):
    for name, estimator in (("UDTClassifier", Stubborn), ("Tree", pb.UDTClassifier)):
        with pytest.raises(ValueError, match="must not be registered before; 'UDTClassifier' is"):
            persistence.kind(name, estimator)(UDTFile)


class OfNoKind(TableClassifier):
    def __sklearn_is_fitted__(self):
        return True


def test_an_unregistered_class_is_refused(tmp_path):
    with pytest.raises(
        TypeError, match="model must be of a class that can be saved; got a OfNoKind"
    ):
        OfNoKind().save_model(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "model",
    [
        pb.ProperBoostClassifier(n_estimators=2, weak_learner="table"),
        pb.ProperBoostClassifierCV(space={"gain": [1.0], "n_estimators": 2}, cv=2, effort=None),
        pb.ARBoostClassifier(n_estimators=2),
        pb.ARBoostClassifierCV([1.0], cv=2, n_estimators=2),
        pb.UDTClassifier(max_leaf_nodes=5),
        pb.RadoBoostClassifier(n_estimators=2),
        pb.ULSClassifier(n_estimators=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_is_loaded_is_an_estimator_like_any(model, tmp_path):
    model.fit(X, Y)
    loaded = round_trip(model, tmp_path)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    for twin in (loaded, pickle.loads(pickle.dumps(loaded)), clone(loaded).fit(X, Y)):
        assert type(twin) is type(model)
        np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
    fitted = {name for name in vars(model) if name.endswith("_") or name.startswith("_")}
    assert {name for name in vars(loaded) if name.endswith("_") or name.startswith("_")} == fitted
