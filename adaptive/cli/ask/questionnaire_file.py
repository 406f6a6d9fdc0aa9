"""A questionnaire as a TOML file: what is asked, with which answers, when to stop.

title = "Ten words"
answers = ["never", "sometimes", "often"]        # count as 1, 2, ...; if no item has more than two: 0, 1;
                                                 # answers that are numbers ("0", "1", "2") count as these
target = "total"                                 # optional: ask for the total score, not for the traits
[[items]]
text = "I make lists."                           # optional: id, trait, reverse, answers of its own
[stop]
deviation = 0.4                                  # and, or, questions = 20; of the total where that is the target
[prior]
mean = 0.0
deviation = 1.0

Of pages (`adaptive serve`) there may be, above the items, lang = "de", show_result = false (only thanks at the end),
skip = false (every question is answered), and [texts] with words of your own for what the pages say. People of a panel:

[panel]
participant = "PROLIFIC_PID"                     # the parameter of its links that says who somebody is
done = "https://app.prolific.com/submissions/complete?cc=CODE"   # optional; {participant} is filled in
consent = "..."                                  # optional: to agree to before anything is asked
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adaptive.cli.errors import CommandError

__all__ = ["Item", "QuestionnaireFile", "read_questionnaire"]

_KNOWN = {
    "": {"title", "answers", "target", "items", "stop", "prior", "lang", "show_result", "skip", "texts", "panel"},
    "items": {"text", "id", "trait", "reverse", "answers"},
    "stop": {"deviation", "questions"},
    "prior": {"mean", "deviation"},
    "panel": {"participant", "done", "consent"},
}


@dataclass(frozen=True)
class Item:
    """One question of the file."""

    id: Any
    text: str
    answers: list[str]
    trait: str | None
    reverse: bool


@dataclass(frozen=True)
class QuestionnaireFile:
    """A file, checked; the four before ``target``, and ``panel``, are about pages."""

    title: str
    items: list[Item]
    deviation: float | None
    questions: int | None
    prior: tuple[float, float] | None
    lang: str = "en"
    show_result: bool = True
    may_skip: bool = True
    texts: dict[str, str] = field(default_factory=dict)
    target: str | None = None
    panel: dict[str, str] | None = None


def read_questionnaire(path: Path) -> QuestionnaireFile:
    """Read and check a file; a CommandError names the line at fault."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise CommandError(f"{path} cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError:
        raise CommandError(f"{path} is not text in UTF-8.") from None
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise CommandError(f"{path} is not TOML: {problem}.") from None
    return _Reader(path, text.splitlines(), content).read()


