"""The chapters of long books: of a thesis by its own numbers, of a domain by what its scripts ask."""

from __future__ import annotations

import re

__all__ = ["chapter_of", "chapter_title"]

THESES = {
    "nickisch": {
        "2": "inference in linear models",
        "3": "generalised linear models",
        "4": "Gaussian process classification",
        "5": "adaptive compressed sensing",
        "6": "magnetic resonance imaging",
    },
    "ko": {"2": "Gaussian inference, rates and trees", "3": "counts, preferences and sequences"},
    "hennig": {
        "2": "graphical models",
        "3": "game trees",
        "4": "questionnaires",
        "5": "topics",
        "A": "appendices",
    },
}
SYSTEMS, BEYOND = "systems", "further"
DOMAINS = {  # chapter -> its title, and beginnings of the names of its scripts
    "kspace": {
        "pays": ("where choosing lines pays", ("pays/",)),
        "tuned": ("lines tuned on an earlier scan", ("pays/tuned", "pays/series", "pays/exchanges", "pays/inform")),
        "designs": ("designs beside fixed patterns", ("kspace_", "image_scales")),
        "coils": ("coils, spirals and volumes", ("coil_", "spiral_", "volume_")),
    },
    "active": {
        "scorers": ("scorers and budgets", ("active_",)),
        "scales": ("prior scales", ("hyper_",)),
        "people": ("batches, people and first hours", ("batch_", "embedded", "first_", "pending_", "skills")),
    },
    "benchmarks": {
        "rows": (
            "rows and Gaussian processes",
            ("active_", "batches", "beside_", "expected_", "gp_", "hyper_", "inclusion", "large_", "low_", "rank_",
             "selective_", "stored_", "exact_", "first_"),
        ),
        "images": ("images", ("double_", "kspace_", "nonuniform_", "scanner_", "variances")),
        "families": ("other families", ("",)),
    },
    "house": {
        "defaults": ("defaults", ("defaults/",)),
        "rest": ("contract, robustness and site", ("",)),
    },
}  # fmt: skip


def chapter_of(book: str, id: str, script: str, before: str) -> str:
    """Return the chapter of a row, by its id or script; "" in a book without chapters.

    Parameters
    ----------
    book, id, script : str
    before : str
        The chapter of the row before, in which algorithms stand that the source numbers through.

    Examples
    --------
    >>> chapter_of("nickisch", "nickisch-fig-4.10", "", "3"), chapter_of("ko", "ko-alg-1", "", "2")
    ('4', '2')
    >>> chapter_of("kspace", "ours-kspace-pays-half", "experiments/kspace/pays/where.py", "")
    'pays'
    """
    if book in THESES:
        if id.removeprefix(f"{book}-").startswith("sys-"):
            return SYSTEMS
        numbered = re.match(rf"{book}-(?:fig|tab|alg)-([\dA-Z])\.", id)
        if numbered is None:
            return before if re.match(rf"{book}-(?:fig|tab|alg)-", id) else BEYOND
        first = numbered[1]
        return first if first in THESES[book] else "A" if first.isalpha() else min(THESES[book])
    chapters = DOMAINS.get(book, {})
    name = script.removeprefix("experiments/").removeprefix(f"{book}/")
    fits = [(len(start), key) for key, (_, starts) in chapters.items() for start in starts if name.startswith(start)]
    return max(fits)[1] if fits else next(reversed(chapters), "")


def chapter_title(book: str, title: str, chapter: str) -> str:
    """Return the title of a page: the book's, and what the chapter is about."""
    if not chapter:
        return title
    short = title.split(":")[0]
    if chapter == SYSTEMS:
        return f"{short}: what was built"
    if chapter == BEYOND:
        return f"{short}: beyond the source's own numbers"
    if book in THESES:
        return f"{short}, {'' if chapter == 'A' else f'chapter {chapter}: '}{THESES[book][chapter]}"
    return f"{short}: {DOMAINS[book][chapter][0]}"
