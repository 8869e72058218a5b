"""Test scikit-learn's callbacks."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.utils.fixes import parse_version

import properboost as pb
from helpers.models import same_model
from properboost.estimators import callbacks

HAS_CALLBACKS = parse_version(sklearn.__version__) >= parse_version("1.9")
needs_callbacks = pytest.mark.skipif(not HAS_CALLBACKS, reason="scikit-learn has no callbacks")

KINDS = {
    "tables": {"weak_learner": "table"},
    "trees": {"weak_learner": "tree"},
    "pairs": {"weak_learner": "table", "interactions": pb.Interactions(1, n_estimators=2)},
    "draws": {"weak_learner": pb.Tree(subsample=0.5, n_draws=2)},
    "bags": {"weak_learner": "table", "outer_bags": 4},
    "corrective": {"weak_learner": "table", "step": "totally_corrective"},
}


class Spy:
    """Callback that notes its calls; at one of them it raises, or ends the fit."""

    def __init__(self, at=-1, raises=False):
        self.at, self.raises = at, raises
        self.calls, self.models = [], []

    def _note(self, what):
        self.calls.append(what)
        if len(self.calls) - 1 == self.at and self.raises:
            raise RuntimeError(f"at call {self.at}, {what}")
        return len(self.calls) > self.at >= 0

    def setup(self, estimator, context):
        self._note("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self._note(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.models.append(fitted_estimator)
        return self._note(f"end {context.task_name}")


@needs_callbacks
@pytest.mark.parametrize("name", KINDS)
def test_every_estimator_is_a_task(name, binary):
    X, y = binary
    spy = Spy()
    model = pb.ProperBoostClassifier(n_estimators=3, **KINDS[name]).set_callbacks(spy).fit(X, y)
    n = 5 if name == "pairs" else 3
    assert spy.calls == [
        "setup",
        "begin fit",
        *["begin estimator", "end estimator"] * n,
        "end fit",
        "teardown",
    ]
    assert same_model(model, clone(model).set_callbacks().fit(X, y))


@needs_callbacks
@pytest.mark.parametrize("name", [name for name in KINDS if name != "corrective"])
def test_callbacks_see_the_model_so_far(name, binary):
    X, y = binary
    spy = Spy()
    settings = {"n_estimators": 3, "loss": "savage", **KINDS[name]}
    model = pb.ProperBoostClassifier(**settings).set_callbacks(spy).fit(X, y)
    *partial, whole = spy.models
    np.testing.assert_allclose(partial[-1].predict_proba(X), model.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(whole.predict_proba(X), model.predict_proba(X))
    if name != "pairs":
        short = pb.ProperBoostClassifier(**settings | {"n_estimators": 2}).fit(X, y)
        np.testing.assert_allclose(partial[1].predict_proba(X), short.predict_proba(X), atol=1e-12)


@needs_callbacks
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_callback_ends_the_fit(n_classes, binary):
    X, y = binary if n_classes == 2 else load_iris(return_X_y=True)
    for multiclass in ("softmax", "one_vs_rest")[: n_classes - 1]:
        model = pb.ProperBoostClassifier(
            n_estimators=9, multiclass=multiclass, weak_learner="table"
        )
        model.set_callbacks(Spy(at=7)).fit(X, y)
        assert model.n_iter_ == 3
        short = clone(model).set_callbacks().set_params(n_estimators=3).fit(X, y)
        assert same_model(model, short)


@needs_callbacks
@pytest.mark.parametrize("at", range(9))
def test_an_exception_at_any_call_leaves_the_model_as_it_was(at, binary):
    X, y = binary
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y)
    before = model.predict_proba(X)
    spy = Spy(at, raises=True)
    with pytest.raises(RuntimeError, match=f"at call {at}, "):
        model.set_callbacks(spy).fit(X[:100, :5], y[:100])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert spy.calls[-1] == "teardown"
    assert not [name for name in vars(model) if "context" in name or "teardown" in name]
    assert same_model(model, clone(model).set_callbacks().fit(X, y))


class Writer:
    """Callback that tries to write into the arrays it gets."""

    def __init__(self):
        self.refused = 0

    def _write(self, values):
        for entry in [values] if isinstance(values, np.ndarray) else values:
            if not entry.flags.writeable:
                self.refused += 1
            else:
                entry[...] = entry[::-1].copy() if entry.ndim else 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self._write([entry for entry in (X, y, metadata["sample_weight"]) if entry is not None])

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self._write([X, y])
        for name, value in vars(fitted_estimator).items():
            if name.endswith("_") and isinstance(value, np.ndarray):
                self._write(value)
        for values in fitted_estimator.history_.values():
            self._write(values)
        self._write(fitted_estimator.decision_function(X))


@needs_callbacks
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("weighs", [False, True])
def test_a_callback_that_writes_changes_nothing(name, weighs, binary):
    X, y = (part.copy() for part in binary)
    weight = np.where(np.arange(len(y)) % 2, 1.0, 2.0) if weighs else None
    before = X.tobytes(), y.tobytes(), None if weight is None else weight.tobytes()
    model = pb.ProperBoostClassifier(n_estimators=3, **KINDS[name])
    plain = clone(model).fit(X, y, weight)
    model.set_callbacks(writer := Writer()).fit(X, y, weight)
    assert writer.refused > 0
    assert (X.tobytes(), y.tobytes(), None if weight is None else weight.tobytes()) == before
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


@needs_callbacks
def test_callbacks_of_scikit_learn(binary):
    from sklearn.callback import ProgressBar, ScoringMonitor

    X, y = binary
    monitor = ScoringMonitor(scoring="neg_log_loss")
    model = (
        pb.ProperBoostClassifier(n_estimators=4, weak_learner="table")
        .set_callbacks(monitor)
        .fit(X, y)
    )
    scores = [entry["neg_log_loss"] for entry in monitor.get_logs().data]
    staged = [-log_loss(y, p) for p in model.staged_predict_proba(X)]
    np.testing.assert_allclose(sorted(scores), sorted([*staged, staged[-1]]), atol=1e-12)
    pytest.importorskip("rich")
    model.set_callbacks(ProgressBar()).fit(X, y)


@needs_callbacks
def test_with_early_stopping_and_going_on(binary):
    X, y = binary
    spy = Spy()
    model = pb.ProperBoostClassifier(
        n_estimators=4, early_stopping=True, gain=1.0, weak_learner="table"
    )
    model.set_callbacks(spy).fit(X, y)
    assert spy.calls.count("end estimator") == 4
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(X, y)
    model.set_params(n_estimators=4, warm_start=True).set_callbacks(later := Spy()).fit(X, y)
    assert later.calls.count("end estimator") == 2  # the fit makes two new estimators
    whole = clone(model).set_callbacks().set_params(warm_start=False).fit(X, y)
    assert same_model(model, whole)
    np.testing.assert_allclose(later.models[-2].predict_proba(X), whole.predict_proba(X))


@needs_callbacks
def test_callbacks_see_the_fits_of_a_search(binary):
    from sklearn.model_selection import GridSearchCV

    X, y = binary
    search = GridSearchCV(
        pb.ProperBoostClassifier(n_estimators=2, weak_learner="table"), {"gain": [1.0, 2.0]}, cv=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.set_callbacks(Spy()).fit(X, y)


def test_older_versions_refuse_by_name(monkeypatch):
    import builtins
    import importlib

    find = builtins.__import__

    def without(name, *rest):
        if name == "sklearn.callback":
            raise ImportError(name)
        return find(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    old = importlib.util.module_from_spec(callbacks.__spec__)
    callbacks.__spec__.loader.exec_module(old)
    with pytest.raises(ImportError, match=r"set_callbacks needs scikit-learn 1.9 or later"):
        old.CallbackSupportMixin().set_callbacks(Spy())
    assert old.with_callbacks(len) is len
