"""The scorer of a model file."""

from properboost.estimators.scorer import Scorer
from properboost.persistence.files import open_document
from properboost.serving.readers import FIRST_VERSIONS, READERS
from properboost.whole_file import AnyPath

__all__ = ["load_scorer"]


def load_scorer(path: AnyPath) -> Scorer:
    """Read the scorer of a model from a file of the method `save_model`.

    It is quick to start: it imports neither scikit-learn nor pandas, and reads only the fields that
    predictions need.  So it does not check the others, as `load_model` does.

    Parameters
    ----------
    path : str, bytes or path
        The file, which may be packed by gzip, whatever it is called.

    Returns
    -------
    Scorer
        Its predictions are bit for bit those of ``load_model(path).compile()``.

    Raises
    ------
    ValueError
        If the file is not a model that this version can read, or is a search without a model; the
        message names the file and the field.
    OSError
        If the file cannot be read at all.

    Examples
    --------
    >>> import properboost as pb
    >>> X, y = pb.datasets.load_letter("p1", subset="train", return_X_y=True)
    >>> pb.ProperBoostClassifier().fit(X, y).save_model("letter.json")
    >>> scorer = pb.load_scorer("letter.json")
    >>> scorer.predict(X[:2])
    array([False, False])
    """
    document = open_document(path, FIRST_VERSIONS)
    predictor = READERS[document.kind](document.fields, document.version)
    predictor.kind = document.kind
    return predictor.compile()
