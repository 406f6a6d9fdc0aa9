"""Run each command of the README once, small, from an empty folder: what somebody with the wheel alone can do.

PYTHON .ci/commands.py      # PYTHON: of an environment with adaptive-designs[mri,web]; the checkout is not imported
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ANSWERS = "who,a,b,c\n" + "".join(f"p{k},{k % 2},{k // 2 % 2},{k // 4 % 2}\n" for k in range(40))
QUESTIONS = """title = "Three questions"
answers = ["no", "yes"]
items = [{id = "a", text = "First?"}, {id = "b", text = "Second?"}, {id = "c", text = "Third?"}]
stop = {questions = 2}
"""
TEXTS = "text,author\n" + "".join(
    f"{'red wine and old oak barrels' if k % 2 else 'fast cars on wide roads'} number,{'anna' if k % 2 else 'ben'}\n"
    for k in range(40)
)
TABLE = "width,colour,day\n" + "".join(
    f"{k / 7},{'red' if k % 3 else ''},2020-01-{1 + k % 28:02d}\n" for k in range(40)
)

EVENTS = "year\n" + "".join(f"{1850 + (k * k) % 97 + k / 50:.2f}\n" for k in range(60))

WINNERS = "user,winner,loser\n" + "".join(
    f"p{k % 9},{'abcd'[k % 4]},{'abcd'[(k + 1 + k % 3) % 4]}\n" for k in range(60)
)

PAIRS = "user,item\n" + "".join(f"u{k % 9},i{(7 * k + k * k // 5) % 11}\n" for k in range(60))

EVERY_VISIT = "user,item\n" + "".join(f"u{k % 6},i{(k // 6 * (1 + k % 2)) % 4}\n" for k in range(120))

COMMANDS = (
    ("--version",),
    ("--help",),
    ("classify", "--questions", "4", "--seeds", "1", "--scorer", "margin", "--jobs", "1"),
    ("kspace", "--lines", "18", "--jobs", "1"),
    ("kspace", "--plan", "--trajectory", "spokes", "--lines", "8", "--export", "ismrmrd", "--out", "spokes"),
    ("photograph", "--size", "16", "--measurements", "20"),
    ("move", "--rollouts", "50"),
    ("counts", "events.csv"),
    ("recommend", "pairs.csv", "--components", "2"),
    ("sequences", "visits.csv", "--components", "4", "--epochs", "3"),
    ("calibrate", "answers.csv", "--person", "who"),
    ("ask", "questions.toml"),
    ("prefer", "winners.csv"),
    ("prefer", "winners.csv", "--ask", "p1", "--questions", "2", "--out", "asked"),
    ("topics", "texts.csv", "--text", "text", "--metadata", "author", "--topics", "2"),
    ("label", "table.csv", "--classes", "no,yes", "--batch", "3", "--ask", "next.csv"),
    ("label", "--tell", "next.csv"),
    ("serve", "--help"),
    ("export", "--help"),
    ("forget", "--help"),
)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="adaptive-commands-") as folder:
        here = Path(folder)
        files = {"answers.csv": ANSWERS, "events.csv": EVENTS, "questions.toml": QUESTIONS, "texts.csv": TEXTS}
        tables = {"pairs.csv": PAIRS, "table.csv": TABLE, "visits.csv": EVERY_VISIT, "winners.csv": WINNERS}
        for name, text in (files | tables).items():
            (here / name).write_text(text)
        failed = [arguments for arguments in COMMANDS if not _works(here, arguments)]
    print(json.dumps({"python": sys.version.split()[0], "commands": len(COMMANDS), "failed": failed}))
    return 1 if failed else 0


def _works(here: Path, arguments: tuple[str, ...]) -> bool:
    if "--tell" in arguments:
        fill(here / "next.csv")
    begun = time.monotonic()
    found = subprocess.run(
        [sys.executable, "-I", "-m", "adaptive", *arguments], cwd=here, input="1\n2\n", capture_output=True, text=True
    )
    ended = "FAILED" if found.returncode else "ok"
    print(f"{ended:6s} {time.monotonic() - begun:5.1f} s  adaptive {' '.join(arguments)}")
    if found.returncode:
        print(found.stdout[-2000:], found.stderr[-4000:], sep="\n")
    return found.returncode == 0


def fill(path: Path) -> None:
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "answer": ("no", "yes")[k % 2]} for k, row in enumerate(rows))


if __name__ == "__main__":
    sys.exit(main())
