"""UCI Adult, also called Census Income."""

from typing import Literal

from ._assemble import Dataset, assemble, load_rows
from ._record import Record, SourceFile

ADULT = Record(
    title="Adult (Census Income)",
    files=(
        SourceFile(
            name="adult_train",
            path="adult/adult.data",
            sha256="f2c62076f19504d99a38b22badf445a7f42530ade6b827acf78dd143fbce38bb",
        ),
        SourceFile(
            name="adult_test",
            path="adult/adult.test",
            sha256="74f0a89620cd80bbca64fcdbfc0144b4835506ef0429c61bc2e0fe18e81aa499",
        ),
    ),
    columns=(
        "age", "workclass", "fnlwgt", "education", "education-num", "marital-status",
        "occupation", "relationship", "race", "sex", "capital-gain", "capital-loss",
        "hours-per-week", "native-country", "income",
    ),
    target="income",
    # The labels of the test file end with a point.
    classes={"<=50K": ("<=50K", "<=50K."), ">50K": (">50K", ">50K.")},
    # Listed here rather than read from a file, so that both parts have the same ones.
    categories={
        "workclass": (
            "Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc",
            "Self-emp-not-inc", "State-gov", "Without-pay",
        ),
        "education": (  # in the order of education-num
            "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad",
            "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school",
            "Doctorate",
        ),
        "marital-status": (
            "Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent",
            "Never-married", "Separated", "Widowed",
        ),
        "occupation": (
            "Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing",
            "Handlers-cleaners", "Machine-op-inspct", "Other-service", "Priv-house-serv",
            "Prof-specialty", "Protective-serv", "Sales", "Tech-support", "Transport-moving",
        ),
        "relationship": (
            "Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife",
        ),
        "race": ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"),
        "sex": ("Female", "Male"),
        "native-country": (
            "Cambodia", "Canada", "China", "Columbia", "Cuba", "Dominican-Republic", "Ecuador",
            "El-Salvador", "England", "France", "Germany", "Greece", "Guatemala", "Haiti",
            "Holand-Netherlands", "Honduras", "Hong", "Hungary", "India", "Iran", "Ireland",
            "Italy", "Jamaica", "Japan", "Laos", "Mexico", "Nicaragua",
            "Outlying-US(Guam-USVI-etc)", "Peru", "Philippines", "Poland", "Portugal",
            "Puerto-Rico", "Scotland", "South", "Taiwan", "Thailand", "Trinadad&Tobago",
            "United-States", "Vietnam", "Yugoslavia",
        ),
    },
    source=(
        "B. Becker and R. Kohavi (1996). Adult. UCI Machine Learning Repository, "
        "https://doi.org/10.24432/C5XW20."
    ),
    note=(
        "Does a person of the US census of 1994 earn more than 50,000 dollars a year? Missing "
        "cells are in workclass, occupation and native-country."
    ),
)  # fmt: skip


def load_adult(
    *,
    subset: Literal["train", "test", "all"] = "train",
    dropna: bool = True,
    return_X_y: bool = False,
    as_frame: bool = True,
) -> Dataset:
    """Load UCI Adult, where class 1 is an income of more than 50,000 dollars a year.

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="train"
        "train" and "test" are the two files of the archive (32,561 and 16,281 rows) and "all" is
        one after the other.
    dropna : bool, default=True
        Leave out the rows with a missing cell, as the BoostLR paper does: 30,162 rows (7,508
        positive) remain for training and 15,060 (3,700 positive) for testing.  False keeps them,
        with missing values.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=True
        Return a pandas DataFrame, whose categorical columns have the same categories in both
        parts, and a Series.  With False both are arrays, and a category is the number of its
        place in ``categories``.

    Returns
    -------
    Bunch or tuple
        A :class:`~sklearn.utils.Bunch` with

        - data : DataFrame or float array of shape (n_rows, 14), 6 columns numeric and 8
          categorical, missing cells as NaN
        - target : int Series or array of shape (n_rows,), 1 for more than 50,000 dollars
        - frame : DataFrame of shape (n_rows, 15), or None without `as_frame`
        - feature_names : list of 14 str
        - target_names : array of str, ``["<=50K", ">50K"]``
        - categories : dict from each categorical feature to the list of its categories
        - DESCR : str

        or ``(data, target)`` if `return_X_y` is true.

    Raises
    ------
    ValueError
        If `subset` is not known, or a file in ``PROPERBOOST_DATA`` is not the one it should be.
    TypeError
        If `subset` is not a string.
    FileNotFoundError
        If the set is in no place; the message lists the places.
    ImportError
        If pandas is missing with `as_frame`, or pooch with a set that has to be downloaded.

    Notes
    -----
    Source: B. Becker and R. Kohavi (1996), Adult, UCI Machine Learning Repository,
    https://doi.org/10.24432/C5XW20.  The set is not part of the package: see
    :mod:`properboost.datasets` for the places where it is looked for.
    """
    rows = load_rows(ADULT, subset)
    return assemble(ADULT, rows, dropna=dropna, return_X_y=return_X_y, as_frame=as_frame)
