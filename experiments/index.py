"""Build the pages of ``results/`` from ``claims.json``: the summary, a page for each chapter of a source or a domain,
and the guide's page of what was measured. Links of ``docs/`` to a claim are led to the page that it stands on.

Run it from the repository root after a script has written new results::

    python -m experiments.index            # writes the pages
    python -m experiments.index --check    # only says whether they are up to date
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from experiments import claims
from experiments.report.cells import anchor
from experiments.report.group_page import book_page, group_page
from experiments.report.groups import books, groups
from experiments.report.measured import PAGE, measured
from experiments.report.summary import summary

__all__ = ["main", "pages"]

DOCS = claims.RESULTS.parent / "docs"
LINK = re.compile(r"papers/([\w-]+)\.md#([\w-]+)")


def pages(results: Path = claims.RESULTS) -> dict[str, str]:
    """Return the text of every page by its path below ``results``."""
    of_groups = {f"{group.folder}/{group.key}.md": group_page(group, results) for group in groups(results)}
    of_books = {f"{one.folder}/{one.key}.md": book_page(one) for one in books(results) if len(one.pages) > 1}
    of_guide = {os.path.relpath(PAGE, results): measured(results)} | _relinked() if results == claims.RESULTS else {}
    return {"README.md": summary(results)} | of_books | of_groups | of_guide


def _relinked() -> dict[str, str]:
    """Return the pages of the docs whose links to claims lead to another page than that on which they stand."""
    stands = {anchor(row.id): page.key for page in groups() for row in page.rows}
    found = {}
    for path in sorted(DOCS.rglob("*.md")):
        if "build" in path.parts or path == PAGE or (path.parent == DOCS / "papers" and path.name != "index.md"):
            continue
        old = path.read_text(encoding="utf-8")
        new = LINK.sub(lambda one: f"papers/{stands.get(one[2], one[1])}.md#{one[2]}", old)
        if new != old:
            found[os.path.relpath(path, claims.RESULTS)] = new
    return found


def stale(results: Path = claims.RESULTS) -> list[str]:
    """Return the pages that are absent, differ from what is recorded, or belong to nothing any more."""
    wanted = pages(results)
    written = [path for folder in ("sources", "domains") for path in (results / folder).glob("*.md")]
    changed = [
        name for name, text in wanted.items()
        if not (results / name).is_file() or (results / name).read_text(encoding="utf-8") != text
    ]  # fmt: skip
    return changed + sorted({f"{path.parent.name}/{path.name}" for path in written} - set(wanted))


def main(arguments: list[str], results: Path = claims.RESULTS) -> int:
    """Write the pages, or with ``--check`` compare them; the exit code says whether all is well."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m experiments.index [--check]", file=sys.stderr)
        return 2
    old = stale(results)
    if arguments:
        if old:
            print(f"out of date in results/: {', '.join(old)}; run python -m experiments.index", file=sys.stderr)
        return 1 if old else 0
    wanted = pages(results)
    for name in old:
        path = results / name
        if name in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            claims.replace(path, wanted[name])
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
