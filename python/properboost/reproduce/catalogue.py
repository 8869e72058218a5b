"""The catalogue of items: the modules of the papers' folders that hold one."""

import importlib
import pkgutil
import re
from collections.abc import Iterable

from properboost.reproduce.item import Item

__all__ = ["PAPERS", "find_items", "is_item", "list_items", "load_item"]

PAPERS = {
    "boostlr": "Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of "
    "probability estimates. JMLR 16.",
    "savage": "Masnadi-Shirazi and Vasconcelos (2008). On the design of loss functions for "
    "classification: theory, robustness to outliers, and SavageBoost. NIPS 21.",
    "arboost": "Saha, Kunapuli, Ray, Maldjian and Natarajan (2013). AR-Boost: reducing overfitting "
    "by a robust data-driven regularization strategy. ECML PKDD.",
    "uls": "Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE TPAMI "
    "31.",
    "rado": "Nock (2016). On regularizing Rademacher observation losses. NIPS 29.",
}
"""The papers, by the names of their folders."""

_ITEM = re.compile(r"(table|fig|claim)(s?)(\d*)\w*")


def is_item(module: str) -> bool:
    """Whether a module of a paper's folder holds an item, by its name."""
    return _ITEM.fullmatch(module) is not None


def list_items(paper: str) -> list[str]:
    """Return the names of a paper's items: tables, figures, claims, each by number."""
    folder = importlib.import_module(f"properboost.reproduce.{paper}")
    names = [m.name for m in pkgutil.iter_modules(folder.__path__) if is_item(m.name)]
    return sorted(names, key=_place)


def load_item(name: str) -> Item:
    """Return an item, by the name of its paper and its own, ``"boostlr/table4"``."""
    module = importlib.import_module(f"properboost.reproduce.{name.replace('/', '.')}")
    item = module.ITEM
    if not isinstance(item, Item):
        raise TypeError(f"ITEM of {name} must be an Item; got {type(item).__name__}")
    return item


def find_items(names: Iterable[str] = ()) -> dict[str, Item]:
    """Return items by name, in the papers' order.

    Parameters
    ----------
    names : iterable of str
        Papers (``"boostlr"``) and items (``"boostlr/table4"``); all items if there is none.

    Returns
    -------
    dict of str to Item
        Each item once.

    Raises
    ------
    ValueError
        If there is no paper or item of a name.
    """
    wanted = list(names) or list(PAPERS)
    items_by_name: dict[str, Item] = {}
    for name in wanted:
        paper, slash, item_name = name.partition("/")
        if paper not in PAPERS:
            raise ValueError(f"there is no paper {paper!r}: {', '.join(PAPERS)}")
        items = list_items(paper)
        if slash and item_name not in items:
            raise ValueError(f"{paper} has no item {item_name!r}: {', '.join(items)}")
        for chosen in [item_name] if slash else items:
            items_by_name[f"{paper}/{chosen}"] = load_item(f"{paper}/{chosen}")
    return items_by_name


def _place(name: str) -> tuple[int, int, str]:
    kind, _, number = _ITEM.fullmatch(name).groups()  # type: ignore[union-attr]
    return (["table", "fig", "claim"].index(kind), int(number or 0), name)
