"""The table of importances is divided, and a sentence names what the log loss needs."""

from properboost.report.content import Term
from properboost.report.importances import describe_shuffles, divide_terms, find_needed


def make_terms(*importances):
    return [
        Term(k, f"t{k}", False, importance, None, None) for k, importance in enumerate(importances)
    ]


def test_the_sentence_names_what_the_log_loss_needs():
    terms = make_terms(0.6, 0.3, 0.1)
    assert find_needed(terms, {0: 0.05, 1: 0.18, 2: 0.0}) == "t1"
    assert describe_shuffles(terms, {0: 0.05, 1: 0.18, 2: 0.0}) == (
        "The log loss needs t1 most: it changes by +0.180 if the values of t1 are shuffled among "
        "the test rows, and by +0.050 if those of t0 are."
    )
    assert describe_shuffles(terms, {0: 0.2, 1: 0.1}) == ""
    assert describe_shuffles(terms, {0: -0.1, 1: 0.0}) == ""
    assert describe_shuffles(terms, {}) == find_needed(terms, {}) == ""


def test_weak_terms_are_apart_if_they_are_many():
    strong, weak = divide_terms(make_terms(0.7, 0.24, *[0.006] * 10))
    assert [term.name for term in strong] == ["t0", "t1", "t2", "t3"]
    assert len(weak) == 8
    assert divide_terms(make_terms(0.7, 0.24, 0.06)) == (make_terms(0.7, 0.24, 0.06), ())
    assert divide_terms([]) == ([], ())
