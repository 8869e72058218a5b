"""Test the view of a finished search in notebooks."""

import html
import re

import numpy as np
import pytest

import properboost as pb
from helpers.pictures import table

# scikit-learn 1.7 introduced the method that a class may replace.
pytestmark = pytest.mark.skipif(
    not hasattr(pb.ProperBoostClassifier(weak_learner="table"), "_html_repr"),
    reason="scikit-learn is older than 1.7",
)


@pytest.fixture(scope="module")
def search():
    return pb.ProperBoostClassifierCV(effort=1, cv=3).fit(*table())


def show(model):
    return model._repr_mimebundle_()["text/html"]


def test_families_stand_in_order_with_their_costs(search):
    families = search.family_results_
    cells = [html.unescape(c) for c in re.findall(r"<td [^>]*>([^<]*)</td>", show(search))]
    rows = [cells[k : k + 6] for k in range(0, 6 * len(families["family"]), 6)]
    order = np.argsort(families["behind"], kind="stable")
    assert [row[0] for row in rows] == families["family"][order].tolist()
    assert [float(row[2]) for row in rows] == np.round(families["behind"][order], 4).tolist()
    assert [int(row[4].split()[0]) for row in rows] == families["candidates"][order].tolist()


def test_the_choice_reading_and_the_next_step_follow(search):
    text = show(search)
    n = len(search.cv_results_["params"])
    assert f"compared {n} candidates" in text
    assert f"chose {search.family_}." in text
    assert "The best readable family, " in text or "is readable." in text
    assert "search.save_model('model.json')" in text
    assert "sk-container-id" in text


def test_one_split_has_no_errors():
    search = pb.ProperBoostClassifierCV(effort=1).fit(*table())
    assert "nan" not in show(search).partition("</table>")[0]


def test_searches_that_are_not_finished_or_compared_nothing_show_parameters():
    assert "<th style='text-align:left" not in show(pb.ProperBoostClassifierCV())
    search = pb.ProperBoostClassifierCV(effort=None, space={"gain": [1.0]}, cv=2).fit(*table())
    assert "next" not in show(search).partition("<style>")[0].lower()
