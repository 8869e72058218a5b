"""Test trees in words, and their lines."""

import numpy as np
import pytest

import properboost as pb
from helpers.trees import fit_tree, noisy

pd = pytest.importorskip("pandas")


def test_description(mixed):
    frame, y, _ = mixed
    model = pb.UDTClassifier(max_leaf_nodes=6, min_child_weight=20).fit(frame, y)
    words = model.describe().splitlines()
    assert sum("P(yes) = " in line for line in words) == model.n_leaves_
    assert len(words) == len(model.tree_.feature) - 1 + model.n_leaves_
    assert any("age" in line for line in words)
    alone = pb.UDTClassifier().fit(np.zeros((4, 1)), [0, 1, 1, 1])
    assert alone.describe() == "P(1) = 0.75, weight 4"


def test_words_of_every_kind_of_split():
    n = 40
    frame = pd.DataFrame({"x": [0.0] * n + [2.0] * n + [np.nan] * n})
    low = pb.UDTClassifier().fit(frame[: 2 * n], np.repeat([0, 1], n)).describe()
    assert low.splitlines()[::2] == ["x <= 1", "1 < x"]
    with_missing = pb.UDTClassifier().fit(frame, np.repeat([0, 1, 1], n)).describe()
    assert with_missing.splitlines()[::2] == ["x <= 1", "1 < x, or missing"]
    apart = pb.UDTClassifier(max_leaf_nodes=2).fit(frame, np.repeat([0, 0, 1], n)).describe()
    assert apart.splitlines()[::2] == ["x is not missing", "x is missing"]
    frame = pd.DataFrame({"town": pd.Categorical(list("ABC") * n)})
    of_towns = pb.UDTClassifier(max_leaf_nodes=2).fit(frame, np.array([0, 1, 1] * n)).describe()
    assert of_towns.splitlines()[::2] == ["town in {'A'}", "town in {'B', 'C'}"]
    frame = pd.DataFrame({"town": pd.Categorical(["A", "B", None] * n)})
    apart = pb.UDTClassifier(max_leaf_nodes=2).fit(frame, np.array([0, 0, 1] * n)).describe()
    assert apart.splitlines()[::2] == ["town in {'A', 'B'}", "town is missing"]


def test_trees_are_described_with_their_lines():
    X, y = noisy(n=800, d=3)
    model = fit_tree(
        X, y, weak_learner__linear_leaves=True, weak_learner__max_leaf_nodes=2, learning_rate=1.0
    )
    words = model.describe_tree(1).splitlines()
    rounds, bins = model.ensemble_.models[0], model.ensemble_.binning.features
    lines, ends = rounds.lines_of(0), iter(words[1::2])
    for node in (1, 2):
        j, t = int(lines.feature[lines.offsets[node]]), lines.offsets[node]
        means = bins[j].means
        slope = lines.slope[t] / (means[-1] - means[0])
        center = means[0] + lines.center[t] * (means[-1] - means[0])
        sign = "-" if slope < 0 else "+"
        distance = f"feature {j} {'+' if center < 0 else '-'} {abs(center):.6g}"
        expected = f"{rounds.table(0)[node]:+.4g} {sign} {abs(slope):.4g} ({distance})"
        assert next(ends).endswith(expected)
    other = model.describe_tree(1, class_=False).splitlines()
    assert other[1] != words[1]
    plain = fit_tree(X, y, weak_learner__max_leaf_nodes=2)
    assert " (" not in plain.describe_tree(1)


def test_what_there_is_no_tree_of_is_refused():
    X, y = noisy()
    model = fit_tree(X, y)
    with pytest.raises(ValueError, match="number must be between 1 and 5; got 6"):
        model.describe_tree(6)
    with pytest.raises(ValueError, match="describe_tree is for models of trees"):
        fit_tree(X, y, weak_learner="stump").describe_tree(1)


def test_names_stay_on_their_line_and_are_not_obeyed(mixed):
    frame, y, _ = mixed
    X = frame.rename(columns={name: f"{name}\x1b[31m\n" for name in frame})
    labels = np.array([f"{label}\x1b\n" for label in y], dtype=object)
    tree = pb.UDTClassifier(max_leaf_nodes=6).fit(X, labels)
    rules = pb.ProperBoostClassifier(weak_learner="rule", n_estimators=3).fit(X, y)
    lines = pb.ProperBoostClassifier(weak_learner=pb.Tree(linear_leaves=True), n_estimators=2)
    words = [tree.describe(), lines.fit(X, y).describe_tree(1), *map(str, rules.rules())]
    for text in words:
        assert all(line.isprintable() for line in text.split("\n"))
    assert r"\x1b[31m\n" in words[0]
    assert sum(r"P(yes\x1b\n) = " in line for line in words[0].splitlines()) == tree.n_leaves_
