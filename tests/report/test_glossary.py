"""Words of a text that need an explanation."""

import re

from properboost.report.glossary import GLOSSARY, find_words


def test_words_are_found_as_they_are_used():
    def names(text):
        return [word.name for word in find_words(text)]

    assert names("Nothing of all this.") == []
    assert names("The log loss of a street") == []
    assert names("Its trees. The LOSS") == ["tree", "loss"]
    assert names("a narrow interval, with bags") == ["interval, standard error", "bag"]
    assert names("baggage, classic, arrows, capital-gain, capital-loss") == []


def test_every_word_finds_itself():
    for word in GLOSSARY:
        for name in word.name.split(", "):
            assert re.search(word.whole, name), name
