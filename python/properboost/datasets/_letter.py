"""UCI Letter Recognition: the one set that is part of the package."""

import dataclasses
from string import ascii_uppercase
from typing import Literal

from properboost.parameters.checks import choice

from ._assemble import Dataset, assemble, leading
from ._locate import load_shipped
from ._record import Record, SourceFile

LETTER = Record(
    title="Letter Recognition",
    files=(
        SourceFile(
            name="letter",
            path="letter-recognition/letter-recognition.data",
            sha256="9ec44e47110540d997fc2e247464a75ed3da0ad9dfcd49ded7e68fcaab04a9f7",
        ),
    ),
    columns=(
        "lettr", "x-box", "y-box", "width", "high", "onpix", "x-bar", "y-bar", "x2bar", "y2bar",
        "xybar", "x2ybr", "xy2br", "x-ege", "xegvy", "y-ege", "yegvx",
    ),
    target="lettr",
    classes={letter: (letter,) for letter in ascii_uppercase},
    train_rows=4000,
    source=(
        "D. J. Slate (1991). Letter Recognition. UCI Machine Learning Repository, "
        "https://doi.org/10.24432/C5ZP40, licensed under CC BY 4.0 "
        "(https://creativecommons.org/licenses/by/4.0/). The cells and the order of the rows are "
        "unchanged; a header line has been added."
    ),
    note=(
        "Printed capital letters in 20 distorted typefaces, each measured by 16 whole numbers "
        "from 0 to 15."
    ),
)  # fmt: skip

# The two binary problems are those of the BoostLR paper.
PARTS = {
    "p1": dataclasses.replace(
        LETTER,
        title="Letter Recognition, p1: the letter O against the rest",
        classes={"rest": tuple(ascii_uppercase.replace("O", "")), "O": ("O",)},
    ),
    "p2": dataclasses.replace(
        LETTER,
        title="Letter Recognition, p2: A to M against N to Z",
        classes={"A-M": tuple(ascii_uppercase[:13]), "N-Z": tuple(ascii_uppercase[13:])},
    ),
}


def load_letter(
    part: Literal["p1", "p2"] | None = None,
    *,
    subset: Literal["train", "test", "all"] = "all",
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Dataset:
    """Load UCI Letter Recognition, which is part of the package.

    20,000 printed letters, each measured by 16 whole numbers from 0 to 15.

    Parameters
    ----------
    part : {"p1", "p2"}, default=None
        "p1" is the letter O (class 1) against the rest, "p2" is N to Z (class 1) against A to M
        (class 0), and None keeps the 26 letters (classes 0 to 25).
    subset : {"train", "test", "all"}, default="all"
        "train" is the first 4,000 rows of the UCI file and "test" the other 16,000.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return a pandas DataFrame and Series instead of arrays.

    Returns
    -------
    Bunch or tuple
        A :class:`~sklearn.utils.Bunch` with

        - data : float array or DataFrame of shape (n_rows, 16)
        - target : int array or Series of shape (n_rows,)
        - frame : DataFrame of shape (n_rows, 17), or None without `as_frame`
        - feature_names : list of 16 str
        - target_names : array of str, the class of each code
        - categories : dict, empty because every feature is a number
        - DESCR : str

        or ``(data, target)`` if `return_X_y` is true.

    Raises
    ------
    ValueError
        If `part` or `subset` is not known.
    TypeError
        If `part` or `subset` is not a string.
    ImportError
        If `as_frame` is true and pandas is missing.

    Notes
    -----
    Source: D. J. Slate (1991), Letter Recognition, UCI Machine Learning Repository,
    https://doi.org/10.24432/C5ZP40, licensed under CC BY 4.0.  The package holds its cells and
    the order of its rows unchanged, with a header line added.  Both binary problems are those of
    H. Masnadi-Shirazi and N. Vasconcelos (2015), "A View of Margin Losses as Regularizers of
    Probability Estimates", Journal of Machine Learning Research 16.

    Examples
    --------
    >>> from properboost.datasets import load_letter
    >>> X, y = load_letter("p2", subset="train", return_X_y=True)
    >>> X.shape
    (4000, 16)
    """
    if part is not None:
        choice("part", part, tuple(PARTS))
    choice("subset", subset, LETTER.subsets)
    record = LETTER if part is None else PARTS[part]
    rows = leading(load_shipped(record.files[0]), record.train_rows, subset)
    return assemble(record, rows, dropna=False, return_X_y=return_X_y, as_frame=as_frame)
