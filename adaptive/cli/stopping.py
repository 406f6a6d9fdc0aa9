"""Stopping rules as they are written on a command line: any of them ends the run.

200              so many answers
stable           predictions moved little for a while
information=0.01 the best question left is expected to teach less, in nats
next20=1.2       the next 20 answers together can tell at most so many nats, by the model's own estimate
minutes=30       of the command's own time
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated

import typer

from adaptive.cli.errors import CommandError

if TYPE_CHECKING:
    from adaptive.loop.stopping import StoppingRule

__all__ = ["Stop", "stopping_rule"]

Stop = Annotated[
    list[str] | None,
    typer.Option(
        help="When to stop: a number of answers, stable (predictions settle), information=NATS (less is left to "
        "learn), next20=NATS (the next 20 answers together can tell no more) or minutes=M; repeatable, the first to "
        "hold ends the run.",
        metavar="RULE",
    ),
]


def stopping_rule(texts: Sequence[str]) -> StoppingRule | None:
    """Return the rule that holds when one of these does; None without any.

    Raises
    ------
    CommandError
        If a text is no rule.
    """
    return reduce(or_, map(_rule, texts)) if texts else None


def _rule(text: str) -> StoppingRule:
    from adaptive.loop import AtMost, InformationLeft, MaxCost, MaxSeconds, StablePredictions

    name, _, number = text.strip().partition("=")
    if name == "stable" and not number:
        return StablePredictions()
    rules: dict[str, Callable[[float], StoppingRule]] = {
        "answers": MaxCost,  # each costs 1
        "information": InformationLeft,
        "next20": AtMost,
        "minutes": lambda minutes: MaxSeconds(60 * minutes),
    }
    if not number:
        name, number = "answers", name
    try:
        return rules[name](float(number))
    except (KeyError, ValueError):
        raise CommandError(
            f"--stop {text!r} is no rule; write a number of answers, stable, information=NATS, next20=NATS or "
            "minutes=M."
        ) from None
