"""Build ``results/README.md``: every verdict, every figure with its caption, every table.

Run it from the repository root after a script has written new results::

    python -m experiments.index            # writes the page
    python -m experiments.index --check    # only says whether the page is up to date
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from experiments import claims

_INTRODUCTION = """# Results

What the sources claim, what we hoped for, and what came out. Everything here is written by the scripts in
[`experiments/`](../experiments); the numbers with their environment are in [`claims.json`](claims.json).
This page is built by `python -m experiments.index`.
"""


def page(results: Path = claims.RESULTS) -> str:
    """Return the page's text for what lies in ``results``."""
    entries = claims.load(results)
    parts = [_INTRODUCTION, _summary(entries)]
    for kind, title in (("to judge", "## Claims judged"), ("must hold", "## What must hold")):
        rows = [entry for entry in entries if entry["kind"] == kind]
        if rows:
            parts += [title, _verdicts(rows)]
    figures = sorted((results / "figures").glob("*.png"))
    if figures:
        parts.append("## Figures")
        parts += [f"### {path.stem}\n\n![{path.stem}](figures/{path.name})\n\n{_caption(path)}" for path in figures]
    tables = sorted((results / "tables").glob("*.csv"))
    if tables:
        parts.append("## Tables")
        parts.append("\n".join(f"- [{path.stem}](tables/{path.name}): {_caption(path)}" for path in tables))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _summary(entries: list[dict[str, Any]]) -> str:
    counts = Counter(entry["verdict"] for entry in entries)
    if not entries:
        return "No verdict yet."
    return f"{len(entries)} verdicts: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in claims.VERDICTS) + "."


def _verdicts(entries: list[dict[str, Any]]) -> str:
    lines = ["| id | claim | target | value | verdict | script |", "|---|---|---|---|---|---|"]
    for entry in entries:
        verdict = f"**{entry['verdict']}**" + (f": {entry['reason']}" if entry["reason"] else "")
        script = f"[{Path(entry['script']).name}](../{entry['script']})"
        cells = (entry["id"], entry["claim"], _text(entry["target"]), _text(entry["value"]), verdict, script)
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)


def _text(value: Any) -> str:
    """A value for a table cell: floats to four digits, lists and mappings spelled out."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_text(one)}" for key, one in value.items())
    return "" if value is None else str(value)


def _caption(path: Path) -> str:
    beside = path.with_suffix(".txt")
    return beside.read_text(encoding="utf-8").strip() if beside.is_file() else "(no caption)"


def main(arguments: list[str], results: Path = claims.RESULTS) -> int:
    """Write the page, or with ``--check`` compare it; the exit code says whether all is well."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m experiments.index [--check]", file=sys.stderr)
        return 2
    target, text = results / "README.md", page(results)
    if not arguments:
        results.mkdir(parents=True, exist_ok=True)
        claims.replace(target, text)
    elif not target.is_file() or target.read_text(encoding="utf-8") != text:
        print("results/README.md is out of date: run python -m experiments.index", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
