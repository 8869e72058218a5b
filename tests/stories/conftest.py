"""Data of the stories, and nothing else, so that a story shows all that its user types."""

import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

import properboost as pb
from helpers.data_files import need
from properboost.datasets._adult import ADULT
from properboost.datasets._uci_records import RECORDS


@pytest.fixture
def cancer():
    """A table of numbers with names, and two classes."""
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture
def cancer_parts(cancer):
    """The same in training and validation rows."""
    return train_test_split(*cancer, random_state=0, stratify=cancer[1])


@pytest.fixture
def iris():
    """Three classes."""
    return load_iris(return_X_y=True)


@pytest.fixture
def wine():
    """Three classes, a small table with names."""
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture
def digits():
    """Ten classes."""
    return load_digits(return_X_y=True)


@pytest.fixture(scope="session")
def letters():
    """The letter O against the rest: 20,000 rows of which the first 4,000 are for training."""
    return pb.datasets.load_letter("p1", subset="train", return_X_y=True)


@pytest.fixture(scope="session")
def halves():
    """Two halves of the alphabet, with names, in training and test rows."""
    return tuple(
        part
        for subset in ("train", "test")
        for part in pb.datasets.load_letter("p2", subset=subset, return_X_y=True, as_frame=True)
    )


@pytest.fixture(scope="session")
def census():
    """ADULT: numbers and categories; who earns more than 50,000 dollars."""
    need(*ADULT.files)
    return pb.datasets.load_adult(subset="train", return_X_y=True)


@pytest.fixture
def customers():
    """A small table with a number, a category and missing values, and labels that are strings."""
    X = pd.DataFrame(
        {
            "age": [23, 31, None, 52, 38, 61] * 40,
            "town": pd.Categorical(["Ulm", "Bonn", "Kiel", "Ulm", None, "Bonn"] * 40),
            "visits": [*range(24)] * 10,
        }
    )
    y = ["leaves" if visits < 9 or town == "Kiel" else "stays" for _, town, visits in X.to_numpy()]
    return X, y


@pytest.fixture(scope="session")
def small_sets():
    """Some small sets of numbers, of two classes each."""
    names = ("pima", "haberman", "ionosphere", "wdbc", "sonar", "bupa")
    need(*(file for name in names for file in RECORDS[name].files))
    return [pb.datasets.load_uci(name, return_X_y=True) for name in names]
