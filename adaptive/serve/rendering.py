"""Rendering of a candidate: a text, a picture, or a row of a table. Everything is text, never markup."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Picture", "Pictures", "Shown", "plain_name", "readable", "same_name"]

_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
MOST_BYTES = 20 * 2**20
# Line breaks and tabs are text; other controls would vanish or confuse a terminal that shows the page's source.
_CONTROLS = {code: "�" for code in [*range(32), *range(127, 160)] if chr(code) not in "\n\t"}


def readable(value: object) -> str:
    """Return a value as text without control characters.

    Examples
    --------
    >>> readable("a\\x00b")
    'a�b'
    """
    return "" if value is None else str(value).replace("\r\n", "\n").translate(_CONTROLS)


def plain_name(text: str) -> str:
    """Return a name as somebody typed it, on one line and without marks that nobody sees.

    Examples
    --------
    >>> plain_name(" An\u200bna\u202e ")
    'Anna'
    """
    kept = "".join(letter for letter in readable(text) if unicodedata.category(letter) not in ("Cf", "Cn", "Co", "Cs"))
    return " ".join(kept.split())


def same_name(text: str) -> str:
    """Return what two names have in common that look alike: case and width of letters, and marks, are left out.

    Examples
    --------
    >>> same_name("ANNA") == same_name("Ａnna")
    True
    """
    return plain_name(unicodedata.normalize("NFKC", text)).casefold()


@dataclass(frozen=True)
class Shown:
    """One candidate on a page.

    Attributes
    ----------
    text : str
        Of a text.
    cells : list of (name, value)
        Of a row.
    picture : int or None
        The position of a picture that the page asks for.
    note : str
        What is wrong with the picture, or how a screen reader calls it.

    Examples
    --------
    >>> Shown(cells=[("age", "41"), ("city", "Bonn")]).cells[0]
    ('age', '41')
    """

    text: str = ""
    cells: list[tuple[str, str]] = field(default_factory=list)
    picture: int | None = None
    note: str = ""

    @classmethod
    def of_text(cls, text: object) -> Shown:
        """A text."""
        return cls(text=readable(text))

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Shown:
        """A row, name by name."""
        return cls(cells=[(readable(name), readable(value)) for name, value in row.items()])


@dataclass(frozen=True)
class Picture:
    """A file that is a picture."""

    path: Path
    kind: str


class Pictures:
    """Pictures below one folder.

    Parameters
    ----------
    folder : Path
        Nothing outside it is ever read.
    names : sequence of str
        Their paths below the folder, one per candidate.

    Examples
    --------
    >>> Pictures(Path("photographs"), ["cat.jpg", "dog.jpg"]).names
    ['cat.jpg', 'dog.jpg']
    """

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder, self.names = folder.resolve(), list(names)

    def shown(self, position: int) -> Shown:
        """Return the candidate, or what is wrong with it."""
        name = readable(self.names[position])
        if self.picture(position) is None:
            return Shown(note=f"{name} cannot be shown: it is no picture (PNG, JPEG, GIF or WebP) below the folder.")
        return Shown(picture=position, note=name)

    def picture(self, position: int) -> Picture | None:
        """Return the file, if it lies below the folder and is a picture by its first bytes."""
        try:
            path = (self.folder / self.names[position]).resolve()
            if not path.is_relative_to(self.folder) or not path.is_file() or path.stat().st_size > MOST_BYTES:
                return None
            with path.open("rb") as file:
                begin = file.read(16)
        except (OSError, ValueError):  # a name that is none, such as one with a NUL in it
            return None
        if begin[:4] == b"RIFF" and begin[8:12] == b"WEBP":
            return Picture(path, "image/webp")
        return next((Picture(path, kind) for magic, kind in _MAGIC.items() if begin.startswith(magic)), None)
