"""Answers of people to the items of a questionnaire."""

from __future__ import annotations

from typing import Any

from adaptive import checks
from adaptive.datasets.data_folder import file

__all__ = ["answers"]

# name -> (file, where to get it); the columns that are no items are left out in `answers`
_ANSWERS = {
    "big_five": ("psychometrics/big5_ipip50.tsv.gz", "https://openpsychometrics.org/_rawdata"),
    "bfi": ("psychometrics/bfi.csv.gz", "the R package psychTools"),
    "icar": ("psychometrics/icar_ability16.csv.gz", "the R package psychTools (ability)"),
    "epi": ("psychometrics/epi57.csv.gz", "the R package psychTools"),
    "lsat6": ("irt/lsat6.csv", "the R package psych"),
    "lsat7": ("irt/lsat7.csv", "the R package psych"),
    "verbal_aggression": ("irt/VerbAgg.csv.gz", "the R package lme4"),
    "sat12": ("irt/SAT12.csv", "the R package mirt"),
    "science": ("irt/Science.csv", "the R package mirt"),
}
_SAT12_KEY = "1 4 5 2 3 1 2 1 3 1 2 4 2 1 5 3 4 4 1 4 3 3 4 1 3 5 1 3 1 5 4 3"  # ?SAT12 in mirt; its 5 at the end is
# an error, as is said there: who chose 3 was right elsewhere (correlation .20), who chose 5 hardly (.04)


def answers(name: str) -> Any:
    """Read people's answers to a questionnaire.

    Parameters
    ----------
    name : str
        "big_five" (IPIP, 50 items of 5 traits, 1 to 5), "bfi" (25 items of 5 traits, 1 to 6), "icar" (16 ability items,
        0 and 1), "epi" (57 items, 1 and 2), "lsat6", "lsat7" (5 items, 0 and 1), "verbal_aggression" (24 items, 1 to
        3), "sat12" (32 items scored 0 and 1), "science" (4 items, 1 to 4).

    Returns
    -------
    pandas.DataFrame of shape (people, items), float
        NaN where there is no answer. Of "big_five" and "bfi" the trait is the letters of the item's name.

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If there is no set of this name.

    Examples
    --------
    >>> answers("lsat6").shape
    (1000, 5)
    """
    import pandas as pd

    checks.choice("name", name, _ANSWERS)
    path = file(*_ANSWERS[name])
    table = pd.read_csv(path, sep="\t" if ".tsv" in path.name else ",", keep_default_na=name != "big_five")
    if name == "verbal_aggression":  # one row per answer
        wide = table.assign(answer=table["resp"].map({"no": 1.0, "perhaps": 2.0, "yes": 3.0}))
        return wide.pivot(index="id", columns="item", values="answer")
    if name == "sat12":
        key = [float(one) for one in _SAT12_KEY.split()]
        return (table == key).astype(float).mask(table == 8)
    pattern = {"big_five": "[ENACO][0-9]+", "bfi": "[ACENO][0-9]"}.get(name)
    if name.startswith("lsat"):
        table = table.iloc[:, 1:]
    kept = table.filter(regex=f"^{pattern}$") if pattern else table
    kept = kept.apply(pd.to_numeric, errors="coerce").astype(float)
    return kept.mask(kept == 0) if name == "big_five" else kept
