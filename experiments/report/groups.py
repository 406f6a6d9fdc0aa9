"""What stands on which page: rows of the sources in their own order, claims of ours by domain.

book of a source  =  its rows in ``experiments/sources.csv``, each with its verdict, pictures, tables and command
book of a domain  =  claims of ours, by the folder of the script that judges them
page              =  a chapter of a book (`chapters`); a short book is one page
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

from experiments import claims
from experiments.catalogue import counted, entries
from experiments.report.chapters import chapter_of, chapter_title

__all__ = ["BY_TESTS", "DOMAINS", "SOURCES", "Book", "Group", "Row", "books", "groups", "state"]

LIST = Path(__file__).resolve().parents[1] / "sources.csv"
BY_TESTS = "experiments/shown_by_tests.py"

SOURCES = {
    "nickisch": (
        "Nickisch: Bayesian inference and experimental design",
        "H. Nickisch, *Bayesian Inference and Experimental Design for Large Generalised Linear Models* (thesis, 2010), "
        "and its companions on Gaussian process classification, adaptive compressed sensing and MRI.",
    ),
    "ko": (
        "Ko: approximate learning and inference",
        "Y.-J. Ko, *Applications of Approximate Learning and Inference for Probabilistic Models* (thesis, 2017).",
    ),
    "kokhan": (
        "Ko and Khan: bilinear models of counts",
        "Y.-J. Ko and M. E. Khan, *Variational Gaussian Inference for Bilinear Models of Count Data* (2014).",
    ),
    "paquet": (
        "Paquet, Koenigstein and Winther: paired symbols",
        "U. Paquet, N. Koenigstein and O. Winther, *Scalable Bayesian Modelling of Paired Symbols* (2014).",
    ),
    "hennig": (
        "Hennig: approximate inference in graphical models",
        "P. Hennig, *Approximate Inference in Graphical Models* (thesis, 2011): game trees, questionnaires, topics.",
    ),
}
DOMAINS = {
    "bands": "Bands that hold",
    "active": "Labels of rows",
    "gaussian_processes": "Gaussian processes",
    "images": "Photographs and filters",
    "kspace": "Scanners: k-space",
    "scanner": "From the scanner and back",
    "counts": "Counts",
    "pairs": "Pairs: whom to show what",
    "preferences": "Comparisons: A or B",
    "sequences": "Sequences: what comes next",
    "questionnaires": "Questionnaires",
    "topics": "Topics",
    "any_model": "Any model: instruments and simulators",
    "certificates": "How good a design is",
    "game_trees": "Games",
    "serve": "Pages that people answer",
    "inference": "Inference",
    "benchmarks": "Speed and memory",
    "": "The house",
}


class Row(NamedTuple):
    """One line of a page.

    Attributes
    ----------
    id, says : str
        What the source (or we) claim.
    entry : dict or None
        The verdict; None where there is none.
    without : str
        Why there is none.
    pictures, tables : list of str
        Names of files, without ending.
    """

    id: str
    says: str
    entry: dict[str, Any] | None
    without: str
    pictures: list[str]
    tables: list[str]


class Group(NamedTuple):
    """One page: ``folder/key.md``."""

    folder: str
    key: str
    title: str
    about: str
    rows: list[Row]


class Book(NamedTuple):
    """A source or a domain: its rows, and the pages that they stand on."""

    folder: str
    key: str
    title: str
    about: str
    pages: list[Group]

    @property
    def rows(self) -> list[Row]:
        return [row for page in self.pages for row in page.rows]


def groups(results: Path = claims.RESULTS) -> list[Group]:
    """Return the pages of all books."""
    return [page for book in books(results) for page in book.pages]


def books(results: Path = claims.RESULTS) -> list[Book]:
    """Return the sources, then the domains that have a claim."""
    judged = {entry["id"]: entry for entry in claims.load(results)}
    made = {kind: _made(results, kind, ending) for kind, ending in (("figures", "png"), ("tables", "csv"))}

    def row(id: str, says: str, without: str = "") -> Row:
        entry = judged.get(id)
        own = [_of(id, entry, files, set(judged)) for files in made.values()]
        return Row(id, entry["claim"] if entry else says, entry, without, own[0], own[1])

    found = []
    listed = _listed()
    for key, (title, about) in SOURCES.items():
        ids = [id for id in listed if listed[id]["source"] == key]
        further = [id for id in judged if id.startswith(f"{key}-") and id not in listed]
        for id in sorted(further, key=counted, reverse=True):  # parts of a figure stand behind it, in order
            place = [k for k, one in enumerate(ids) if id.startswith(f"{one}-")]
            ids.insert(place[-1] + 1 if place else len(ids), id)
        rows = [row(id, *_unjudged(listed.get(id))) for id in ids]
        found.append(Book("sources", key, title, about, _pages("sources", key, title, about, rows)))
    known = {one.id for book in found for one in book.rows}
    for key, title in DOMAINS.items():
        ids = sorted((id for id in judged if id not in known and _domain(judged[id]["script"]) == key), key=counted)
        if ids:
            about = "Our own claims, with what we hoped for and what came out."
            name, rows = key or "house", [row(id, "") for id in ids]
            found.append(Book("domains", name, title, about, _pages("domains", name, title, about, rows)))
    return found


def _pages(folder: str, key: str, title: str, about: str, rows: list[Row]) -> list[Group]:
    """The chapters of a book, in the order in which the rows come to them; one page where there is no chapter."""
    parts: dict[str, list[Row]] = {}
    chapter = ""
    for row in rows:
        chapter = chapter_of(key, row.id, row.entry["script"] if row.entry else "", chapter)
        parts.setdefault(chapter, []).append(row)
    return [
        Group(folder, f"{key}-{part}" if part else key, chapter_title(key, title, part), about, inside)
        for part, inside in parts.items()
    ]


def state(row: Row) -> str:
    """Return the verdict of a row, "shown by tests" apart, or why there is none."""
    if row.entry is None:
        return row.without
    if row.entry["script"] == BY_TESTS and row.entry["verdict"] == "reproduced":
        return "shown by tests"
    return str(row.entry["verdict"])


def _listed() -> dict[str, dict[str, str]]:
    with LIST.open(encoding="utf-8", newline="") as stream:
        return {line["id"]: line for line in csv.DictReader(stream)}


def _unjudged(line: dict[str, str] | None) -> tuple[str, str]:
    if line is None:
        return "", ""
    without = "nothing to compute" if line["reproducible"] == "illustration" else "not built yet"
    return f"{line['title']}. {line['shows']}", without


def _domain(script: str) -> str:
    parts = script.split("/")
    return parts[1] if len(parts) > 2 and parts[1] in DOMAINS else ""


def _made(results: Path, kind: str, ending: str) -> dict[str, str]:
    """Names of files, with the script that makes each."""
    scripts = {entry.id: entry.script for entry in entries(results)}
    return {path.stem: scripts[path.stem] for path in sorted((results / kind).glob(f"*.{ending}"))}


def _of(id: str, entry: dict[str, Any] | None, files: dict[str, str], ids: set[str]) -> list[str]:
    """The files that bear the id, or those of its script that bear no other claim's."""
    own = [name for name in files if name == id or name.startswith(f"{id}-")]
    if own or entry is None:
        return own
    return [name for name, script in files.items() if script == entry["script"] and name not in ids]
