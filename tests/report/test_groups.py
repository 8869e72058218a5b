"""Groups, their numbers, and the sentences on them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

import properboost as pb
from properboost.data.values import factorize
from properboost.report.effects import list_terms
from properboost.report.groups import choose_groups, divide, evaluate_groups


def make_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"size": rng.normal(size=n).round(1), "age": rng.integers(18, 80, n)})
    rows["sex"] = pd.Categorical(rng.choice(["f", "m"], n))
    rows["colour"] = pd.Categorical(rng.choice(["red", "blue", "green"], n))
    raw = rows["size"] + (rows["sex"] == "m") + rows["age"] / 40.0 - 1.5
    return rows, (raw + rng.logistic(size=n) > 0.0).astype(int)


@pytest.fixture(scope="module")
def model():
    return pb.ProperBoostClassifier(n_estimators=30, weak_learner="table").fit(*make_rows(1500))


def judge(model, X, y, groups=None, weight=None, positive=1):
    probability = model.predict_proba(X)
    columns, how = choose_groups(model, X, groups, list_terms(model))
    groupings = evaluate_groups(
        columns, probability, probability.argmax(axis=1), y, weight,
        positive=positive, label="yes", confidence_level=0.9,
    )  # fmt: skip
    return {grouping.name: grouping for grouping in groupings}, how


def test_numbers_become_ranges_of_as_many_rows():
    values = np.array([*range(100), np.nan], dtype=np.float64)
    names, place, _ = divide(values, np.ones(101))
    assert names == ["19 or less", "20 to 39", "40 to 59", "60 to 79", "80 or more", "missing"]
    assert np.bincount(place).tolist() == [20] * 5 + [1]
    names, place, _ = divide(values + 0.5, np.ones(101))
    assert names[:2] == ["19.5 or less", "above 19.5, to 39.5"]
    assert names[4] == "above 79.5"
    # One value is frequent.
    names, place, _ = divide(np.array([0.0] * 90 + [1.0, 2.0, 3.0, 4.0, 5.0]), np.ones(95))
    assert names == ["0", "1 or more"]  # nothing is less than 0 there
    assert np.bincount(place).tolist() == [90, 5]
    names, _, _ = divide(np.array([*range(2, 8), *[8.0] * 2, *[9.0] * 2]), np.ones(10))
    assert names[0] == "3 or less"
    assert names[-1] == "9"
    assert divide(np.array([1.0, 0.0, 1.0]), np.ones(3))[0] == ["0", "1"]
    assert divide(np.full(3, np.nan), np.ones(3))[0] == ["missing"]


def test_small_categories_are_put_together():
    letters = np.array([letter for k, letter in enumerate("abcdefghijkl") for _ in range(20 - k)])
    letters = np.append(letters.astype(object), [None])
    weight = np.ones(len(letters))
    names, place, lump = divide(factorize(letters, "x"), weight)
    assert names == [*"abcdefghi", "3 others", "missing"]
    assert lump == 9
    assert np.bincount(place).tolist() == [*range(20, 11, -1), 11 + 10 + 9, 1]
    weight[letters == "l"] = 100.0
    assert divide(factorize(letters, "x"), weight)[0][0] == "l"


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_are_those_of_the_confusion_matrix(model, weighted):
    X, y = make_rows(800, 1)
    weight = np.random.default_rng(0).integers(1, 4, 800) * 1.0 if weighted else None
    groupings, _ = judge(model, X, y, ["sex"], weight)
    p, predicted = model.predict_proba(X)[:, 1], model.predict(X)
    for group in groupings["sex"].groups:
        mine = (X["sex"] == group.name).to_numpy()
        group_weight = None if weight is None else weight[mine]
        (tn, fp), (fn, tp) = confusion_matrix(y[mine], predicted[mine], sample_weight=group_weight)
        total = tn + fp + fn + tp
        assert group.weight == total
        for share, expected in (
            (group.observed, (fn + tp) / total),
            (group.called, (fp + tp) / total),
            (group.wrong, (fp + fn) / total),
            (group.missed, fn / (fn + tp)),
            (group.false_alarms, fp / (fp + tn)),
        ):
            assert share.value == pytest.approx(expected)
            assert share.low < share.value < share.high
        assert group.predicted == pytest.approx(np.average(p[mine], weights=group_weight))


def test_differences_are_reported_if_chance_does_not_explain_them(model):
    X, y = make_rows(3000, 1)
    coin = np.random.default_rng(2).choice(["head", "tail"], 3000)
    groupings, _ = judge(model, X, y, {"sex": X["sex"], "coin": coin})
    first = groupings["sex"].findings[0]
    assert first.startswith("It calls “yes”")
    assert first.index("“m”") < first.index("“f”")
    assert not groupings["coin"].findings
    # The probabilities of half the rows are wrong.
    odd = np.arange(3000) % 2 == 0
    groupings, _ = judge(model, X, np.where(odd, 0, y), {"half": np.where(odd, "odd", "even")})
    findings = [text for text in groupings["half"].findings if text.startswith("Its probabilities")]
    assert len(findings) == 1
    assert "too high on average for the group “odd”" in findings[0]


def test_names_that_suggest_a_person_are_the_default(model):
    X, y = make_rows(300, 1)
    groupings, how = judge(model, X, y)
    assert {*groupings} == {"sex", "age"}
    assert "suggest" in how
    assert "together" not in how
    plain = X.rename(columns={"sex": "kind", "age": "weight"})
    other = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(plain, y)
    groupings, how = judge(other, plain, y)
    assert {*groupings} == {"kind", "colour"}
    assert "at most 10 categories" in how
    assert judge(model, X, y, [])[0] == {}


def test_two_personal_features_are_also_taken_together():
    X, y = make_rows(400)
    X = X.rename(columns={"colour": "race"}).assign(
        religion=pd.Categorical(["a", *"bcde" * 99, *"bcd"])
    )
    X.loc[0, "race"] = None
    model = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(X, y)
    groupings, how = judge(model, X, y)
    assert how.endswith(", and by two of them together.")
    assert {*groupings} == {"sex", "age", "race", "religion", "sex and race"}
    for group in groupings["sex and race"].groups:
        mine = X["race"].isna()
        if group.name != "missing":
            sex, race = group.name.split(", ")
            mine = (X["sex"] == sex) & (X["race"] == race)
        assert group.weight == mine.sum()
    assert len(groupings["sex and race"].groups) == 7


def test_other_columns_may_be_given(model):
    X, y = make_rows(300, 1)
    regions = np.where(np.arange(300) % 2, "north", "south")
    for groups in ({"region": regions, "sex": X["sex"]}, X[["sex"]].assign(region=regions)):
        groupings, _ = judge(model, X, y, groups)
        assert not groupings["region"].is_used
        assert groupings["sex"].is_used
        assert [group.weight for group in groupings["region"].groups] == [150, 150]
    unlabelled, _ = judge(model, X, None, {"region": regions})
    group = unlabelled["region"].groups[0]
    assert group.missed is None
    assert group.called.is_known
    assert unlabelled["region"].findings == ()


def test_groups_of_several_classes_are_about_one():
    X, y = make_rows(600)
    y = y + (X["size"] > 1.0).to_numpy()
    model = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(X, y)
    groupings, _ = judge(model, X, y, ["sex"], positive=2)
    predicted = model.predict(X)
    for group in groupings["sex"].groups:
        mine = (X["sex"] == group.name).to_numpy()
        assert group.observed.value == pytest.approx(np.mean(y[mine] == 2))
        assert group.called.value == pytest.approx(np.mean(predicted[mine] == 2))
        assert group.wrong.value == pytest.approx(np.mean(predicted[mine] != y[mine]))


def test_wrong_groups_are_named(model):
    X, y = make_rows(30, 1)
    for groups, kind, complaint in (
        ("sex", TypeError, "subgroups must be a sequence of names"),
        (["town"], ValueError, "subgroups: the name 'town' is unknown"),
        ({"town": [1, 2]}, ValueError, r"subgroups: 'town' must have shape \(30,\)"),
    ):
        with pytest.raises(kind, match=complaint):
            judge(model, X, y, groups)
