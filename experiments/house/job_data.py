"""Files of nine people, drawn anew: what each of them would bring, with the faults of real files.

Each function writes into a folder and returns what a person could not know: the truth, by which results are checked.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

__all__ = ["MAKERS"]

WORDS = {
    "billing": "invoice refund card charged payment receipt twice",
    "login": "password account reset locked email code browser",
    "delivery": "parcel courier late address box missing driver",
    "other": "question hello opinion colour newsletter office job",
}
COMMON = ["please", "the", "my", "a", "and", "order", "today", "thanks", "still", "not", "with"]
THEMES = ("sea", "town", "farm")


def tickets(folder: Path, rng: Generator) -> dict[str, Any]:
    """Support tickets: semicolons, decimal commas, German dates, gaps, texts, four classes."""
    lines, labels = ["ticket;opened;amount;text;channel"], []
    for k in range(600):
        kind = rng.choice(list(WORDS))
        words = [
            *rng.choice(WORDS[kind].split(), 3),
            *rng.choice(COMMON, 4),
            rng.choice(" ".join(WORDS.values()).split()),
        ]
        rng.shuffle(words)
        amount = "" if rng.random() < 0.1 else f"{rng.gamma(2, 30 if kind == 'billing' else 12):.2f}".replace(".", ",")
        day = f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.2025"
        lines.append(f"T{k:04d};{day};{amount};{' '.join(words)};{rng.choice(['mail', 'phone', 'Überweisung'])}")
        labels.append(str(kind))
    (folder / "tickets.csv").write_text("\n".join(lines) + "\n", encoding="latin-1")
    (folder / "truth.csv").write_text("\n".join(["category", *labels]) + "\n", encoding="utf-8")
    return {"labels": labels}


def scan(folder: Path, rng: Generator) -> dict[str, Any]:
    """A slice of a head as NIfTI, with the place in the patient."""
    import nibabel as nib
    from nibabel.testing import data_path

    image = nib.load(Path(data_path) / "example4d.nii.gz")
    block = np.asarray(image.dataobj[..., 0], dtype=float)
    k = int(rng.integers(block.shape[2] // 2 - 2, block.shape[2] // 2 + 3))
    nib.save(nib.Nifti1Image(block[:, :, k : k + 1], image.affine), folder / "head.nii.gz")
    return {"shape": block.shape[:2]}


def answers(folder: Path, rng: Generator) -> dict[str, Any]:
    """500 people, 24 items answered from 0 to 4, with gaps."""
    trait, slope = rng.normal(size=500), rng.uniform(0.7, 2.2, 24)
    steps = np.sort(rng.normal(0, 1.2, (24, 4)), axis=1)
    chances = 1 / (1 + np.exp(-slope[None, :, None] * (trait[:, None, None] - steps[None])))
    given = (rng.random((500, 24, 1)) < chances).sum(2)
    header = "person," + ",".join(f"q{k:02d}" for k in range(24))
    lines = [header]
    for k, row in enumerate(given):
        lines.append(f"P{k:03d}," + ",".join("" if rng.random() < 0.05 else str(one) for one in row))
    (folder / "answers.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"trait": trait}


def plays(folder: Path, rng: Generator) -> dict[str, Any]:
    """30,000 plays of 400 users, counted; gzip."""
    users, items = rng.normal(size=(400, 4)), rng.normal(size=(600, 4))
    rate = np.exp(-1.6 + 0.7 * users @ items.T + rng.normal(0, 1, 600))
    counts = rng.poisson(np.minimum(rate, 60))
    lines = ["user,track,plays"]
    for u, i in np.argwhere(counts > 0):
        if rng.random() < 0.5:
            lines.append(f"u{u},t{i},{counts[u, i]}")
    (folder / "plays.csv.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return {"rate": rate}


def duels(folder: Path, rng: Generator) -> dict[str, Any]:
    """420 comparisons of 14 drafts by 30 people."""
    worth = rng.normal(0, 1.2, 14)
    lines = ["person,winner,loser"]
    for _ in range(420):
        a, b = rng.choice(14, 2, replace=False)
        first = rng.random() < 1 / (1 + np.exp(worth[b] - worth[a]))
        lines.append(f"r{rng.integers(30)},draft{a if first else b:02d},draft{b if first else a:02d}")
    (folder / "duels.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"worth": worth}


def fringes(folder: Path, rng: Generator) -> dict[str, Any]:
    """A frequency between 1 and 3 MHz that the instrument has; nothing is in the folder."""
    return {"frequency": float(rng.uniform(1, 3))}


def texts(folder: Path, rng: Generator) -> dict[str, Any]:
    """300 short texts with author and year, Latin-1."""
    drawn = [
        "".join(rng.choice(list("bdfgklmnprst")) + rng.choice(list("aeiou")) for _ in range(3)) for _ in range(240)
    ]
    words_of = {theme: drawn[60 * k : 60 * (k + 1)] for k, theme in enumerate(THEMES)}
    lines = ["author;year;text"]
    for _ in range(300):
        author, year = rng.choice(["Müller", "Ada", "Björk"]), int(rng.integers(1900, 1960))
        share = 1 / (1 + np.exp(-(year - 1930) / 8))
        words = []
        for _ in range(40):
            kind = "town" if rng.random() < share else ("sea" if author == "Ada" else "farm")
            words.append(rng.choice(words_of[kind]) if rng.random() < 0.7 else rng.choice(drawn[180:]))
        lines.append(f"{author};{year};{' '.join(words)}")
    (folder / "texts.csv").write_text("\n".join(lines) + "\n", encoding="latin-1")
    return {}


def faults(folder: Path, rng: Generator) -> dict[str, Any]:
    """Times of faults over two years, with a rise in the second; ISO time stamps."""
    start = np.datetime64("2023-01-01T00:00")
    days = np.sort(np.concatenate([rng.uniform(0, 730, 60), rng.uniform(400, 730, 70)]))
    stamps = [str(start + np.timedelta64(int(one * 1440), "m")) for one in days]
    (folder / "faults.csv").write_text("\n".join(["when", *stamps]) + "\n", encoding="utf-8")
    return {"days": days}


def nothing(folder: Path, rng: Generator) -> dict[str, Any]:
    """A contributor brings a formula alone."""
    return {}


MAKERS = {
    "label a table": tickets,
    "plan a scan": scan,
    "give a test": answers,
    "recommend": plays,
    "compare": duels,
    "tune an instrument": fringes,
    "topics of texts": texts,
    "count events": faults,
    "add a likelihood": nothing,
}
