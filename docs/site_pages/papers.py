"""Pages of papers and domains: those of ``results/``, with links as the site needs them."""

from __future__ import annotations

from pathlib import Path

from experiments.report.group_page import Links, group_page
from experiments.report.groups import groups

__all__ = ["write"]

LINKS = Links("../../results", "../..", "index.md")


def write(folder: Path) -> None:
    """Write a page for each source and each domain."""
    folder.mkdir(exist_ok=True)
    for group in groups():
        path, text = folder / f"{group.key}.md", group_page(group, links=LINKS)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
