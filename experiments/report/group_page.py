"""The page of a source or a domain: a line for a claim, the details below."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from experiments import claims
from experiments.catalogue import minutes
from experiments.report.cells import anchor, escaped, row, sentence, shortened, text
from experiments.report.groups import BY_TESTS, Group, Row, state
from experiments.superseded import SUPERSEDED

__all__ = ["Links", "caption", "counts", "group_page"]

ORDER = (*claims.VERDICTS, "shown by tests", "nothing to compute", "not built yet")


class Links(NamedTuple):
    """Where a page finds the results, the repository and the summary."""

    results: str
    root: str
    home: str


BESIDE = Links("..", "../..", "../README.md")


def group_page(group: Group, results: Path = claims.RESULTS, links: Links = BESIDE) -> str:
    """Return the text of a page."""
    places = _places(group)
    first = "what the source says" if group.folder == "sources" else "claim"
    lines = [
        f"# {group.title}",
        "",
        f"{group.about} {counts(group)}. [All results]({links.home}).",
        "",
        f"A line for a claim, in {'the order of the source' if group.folder == 'sources' else 'order of its name'}; "
        "an id leads to its details. Commands run from the folder of the clone; with `--quick` they take seconds. "
        "Minutes are those of one processor in a full run, as measured, else as the script says; a run that took "
        '"over 3" was stopped then. Rows shown by tests are things that were built, whose proof is the library\'s own '
        "tests.",
        "",
        row("id", first, "what came out", "verdict", "picture", "command", "minutes"),
        row(*["---"] * 7),
        *(_line(one, results, places) for one in group.rows),
        "",
        "## Details",
        "",
    ]
    for one in group.rows:
        if one.entry is not None:
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


def _line(one: Row, results: Path, places: dict[str, str]) -> str:
    if one.entry is None:
        return row(one.id, escaped(shortened(one.says, 200)), "", one.without, "", "", "")
    pictures = [f"[{k + 1}](#{anchor(places[name])})" for k, name in enumerate(one.pictures[:3])]
    verdict = f"**{state(one)}**" + (", superseded" if one.id in SUPERSEDED else "")
    return row(
        f"[{one.id}](#{anchor(one.id)})",
        escaped(shortened(one.says, 200)),
        escaped(shortened(_came_out(one), 140)),
        verdict,
        " ".join(pictures),
        f"`{_command(one)}`",
        "" if one.entry["script"] == BY_TESTS else minutes(one.entry["script"], results),
    )


def _command(one: Row) -> str:
    return f"python -m experiments {one.id}"


def _came_out(one: Row) -> str:
    value = (one.entry or {})["value"]
    if (one.entry or {})["script"] == BY_TESTS and isinstance(value, dict):
        return f"{sum(int(str(of).split()[0]) for of in value.values())} cases of {len(value)} tests pass"
    return text(value)


def _details(one: Row, results: Path, links: Links, places: dict[str, str]) -> list[str]:
    entry = one.entry or {}
    lines = [f"### {one.id}", "", escaped(one.says), ""]
    said = {
        "kind": entry["kind"],
        "verdict": state(one),
        "by": entry["by"],
        "target": text(entry["target"]),
        "set": f"{entry['since']}"
        + "".join(f"; before, until {old['until']}: {text(old['target'])}" for old in entry["before"]),
        "value": text(entry["value"]),
        "remark": entry["reason"],
        "seed": text(entry["seed"]),
        "environment": entry["environment"],
    }
    lines += [f"- {name}: {escaped(words)}" for name, words in said.items() if words]
    lines.append(f"- script: [{entry['script']}]({links.root}/{entry['script']})")
    lines.append(f"- command: `{_command(one)}`")
    lines += [
        f"- table: [{name}]({links.results}/tables/{name}.csv): {escaped(caption(results, 'tables', name))}"
        for name in one.tables[:6]
    ]
    elsewhere = [name for name in one.pictures if places[name] != one.id]
    lines += [f"- picture: [{name}](#{anchor(places[name])})" for name in elsewhere]
    for name in one.pictures:
        if name not in elsewhere:
            said_of = caption(results, "figures", name)
            alt = escaped(shortened(sentence(said_of), 160))
            lines += ["", f"![{alt}]({links.results}/figures/{name}.png)", "", escaped(said_of)]
    return [*lines, ""]
