"""The papers' tables and figures, computed anew and compared with the published ones.

``properboost reproduce`` is the command.  A paper is a folder and an item, a table or a figure, is
a file in it, which holds ``ITEM``.  An item reads the measurements of an experiment, piece by
piece; an experiment that serves several items has its own file.  Every setting is pinned
(``pinned_*.py``), so that new defaults of the library change no result.
"""

from properboost.reproduce.catalogue import find_items
from properboost.reproduce.run import reproduce

__all__ = ["find_items", "reproduce"]
