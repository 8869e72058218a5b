"""Omega-R.AdaBoost: the engine against plain numpy, and the estimator."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

import properboost as pb
from properboost import RadoBoostClassifier, _core, rado

pd = pytest.importorskip("pandas")

CONFIGURATIONS = [
    RadoBoostClassifier(n_estimators=50),
    RadoBoostClassifier("elasticnet", 0.1, gamma=0.9, n_estimators=50, fit_intercept=False),
    RadoBoostClassifier(None, n_rados=20, n_estimators=20, keep="error"),
]


@parametrize_with_checks(CONFIGURATIONS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# -- the algorithm --------------------------------------------------------------------------------


def test_loss_is_the_product_of_the_normalisers(cancer):
    """prod Z_t equals the loss of theta (section 4)."""
    X, y = cancer
    model = RadoBoostClassifier(
        {"lasso": 2.0, "linf": 3.0}, 1.0, n_estimators=60, n_rados=50, fit_intercept=False
    ).fit(X, y)
    rados = rado.make_rados(X, y, 50).values
    history = model.history_
    theta, weight, log_loss = np.zeros(X.shape[1]), np.full(50, 0.02), 0.0
    for t, k in enumerate(history["feature"]):
        theta[k] += history["step"][t]
        weight *= np.exp(-history["step"][t] * rados[:, k] + history["penalty"][t])
        log_loss += np.log(weight.sum())
        weight /= weight.sum()
        direct = np.log(np.mean(np.exp(-rados @ theta)))
        direct += 2.0 * np.abs(theta).sum() + 3.0 * np.abs(theta).max()
        np.testing.assert_allclose(history["log_rado_loss"][t], log_loss, atol=1e-9)
        np.testing.assert_allclose(direct, log_loss, atol=1e-9)


def test_scale_of_features_cannot_matter_without_a_regulariser(cancer):
    X, y = cancer
    scale = 2.0 ** np.arange(-15, 15)
    a = RadoBoostClassifier(None, n_estimators=100, fit_intercept=False).fit(X, y)
    b = RadoBoostClassifier(None, n_estimators=100, fit_intercept=False).fit(X * scale, y)
    np.testing.assert_array_equal(a.coef_, b.coef_ * scale)
    np.testing.assert_array_equal(a.predict(X), b.predict(X * scale))


# -- the estimator --------------------------------------------------------------------------------


def test_blobs_are_separated():
    X, y = make_blobs(n_samples=300, centers=2, random_state=3)
    for regularizer in (None, *_core.regularizer_names(), "elasticnet"):
        model = RadoBoostClassifier(regularizer, n_estimators=100)
        assert model.fit(X, y).score(X, y) > 0.9, regularizer


def test_fit_makes_rados_and_fits_them(cancer):
    X, y = cancer
    settings = {"n_estimators": 40, "random_state": 3}
    whole = RadoBoostClassifier(n_rados=70, **settings).fit(X, y)
    parts = [
        rado.make_rados(X[a:b], y[a:b], 70, 3, row_offset=a, intercept=True)
        for a, b in ((0, 200), (200, 569))
    ]
    joined = RadoBoostClassifier(**settings).fit_rados(rado.combine(parts))
    np.testing.assert_allclose(joined.coef_, whole.coef_, rtol=1e-9)
    np.testing.assert_allclose(joined.intercept_, whole.intercept_, rtol=1e-9)
    assert (joined.n_rados_, joined.n_features_in_) == (70, 30)
    plain = RadoBoostClassifier(**settings).fit_rados(rado.combine(parts).values)
    assert plain.classes_.tolist() == [-1, 1]
    assert plain._model.seed is None
    assert plain.n_features_in_ == 31


def test_predictions_are_the_linear_models(cancer):
    X, y = cancer
    model = RadoBoostClassifier("lasso", n_estimators=60).fit(X, y)
    raw = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), raw, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-raw)), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), (raw > 0).astype(int))
    assert model.score(X, y) > 0.85
    np.testing.assert_array_equal(model.sparse_coef_.toarray(), model.coef_)
    assert model.sparse_coef_.nnz == len(set(model.history_["feature"][: model.n_iter_]) - {30})


def test_how_many_rados(cancer):
    X, y = cancer
    assert RadoBoostClassifier(n_estimators=1).fit(X, y).n_rados_ == 569
    many = np.zeros((40_001, 1)), np.arange(40_001) % 2
    assert RadoBoostClassifier(n_estimators=1).fit(*many).n_rados_ == 10_000


def test_the_best_classifier_is_kept(cancer):
    X, y = cancer
    model = RadoBoostClassifier("lasso", 200.0, n_estimators=80).fit(X, y)
    loss = model.history_["log_rado_loss"]
    assert 0 < model.n_iter_ < 80
    assert model.n_iter_ == 1 + loss.argmin()
    model = RadoBoostClassifier("lasso", 200.0, n_estimators=80, keep="error").fit(X, y)
    errors = model.history_["training_error"]
    assert model.n_iter_ == 1 + errors.argmin()
    assert 1.0 - model.score(X, y) == pytest.approx(errors.min(), abs=1e-12)
    none = RadoBoostClassifier("lasso", 1e9, n_estimators=20).fit(X, y)
    assert none.n_iter_ == 0
    assert not none.coef_.any()


def test_no_column_is_informative():
    model = RadoBoostClassifier(n_estimators=5, fit_intercept=False)
    model.fit(np.zeros((10, 2)), [0, 1] * 5)
    assert model.n_iter_ == 0
    assert len(model.history_["feature"]) == 0
    np.testing.assert_array_equal(model.predict_proba(np.ones((1, 2))), [[0.5, 0.5]])


def test_one_rado_is_enough(cancer):
    """All edges of one rado are 1, and cutting them off keeps steps finite."""
    X, y = cancer
    model = RadoBoostClassifier(None, n_rados=1, n_estimators=5).fit(X, y)
    assert np.all(np.isfinite(model.coef_))
    np.testing.assert_array_equal(np.abs(model.history_["edge"]), 1.0 - 1e-9)


REGULARIZERS = (None, *_core.regularizer_names(), "elasticnet")


@pytest.mark.parametrize("regularizer", REGULARIZERS)
@pytest.mark.parametrize("size", [1e-307, 1e-151, 1e151, 1e306])
@pytest.mark.parametrize("n_rados", [1, 7])
def test_rados_of_sizes_whose_squares_are_not_numbers_are_refused(regularizer, size, n_rados):
    X = np.abs(np.random.default_rng(0).normal(size=(20, 3)))
    X[:, 1] *= size / X[:, 1].max() / 20  # so that no sum is infinite
    X[:, 1] *= 1.0 if size < 1.0 else 20
    y = [0, 1] * 10
    rados = rado.make_rados(X, y, n_rados)
    model = RadoBoostClassifier(regularizer, n_rados=n_rados, fit_intercept=False)
    message = "rados of feature 1 must be 0, or of a size from 1e-150 to 1e[+]150; the largest is"
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.fit_rados(rados)
    # Callers that do not check get finite numbers, too.
    factors = {} if regularizer is None else {"lasso": 1.0, "ridge": 1.0}
    terms = [(name, factor, None) for name, factor in factors.items()]
    history = _core.boost_rados(rados.values, terms, 5)
    assert all(np.all(np.isfinite(values)) for values in history.values())


@pytest.mark.parametrize("regularizer", REGULARIZERS)
@pytest.mark.parametrize("size", [1e-150, 1e150])
@pytest.mark.parametrize("omega", [0.0, 1.0, 1e308])
def test_the_largest_and_least_sizes_and_omegas(regularizer, size, omega, tmp_path):
    rados = size * np.array([[1.0, 0.0, -1.0], [1.0, 0.0, 0.9]])
    model = RadoBoostClassifier(regularizer, omega, n_estimators=20).fit_rados(rados)
    assert np.all(np.isfinite(model.coef_))
    assert all(np.all(np.isfinite(values)) for values in model.history_.values())
    free = regularizer is None or omega == 0.0
    assert model.coef_.any() == (free or (omega == 1.0 and size > 1.0))
    model.save_model(tmp_path / "model.json")
    np.testing.assert_array_equal(pb.load_model(tmp_path / "model.json").coef_, model.coef_)


@pytest.mark.parametrize("regularizer", REGULARIZERS)
def test_omega_of_1e308_learns_nothing(cancer, regularizer):
    X, y = cancer
    for n_rados in (1, "auto"):
        model = RadoBoostClassifier(regularizer, 1e308, n_estimators=9, n_rados=n_rados).fit(X, y)
        assert all(np.all(np.isfinite(values)) for values in model.history_.values())
        assert model.coef_.any() == (regularizer is None)


def test_no_regulariser_but_slope_has_its_coefficients(cancer, monkeypatch):
    X, y = cancer
    monkeypatch.setattr(rado.regularizers, "slope_coefficients", None)
    for regularizer in REGULARIZERS:
        if regularizer != "slope":
            RadoBoostClassifier(regularizer, n_estimators=2).fit(X, y)


def test_an_empty_category_and_no_intercept():
    frame = pd.DataFrame({"town": pd.Categorical([None] * 4)})
    with pytest.raises(ValueError, match="X must give at least one column"):
        RadoBoostClassifier(fit_intercept=False).fit(frame, [0, 1, 0, 1])


def test_categories_have_coefficients(mixed):
    frame, y, _ = mixed
    frame = frame.assign(age=frame["age"].fillna(40.0) - 40.0)
    model = RadoBoostClassifier("ridge", n_estimators=200).fit(frame, y)
    assert model.coef_names_ == ("age", "town=Bonn", "town=Kiel", "town=Ulm", "visits")
    assert model.coef_.shape == (1, 5)
    row = frame.iloc[[0]].assign(town=pd.Categorical(["Rom"]))
    missing = frame.iloc[[0]].assign(town=pd.Categorical([None], categories=["Ulm"]))
    expected = row["age"] * model.coef_[0, 0] + row["visits"] * model.coef_[0, 4]
    for unknown in (row, missing):
        np.testing.assert_allclose(
            model.decision_function(unknown), expected + model.intercept_, atol=1e-12
        )
    polars = pytest.importorskip("polars").from_pandas(frame)
    np.testing.assert_array_equal(model.decision_function(polars), model.decision_function(frame))


def test_any_shape_of_an_elastic_net(cancer):
    X, y = cancer
    for one, other in (
        (RadoBoostClassifier("elasticnet", 3.0, l1_ratio=1.0), RadoBoostClassifier("lasso", 3.0)),
        (RadoBoostClassifier("elasticnet", 3.0, l1_ratio=0.0), RadoBoostClassifier("ridge", 3.0)),
        (RadoBoostClassifier({"lasso": 3.0, "ridge": 1.0}, 1.0),
         RadoBoostClassifier("elasticnet", 4.0, l1_ratio=0.75)),
        (RadoBoostClassifier("ridge", ridge_matrix=np.eye(31)), RadoBoostClassifier("ridge")),
        (RadoBoostClassifier("slope", 0.0), RadoBoostClassifier(None)),
    ):  # fmt: skip
        coefficients = [m.set_params(n_estimators=50).fit(X, y).coef_ for m in (one, other)]
        np.testing.assert_allclose(*coefficients, rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"omega": -1}, ValueError, "omega must be at least 0; got -1"),
        ({"omega": np.nan}, ValueError, "omega must be a finite number at least 0"),
        ({"regularizer": "l3"}, ValueError, "regularizer must be one of 'ridge', 'lasso', .*'l3'"),
        ({"regularizer": 3}, TypeError, "regularizer must be one of"),
        ({"regularizer": {"l3": 1}}, ValueError, "regularizer's key must be one of"),
        ({"regularizer": {"lasso": 100}, "omega": 1e308}, ValueError, "'lasso'. must be finite"),
        ({"regularizer": {"lasso": -1}}, ValueError, r"regularizer\['lasso'\] must be at least 0"),
        ({"gamma": 1.0}, ValueError, "gamma must be above 0 and below 1, or None; got 1"),
        ({"gamma": -0.1}, ValueError, "gamma must be between 0 and 1"),
        ({"q": 0}, ValueError, "q must be above 0 and below 1; got 0"),
        ({"l1_ratio": 2}, ValueError, "l1_ratio must be between 0 and 1; got 2"),
        ({"n_rados": 0}, ValueError, "n_rados must be at least 1, or 'auto'; got 0"),
        ({"n_rados": "all"}, TypeError, "n_rados must be .* at least 1, or 'auto'; got 'all'"),
        ({"n_estimators": 0}, ValueError, "n_estimators must be between 1"),
        ({"keep": "best"}, ValueError, "keep must be one of 'loss', 'error'; got 'best'"),
        ({"fit_intercept": "no"}, TypeError, "fit_intercept must be True or False; got 'no'"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ({"random_state": -1}, ValueError, "random_state must be None, an integer from 0"),
        ({"verbose": -2}, ValueError, "verbose must be at least -1"),
        ({"ridge_matrix": np.eye(3)}, ValueError, r"must have shape \(2, 2\).*got \(3, 3\)"),
        ({"ridge_matrix": [[1], [0, 1]]}, ValueError, "ridge_matrix must be .*different lengths"),
        ({"ridge_matrix": [["1", "0"], ["0", "1"]]}, ValueError, "array of numbers; got .*<U1"),
        ({"ridge_matrix": np.eye(2) * 1j}, ValueError, "ridge_matrix must be .* complex128"),
        ({"n_estimators": 2**64}, ValueError, "n_estimators must be between 1 and 2147483647"),
        ({"q": 5e-324, "regularizer": "slope"}, ValueError, "q must be above 0 when divided"),
        ({"ridge_matrix": [[1, 2], [0, 1]]}, ValueError, "ridge_matrix must be symmetric"),
        ({"ridge_matrix": [[1, 2], [2, 1]]}, ValueError, "positive definite; .* eigenvalue is -1"),
        ({"ridge_matrix": [[1, 0], [0, 0]]}, ValueError, "ridge_matrix must be positive definite"),
        ({"ridge_matrix": [[1, 0], [0, np.inf]]}, ValueError, "ridge_matrix must hold finite"),
    ],
)
def test_wrong_parameters(settings, error, message):
    model = RadoBoostClassifier(**{"fit_intercept": False, **settings})
    with pytest.raises(error, match=message):
        model.fit([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]], [0, 1, 1])


@pytest.mark.parametrize(
    ("rados", "message"),
    [
        (np.empty((0, 3)), r"rados must not be empty; got an array of shape \(0, 3\)"),
        (np.empty((3, 0)), "rados must not be empty"),
        (np.ones(3), r"numbers of shape \(n_rados, n_features\); got an array of shape \(3,\)"),
        (np.full((3, 1), "a"), "rados must be Rados, or numbers"),
        ([[1.0], [1.0, 2.0]], "rados must be Rados, or numbers .* rows of different lengths"),
        ([[1.0, np.nan]], "rados must hold finite numbers"),
    ],
)
def test_wrong_rados(rados, message):
    with pytest.raises(ValueError, match=message):
        RadoBoostClassifier().fit_rados(rados)


def test_error_needs_rows():
    with pytest.raises(ValueError, match="keep='error' needs rows"):
        RadoBoostClassifier(keep="error").fit_rados([[1.0]])


def test_a_failed_fit_leaves_the_model(cancer):
    X, y = cancer
    model = RadoBoostClassifier(n_estimators=5).fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="column 1 holds NaN"):
        model.fit(np.array([[1.0, np.nan], [0.0, 1.0]]), [0, 1])
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_features_in_ == 30


def test_missing_and_huge_numbers_are_refused(cancer):
    X, y = cancer
    model = RadoBoostClassifier(n_estimators=5).fit(X, y)
    unused = np.flatnonzero(model.coef_[0] == 0.0)[0]
    rows = X[:3].copy()
    rows[1, unused] = np.nan
    with pytest.raises(ValueError, match=f"column {unused} holds NaN or infinity"):
        model.predict(rows)
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(30)]).assign(t=pd.Categorical(y))
    model.fit(frame, y)
    frame.loc[3, ["c7", "c20"]] = np.inf
    with pytest.raises(ValueError, match="column 'c7' holds NaN or infinity"):
        model.predict(frame)
    model = RadoBoostClassifier(None, n_estimators=5).fit(X * 1e-140, y)
    with pytest.raises(ValueError, match="raw predictions are infinite"):
        model.predict(np.full((1, 30), 1e300))
