"""The catalogue finds items by the names of their files."""

import pytest

from properboost.reproduce.catalogue import PAPERS, find_items, list_items


def test_items_are_in_the_order_of_their_numbers():
    names = list(find_items())
    assert [name.partition("/")[0] for name in names] == sorted(
        (name.partition("/")[0] for name in names), key=list(PAPERS).index
    )
    figures = [name for name in list_items("arboost") if name.startswith("fig")]
    assert figures == sorted(figures, key=lambda name: int(name[3]))


def test_an_item_comes_once():
    assert list(find_items(["arboost/fig4", "arboost/fig4"])) == ["arboost/fig4"]
    assert set(find_items(["arboost/fig4", "arboost"])) == set(find_items(["arboost"]))


def test_unknown_names_have_errors_of_their_own():
    with pytest.raises(ValueError, match="there is no paper 'boost': boostlr, savage"):
        find_items(["boost"])
    with pytest.raises(ValueError, match=r"arboost has no item 'fig99': .*fig4"):
        find_items(["arboost/fig99"])
    with pytest.raises(ValueError, match="arboost has no item ''"):
        find_items(["arboost/"])
