"""Test the assignment of rows to parts, by class, by group and by row number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import properboost as pb
from properboost.data.labels import read_rows
from properboost.fitting.bag_assignment import deal, deal_to_bags, design_for
from properboost.models.bag_design import LEVELS, design


def rows_of(y, weight=None):
    return read_rows(np.asarray(y), len(y), weight, None, False)


@given(
    st.lists(st.integers(2, 300), min_size=2, max_size=5),
    st.sampled_from([4, 7, 16, 30]),
    st.integers(0, 2**32 - 1),
)
def test_every_class_is_dealt_evenly(counts, n_bags, seed):
    bags = design(n_bags)
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    part = deal(rows_of(y), bags.n_parts, seed)
    for k, count in enumerate(counts):
        sizes = np.bincount(part[y == k], minlength=bags.n_parts)
        assert sizes.max() - sizes.min() <= 1
        # Few rows fill whole quadruples, and each bag then has three of four.
        assert np.count_nonzero(sizes.reshape(-1, LEVELS).sum(axis=1)) <= -(-count // LEVELS)
        assert bags.in_bag[:, sizes > 0].any(axis=1).all()


def test_parts_go_by_row_number_class_and_seed_alone():
    y = np.random.default_rng(0).integers(0, 2, 1000)
    bags = design(16)
    part = deal(rows_of(y), bags.n_parts, 7)
    assert (deal(rows_of(np.array(["no", "yes"])[y]), bags.n_parts, 7) == part).all()
    assert (deal(rows_of(y, np.linspace(0.5, 2.0, 1000)), bags.n_parts, 7) == part).all()
    assert (deal(rows_of(y), bags.n_parts, 8) != part).mean() > 0.9
    # Neighbours are spread: one in 20 pairs of a class's neighbours shares a part.
    assert 0.02 < np.mean(part[y == 0][1:] == part[y == 0][:-1]) < 0.09


def test_bags_of_trees_without_terms_leave_out_one_part_each():
    for learner in (pb.Tree(), pb.Rule(max_conditions=4)):
        bags = design_for(learner, 16)
        assert (bags.in_bag == ~np.eye(16, dtype=bool)).all()
        assert bags.share == 15 / 16


def test_bags_of_joint_terms_have_fewer_parts():
    for learner in (pb.Table(), pb.Stump(), pb.Tree(interaction_cst=1)):
        assert design_for(learner, 16) is design(16)
    for learner in (pb.Rule(), pb.Tree(interaction_cst=3)):
        assert design_for(learner, 5) is design(5)
        bags = design_for(learner, 16)
        assert bags.n_parts == 12
        np.testing.assert_array_equal(bags.in_bag, design(16).in_bag[:, :12])


def test_rows_of_weight_0_do_not_count():
    y = np.repeat([0, 1], 500)
    weight = np.ones(1000)
    weight[400:900] = 0.0
    part = deal(rows_of(y, weight), design(16).n_parts, 0)
    for k in (0, 1):
        sizes = np.bincount(part[(y == k) & (weight > 0.0)], minlength=20)
        assert sizes.max() - sizes.min() <= 1


@given(st.integers(0, 2**16), st.sampled_from([4, 16]))
def test_a_group_is_in_one_part(seed, n_bags):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 400)
    groups = rng.integers(0, 120, 400)
    part = deal(rows_of(y), design(n_bags).n_parts, seed, groups)
    for group in np.unique(groups):
        assert len(np.unique(part[groups == group])) == 1
    # The names of the groups decide, not the places of their rows.
    order = rng.permutation(400)
    assert (
        deal(rows_of(y[order]), design(n_bags).n_parts, seed, groups[order]) == part[order]
    ).all()


def test_groups_are_stratified_by_the_class_of_most_weight():
    groups = np.repeat(np.arange(200), 3)
    y = np.repeat(np.arange(200) % 5 == 0, 3).astype(int)
    y[::3] = 1 - y[::3]  # one of three rows is of the other class
    part = deal(rows_of(y), design(16).n_parts, 1, groups)[::3]
    positive = np.arange(200) % 5 == 0
    for of_class in (positive, ~positive):
        sizes = np.bincount(part[of_class], minlength=20)
        assert sizes.max() - sizes.min() <= 1


@given(st.integers(1, 3), st.sampled_from([4, 9, 16, 64]), st.integers(0, 99))
def test_a_bag_without_a_class_is_refused(few, n_bags, seed):
    y = np.repeat([0, 1], [50, few])
    if few == 1:
        with pytest.raises(ValueError, match=r"outer_bags must be 0 where a class is in few rows"):
            deal_to_bags(rows_of(y), design(n_bags), seed)
    else:
        part = deal(rows_of(y), design(n_bags).n_parts, seed)
        assert design(n_bags).in_bag[:, part[y == 1]].any(axis=1).all()


def test_a_class_in_one_group_is_refused():
    y = np.repeat([0, 1], [300, 30])
    groups = np.concatenate([np.arange(300) // 3, np.full(30, 200)])
    with pytest.raises(ValueError, match=r"where a class is in few groups, as 1 is"):
        deal_to_bags(rows_of(y), design(16), 0, groups)
