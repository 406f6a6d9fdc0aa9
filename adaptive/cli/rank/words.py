"""Who won, as tables, people and commands say it:  a name, left or right, a or b, 1 or -1, a tie."""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["EXPECTED", "outcome_of", "said"]

_LEFT = ("left", "first", "a", "model_a", "1", "+1", "1.0")
_RIGHT = ("right", "second", "b", "model_b", "2", "-1", "-1.0")
_EVEN = ("tie", "tied", "draw", "even", "equal", "both", "neither", "0", "0.0", "tie (bothbad)")
EXPECTED = "a name, left, right or tie"


def outcome_of(text: str, left: str, right: str, ties: bool = True) -> int | None:
    """Return +1 where the left one won, -1 where the right one did, 0 at a tie; None where the text says neither.

    The name of one of the two always wins over other words.

    Examples
    --------
    >>> [outcome_of(text, "gpt", "a") for text in ("gpt", "a", "Left", "model_b", "draw", "perhaps")]
    [1, -1, 1, -1, 0, None]
    """
    for name, outcome in ((left, 1), (right, -1)):
        if text == name:
            return outcome
    word = text.strip().lower()
    names = {left.strip().lower(): 1, right.strip().lower(): -1}
    if len(names) == 2 and word in names:
        return names[word]
    for words, outcome in ((_LEFT, 1), (_RIGHT, -1), (_EVEN, 0)):
        if word in words:
            return outcome if outcome or ties else None
    return None


def said(printed: str, names: Collection[str], ties: bool) -> str:
    """Return what a command said: the last line that it printed; refuse what is no name and no such word."""
    lines = [line.strip() for line in str(printed).splitlines() if line.strip()]
    text = lines[-1] if lines else ""
    folded = text.lower()
    if text in names or folded in {name.lower() for name in names} or outcome_of(text, "\0", "\1", ties) is not None:
        return text
    shown = f"{text[:60]!r}" if text else "nothing"
    raise ValueError(f"it printed {shown}; expected the winner: {EXPECTED if ties else 'a name, left or right'}.")
