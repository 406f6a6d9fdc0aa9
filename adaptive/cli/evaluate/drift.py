"""Signs that earlier systems say little about a new one, or that items say little at all.

outside         a score beyond those of all that calibrated
better          of many abilities: it answers more of everything rightly than they would (the newcomer's prior)
odd answers     answers that are improbable for any system of that score: their standardised log probability
nothing told    items that all, or none, of the earlier systems answered rightly
contaminated    items that are much easier for one family than for others of the same score
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

if TYPE_CHECKING:
    from adaptive.cli.evaluate.asking import Run
    from adaptive.cli.evaluate.calibration import Calibration
    from adaptive.estimators.questionnaires.respondent import Respondent
    from adaptive.tables import Responses

__all__ = ["contaminated", "earlier_scores", "signs"]

ODD = -3.0  # standardised log probability of answers
FAMILY = 5  # systems of a family, at least
EASIER = 0.15  # of a score from 0 to 1
CERTAIN = 0.01  # probability that any item at all is listed by chance
LARGE = 20_000_000  # answers, above which items are not looked at by family


def earlier_scores(earlier: Responses) -> np.ndarray:
    """Return scores, in points, of the earlier systems that answered at least half of the items."""
    answered = (~np.isnan(earlier.scores)).mean(axis=1) >= 0.5
    rows = earlier.scores[answered] if answered.any() else earlier.scores
    return 100.0 * np.nanmean(rows, axis=1)


def signs(run: Run, known: Calibration) -> tuple[list[str], dict[str, Any]]:
    """Return what is to be said of a system, and the numbers behind it."""
    person = run.design.estimator_
    score, others = known.points(person.predict_total().mean), earlier_scores(known.teachers)
    said = []
    lowest, highest = float(others.min()), float(others.max())
    if not lowest <= score <= highest:
        where, end = ("above", highest) if score > highest else ("below", lowest)
        said.append(
            f"{run.name} lies {where} all {len(others)} systems that calibrated ({end:.1f} at the end): how hard items "
            "are for it was not seen, and score and band are extrapolated; calibrate again with systems like it."
        )
    better = _better(person)
    if better is not None and better > 0.5:
        said.append(
            f"with probability {better:.2f} {run.name} answers more of all items rightly than the systems that "
            "calibrated would: the score is mostly that of such a system."
        )
    row = np.full((1, len(known.items)), np.nan)
    places = {item: k for k, item in enumerate(known.items)}
    for item, score_ in run.transcript.scores.items():
        row[0, places[item]] = known.scale.code(score_)
    fit = float(known.learnt.person_fit(row)[0]) if len(person.items) > 2 else 0.0
    if fit < ODD:
        said.append(
            f"{run.name} answers oddly (fit {fit:.1f}, expected around 0): hard items rightly and easy ones wrongly, "
            "as if another ability counted; trust the band less."
        )
    return said, {"outside": not lowest <= score <= highest, "better": better, "fit": fit}


def _better(person: Respondent) -> float | None:
    """Probability of the newcomer's second Gaussian: somebody who is better than all that calibrated."""
    people = getattr(person.person_, "gaussian", None)
    return float(people.weights[0, -1]) if people is not None and people.parts > 1 else None


def contaminated(known: Calibration, earlier: Responses) -> dict[str, list[Any]]:
    """Return family, item, how much easier it is (as a score), and z, the largest differences first.

    Others of the same ability are those of all families with five systems or more. Listed is what is easier by .15 or
    more, and certainly so: with probability .99 none of all would be listed by chance.
    """
    columns: dict[str, list[Any]] = {"family": [], "item": [], "difference": [], "z": []}
    counts = {one: earlier.families.count(one) for one in set(earlier.families) if one}
    families = sorted(one for one, n in counts.items() if n >= FAMILY)
    rows = np.flatnonzero(np.isin(np.array(earlier.families, dtype=object), families))
    if len(families) < 2 or len(rows) * len(known.items) > LARGE:
        return columns
    groups = [earlier.families[k] for k in rows]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = known.learnt.differential_functioning(known.scale.codes(earlier.scores[rows]), groups)
    difference: Any = found["difference"] / (known.scale.levels - 1)  # type: ignore[operator]
    z: Any = found["z"]
    limit = norm.isf(CERTAIN / z.size)
    listed = np.argwhere((difference >= EASIER) & (z > limit))
    for g, j in sorted(listed.tolist(), key=lambda one: -difference[one[0], one[1]]):
        for name, value in zip(
            columns, (found["groups"][g], known.items[j], float(difference[g, j]), float(z[g, j])), strict=True
        ):
            columns[name].append(value)
    return columns
