"""What classes are called, and which labels say nothing."""

import re

import pytest

from properboost.report.class_names import find_unnamed, read_class_names


@pytest.mark.parametrize(
    ("labels", "given", "unnamed"),
    [
        ([0, 1], None, "what 0 and 1 stand for"),
        ([0, 1], {1: "ill"}, "what 0 stands for"),
        ([0, 1], {1: "ill", 0: "well"}, ""),
        ([False, True], None, "what False and True stand for"),
        (["0.5", "1.5", "old"], None, "what 0.5 and 1.5 stand for"),
        (["no", "yes"], None, "what no and yes stand for"),
        (["no", "ill"], None, ""),
        (["A", "B"], {}, ""),
        (list(range(9)), None, "what 0, 1, 2, 3, 4, 5 and 3 more stand for"),
    ],
)
def test_labels_that_say_nothing(labels, given, unnamed):
    names = read_class_names(given, labels)
    assert names == tuple((given or {}).get(label, str(label)) for label in labels)
    assert find_unnamed(labels, names) == unnamed


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({2: "ill"}, "class_names: the labels must be among [0, 1]; got 2"),
        ({"1": "ill"}, "class_names: the labels must be among [0, 1]; got '1'"),
        ({1: " "}, "class_names[1] must be a text that is not empty; got ' '"),
        ({1: 1}, "class_names[1] must be a text that is not empty; got 1"),
        ({1: "0"}, "class_names must tell the classes apart; got '0' for two"),
    ],
)
def test_what_names_are_not(given, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        read_class_names(given, [0, 1])
    with pytest.raises(TypeError, match="class_names must be a mapping"):
        read_class_names(["ill"], [0, 1])
