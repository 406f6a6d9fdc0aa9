"""Real people take the test while they are held out: items are learnt from four fifths, and the others are replayed.

    reliability  =  Var(estimates) / (Var(estimates) + mean of deviation^2)           the empirical one
    distance     =  root mean square of (estimate - estimate by all of a person's answers)
    expected     =  root of the mean of (deviation^2 - deviation by all answers^2)    what the tests state of it

A person's trait is never known, so a test is held against what all of their answers say, its own among them. People of
whom the model is too sure are further off than expected.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.calibrate.replays import (
    SEED,
    Ends,
    along,
    ends_of,
    first_items,
    lengths_of,
    random_items,
    verdict_in_words,
)
from adaptive.cli.fitting import fitted
from adaptive.cli.understanding import counted

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.cli.job import Job
    from adaptive.estimators import Questionnaire

__all__ = ["learn", "replayed"]

FOLDS = 5
LEAST = 40  # people
MOST = 1000  # who are replayed; items are learnt from all others
MOST_ORDINAL = 200  # who are asked question by question


def learn(items: Any, table: pd.DataFrame) -> None:
    """Fit; that there are several traits is said by the report."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the items measure more than one trait", UserWarning)
        items.fit(table)


def replayed(
    learnt: Questionnaire, table: pd.DataFrame, job: Job, *, most: int, stop: float | None
) -> dict[str, Any] | None:
    """Return and say how people of the table fare in the test and in forms of its length; None of too few people."""
    answered = table.loc[table.notna().any(axis=1).to_numpy()]
    if len(answered) < LEAST:
        print(f"{counted(len(answered), 'person', 'people')} are too few to hold some of them out; {LEAST} are enough.")
        return None
    ends, lengths = _ends(learnt, answered.reset_index(drop=True), job, most, stop)
    whole = ends.pop("all answers")
    return _judged(ends, whole, lengths, Path(job.settings["answers"]).name)


def _ends(
    learnt: Questionnaire, table: pd.DataFrame, job: Job, most: int, stop: float | None
) -> tuple[dict[str, Ends], np.ndarray]:
    """Return the ends of each kind of test, and the lengths of the adaptive ones."""
    from adaptive.estimators import Questionnaire

    rng = np.random.default_rng(SEED)
    order, cap = rng.permutation(len(table)), MOST_ORDINAL if learnt.response_model == "ordinal" else MOST
    parts: dict[str, list[Ends]] = {}
    lengths: list[np.ndarray] = []
    for k in range(FOLDS):
        job.doing = f"learning the items from others, part {k + 1} of {FOLDS}"
        out = np.isin(np.arange(len(table)), order[k::FOLDS])
        items = Questionnaire(learnt.response_model, reverse=tuple(learnt.reverse), categories=learnt.categories_)
        items = fitted(items, partial(learn, table=table.loc[~out]), job, f"fold-{k}.npz")
        people = table.loc[out].iloc[: cap // FOLDS]
        taken = items.simulate(people, most, stop=stop, random_state=SEED)
        lengths.append(lengths_of(taken))
        n = max(1, round(float(lengths[-1].mean())))
        found = {"the adaptive test": Ends(taken.mean[:, -1], taken.std[:, -1]), "all answers": ends_of(items, people)}
        if most < table.shape[1] or stop is not None:
            found["the best fixed form"] = ends_of(items, people, first_items(items, people, n)[1])
            found["random items"] = ends_of(items, people, random_items(people, list(items.items_), n, rng))
        for name, one in found.items():
            parts.setdefault(name, []).append(one)
    ends = {name: Ends(*map(np.concatenate, zip(*one, strict=True))) for name, one in parts.items()}
    return ends, np.concatenate(lengths)


def _judged(ends: dict[str, Ends], whole: Ends, lengths: np.ndarray, name: str) -> dict[str, Any]:
    from adaptive import diagnostics

    n, questions = len(lengths), float(lengths.mean())
    print(f"{n} people of {name} take it, too, each while the items are learnt from others ({FOLDS} folds).")
    if len(ends) > 1:
        print(
            "A distance is the root mean square of an estimate less that by all of a person's answers, its own "
            f"among them.\nAll answers have a reliability of {_reliability(whole):.2f}."
        )
    ours, found = ends["the adaptive test"], {}
    for kind, one in ends.items():
        off, extra = one.mean - whole.mean, one.std**2 - whole.std**2
        expected = float(np.sqrt(max(extra.mean(), 0.0)))
        found[kind] = {
            "reliability": _reliability(one), "distance": float(np.sqrt(np.mean(off**2))),
            "expected distance": expected, "deviation": float(one.std.mean()),
            "along the trait": along(whole.mean, one.std, off, "distance"),
        }  # fmt: skip
        said = f"  {kind} ({questions:.1f} questions on average): reliability {found[kind]['reliability']:.2f}"
        if len(ends) > 1:
            said += f", distance {found[kind]['distance']:.2f} ({expected:.2f} by what the tests state)"
        if one is ours:
            sure = diagnostics.beside({"square_error": (off**2, extra)}, "what is stated", of="people")
            too_sure = "the best fixed form" in ends and sure is not None and sure["difference"] > sure["margin"]
            found[kind]["surer than it may be"] = too_sure
            said += "\n    (certainly more than stated: the model is too sure of these people)" if too_sure else ""
        else:
            judges = {"square_error": ((ours.mean - whole.mean) ** 2, off**2)}
            found[kind]["beside the adaptive test"] = against = diagnostics.beside(judges, kind, of="people")
            said += f"; {verdict_in_words(against)}"
        print(said)
    return {"people": n, "folds": FOLDS, "questions": questions, "all answers": _reliability(whole), "tests": found}


def _reliability(ends: Ends) -> float:
    spread = float(ends.mean.var())
    return spread / (spread + float(np.mean(ends.std**2)))
