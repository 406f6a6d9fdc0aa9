"""The page of a chapter: target, what came out and verdict of each claim in a line, the details folded below."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from experiments import claims
from experiments.catalogue import minutes
from experiments.report.cells import anchor, escaped, row, sentence, text, wrapped
from experiments.report.decisive import came_out
from experiments.report.groups import BY_TESTS, Book, Group, Row, state
from experiments.superseded import SUPERSEDED

__all__ = ["Links", "book_page", "caption", "counts", "group_page"]

ORDER = (*claims.VERDICTS, "shown by tests", "nothing to compute", "not built yet")


class Links(NamedTuple):
    """Where a page finds the results, the repository and the summary."""

    results: str
    root: str
    home: str


BESIDE = Links("..", "../..", "../README.md")


def book_page(book: Book, links: Links = BESIDE) -> str:
    """Return the contents of a book of several pages."""
    named = [page.title.removeprefix(book.title.split(":")[0]).lstrip(":, ") for page in book.pages]
    lines = [f"# {book.title}", "", f"{book.about} [All results]({links.home}).", ""]
    found = [Counter(map(state, page.rows)) for page in book.pages]
    columns = [name for name in ORDER if any(of[name] for of in found)]
    lines += [row("page", *columns), row("---", *["---:"] * len(columns))]
    for page, name, of in zip(book.pages, named, found, strict=True):
        lines.append(row(f"[{name[0].upper() + name[1:]}]({page.key}.md)", *(str(of[one] or "") for one in columns)))
    return "\n".join(lines) + "\n"


def group_page(group: Group, results: Path = claims.RESULTS, links: Links = BESIDE) -> str:
    """Return the text of a page."""
    places = _places(group)
    first = "what the source says" if group.folder == "sources" else "claim"
    judged = [one for one in group.rows if one.entry is not None]
    lines = [f"# {group.title}", "", f"{group.about} {counts(group)}. [All results]({links.home}).", ""]
    if judged:
        lines += [
            "An id leads to its details: everything that came out, with pictures, tables and the script. In a clone, "
            "`python -m experiments ID` repeats a claim; `--quick` takes seconds.",
            "",
            row("id", first, "target", "what came out", "verdict"),
            row(*["---"] * 5),
            *(_line(one) for one in judged),
            "",
        ]
    lines += _folded_rows([one for one in group.rows if one.entry is None])
    lines += ["## Details", ""] if judged else []
    for one in judged:
        lines += _details(one, results, links, places)
    return "\n".join(lines).strip() + "\n"


def counts(group: Group) -> str:
    """Return how many rows have which verdict, in words."""
    found = Counter(map(state, group.rows))
    return f"{len(group.rows)} rows: " + ", ".join(f"{found[name]} {name}" for name in ORDER if found[name])


def caption(results: Path, kind: str, name: str) -> str:
    """Return the caption of a figure or table."""
    path = results / kind / f"{name}.txt"
    return " ".join(path.read_text(encoding="utf-8").split()) if path.is_file() else ""


def _places(group: Group) -> dict[str, str]:
    """Return for each picture the id whose details show it: its own, else the first that has it."""
    judged = [one for one in group.rows if one.entry is not None]
    first = {name: one.id for one in reversed(judged) for name in one.pictures}
    own = {name: one.id for one in judged for name in one.pictures if name == one.id or name.startswith(f"{one.id}-")}
    return first | own


def _line(one: Row) -> str:
    entry = one.entry or {}
    by_tests = entry["script"] == BY_TESTS
    return row(
        f"[{one.id}](#{anchor(one.id)})",
        escaped(one.says),
        "its tests pass" if by_tests else escaped(text(entry["target"])),
        escaped(_of_tests(one) if by_tests else came_out(entry)),
        f"**{state(one)}**" + (", superseded" if one.id in SUPERSEDED else ""),
    )


def _of_tests(one: Row) -> str:
    """How many cases of how many tests pass."""
    value = (one.entry or {})["value"]
    if not isinstance(value, dict):
        return text(value)
    cases = sum(int(str(of).split()[0]) for of in value.values())
    return f"{cases} case{'s' * (cases != 1)} of {len(value)} test{'s' * (len(value) != 1)} passed"


def _folded_rows(rows: list[Row]) -> list[str]:
    """Illustrations and what is not built: one line that opens."""
    if not rows:
        return []
    lines = [f"- {one.id}: {escaped(one.says)} ({one.without})" for one in rows]
    one = "row" if len(rows) == 1 else "rows"
    return [*_folded(f"{len(rows)} {one} without a verdict: illustrations of the source", lines), ""]


def _folded(summary: str, lines: list[str]) -> list[str]:
    """Lines that a reader opens; the empty ones let Markdown go on inside."""
    return [f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"]


def _details(one: Row, results: Path, links: Links, places: dict[str, str]) -> list[str]:
    entry = one.entry or {}
    lines = [f"### {one.id}", "", escaped(one.says), ""]
    said = {
        "verdict": f"{state(one)}, {entry['kind']}" + (f"; {entry['by']}" if entry["by"] else ""),
        "target": text(entry["target"]) + f" (since {entry['since']}"
        + "".join(f"; until {old['until']}: {text(old['target'])}" for old in entry["before"]) + ")",
        "remark": entry["reason"],
        "seed": text(entry["seed"]),
    }  # fmt: skip
    told = [f"- {name}: {escaped(words)}" for name, words in said.items() if words]
    told += [
        f"- table: [{name}]({links.results}/tables/{name}.csv): {escaped(caption(results, 'tables', name))}"
        for name in one.tables[:6]
    ]
    lines += [line for words in told for line in wrapped(words)]
    elsewhere = [name for name in one.pictures if places[name] != one.id]
    lines += [f"- picture: [{name}](#{anchor(places[name])})" for name in elsewhere]
    minutes_of = "" if entry["script"] == BY_TESTS else minutes(entry["script"], results)
    lines += [
        f"- script: [{entry['script']}]({links.root}/{entry['script']})"
        + (f", minutes of one processor: {minutes_of}" if minutes_of else ""),
        "",
        *_folded("All that came out", [*_values(entry["value"]), *wrapped(f"- {escaped(entry['environment'])}")]),
    ]
    for name in one.pictures:
        if name not in elsewhere:
            said_of = caption(results, "figures", name)
            alt, picture = escaped(sentence(said_of)), f"{links.results}/figures/{name}.png"
            lines += ["", *_folded(f"Picture: {name}", [f"![{alt}]({picture})", "", *wrapped(escaped(said_of))])]
    return [*lines, ""]


def _values(value: object, indent: str = "") -> list[str]:
    """Everything that came out, an item a line."""
    if not isinstance(value, dict):
        return wrapped(f"- {escaped(text(value))}", indent)
    lines = []
    for key, one in value.items():
        if isinstance(one, dict) and not indent:
            lines += [f"- {escaped(key)}:", *_values(one, "  ")]
        else:
            lines += wrapped(f"- {escaped(key)}: {escaped(text(one))}", indent)
    return lines
