"""The places of the tables: the package, a folder, the cache, or the UCI archive."""

import os
import tempfile
import warnings
from pathlib import Path

from . import _tables
from ._record import SourceFile

ARCHIVE = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
FOLDER_VARIABLE = "PROPERBOOST_DATA"
CACHE_VARIABLE = "PROPERBOOST_CACHE"
TIMEOUT = 30  # seconds without an answer from the archive

_SHIPPED = Path(__file__).with_name("data")


def load_shipped(file: SourceFile) -> _tables.Table:
    """Return the rows of a table that is part of the package, without the header."""
    return _tables.read(_SHIPPED / file.filename, file.sha256)[1:]


def load(file: SourceFile, columns: tuple[str, ...]) -> _tables.Table:
    """Return the rows of a table from the first place that has it, without the header.

    Parameters
    ----------
    file : SourceFile
        The table.
    columns : tuple of str
        Its header, which the files of the archive lack.

    Returns
    -------
    list of list of str
        One list of cells a row.

    Raises
    ------
    ValueError
        If the folder named by ``PROPERBOOST_DATA`` holds a wrong file of that name.
    FileNotFoundError
        If no place has the table.
    ImportError
        If no place has the table and pooch, which would download it, is missing.
    """
    tried: list[str] = []

    folder = os.environ.get(FOLDER_VARIABLE)
    shelved = Path(folder).expanduser() / file.filename if folder else None
    if shelved and shelved.is_file():
        # The user put it there, so a wrong file is an error.
        return _tables.read(shelved, file.sha256)[1:]
    tried.append(
        f"the folder named by {FOLDER_VARIABLE}: "
        + (f"there is no {shelved}" if shelved else "the variable is not set")
    )

    cache = _cache_folder()
    cached = cache / file.filename if cache else None
    if cached and cached.is_file():
        try:
            return _tables.read(cached, file.sha256)[1:]
        except _tables.WrongTableError as error:
            tried.append(f"the cache: {error}")
    else:
        tried.append(
            f"the cache: there is no {cached}"
            if cached
            else f"the cache: {CACHE_VARIABLE} is not set, and the usual place needs pooch"
        )

    url = ARCHIVE + file.path
    failure: Exception
    try:
        text = _download(url)
        table = _tables.checked([list(columns), *_tables.parse(text)], file.sha256, url)
    except (ImportError, OSError, _tables.WrongTableError) as error:
        failure = error
        tried.append(f"a download: {error}")
    else:
        _keep(cached, table)
        return table[1:]

    places = "".join(f"\n  {number}. {place}" for number, place in enumerate(tried, start=1))
    message = (
        f"{file.filename} was found in none of three places:{places}\n"
        f"Set {FOLDER_VARIABLE} to a folder that holds {file.filename}, or let this machine reach "
        f"{url}"
    )
    if isinstance(failure, ImportError):
        raise ImportError(f"{message}, with pooch from pip install 'properboost[datasets]'.")
    raise FileNotFoundError(f"{message}.") from failure


def _cache_folder() -> Path | None:
    """Return the folder of the cache, or None where only pooch could find it."""
    if folder := os.environ.get(CACHE_VARIABLE):
        return Path(folder).expanduser()
    try:
        import pooch
    except ImportError:
        return None
    return Path(pooch.os_cache("properboost"))


def _download(url: str) -> str:
    """Return the text at an address; any failure on the way is an OSError."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(f"{url} needs pooch, which is missing") from error
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "raw"
        # The downloader rather than pooch.retrieve: the checksum is not that of the raw file.
        # Without stream=False a refused address would leave its connection open.
        pooch.HTTPDownloader(timeout=TIMEOUT, stream=False)(url, str(path), None)
        return path.read_text(errors="replace", encoding="utf-8")


def _keep(path: Path | None, table: _tables.Table) -> None:
    """Put a downloaded table into the cache; a cache that cannot be written is no error."""
    if path is None:
        return
    try:
        _tables.write(path, table)
    except OSError as error:
        warnings.warn(
            f"{path} could not be written ({error}); the next call downloads the table again",
            RuntimeWarning,
            stacklevel=2,
        )
