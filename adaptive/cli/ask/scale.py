"""Answers of a questionnaire that are numbers count as these numbers: who types 0 is recorded with 0."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from adaptive.cli.errors import CommandError
from adaptive.labelling.naming import number_in

if TYPE_CHECKING:
    from adaptive.cli.ask.questionnaire_file import QuestionnaireFile

__all__ = ["scale_of"]


def scale_of(asked: QuestionnaireFile, usual: tuple[int, ...]) -> tuple[int, ...]:
    """Return what the first, second, ... answer of every item counts as.

    Parameters
    ----------
    asked : QuestionnaireFile
    usual : tuple of int
        Where the answers are words.

    Raises
    ------
    CommandError
        If answers are numbers that do not increase, or would count as others.
    """
    numbered = {item.id: [number_in(one) for one in item.answers] for item in asked.items}
    whole = {
        name: tuple(int(one) for one in row if one is not None)
        for name, row in numbered.items()
        if all(isinstance(one, int) for one in row)
    }
    longest = max(whole.values(), key=len, default=())
    scale = longest if len(longest) == len(usual) else usual
    for name, numbers in whole.items():
        if any(b <= a for a, b in pairwise(numbers)):
            raise CommandError(f"item {name!r}: answers that are numbers must increase, got {_listed(numbers)}.")
        if len(numbers) <= len(scale) and numbers != scale[: len(numbers)]:
            raise CommandError(
                f"item {name!r}: the answers {_listed(numbers)} would count as {_listed(scale[: len(numbers)])}; write "
                "them in words, or number the answers of all items alike."
            )
    return scale


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))
