"""Small tables to try each command on, and the lines that ``--help`` shows: they run as they stand, in any folder."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.options import DryRun
from adaptive.files import write_file

__all__ = ["EXAMPLES", "TABLES", "example", "help_of"]

EXAMPLES = {
    "label": (
        "adaptive example flowers.csv",
        "adaptive label flowers.csv --classes setosa,versicolor,virginica --batch 5 --ask next.csv",
    ),
    "classify": ("adaptive classify --questions 20 --seeds 2",),
    "kspace": ("adaptive kspace --lines 18",),
    "photograph": ("adaptive photograph --size 16 --measurements 40",),
    "counts": ("adaptive example events.csv", "adaptive counts events.csv"),
    "recommend": ("adaptive example pairs.csv", "adaptive recommend pairs.csv --components 2"),
    "move": ("adaptive move --position 0,4 --rollouts 200",),
    "calibrate": ("adaptive example answers.csv", "adaptive calibrate answers.csv --person person"),
    "ask": ("adaptive example test.toml", "adaptive ask test.toml"),
    "serve": ("adaptive example test.toml", "adaptive serve test.toml"),
    "export": ("adaptive export adaptive-serve-run",),
    "forget": ("adaptive forget adaptive-serve-run 1",),
    "topics": ("adaptive example texts.csv", "adaptive topics texts.csv --metadata author --time year --topics 3"),
    "prefer": ("adaptive example comparisons.csv", "adaptive prefer comparisons.csv"),
    "sequences": (
        "adaptive example visits.csv", "adaptive sequences visits.csv --time day --components 4 --epochs 5",
    ),
    "evaluate": ("adaptive example systems.csv", "adaptive evaluate systems.csv --ask 'echo right' --items 8"),
    "rank": ("adaptive example duels.csv", "adaptive rank duels.csv"),
    "example": ("adaptive example events.csv",),
}  # fmt: skip

TEST = """title = "Three questions"
answers = ["no", "sometimes", "often"]
items = [
  {id = "sleep", text = "Did you sleep badly this week?"},
  {id = "worry", text = "Did you worry about small things?"},
  {id = "rest", text = "Did you find it hard to sit still?"},
]
stop = {questions = 3}
"""


def help_of(command: str, description: str) -> str:
    """Return the help of a command with its example."""
    lines = "\n".join(f"  {line}" for line in EXAMPLES.get(command, ()))
    return f"{description}\n\n\b\nExample:\n{lines}" if lines else description


def example(
    file: Annotated[
        str | None,
        typer.Argument(help="Name of the file, such as events.csv (default: list them).", metavar="FILE",
                       show_default=False),
    ] = None,
    dry_run: DryRun = False,
) -> None:  # fmt: skip
    """Write a small table to try a command on, into this folder.

    The flowers are Fisher's, of scikit-learn; all other tables are drawn. Without a name the command lists the files,
    and for each the command to type next.
    """
    if file is None:
        for name, (_, what) in TABLES.items():
            print(f"{name:16s} {what}")
        return
    if file not in TABLES:
        raise CommandError(f"there is no example {file!r}; there are {', '.join(TABLES)}.")
    make, what = TABLES[file]
    content, path = make(), Path(file)
    if path.exists() and path.read_bytes() != content.encode():
        raise CommandError(f"{file} is there already, and is not the example; go to another folder.")
    if dry_run:
        print(f"{file}: {what}. A dry run: nothing was written.")
        return
    write_file(path, content)
    print(f"{file} holds {what}.")
    used = [lines[1] for lines in EXAMPLES.values() if len(lines) > 1 and lines[0].endswith(f" {file}")]
    print(f"Next: {used[0]}")


def _table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()


def _flowers() -> str:
    from sklearn.datasets import load_iris

    found: Any = load_iris()
    names = [name.removesuffix(" (cm)") for name in found.feature_names]
    return _table(names, found.data.tolist())


def _events() -> str:
    rng = np.random.default_rng(0)
    years = np.concatenate([rng.uniform(1900, 2000, 60), rng.normal(1925, 4, 40)])
    return _table(["year"], [[f"{year:.2f}"] for year in np.sort(years[(years > 1900) & (years < 2000)])])


def _pairs() -> str:
    rng = np.random.default_rng(0)
    users = rng.integers(0, 30, 400)
    items = rng.choice(8, 400, p=np.arange(8, 0, -1) / 36) + 8 * (users % 2)
    return _table(["user", "item"], dict.fromkeys((f"user{u}", f"film{i}") for u, i in zip(users, items, strict=True)))


def _visits() -> str:
    rng = np.random.default_rng(0)
    rows = []
    for user in range(12):
        page = int(rng.integers(6))
        for day in range(20):
            page = (page + 1) % 6 if rng.random() < 0.8 else int(rng.integers(6))
            rows.append((f"user{user}", f"page{page}", f"2025-03-{day + 1:02d}"))
    return _table(["user", "item", "day"], rows)


def _compared(names: Sequence[str], whose: str, n: int) -> list[tuple[str, str, str]]:
    """Draw comparisons (whose, better, worse) of items of which the first are liked best."""
    rng = np.random.default_rng(0)
    worth, rows = np.linspace(2.0, -2.0, len(names)), []
    for k in range(n):
        a, b = rng.choice(len(names), 2, replace=False)
        if rng.random() > 1.0 / (1.0 + np.exp(worth[b] - worth[a])):
            a, b = b, a
        rows.append((f"{whose}{k % 12}", names[a], names[b]))
    return rows


def _comparisons() -> str:
    drinks = ["coffee", "tea", "juice", "water", "milk", "cocoa"]
    return _table(["user", "winner", "loser"], _compared(drinks, "person", 120))


def _duels() -> str:
    found = _compared([f"system{k}" for k in range(6)], "judge", 120)
    flip = np.random.default_rng(1).random(len(found)) < 0.5
    rows = [(b, a, a) if turn else (a, b, a) for (_, a, b), turn in zip(found, flip, strict=True)]
    return _table(["left", "right", "winner"], rows)


def _answered(n: int, n_items: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    chance = 1.0 / (1.0 + np.exp(np.linspace(-1.5, 1.5, n_items) - rng.standard_normal(n)[:, None]))
    return (rng.random((n, n_items)) < chance).astype(int)


def _answers() -> str:
    found = _answered(80, 8)
    rows = [[f"person{k}", *row] for k, row in enumerate(found.tolist())]
    return _table(["person", *(f"item{k}" for k in range(8))], rows)


def _systems() -> str:
    found = _answered(30, 40)
    rows = [[f"system{k}", *row] for k, row in enumerate(found.tolist())]
    return _table(["system", *(f"item{k}" for k in range(40))], rows)


def _texts() -> str:
    rng = np.random.default_rng(0)
    themes = (
        ["grapes", "cellar", "barrels", "harvest", "vineyard", "bottle", "vintage", "oak"],
        ["engine", "wheels", "gearbox", "racing", "brakes", "driver", "motor", "lap"],
        ["violin", "concert", "orchestra", "melody", "singer", "stage", "piano", "choir"],
    )
    rows = []
    for number in range(200):
        author = number % 3
        shares = [0.15 + 0.55 * (k == author) for k in range(3)]
        drawn = rng.choice(3, 20, p=shares)
        text = "" if number >= 195 else " ".join(themes[k][int(rng.integers(8))] for k in drawn)
        rows.append((text, ("anna", "ben", "clara")[author], 1990 + number // 8))
    return _table(["text", "author", "year"], rows)


TABLES: dict[str, tuple[Callable[[], str], str]] = {
    "flowers.csv": (_flowers, "150 flowers to label, with four measurements each"),
    "events.csv": (_events, "100 events with their years"),
    "pairs.csv": (_pairs, "pairs of a user and a film that was watched"),
    "visits.csv": (_visits, "240 visits of users to pages, by day"),
    "comparisons.csv": (_comparisons, "120 comparisons of drinks"),
    "duels.csv": (_duels, "120 comparisons of six systems"),
    "answers.csv": (_answers, "right and wrong answers of 80 people to eight items"),
    "systems.csv": (_systems, "right and wrong answers of 30 systems to 40 items"),
    "texts.csv": (_texts, "200 short texts of three authors; the last five are not read yet"),
    "test.toml": (lambda: TEST, "a test of three questions"),
}
