"""The papers' tables and figures, each computed anew beside what was published.

``properboost reproduce`` is the command.  A paper is a folder and an item, a table or a figure, is
a file in it, which holds ``ITEM``.  An item reads what an experiment measures, piece by piece; some
experiments serve several items, and have a file of their own.  Every setting is pinned
(``pinned_*.py``): what the library does by default is another matter.
"""

from properboost.reproduce.catalogue import find_items
from properboost.reproduce.run import reproduce

__all__ = ["find_items", "reproduce"]
