"""The SavageBoost paper's experiment: folds, wrong labels, bins and Algorithm 1 as printed."""

from types import SimpleNamespace

import numpy as np
import pytest

from properboost.reproduce.data import DataSet
from properboost.reproduce.savage import claim_iterations, noise, table4

X = np.random.default_rng(0).normal(size=(100, 2))
Y = (np.random.default_rng(1).random(100) < 0.4).astype(np.int64)
TABLE = DataSet(X, Y, [False, False], None)


@pytest.mark.parametrize("share", noise.SHARES)
def test_a_share_of_the_labels_to_train_on_is_flipped(share):
    folds = list(noise.make_folds(Y, share, 3))
    assert len(folds) == noise.FOLDS
    np.testing.assert_array_equal(np.sort(np.concatenate([f.test for f in folds])), np.arange(100))
    for fold in folds:
        assert not set(fold.train) & set(fold.test)
        np.testing.assert_array_equal(fold.labels != Y[fold.train], fold.wrong)
        assert fold.wrong.sum() == round(share * 80)


def test_a_larger_share_flips_what_a_smaller_one_does():
    for few, many in zip(noise.make_folds(Y, 0.05, 3), noise.make_folds(Y, 0.4, 3), strict=True):
        assert np.all(many.wrong[few.wrong])


def test_about_half_of_the_labels_drawn_anew_are_wrong():
    wrong = np.concatenate([fold.wrong for fold in noise.make_folds(Y, 0.4, 3, "drawn")])
    assert 0.15 < wrong.mean() < 0.25


def test_copies_with_the_other_label_are_added():
    for plain, fold in zip(
        noise.make_folds(Y, 0.0, 3), noise.make_folds(Y, 0.4, 3, "added"), strict=True
    ):
        np.testing.assert_array_equal(fold.train[~fold.wrong], plain.train)
        assert fold.wrong.sum() == 32
        np.testing.assert_array_equal(fold.labels != Y[fold.train], fold.wrong)


def test_bins_are_those_of_a_histogram():
    fold = next(noise.make_folds(Y, 0.0, 0))
    numbers = noise.bin_features(TABLE, fold, noise.NoiseSetting(bins=8))[fold.train]
    for codes, feature in zip(numbers.T, X[fold.train].T, strict=True):
        expected, _ = np.histogram(feature, bins=8)
        np.testing.assert_array_equal(np.bincount(codes.astype(int), minlength=8), expected)


def test_missing_cells_and_categories_stay_as_they_are():
    cells = X.copy()
    cells[5, 0] = np.nan
    cells[:, 1] = np.arange(100) % 3
    table = DataSet(cells, Y, [False, True], None)
    binned = noise.bin_features(table, next(noise.make_folds(Y, 0.0, 0)), noise.NoiseSetting())
    np.testing.assert_array_equal(np.isnan(binned), np.isnan(cells))
    np.testing.assert_array_equal(binned[:, 1], cells[:, 1])


def test_algorithm_1_as_printed_is_a_loop_of_log_odds():
    """One feature of few values, so that every round uses it."""
    feature = np.random.default_rng(2).integers(0, 4, 200)
    y = (np.random.default_rng(3).random(200) < 0.2 + 0.2 * feature).astype(np.int64)
    model = noise.PrintedSavageBoost({"rows_per_bin": None, "n_jobs": 1})
    stages = list(model.fit(feature[:, None].astype(float), y).staged_predict(feature[:, None]))
    raw, weights = np.zeros(200), np.full(200, 1.0 / 200)
    for t in range(3):
        sums = [np.bincount(feature, weights * (y == c), 4) for c in (0, 1)]
        G = 0.5 * np.log(sums[1] / sums[0])[feature]
        raw, weights = raw + G, weights * np.exp((2 * y - 1) * G)
        weights /= weights.sum()
        np.testing.assert_array_equal(stages[t], raw > 0, err_msg=f"round {t + 1}")


def test_all_readings_measure_all_methods(monkeypatch):
    monkeypatch.setattr(noise, "ROUNDS", 3)
    monkeypatch.setattr(noise, "SHARES", (0.05,))
    monkeypatch.setattr(noise.data, "load", lambda _: TABLE)
    for reading in noise.READINGS:
        record = noise.measure(noise.Piece("set", 0, reading.name))
        assert list(record) == ["5%"]
        assert set(record["5%"]) == set(noise.METHODS)
        assert all(0.0 <= error <= 100.0 for error in record["5%"].values())


def test_wins_count_ties_and_means_are_over_the_sets():
    errors = [(1.0, 2.0, 3.0, 1.0), (4.0, 2.0, 6.0, 8.0)]
    shares = [noise.name_share(share) for share in noise.SHARES]
    seed = {
        f"set {k}": {share: dict(zip(noise.METHODS, set_errors, strict=True)) for share in shares}
        for k, set_errors in enumerate(errors)
    }
    cells = table4.tabulate(seed, "")
    assert [cells[method, "5%, wins"] for method in noise.METHODS] == [1, 1, 0, 1]
    assert [cells[method, "40%, error"] for method in noise.METHODS] == [2.5, 2.0, 4.5, 4.5]


def test_a_risk_has_settled_when_1_percent_of_its_fall_is_left():
    risk = np.array([0.5, 0.02, 0.009, 0.001, 0.0])
    loss = SimpleNamespace(loss=lambda _: 1.0)
    model = SimpleNamespace(loss_=loss, history_={"risk": risk})
    assert claim_iterations.find_settled(model) == 3
    assert claim_iterations.first_least(np.array([3, 1, 2, 1])) == 2
