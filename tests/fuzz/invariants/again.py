"""Invariants of equal models: another fit, a pickle, a file; and failures that change nothing."""

import copy
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import properboost as pb
from fuzz.invariants.registry import Fit, assert_same, can_predict, fit_to, invariant
from properboost import losses


@invariant("any number of threads gives the same bits", share=0.25)
def _threads(fit: Fit) -> None:
    for n_jobs in (1, 2, 4):
        model = fit.again(fit.X, fit.y, fit.weight, n_jobs=n_jobs)
        assert_same(fit.model, model, fit.X)


@invariant("another fit gives the same bits", share=0.1)
def _fitted_again(fit: Fit) -> None:
    assert_same(fit.model, fit.again(fit.X, fit.y, fit.weight), fit.X)
    assert_same(fit.model, fit_to(_copy_cold(fit), fit.X, fit.y, fit.weight), fit.X)


@invariant("a fit that fails leaves the model as it was", share=0.2)
def _failed_fits(fit: Fit) -> None:
    model = copy.deepcopy(fit.model)
    wrong = [(fit.X, np.zeros(len(fit.y))), (fit.X, fit.y[:-1]), (None, fit.y)]
    for X, y in wrong:
        try:
            model.fit(X, y)
        except (ValueError, TypeError):
            assert_same(fit.model, model, fit.X)
        else:
            raise AssertionError("labels of one class, or fewer than rows, are taken")
    if can_predict(model) and isinstance(fit.X, np.ndarray):
        for X in (fit.X[:, :-1], np.hstack([fit.X, fit.X]), fit.X[:0]):
            try:
                model.predict(X)
            except (ValueError, TypeError):
                continue
            raise AssertionError(f"{X.shape} is predicted by a model of {fit.X.shape[1]} features")


@invariant("earlier fits of an estimator do not matter", share=0.1)
def _fitted_before(fit: Fit) -> None:
    model = _copy_cold(fit)
    other = np.arange(60.0).reshape(20, 3) % 7
    try:
        model.fit(other, np.arange(20) % 2)
    except ValueError:
        return  # some parameters are for other features or labels
    fit_to(model, fit.X, fit.y, fit.weight)
    assert_same(fit.model, model, fit.X)
    assert fit.model.__dict__.keys() == model.__dict__.keys()


@invariant("a pickle holds the same model", share=0.5)
def _pickles(fit: Fit) -> None:
    if _calls_natively(fit):
        return
    assert_same(fit.model, pickle.loads(pickle.dumps(fit.model)), fit.X)


@invariant("a file holds the same model", share=0.6)
def _files(fit: Fit) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            fit.model.save_model(path)
        except TypeError as error:
            if "function" not in str(error):
                raise
            return  # files hold no code
        loaded = pb.load_model(path)
        assert_same(fit.model, loaded, fit.X)
        loaded.save_model(Path(folder) / "again.json")
        assert (Path(folder) / "again.json").read_bytes() == path.read_bytes()


@invariant("a compact file predicts the same bits", share=0.3)
def _compact_files(fit: Fit) -> None:
    if not can_predict(fit.model):
        return
    with tempfile.TemporaryDirectory() as folder:
        path, again = (Path(folder) / f"{name}.json.gz" for name in ("model", "again"))
        try:
            fit.model.save_model(path, compact=True)
        except TypeError as error:
            if "function" not in str(error):
                raise
            return  # files hold no code
        loaded = pb.load_model(path)
        for ask in ("decision_function", "predict_proba", "predict"):
            np.testing.assert_array_equal(
                getattr(loaded, ask)(fit.X), getattr(fit.model, ask)(fit.X)
            )
        loaded.save_model(again)
        assert again.read_bytes() == path.read_bytes()


def _copy_cold(fit: Fit) -> Any:
    """Return a copy of the model whose next fit starts anew."""
    model = copy.deepcopy(fit.model)
    return model.set_params(warm_start=False) if fit.has("warm_start") else model


def _calls_natively(fit: Fit) -> bool:
    return any(
        isinstance(loss, losses.CustomLoss) and loss.functions for loss in fit.list_values("loss")
    )
