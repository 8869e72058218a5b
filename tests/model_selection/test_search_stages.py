"""Test the stages of a search's progress bar."""

import pytest

import properboost as pb
from properboost.model_selection.families import FAMILIES
from properboost.model_selection.search_stages import list_stages


@pytest.mark.parametrize("effort", range(1, 6))
def test_all_families_are_stages(effort):
    search = pb.ProperBoostClassifierCV(effort=effort)
    names = [stage.name for stage in list_stages(search)]
    assert [n for n in names if n not in ("steps", "pairs", "boosting")] == [
        family.name for family in reversed(FAMILIES) if family.rung <= effort
    ]
    assert len(list_stages(search, again=True)) == 2 * len(names)


def test_a_grid_and_a_fit_have_one_stage_each_before_and_at_the_end():
    grid = pb.ProperBoostClassifierCV({"gain": [1, 2]}, effort=None)
    assert [stage.name for stage in list_stages(grid)] == ["searching", "boosting"]
    assert [
        stage.name for stage in list_stages(pb.ProperBoostClassifier(weak_learner="table"))
    ] == ["boosting"]
