"""Language models of a public leaderboard and the items of benchmarks that they answered rightly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adaptive import checks
from adaptive.datasets.data_folder import file
from adaptive.tables.responses import Responses  # house: benchmarks are tables of systems and items

__all__ = ["load_benchmark"]

NAMES = ("gsm8k", "mmlu", "truthfulqa", "winogrande")
SOURCE = "adkipnis/metabench (analysis/reduced/*.rds), Kipnis et al. 2024"


def load_benchmark(name: str | Sequence[str], *, copies: bool = False) -> tuple[Responses, np.ndarray]:
    """Read which models answered which items of a benchmark rightly.

    Parameters
    ----------
    name : str or sequence of str
        "gsm8k" (249 items), "mmlu" (102), "truthfulqa" (136), "winogrande" (106): those that a psychometric selection
        kept of several hundred to 14,000. Of several the models that are in all of them.
    copies : bool, default False
        Keep models whose answers are all those of an earlier one, too.

    Returns
    -------
    responses : Responses
        4,000 to 5,000 models; items are called "mmlu/0", families by the account that published a model, as a number.
    score : (models,) array, (models, benchmarks) of several
        Percent of the whole benchmark, with the items that are not here.

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If there is no set of this name.

    References
    ----------
    A. Kipnis, K. Voudouris, L. Schulze Buschoff and E. Schulz (2024), metabench, arXiv 2407.12844 (CC BY-NC-SA 4.0).

    Examples
    --------
    >>> responses, score = load_benchmark("mmlu")
    >>> responses.scores.shape[1], len(responses) == len(score)
    (102, True)
    """
    names = [name] if isinstance(name, str) else list(name)
    if not names:
        raise ValueError("name must be a benchmark, or several; got none.")
    for one in names:
        checks.choice("name", one, NAMES)
    stored = []
    for one in names:
        with np.load(file(f"llm-benchmarks/{one}.npz", SOURCE)) as held:
            stored.append({key: held[key] for key in ("responses", "score", "family", "model")})
    models = stored[0]["model"]
    for part in stored[1:]:
        models = models[np.isin(models, part["model"])]
    rows = [_places(part["model"], models) for part in stored]
    tables = [part["responses"][at].astype(float) for part, at in zip(stored, rows, strict=True)]
    items = [f"{one}/{j}" for one, table in zip(names, tables, strict=True) for j in range(table.shape[1])]
    responses = Responses(
        np.concatenate(tables, axis=1), tuple(map(str, models)), tuple(items),
        tuple(item.partition("/")[0] for item in items), ("",) * len(items),
        tuple(map(str, stored[0]["family"][rows[0]])),
    )  # fmt: skip
    score = np.stack([part["score"][at].astype(float) for part, at in zip(stored, rows, strict=True)], axis=1)
    score = score[:, 0] if isinstance(name, str) else score
    if copies:
        return responses, score
    kept = responses.distinct()
    return responses.rows(kept), score[kept]


def _places(known: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the place of each of these models."""
    order = np.argsort(known, kind="stable")
    return np.asarray(order[np.searchsorted(known, wanted, sorter=order)])
