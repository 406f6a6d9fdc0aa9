"""Words on what is learnt beside strengths, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.cli.understanding import counted

if TYPE_CHECKING:
    from adaptive.cli.rank.model import Choice
    from adaptive.cli.rank.tables import Known

__all__ = ["in_words"]

WEAK = 20  # times: evidence below it is called weak
MANY = 1e6  # times: beyond it the number says nothing more


def in_words(choice: Choice, known: Known, best: list[str], table: str) -> str:
    """Return sentences about the model of a table, where ``best`` are its best items, as many as are looked for."""
    said = [_of_judges(choice, known, best), _of_tastes(known, table)] if known.judged else []
    learnt = [name for name, yes in (("ties", choice.ties), ("an advantage of one side", choice.sides)) if yes]
    left = [] if choice.ties else ["ties" if np.any(known.y == 0) else "ties (--ties learns them)"]
    if not choice.sides:
        why = "" if known.sided else " (the table does not say who was shown first)"
        left.append(f"an advantage of one side{why}")
    parts = [f"learnt beside strengths: {' and '.join(learnt)}"] * bool(learnt)
    parts += [f"not learnt: {' and '.join(left)}"] * bool(left)
    said.append("; ".join(parts).capitalize() + ".")
    return "\n".join(said)


def _of_judges(choice: Choice, known: Known, best: list[str]) -> str:
    """Say if judges err at rates of their own, and if the best items hang on it."""
    n = len({row[2] for row in known.rows})
    who = counted(n, "judge") + (f" (column {known.who})" if known.who != "judge" else "")
    if choice.gain is None or choice.other is None:
        return (
            f"The {who} may each err at a rate of their own (--no-judges: all answers count alike)."
            if choice.judges
            else f"The answers of the {who} count alike."
        )
    times = (
        "a million times or more" if abs(choice.gain) > np.log(MANY) else f"{_round(np.exp(abs(choice.gain)))} times"
    )
    rival, probability = choice.other
    rival = [rival] if isinstance(rival, str) else rival  # of a run that an earlier version began
    if choice.judges:
        weak = ", which is weak evidence" if choice.gain < np.log(WEAK) else ""
        said = (
            f"Model: the {who} each err at a rate of their own, which makes the table {times} as probable as answers "
            f"that all count alike (--no-judges){weak}."
        )
        other = "With answers that all count alike"
    else:
        # a small gain of judges is none
        less = "hardly more probable" if choice.gain > -np.log(1.5) else f"{times} less probable"
        said = (
            f"Model: the answers of the {who} count alike. That each errs at a rate of their own would make the table "
            f"{less} (--judges)."
        )
        other = "With judges who err"
    which = "the best" if len(best) == 1 else f"the best {len(best)}"
    same = f"{which} would be {', '.join(rival)}"
    same = f"{same} too" if set(rival) == set(best) else f"{same}, not {', '.join(best)}"
    return f"{said} {other}, {same} (probability {probability:.2f})."


def _of_tastes(known: Known, table: str) -> str:
    """Say where differing tastes are tested; of a table that `adaptive prefer` reads as it is, by which command."""
    if known.who.strip().lower() in ("user", "person", "who") and not known.sided:
        return f"Whether tastes differ is tested by: adaptive prefer {table}"
    return "Whether tastes differ is tested by adaptive prefer, on a table with columns user, winner and loser."


def _round(times: float) -> str:
    return f"{float(f'{times:.1g}'):,.0f}" if times >= 10 else f"{times:.1f}"
