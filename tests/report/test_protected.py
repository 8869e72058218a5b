"""Which names suggest that a column says who a person is."""

from properboost.report.protected import find_protected


def test_names_are_read_by_words():
    names = [
        "age", "Sex", "native-country", "maritalStatus", "person_is_disabled", "date of birth",
        "foreign_worker", "RACE", "Religion1",
    ]  # fmt: skip
    assert find_protected(names) == list(range(len(names)))


def test_other_names_are_left_alone():
    assert find_protected(["wage", "package", "stage", "sexton", "racer", "average", "x1"]) == []
