"""A questionnaire as a TOML file, read and checked: `keys.KEYS` says what may stand in it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive.cli.ask.keys import FREE, KEYS, LISTS
from adaptive.cli.errors import CommandError

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.pools import ItemRules

__all__ = ["AttentionItem", "Item", "QuestionnaireFile", "read_questionnaire"]


@dataclass(frozen=True)
class Item:
    """One question of the file."""

    id: Any
    text: str
    answers: list[str]
    trait: str | None
    reverse: bool
    content: str | None = None


@dataclass(frozen=True)
class AttentionItem:
    """One question with a right answer."""

    text: str
    answers: list[str]
    right: int
    after: int


@dataclass(frozen=True)
class QuestionnaireFile:
    """A file, checked; `lang` to `texts`, `panel` to `origins` are about pages."""

    title: str
    items: list[Item]
    deviation: float | None
    questions: int | None
    prior: tuple[float, float] | None
    lang: str = "en"
    show_result: bool = False
    may_skip: bool = True
    texts: dict[str, str] = field(default_factory=dict)
    target: str | None = None
    panel: dict[str, Any] | None = None
    one_tap: bool = False
    attention: list[AttentionItem] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    first: Any = None
    exposure: float | None = None
    shares: dict[Any, float] = field(default_factory=dict)

    def rules(self, exposure: float | None = None) -> ItemRules:
        """Return which items may come next; a given exposure takes the place of the file's."""
        from adaptive.estimators.questionnaires.pools import ItemRules

        content = {item.id: item.content for item in self.items}
        cap = self.exposure if exposure is None else exposure
        return ItemRules([item.id for item in self.items], self.first, cap, content, self.shares, self.questions)


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
        wanted = f"[[{section}]]" if section in LISTS else f"[{section}]"
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
        there = {*KEYS[section], *(KEYS.keys() - {""} if not section else ())}
        for key in table:
            if key not in there and section not in FREE:
                listed = ", ".join(sorted(there))
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
        first = content.get("first")
        if "first" in content and first not in seen:
            raise self.fail(self.line_of("", "first"), f"first must be the id of an item, got {first!r}.")
        stop = self.known(content.get("stop", {}), "stop")
        prior = self.known(content.get("prior", {}), "prior")
        questions = stop.get("questions")
        if questions is not None and (isinstance(questions, bool) or not isinstance(questions, int) or questions < 1):
            raise self.fail(
                self.line_of("stop", "questions"), f"questions must be a whole number > 0, got {questions!r}."
            )
        deviation = self.number(stop, "stop", "deviation", None)
        mean, spread = self.number(prior, "prior", "mean", 0.0), self.number(prior, "prior", "deviation", 1.0)
        read = QuestionnaireFile(
            str(content.get("title", self.path.stem)), items, deviation, questions,
            (float(mean or 0.0), float(spread or 1.0)) if prior else None,
            self.lang(), self.flag("show_result", False), self.flag("skip", True), self.texts(), self.target(),
            self.panel(), self.flag("one_tap", False), self.attention(usual), self.origins(), first,
            self.number(content, "", "exposure", None), self.shares(items),
        )  # fmt: skip
        try:
            read.rules()
        except ValueError as problem:
            raise self.fail(self.line_of("", "exposure"), str(problem)) from None
        return read

    def shares(self, items: list[Item]) -> dict[str, float]:
        table = self.known(self.content.get("content", {}), "content")
        for name, share in table.items():
            if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
                raise self.fail(self.line_of("content", name), f"{name} must be a share in (0, 1], got {share!r}.")
        if table and abs(sum(table.values()) - 1.0) > 1e-6:
            raise self.fail(self.line_of("content"), f"the shares must add up to 1, not to {sum(table.values()):g}.")
        for k, item in enumerate(items):
            if table and item.content not in table:
                raise self.fail(
                    self.line_of("items", "content", k), f"item {item.id!r} has a content that [content] lacks."
                )
        empty = sorted(table.keys() - {item.content for item in items})
        if empty:
            raise self.fail(self.line_of("content", empty[0]), f"no item has the content {empty[0]!r}.")
        return {name: float(share) for name, share in table.items()}

    def attention(self, usual: list[str] | None) -> list[AttentionItem]:
        rows = self.content.get("attention", [])
        if not isinstance(rows, list):
            raise self.fail(self.line_of("attention"), "each attention item begins with a line [[attention]].")
        return [self.attention_item(row, k, usual) for k, row in enumerate(rows)]

    def attention_item(self, row: Any, number: int, usual: list[str] | None) -> AttentionItem:
        row = self.known(row, "attention", number)
        text, after = row.get("text"), row.get("after", 5)
        if not isinstance(text, str) or not text.strip():
            raise self.fail(self.line_of("attention", "text", number), f"attention item {number + 1} has no text.")
        own = self.answers(row["answers"], "attention", number) if "answers" in row else usual
        if own is None or row.get("right") not in own:
            raise self.fail(
                self.line_of("attention", "right", number),
                f"right must be one of the answers, got {row.get('right')!r}.",
            )
        if isinstance(after, bool) or not isinstance(after, int) or after < 0:
            raise self.fail(
                self.line_of("attention", "after", number), f"after must be a whole number >= 0, got {after!r}."
            )
        return AttentionItem(text, own, own.index(row["right"]), after)

    def origins(self) -> list[str]:
        found = self.known(self.content.get("api", {}), "api").get("origins", [])
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise self.fail(self.line_of("api", "origins"), f"origins must be a list of texts, got {found!r}.")
        return found

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

    def panel(self) -> dict[str, Any] | None:
        if "panel" not in self.content:
            return None
        table = self.known(self.content["panel"], "panel")
        for key, value in table.items():
            if key == "screen_out":
                if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                    raise self.fail(
                        self.line_of("panel", key), f"screen_out must be a whole number > 0, got {value!r}."
                    )
                if not self.content.get("attention"):
                    raise self.fail(self.line_of("panel", key), "screen_out needs items of [[attention]].")
            elif not isinstance(value, str):
                raise self.fail(self.line_of("panel", key), f"{key} must be a text, got {value!r}.")
        if not table.get("participant"):
            raise self.fail(self.line_of("panel"), 'a panel needs participant = "..."; for instance "PROLIFIC_PID".')
        return table

    def flag(self, key: str, default: bool) -> bool:
        value = self.content.get(key, default)
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
        texts = all(isinstance(row.get(key, ""), str) for key in ("trait", "content"))
        if not isinstance(row.get("id", ""), (str, int)) or not texts:
            raise self.fail(
                self.line_of("items", None, number), "id must be a text or a number, trait and content texts."
            )
        return Item(row.get("id", number + 1), text, list(own or []), row.get("trait"), bool(row.get("reverse", False)),
                    row.get("content"))  # fmt: skip
