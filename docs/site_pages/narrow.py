"""Tables that a phone shows as cards: each cell knows the heading of its column; the style sheet sets it before."""

from __future__ import annotations

from typing import Any

__all__ = ["labelled", "setup"]


def labelled(body: str) -> str:
    """Return the HTML of a page with ``data-label`` on each cell of a table that has headings."""
    if "<thead" not in body:
        return body
    from bs4 import BeautifulSoup

    page = BeautifulSoup(body, "html.parser")
    for table in page.find_all("table"):
        headings = [" ".join(cell.get_text().split()) for cell in table.select("thead tr:last-of-type th")]
        for line in table.select("tbody tr"):
            for cell, heading in zip(line.find_all("td", recursive=False), headings, strict=False):
                cell["data-label"] = heading
    return str(page)


def _label(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    if "body" in context:
        context["body"] = labelled(context["body"])


def setup(app: Any) -> dict[str, bool]:
    """Connect."""
    app.connect("html-page-context", _label)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
