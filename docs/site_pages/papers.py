"""Pages of papers and domains: those of ``results/``, with links as the site needs them."""

from __future__ import annotations

from pathlib import Path

from experiments.report.group_page import Links, book_page, group_page
from experiments.report.groups import books

__all__ = ["write"]

LINKS = Links("../../results", "../..", "index.md")


def write(folder: Path) -> None:
    """Write the pages of each source and each domain; those of chapters that are gone disappear."""
    folder.mkdir(exist_ok=True)
    wanted = {}
    for book in books():
        wanted |= {page.key: group_page(page, links=LINKS) for page in book.pages}
        if len(book.pages) > 1:
            inner = "\n".join(page.key for page in book.pages)
            wanted[book.key] = f"{book_page(book, LINKS)}\n```{{toctree}}\n:hidden:\n\n{inner}\n```\n"
    for key, text in wanted.items():
        path = folder / f"{key}.md"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.stem not in wanted and path.name != "index.md":
            path.unlink()
