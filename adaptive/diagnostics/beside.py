"""Outcomes that were held out, as a model and a rival predict each of them: a paired difference, and what it says.

    difference = mean over outcomes of  score_rival - score_model,   positive where the rival is ahead
    margin     = t(.975, G - 1) sqrt(G / (G - 1) sum_g (sum over i in g of d_i - difference)^2) / n

Outcomes of one group g (a person, a block of neighbours) may be wrong together; without groups each stands for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adaptive.types import ArrayLike

__all__ = ["beside", "paired", "rival_in_words"]

LOSSES = {"log_loss": " nats", "square_error": ""}  # the smaller the better, and their unit


def beside(
    judges: Mapping[str, tuple[ArrayLike, ArrayLike]], rival: str, *, of: str = "outcomes",
    groups: ArrayLike | None = None,
) -> dict[str, Any] | None:  # fmt: skip
    """Return how a model and a rival predicted the same outcomes, which neither had learnt.

    Parameters
    ----------
    judges : dict of name -> (by the model (n,), by the rival (n,))
        Of every outcome. "log_loss" and "square_error" are losses, all others ("accuracy", "mean_rank") gains. The
        first is the one that decides; others are named where the rival is certainly ahead by them.
    rival : str
        What to call it.
    of : str, default "outcomes"
        What was predicted: "labels", "counts".
    groups : (n,) array, optional
        Whose each is, where several are of one person or place.

    Returns
    -------
    dict or None
        rival, of, n, and of each judge its name and "rival_" its name: the means; difference, standard_error and margin
        (half a 95% interval) of the first, "accuracy_difference" and "accuracy_margin" of others. None where there are
        fewer than two outcomes, or groups, to tell.

    Examples
    --------
    >>> found = beside({"log_loss": ([0.7, 0.6, 0.8, 0.7], [0.2, 0.1, 0.2, 0.2])}, "popularity", of="choices")
    >>> round(found["difference"], 3), found["difference"] > found["margin"]
    (0.525, True)
    """
    found: dict[str, Any] = {"rival": rival, "of": of}
    for place, (name, both) in enumerate(judges.items()):
        model, other = (np.asarray(one, dtype=float) for one in both)
        difference = paired(model - other if name in LOSSES else other - model, groups)
        if difference is None:
            return None
        mean, error, margin = difference
        found |= {"n": len(model), name: float(model.mean()), f"rival_{name}": float(other.mean())}
        if place == 0:
            found |= {"judge": name, "difference": mean, "standard_error": error, "margin": margin}
        else:
            found |= {f"{name}_difference": mean, f"{name}_margin": margin}
    return found


def paired(differences: ArrayLike, groups: ArrayLike | None = None) -> tuple[float, float, float] | None:
    """Return mean, standard error and half a 95% interval of differences (n,); None of fewer than two groups.

    Examples
    --------
    >>> [round(one, 3) for one in paired([1.0, 2.0, 3.0])]
    [2.0, 0.577, 2.484]
    >>> paired([1.0, 2.0], groups=["a", "a"]) is None
    True
    """
    values = np.asarray(differences, dtype=float)
    mean, off = float(values.mean()) if len(values) else np.nan, values - values.mean() if len(values) else values
    if groups is not None:
        off = np.bincount(np.unique(np.asarray(groups), return_inverse=True)[1].ravel(), weights=off)
    n = len(off)
    if n < 2:
        return None
    error = float(np.sqrt(n / (n - 1) * np.sum(off**2)) / len(values))
    return mean, error, float(stdtrit(n - 1, 0.975)) * error


def rival_in_words(
    found: Mapping[str, Any],
    rival: str | None = None,
    *,
    advice: str = "take it for predictions",
    how: str = "each predicted while it was left out",
) -> str:
    """Return what `beside` or `beside_rival` found as two sentences, or three.

    Parameters
    ----------
    found : dict
        As it returned.
    rival : str, optional
        What to call the other one; default as it was named.
    advice : str
        What to do where the rival is certainly ahead.
    how : str
        How the outcomes were held out.

    Returns
    -------
    str

    Examples
    --------
    >>> found = {"rival": "word frequencies", "of": "texts", "judge": "log_loss", "n": 60, "log_loss": 0.4,
    ...          "rival_log_loss": 0.3, "difference": 0.1, "margin": 0.04}
    >>> print(rival_in_words(found))
    On 60 texts, each predicted while it was left out, the model has a log loss of 0.400 nats, word frequencies
    0.300. Certainly better here: word frequencies, by 0.100 (95% interval 0.060 to 0.140). Take it for predictions.
    """
    name, judge = rival or found["rival"], found["judge"]
    others = [key.removesuffix("_difference") for key in found if key.endswith("_difference")]
    if found["difference"] > found["margin"]:
        verdict = (
            f"Certainly better here: {name}, by {_interval(found['difference'], found['margin'])}. {_begun(advice)}."
        )
    elif found["difference"] < -found["margin"]:
        verdict = f"Certainly better here: the model, by {_interval(-found['difference'], found['margin'])}."
    else:
        verdict = f"Neither is certainly better: they differ by {_interval(abs(found['difference']), found['margin'])}."
    for other in others:
        if found["difference"] <= found["margin"] and found[f"{other}_difference"] > found[f"{other}_margin"]:
            verdict += (
                f" By {_words(other)} certainly ahead: {name}, {found[f'rival_{other}']:.3f} for {found[other]:.3f}. "
                f"{_begun(advice)}."
            )
    beside_it = [f" ({_words(other)} {found[other]:.3f})" for other in others[:1]]
    its = [f" ({found[f'rival_{other}']:.3f})" for other in others[:1]]
    return (
        f"On {found['n']} {found['of']}, {how}, the model has a {_words(judge)} of "
        f"{found[judge]:.3f}{LOSSES.get(judge, '')}{''.join(beside_it)}, {name}\n{found[f'rival_{judge}']:.3f}"
        f"{''.join(its)}. {verdict}"
    )


def _interval(difference: float, margin: float) -> str:
    return f"{difference:.3f} (95% interval {difference - margin:.3f} to {difference + margin:.3f})"


def _begun(advice: str) -> str:
    return advice[:1].upper() + advice[1:]


def _words(judge: str) -> str:
    return judge.replace("_", " ")