class _Reader:
    """The checks of one file, and where in it things are."""

    def __init__(self, path: Path, lines: list[str], content: dict[str, Any]) -> None:
        self.path, self.lines, self.content = path, lines, content

    def fail(self, line: int | None, message: str) -> CommandError:
        return CommandError(f"{self.path}{'' if line is None else f', line {line}'}: {message}")

    def line_of(self, section: str, key: str | None = None, number: int = 0) -> int | None:
        """The line of a key within a section (the ``number``-th of its kind); of the section where it has none."""
        headings = [k for k, line in enumerate(self.lines) if line.replace(" ", "").startswith("[")]
        wanted = f"[[{section}]]" if section == "items" else f"[{section}]"
        starts = [k for k in headings if self.lines[k].replace(" ", "").startswith(wanted)] if section else [-1]
        if number >= len(starts):
            return None
        start = starts[number]
        end = next((k for k in headings if k > start), len(self.lines))
        for k in range(start + 1, end):
            if key is not None and self.lines[k].partition("=")[0].strip() == key:
                return k + 1
        return start + 1 if start >= 0 else None

    def known(self, table: Any, section: str, number: int = 0) -> dict[str, Any]:
        if not isinstance(table, dict):
            raise self.fail(self.line_of(section, None, number), f"{section} must be a table.")
        for key in table:
            if key not in _KNOWN[section]:
                listed = ", ".join(sorted(_KNOWN[section]))
                raise self.fail(
                    self.line_of(section, key, number), f"{key!r} is not known here; there may be {listed}."
                )
        return table

    def read(self) -> QuestionnaireFile:
        content = self.known(self.content, "")
        usual = self.answers(content["answers"], "", 0) if "answers" in content else None
        rows = content.get("items")
        if not isinstance(rows, list) or not rows:
            raise self.fail(None, "there are no items; each begins with a line [[items]].")
        items = [self.item(row, k, usual) for k, row in enumerate(rows)]
        seen: dict[Any, int] = {}
        for k, item in enumerate(items):
            if item.id in seen:
                line = self.line_of("items", "id", k)
                raise self.fail(line, f"two items are called {item.id!r}; the first is item {seen[item.id] + 1}.")
            seen[item.id] = k
        if any((one.trait is None) != (items[0].trait is None) for one in items):
            k = next(k for k, one in enumerate(items) if (one.trait is None) != (items[0].trait is None))
            raise self.fail(self.line_of("items", None, k), "either all items have a trait or none has.")
        stop = self.known(content.get("stop", {}), "stop")
        prior = self.known(content.get("prior", {}), "prior")
        questions = stop.get("questions")
        if questions is not None and (isinstance(questions, bool) or not isinstance(questions, int) or questions < 1):
            raise self.fail(
                self.line_of("stop", "questions"), f"questions must be a whole number > 0, got {questions!r}."
            )
        deviation = self.number(stop, "stop", "deviation", None)
        mean, spread = self.number(prior, "prior", "mean", 0.0), self.number(prior, "prior", "deviation", 1.0)
        return QuestionnaireFile(
            str(content.get("title", self.path.stem)), items, deviation, questions,
            (float(mean or 0.0), float(spread or 1.0)) if prior else None,
            self.lang(), self.flag("show_result"), self.flag("skip"), self.texts(), self.target(),
            self.panel(),
        )  # fmt: skip

    def lang(self) -> str:
        value = self.content.get("lang", "en")
        if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", value):
            raise self.fail(self.line_of("", "lang"), f'lang must be a language such as "de", got {value!r}.')
        return value

    def target(self) -> str | None:
        value = self.content.get("target")
        if value not in (None, "total"):
            raise self.fail(self.line_of("", "target"), f'target must be "total" or left out, got {value!r}.')
        return value

    def panel(self) -> dict[str, str] | None:
        if "panel" not in self.content:
            return None
        table = self.known(self.content["panel"], "panel")
        for key, value in table.items():
            if not isinstance(value, str):
                raise self.fail(self.line_of("panel", key), f"{key} must be a text, got {value!r}.")
        if not table.get("participant"):
            raise self.fail(self.line_of("panel"), 'a panel needs participant = "..."; for instance "PROLIFIC_PID".')
        return table

    def flag(self, key: str) -> bool:
        value = self.content.get(key, True)
        if not isinstance(value, bool):
            raise self.fail(self.line_of("", key), f"{key} must be true or false, got {value!r}.")
        return value

    def texts(self) -> dict[str, str]:
        value = self.content.get("texts", {})
        if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
            raise self.fail(self.line_of("texts"), "texts must be a table of texts.")
        return value

    def number(self, table: dict[str, Any], section: str, key: str, default: float | None) -> float | None:
        value = table.get(key, default)
        if value is None:
            return None
        wrong = isinstance(value, bool) or not isinstance(value, (int, float)) or value != value
        if wrong or (key == "deviation" and value <= 0):
            bound = " > 0" if key == "deviation" else ""
            raise self.fail(self.line_of(section, key), f"{key} must be a number{bound}, got {value!r}.")
        return float(value)

    def answers(self, value: Any, section: str, number: int) -> list[str]:
        if not isinstance(value, list) or not 2 <= len(value) <= 10 or not all(isinstance(one, str) for one in value):
            raise self.fail(self.line_of(section, "answers", number), "answers must be a list of 2 to 10 texts.")
        return value

    def item(self, row: Any, number: int, usual: list[str] | None) -> Item:
        row = self.known(row, "items", number)
        text = row.get("text")
        if not isinstance(text, str) or not text.strip():
            raise self.fail(self.line_of("items", "text", number), f"item {number + 1} has no text.")
        if "answers" not in row and usual is None:
            raise self.fail(self.line_of("items", None, number), f"item {number + 1} has no answers, nor has the file.")
        own = self.answers(row["answers"], "items", number) if "answers" in row else usual
        if not isinstance(row.get("reverse", False), bool):
            raise self.fail(self.line_of("items", "reverse", number), "reverse must be true or false.")
        if not isinstance(row.get("id", ""), (str, int)) or not isinstance(row.get("trait", ""), str):
            raise self.fail(self.line_of("items", None, number), "id must be a text or a number, trait a text.")
        return Item(row.get("id", number + 1), text, list(own or []), row.get("trait"), bool(row.get("reverse", False)))
