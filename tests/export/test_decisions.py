import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import properboost as pb
from properboost.export.decisions import (
    CodedColumn,
    Cut,
    Leaf,
    Member,
    choose,
    convert_tree,
    list_tests,
    measure_depth,
    simplify,
)
from properboost.models.tree import TreeNodes

WIDTHS = (6, 5)
FEATURES = (
    CodedColumn("number", np.arange(4.0), None, np.arange(5), 5),
    CodedColumn("text", np.empty(0), ("a", "b", "c"), np.array([0, 1, 2, 4]), 3),
)


def follow(decision, places):
    """Return the number at which a row ends; missing places are None."""
    while not isinstance(decision, Leaf):
        place = places[decision.feature]
        if place is None:
            goes = decision.missing
        elif isinstance(decision, Cut):
            goes = place < decision.below
        else:
            goes = decision.members[place]
        decision = decision.yes if goes else decision.no
    return decision.number


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.integers(0, 3))
def test_choose_finds_the_number_of_each_place(numbers, missing):
    decision = choose(0, numbers, missing)
    assert [follow(decision, [k]) for k in range(len(numbers))] == numbers
    assert follow(decision, [None]) == missing
    assert measure_depth(decision) <= 1 + np.ceil(np.log2(len(numbers)))


@st.composite
def trees(draw):
    """Draw trees whose splits are two disjoint sets of codes, with codes in neither."""
    features, left, sets = [-1], [0], [[0] * 4, [0] * 4]
    goes = [[0], [0]]
    for _ in range(draw(st.integers(0, 5))):
        node = draw(st.sampled_from([k for k, j in enumerate(features) if j < 0]))
        j = draw(st.integers(0, 1))
        branches = draw(st.lists(st.integers(0, 2), min_size=WIDTHS[j], max_size=WIDTHS[j]))
        features[node], left[node] = j, len(features)
        for side in (0, 1):
            goes[side][node] = sum(1 << c for c, b in enumerate(branches) if b == side)
            goes[side] += [0, 0]
        features += [-1, -1]
        left += [0, 0]
    sets = [np.array([[bits, 0, 0, 0] for bits in masks], dtype=np.uint64) for masks in goes]
    n = len(features)
    return TreeNodes(np.array(features, dtype=np.int32), np.array(left), *sets, np.ones((n, 2)),
                np.zeros(n))  # fmt: skip


@given(trees())
@settings(max_examples=60)
def test_trees_end_at_the_same_node(tree):
    decision = convert_tree(tree, FEATURES)
    places = [(a, b) for a in (*range(5), None) for b in (*range(4), None)]
    codes = np.array(
        [
            [f.missing if p is None else f.codes[p] for f, p in zip(FEATURES, row, strict=True)]
            for row in places
        ],
        dtype=np.uint8,
    ).T
    expected = tree.native.find_nodes(np.ascontiguousarray(codes), 1).tolist()
    assert [follow(decision, row) for row in places] == expected
    values = np.arange(len(tree.feature)) % 2.0
    simple = simplify(decision, values)
    assert [values[follow(simple, row)] for row in places] == values[expected].tolist()


def test_simplify_leaves_nothing_of_what_makes_no_difference():
    decision = choose(0, [0, 1, 2, 3], 4)
    assert isinstance(simplify(decision, np.ones(5)), Leaf)
    assert measure_depth(simplify(decision, np.array([1.0, 1.0, 2.0, 2.0, 3.0]))) == 2
    # The sign of a zero counts as well.
    assert isinstance(simplify(decision, np.array([0.0, 0.0, -0.0, -0.0, 0.0])), Cut)


def test_decisions_may_be_deeper_than_functions_call_each_other():
    decision = Leaf(0)
    for k in range(5000):
        decision = Cut(0, 1, k % 2 == 0, Leaf(k + 1), decision)
    assert measure_depth(decision) == len([*list_tests(decision)]) == 5000
    values = np.arange(5001.0)
    assert measure_depth(simplify(decision, values)) == 5000
    assert isinstance(simplify(decision, np.ones(5001)), Leaf)


def test_a_test_that_several_lead_to_is_listed_once():
    shared = Cut(0, 1, False, Leaf(0), Leaf(1))
    above = Cut(0, 2, False, shared, Leaf(1))
    both = Cut(0, 3, False, shared, above)
    assert [*list_tests(both)] == [shared, above, both]
    assert measure_depth(both) == 3


def test_members_are_cuts_that_share_branches():
    members = np.array([True, False, True, False, True])
    root = Member(0, members, False, Leaf(1), Leaf(0))
    leaves = [follow(root.as_cuts(), [k]) for k in (*range(5), None)]
    assert leaves == [1, 0, 1, 0, 1, 0]


def test_bounds_are_those_of_values_and_of_places():
    number, text = FEATURES
    assert number.bound(1) == 0.0
    assert number.bound(5) == text.bound(4) == np.inf
    assert text.bound(1) == 0.0
    assert text.is_text
    assert not number.is_text
    assert number.places(np.array([True, False, True, True, False])) == [(0, 1), (2, 4)]


@pytest.mark.parametrize("learner", ["tree", "rule"])
def test_fitted_trees(learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    model = pb.ProperBoostClassifier(weak_learner=learner, n_estimators=2).fit(X, X[:, 0] > X[:, 1])
    ensemble = model.ensemble_
    features = tuple(
        CodedColumn("", binned.edges, None, np.arange(binned.n_bins), binned.n_bins)
        for binned in ensemble.binning.features
    )
    tree = ensemble.models[0].tree(0)
    decision = convert_tree(tree, features)
    places = np.stack([np.searchsorted(f.edges, X[:, j]) for j, f in enumerate(features)], axis=1)
    codes = np.ascontiguousarray(places.T.astype(np.uint8))
    assert [follow(decision, row) for row in places] == tree.native.find_nodes(codes, 1).tolist()
