"""Pages' common ground: where a person is, and what they may do there.

place = desk.place(session)           GET   where one is: a question, or the end
desk.answer(session, number, given)   POST  refused unless the form is about the question that is open
desk.retract(session, number)         POST  the last answer is taken back
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, Protocol

from adaptive.labelling.naming import keys_of, meant
from adaptive.serve.panel import Panel
from adaptive.serve.rendering import Picture, Shown

__all__ = ["TEXTS", "Desk", "Estimate", "Place", "texts"]

SKIP = "skip"
WIDEST = 3.0  # deviations to either side in a picture of people

# What the pages say; a questionnaire may set any of them. {n}, {trait}, {mean}, {low}, {high}, {level} and {percent}
# are filled in.
TEXTS = {
    "begin": "Begin",
    "introduction": "You get one question at a time. Each answer is saved at once: you can close the page and come "
    "back to it.",
    "name": "Your name, for the list of labels (optional)",
    "question": "Question {n}",
    "progress": "done",
    "answer": "Answer",
    "choose": "Your answer",
    "skip": "Skip this question",
    "cannot_tell": "Cannot tell",
    "back": "Take back the last answer",
    "read": "Read my answers",
    "return": "Back to the question",
    "answers": "Your answers",
    "none": "No answers yet.",
    "thanks": "Thank you. Your answers are kept.",
    "result": "{trait}: {mean}; with 95% probability it lies between {low} and {high}.",
    "your_result": "Your result",
    "among": "{trait}: {level}, higher than {percent} of 100 people (with 95% probability, than {low} to {high}).",
    "low": "low",
    "below": "below average",
    "average": "about average",
    "above": "above average",
    "high": "high",
    "screened": "Thank you. The questions end here.",
    "stale": "That question was no longer open, so that answer was not saved. This is where you are now.",
    "missing": "Please choose an answer.",
    "key_tap": "On a keyboard, press 1 to {n} to answer.",
    "key_tap_labels": "On a keyboard, press the digit that names the answer.",
    "key_help": "On a keyboard, press 1 to {n} to choose an answer, and Enter to send it.",
    "key_labels": "On a keyboard, press the digit that names the answer, and Enter to send it.",
    "numbers": "How it goes",
    "may_stop": "You may stop: twenty more answers are expected to raise the accuracy by less than one point.",
    "n_answers": "Answers",
    "n_people": "People",
    "curve": "Answers predicted right before they were given",
    "curve_says": "{percent}% of {n} answers at the end; with 90% probability between {low}% and {high}%",
    "hard": "The rows that were chosen to be asked are the hard ones.",
    "stopping": "When to stop",
    "invitation": "This test is by invitation: open the link that you were sent.",
    "panel": "Please open this test by the link of the panel that sent you.",
    "instructions": "Instructions",
    "agree": "I agree; begin",
    "decline": "I do not agree",
    "leave": "Go back to where you came from",
    "passes": "You passed over many rows. Please answer some, or ask the person who sent you.",
    "full": "All places for labellers are taken.",
    "wait": "There is nothing to ask just now. Others are still answering; please come back later.",
}


def texts(own: dict[str, str]) -> dict[str, str]:
    """Return the texts of the pages, some of them set by the questionnaire.

    Raises
    ------
    ValueError
        If there is no such text.
    """
    for name, value in own.items():
        if name not in TEXTS:
            raise ValueError(f"{name!r} is not a text of the pages; there are {', '.join(sorted(TEXTS))}.")
        if not isinstance(value, str):
            raise ValueError(f"the text {name!r} must be a text, got {value!r}.")
    return TEXTS | own


LEVELS = ((0.1, "low"), (0.25, "below"), (0.75, "average"), (0.9, "above"), (1.0, "high"))


@dataclass(frozen=True)
class Estimate:
    """Estimate of a trait, with its 95% interval; ``normed``: in deviations of the people calibrated on.

    Examples
    --------
    >>> one = Estimate("order", 0.2, -0.3, 0.7, normed=True)
    >>> one.of_100(one.mean), one.level
    (58, 'average')
    """

    trait: str
    mean: float
    low: float
    high: float
    normed: bool = False

    @staticmethod
    def of_100(value: float) -> int:
        """Return how many of a hundred people lie below a value."""
        return min(99, max(1, round(100 * NormalDist().cdf(value))))

    @property
    def level(self) -> str:
        """Return the name of the text that says in words how high it is."""
        return next(name for bound, name in LEVELS if NormalDist().cdf(self.mean) <= bound)

    @property
    def band(self) -> tuple[float, float]:
        """Return the ends of the interval as far as the picture goes."""
        return max(self.low, -WIDEST), min(self.high, WIDEST)


def bell(low: float = -WIDEST, high: float = WIDEST) -> str:
    """Return the points of the distribution of people between two values, for a picture 320 wide and 120 high."""
    steps = [low + (high - low) * k / 60 for k in range(61)]
    return " ".join(f"{bell_x(x):.1f},{95 - 85 * NormalDist().pdf(x) / NormalDist().pdf(0):.1f}" for x in steps)


def bell_x(value: float) -> float:
    """Return where a value stands in the picture of `bell`."""
    return 160 + 150 * min(WIDEST, max(-WIDEST, value)) / WIDEST


@dataclass(frozen=True)
class Place:
    """Place of a person on the way.

    Attributes
    ----------
    number : str
        Of the open question; a form that does not name it is stale. Empty at the end.
    shown : Shown or None
        The question.
    answers : list of str
        Their words, in order.
    count : int
        Answers given so far by this person.
    done : float or None
        Share of the test that is done.
    may_skip : bool
    last : str
        Names the answer that may be taken back; empty if there is none.
    estimates : list of Estimate
        At the end, where they are shown.
    waiting : bool
        At the end: whether there may be more to ask later.
    full : bool
        At the end: whether there is no room for this person.
    screened : bool
        At the end: whether it came by wrong answers to attention items.
    may_stop : bool
        Whether further answers are expected to bring little, when it was last looked at.
    """

    number: str = ""
    shown: Shown | None = None
    answers: list[str] = field(default_factory=list)
    count: int = 0
    done: float | None = None
    may_skip: bool = True
    last: str = ""
    estimates: list[Estimate] = field(default_factory=list)
    waiting: bool = False
    full: bool = False
    screened: bool = False
    may_stop: bool = False

    @property
    def numbered(self) -> bool:
        """Return whether keys choose by place; else a digit chooses the answer that it is."""
        tenth = len(self.answers) < 10 or meant("0", self.answers, beginning=True) in ([], [9])
        return tenth and keys_of(self.answers) != self.answers

    @property
    def last_key(self) -> str:
        """Return the key of the last answer that has one, where keys choose by place."""
        return str(len(self.answers)) if len(self.answers) < 10 else "9, 0"

    @property
    def keys(self) -> list[str]:
        """Return the key of each answer, a digit; empty where it has none."""
        if self.numbered:
            return [str((k + 1) % 10) if k < 10 else "" for k in range(len(self.answers))]
        return [key if len(key) == 1 and key.isdecimal() else "" for key in self.answers]


class Desk(Protocol):
    """Protocol of a test or of a pool that is labelled, as the application sees it."""

    title: str
    lang: str
    texts: dict[str, str]
    kind: str  # "survey" or "labelling"
    panel: Panel | None  # that people come from
    question: str  # above every row
    instructions: str
    one_tap: bool  # a tap on an answer sends it

    def place(self, session: int) -> Place:
        """Return where a session is, asking the next question if none is open."""

    def answer(self, session: int, number: str, given: str) -> None:
        """Keep an answer (its place in the list, counted from 0, or "skip") to the question of this number."""

    def retract(self, session: int, last: str) -> None:
        """Take back the last answer, if it is still that one."""

    def given(self, session: int) -> list[tuple[Shown, str]]:
        """Return what a session has answered: questions and words, in order."""

    def picture(self, session: int, position: int) -> Picture | None:
        """Return a picture that this session is being asked about."""

    def numbers(self) -> dict[str, Any] | None:
        """Return how it goes, for everybody; None where that is nobody's business."""

    def heard(self, before: float) -> Collection[int]:
        """Return which of the sessions that were begun before then have said something."""

    def close(self) -> None:
        """Let go of what is open."""


def choice(given: str, n: int) -> int:
    """Return the place of an answer in a list of ``n``; -1 where it is none.

    Examples
    --------
    >>> choice("2", 3), choice("3", 3), choice("-1", 3), choice("²", 3)
    (2, -1, -1, -1)
    """
    known: Sequence[str] = [str(k) for k in range(n)]
    return known.index(given) if given in known else -1
