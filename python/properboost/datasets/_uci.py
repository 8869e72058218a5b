"""The other UCI sets, by name."""

from typing import Literal

from properboost.parameters.checks import choice

from ._assemble import Dataset, assemble, load_rows
from ._uci_records import RECORDS


def load_uci(
    name: str,
    *,
    subset: Literal["train", "test", "all"] = "all",
    dropna: bool = False,
    return_X_y: bool = False,
    as_frame: bool = True,
) -> Dataset:
    """Load one of the small UCI sets on which the implemented papers report.

    The ten of the BoostLR paper, in the order of its Table 3, with class 1 in italics:

    ========================= ============== ====================================================
    name                      rows, features classes; what is left out
    ========================= ============== ====================================================
    "sonar"                   208 x 60       rock, *mine*
    "wpbc"                    198 x 32       nonrecurring, *recurring*; ``id`` and ``time`` out
    "wdbc"                    569 x 30       benign, *malignant*; ``id`` out
    "breast_cancer_wisconsin" 699 x 9        benign, *malignant*; ``id`` out
    "heart_cleveland"         303 x 13       absent, *present* (``num`` 1 to 4)
    "tic_tac_toe"             958 x 9        negative, *positive* (x has won); all categorical
    "echocardiogram"          131 x 7        ``still-alive`` 0, *1*; ``survival``,
                                             ``alive-at-1``, ``mult``, ``name``, ``group`` and a
                                             damaged row out
    "haberman"                306 x 3        survived 5 years, *died within 5 years*
    "pima"                    768 x 8        no diabetes, *diabetes*
    "bupa"                    345 x 6        ``selector`` 1, *2*
    ========================= ============== ====================================================

    The others:

    =========================== ============== ==================================================
    name                        rows, features classes; what is left out
    =========================== ============== ==================================================
    "echocardiogram_alive_at_1" 74 x 7         ``alive-at-1`` 0, *1*; as above, and
                                               ``still-alive`` out
    "ionosphere"                351 x 34       bad, *good*
    "german"                    1,000 x 20     good, *bad*; 13 features categorical
    "spambase"                  4,601 x 57     mail, *spam*
    "vowel"                     990 x 10       11 vowels; ``test_flag``, ``speaker``, ``sex``
                                               out; 528 rows for training
    "pendigits"                 10,992 x 16    10 digits; 7,494 rows for training
    "new_thyroid"               215 x 5        normal, hyperthyroid, hypothyroid
    "satimage"                  6,435 x 36     6 kinds of soil; 4,435 rows for training
    "segment"                   2,310 x 19     7 kinds of surface
    "magic"                     19,020 x 10    hadron, *gamma*
    =========================== ============== ==================================================

    Parameters
    ----------
    name : str
        A name of the tables above.
    subset : {"train", "test", "all"}, default="all"
        The part; only vowel, pendigits and satimage come divided.
    dropna : bool, default=False
        Leave out the rows in which a feature is missing.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=True
        Return a pandas DataFrame, whose categorical columns have a categorical dtype, and a
        Series.  With False both are arrays, and a category is the number of its place in
        ``categories``.

    Returns
    -------
    Bunch or tuple
        A :class:`~sklearn.utils.Bunch` with

        - data : DataFrame or float array of shape (n_rows, n_features), missing cells as NaN
        - target : int Series or array of shape (n_rows,), codes of the classes
        - frame : DataFrame of shape (n_rows, n_features + 1), or None without `as_frame`
        - feature_names : list of n_features str
        - target_names : array of str, the class of each code
        - categories : dict from each categorical feature to the list of its categories
        - DESCR : str, with what each class means, what is left out and why, and the source

        or ``(data, target)`` if `return_X_y` is true.

    Raises
    ------
    ValueError
        If `name` or `subset` is not known, or a file in ``PROPERBOOST_DATA`` is not the one it
        should be.
    TypeError
        If `name` or `subset` is not a string.
    FileNotFoundError
        If the set is in no place; the message lists the places.
    ImportError
        If pandas is missing with `as_frame`, or pooch with a set that has to be downloaded.

    Notes
    -----
    Source: UCI Machine Learning Repository, https://archive.ics.uci.edu; the authors of each set
    are in its ``DESCR``.  The sets are not part of the package: see :mod:`properboost.datasets`
    for the places where they are looked for.
    """
    record = RECORDS[choice("name", name, tuple(RECORDS))]
    rows = load_rows(record, subset)
    return assemble(record, rows, dropna=dropna, return_X_y=return_X_y, as_frame=as_frame)
