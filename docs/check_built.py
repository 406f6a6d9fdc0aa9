"""Look through the built site: links lead somewhere, nothing is fetched from elsewhere, pictures say what they show.

python docs/check_built.py docs/build/html
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = dict.fromkeys(("script", "img", "iframe", "source", "video", "audio", "embed"), "src")
RESOURCES = ("stylesheet", "preload", "icon", "preconnect", "dns-prefetch", "modulepreload", "manifest")


class Page(HTMLParser):
    """The links, anchors and fetched resources of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.foreign: list[str] = []
        self.silent: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        address = given.get(FETCHED.get(tag, ""), "")
        if tag == "link" and any(word in given.get("rel", "").split() for word in RESOURCES):
            address = given.get("href", "")
        if address:
            (self.foreign if _foreign(address) else self.links).append(address)
        if tag == "a" and "href" in given and not _foreign(given["href"]):
            self.links.append(given["href"])
        if tag == "img" and not given.get("alt", "").strip():
            self.silent.append(given.get("src", "?"))


def _foreign(address: str) -> bool:
    return address.startswith("//") or urlsplit(address).scheme in ("http", "https", "ftp", "mailto")


def problems(root: Path) -> list[str]:
    """Return one line for each thing that is wrong."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(root.rglob("*.html"))
        if "_static" not in path.parts
    }
    if not pages:
        return [f"{root} holds no page"]
    found = []
    for path, page in pages.items():
        where = path.relative_to(root)
        found += [f"{where}: fetches {address}" for address in page.foreign]
        found += [f"{where}: {source} has no alternative text" for source in page.silent]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or (link.startswith("#") and link in ("#", "#top")):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{where}: dead link {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{where}: no such place {link}")
    for path in sorted(root.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        fetched = re.findall(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)", text)
        found += [f"{path.relative_to(root)}: fetches {address}" for address in fetched]
    return found


if __name__ == "__main__":
    said = problems(Path(sys.argv[1]).resolve())
    print(*said, sep="\n", file=sys.stderr)
    print(f"{len(said)} problems in {sys.argv[1]}")
    sys.exit(1 if said else 0)
