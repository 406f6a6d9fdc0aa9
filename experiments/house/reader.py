"""A reader without patience or knowledge: follows the link nearest in words to its question until it sees the answer.

    nearness of a link = words of the question in its text + half of those in its paragraph

A page is read from where the link led up to the link that is taken, or to the answer. Where no link is near, or all
were tried, it goes back to the start: a wrong turn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

__all__ = ["Found", "find"]

COMMON = {"a", "after", "does", "for", "i", "in", "is", "my", "of", "the", "to", "which", "with"}
BLOCKS = ("p", "li", "td", "h1", "h2", "h3", "pre")


class Found(NamedTuple):
    """What an answer cost: links followed, ways back, words read; ``page`` is "" where it was not found."""

    page: str
    clicks: int
    wrong_turns: int
    words: int


@dataclass
class Link:
    """A link, what stands around it, and after how many characters of the page it comes."""

    target: str
    at: int
    place: str = ""
    text: str = ""
    block: int = 0


@dataclass
class Page(HTMLParser):
    """The text of the main part of a page and its links."""

    source: str
    text: str = ""
    blocks: dict[int, str] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()
        self.inside, self.silent, self.open = 0, 0, False
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count what is open; remember a link."""
        self.inside += tag == "article"
        self.silent += tag in ("script", "style")
        if tag in BLOCKS:
            self.blocks[len(self.blocks)] = ""
        if name := dict(attrs).get("id"):
            self.places.setdefault(name, len(self.text))
        address = dict(attrs).get("href") or ""
        if tag == "a" and self.inside and not urlsplit(address).scheme and not address.startswith("#"):
            parts = urlsplit(address)
            self.links.append(Link(unquote(parts.path), len(self.text), parts.fragment, block=len(self.blocks) - 1))
            self.open = True

    def handle_endtag(self, tag: str) -> None:
        """Count what is closed."""
        self.inside -= tag == "article"
        self.silent -= tag in ("script", "style")
        self.open = self.open and tag != "a"

    def handle_data(self, data: str) -> None:
        """Keep what a reader sees."""
        if not self.inside or self.silent:
            return
        self.text += data + " "
        if self.blocks:
            self.blocks[len(self.blocks) - 1] += data
        if self.open:
            self.links[-1].text += data


def find(root: Path, question: str, answer: str, start: str = "index.html", most: int = 12) -> Found:
    """Return what it costs to come from the start to the text that ``answer``, a regular expression, matches.

    Parameters
    ----------
    root : Path
        Of the built site.
    question, answer : str
    start : str, default "index.html"
    most : int, default 12
        Links after which the reader gives up.
    """
    wanted = _stems(question)
    page, place, tried, clicks, back, words = start, "", {start}, 0, 0, 0
    while clicks <= most:
        seen = Page((root / page).read_text(encoding="utf-8"))
        first = seen.places.get(place, 0)
        if met := re.search(answer.replace(" ", r"\s+"), seen.text[first:]) or re.search(answer, seen.text):
            return Found(page, clicks, back, words + len(met.string[: met.end()].split()))
        near = [(_nearness(link, seen, wanted), link) for link in seen.links if _target(root, page, link) not in tried]
        near = [(score, link) for score, link in near if score > 0 and link.target.endswith(".html")]
        if near:
            _, link = max(near, key=lambda one: one[0])
            words += len(seen.text[min(first, link.at) : link.at].split())
            page, place = _target(root, page, link), link.place
            tried.add(page)
            clicks += 1
        elif page == start:
            break
        else:
            words += len(seen.text[first:].split())
            page, place, back = start, "", back + 1
    return Found("", clicks, back, words)


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"[a-z0-9.]+", text.lower()) if word not in COMMON}


def _nearness(link: Link, page: Page, wanted: set[str]) -> float:
    return len(wanted & _stems(link.text)) + len(wanted & _stems(page.blocks.get(link.block, ""))) / 2


def _target(root: Path, page: str, link: Link) -> str:
    target = ((root / page).parent / link.target).resolve() if link.target else root / page
    return target.relative_to(root.resolve()).as_posix() if target.is_relative_to(root.resolve()) else link.target
