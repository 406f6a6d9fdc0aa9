"""Run the example of each command's --help, and some more, from an empty folder: what the wheel alone can do.

The examples are read from the help itself, so that they cannot drift from it.

PYTHON .ci/commands.py      # PYTHON: of an environment with adaptive-designs[mri,web]; the checkout is not imported
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

TABLE = "width,colour,day\n" + "".join(
    f"{k / 7},{'red' if k % 3 else ''},2020-01-{1 + k % 28:02d}\n" for k in range(40)
)
WINNERS = "user,winner,loser\n" + "".join(
    f"p{k % 9},{'abcd'[k % 4]},{'abcd'[(k + 1 + k % 3) % 4]}\n" for k in range(60)
)

PAIRS = "user,item,n\n" + "".join(f"u{k % 9},i{(7 * k + k * k // 5) % 11},{k % 4}\n" for k in range(60))

# beside the examples of --help, which are found there
COMMANDS = (
    ("--version",),
    ("--help",),
    ("kspace", "--plan", "--trajectory", "spokes", "--lines", "8", "--export", "ismrmrd", "--out", "spokes"),
    ("counts", "pairs.csv", "--pairs", "--count", "n", "--zeros", "observed", "--components", "2", "--out", "counted"),
    ("prefer", "winners.csv", "--ask", "p1", "--questions", "2", "--out", "asked"),
    ("label", "table.csv", "--classes", "no,yes", "--batch", "3", "--ask", "next.csv", "--out", "labelled"),
    ("label", "--tell", "next.csv", "--out", "labelled"),
)
NEXT: list[str] = []  # commands that the last lines of others say to type
PLACEHOLDER = re.compile(r"\b(?:NAME|IMAGE|TABLE\.csv|TEST\.toml|NEXT\.csv|COLUMN)\b")
DRY_RUNS = """
import json, shlex, sys
from adaptive.cli import run
lines = json.loads(sys.argv[1])
print(json.dumps([line for line in lines if run(shlex.split(line)[1:] + ["--dry-run"])]))
"""
ANSWERED = "1\n2\n" * 20  # to whatever asks in the terminal


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="adaptive-commands-") as folder:
        here = Path(folder)
        for name, text in {"pairs.csv": PAIRS, "table.csv": TABLE, "winners.csv": WINNERS}.items():
            (here / name).write_text(text)
        failed: list[object] = [arguments for arguments in COMMANDS if not _works(here, arguments)]
        NEXT.clear()
        tried, lines = here / "examples", examples(here)
        tried.mkdir()
        failed += [line for line in lines if not _works(tried, tuple(shlex.split(line)[1:]))]
        failed += _not_understood(tried)
    print(json.dumps({"python": sys.version.split()[0], "commands": len(COMMANDS) + len(lines), "failed": failed}))
    return 1 if failed else 0


def examples(here: Path) -> list[str]:
    """Return the lines under "Example:" in the help of each command, each once."""
    names = re.findall(r"^  ([a-z-]+)  ", _help(here).split("Commands:")[1], re.MULTILINE)
    found = {name: example_in(_help(here, name)) for name in names}
    missing = [name for name, lines in found.items() if not lines]
    if missing:
        raise SystemExit(f"no example in the help of {', '.join(missing)}")
    return list(dict.fromkeys(line for lines in found.values() for line in lines))


def example_in(text: str) -> list[str]:
    """Return the lines of the example in a help text."""
    block = re.search(r"^\s*Example:\n((?:\s+adaptive .*\n)+)", text, re.MULTILINE)
    return [line.strip() for line in block[1].splitlines()] if block else []


def _help(here: Path, *command: str) -> str:
    line = [sys.executable, "-I", "-m", "adaptive", *command, "--help"]
    return subprocess.run(line, cwd=here, capture_output=True, text=True, check=True).stdout


def _works(here: Path, arguments: tuple[str, ...]) -> bool:
    if "--tell" in arguments:
        fill(here / "next.csv")
    begun = time.monotonic()
    line = [sys.executable, "-I", "-u", "-m", "adaptive", *arguments]
    if arguments[0] == "serve":
        code, told = _served(line, here)
    else:
        found = subprocess.run(line, cwd=here, input=ANSWERED, capture_output=True, text=True)
        code, told = found.returncode, found.stdout[-2000:] + "\n" + found.stderr[-4000:]
        NEXT.extend(re.findall(r"^Next(?:, .*)?: (adaptive .*)$", found.stdout, re.MULTILINE)[-1:])
    print(f"{'FAILED' if code else 'ok':6s} {time.monotonic() - begun:5.1f} s  adaptive {' '.join(arguments)}")
    if code:
        print(told)
    return code == 0


def _not_understood(here: Path) -> list[str]:
    """Return the commands to type next that are refused as they stand; a name that the user fills in is filled in.

    Not those that need something new: a picture, a test, a column of what was shown.
    """
    lines = [
        PLACEHOLDER.sub("somebody", line) for line in NEXT if not re.search(r"\b(?:IMAGE|T[A-Z]+\.)|--shown", line)
    ]
    line = [sys.executable, "-I", "-c", DRY_RUNS, json.dumps(lines)]
    found = subprocess.run(line, cwd=here, capture_output=True, text=True)
    print(f"{len(lines)} commands to type next", found.stderr[-2000:])
    return json.loads(found.stdout.splitlines()[-1]) if found.returncode == 0 else ["commands to type next"]


def _served(line: list[str], here: Path) -> tuple[int, str]:
    """Serve until a person has begun a session, then stop as Ctrl-C does."""
    with subprocess.Popen(line, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        told, address = "", None
        try:
            while address is None and server.stdout is not None and (said := server.stdout.readline()):
                told += said
                address = re.search(r"http://\S+", said)
            if address is not None:
                _begin(address[0].rstrip(".,"))
        finally:
            server.send_signal(signal.SIGINT)
            rest = server.communicate(timeout=60)[0]
    return server.returncode if address else 1, told + rest


def _begin(address: str) -> None:
    """Begin a session as the form of the first page does."""
    jar = urllib.request.HTTPCookieProcessor()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)
    for _ in range(100):
        try:
            page = opener.open(address, timeout=10).read().decode()
            break
        except OSError:
            time.sleep(0.1)
    else:
        raise SystemExit(f"nothing answers at {address}")
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))
    action = re.search(r'<form[^>]*action="([^"]+)"', page)
    data = urllib.parse.urlencode(hidden | {"name": "somebody"}).encode()
    opener.open(urllib.parse.urljoin(address, action[1] if action else "/begin"), data, timeout=10).read()


def fill(path: Path) -> None:
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "answer": ("no", "yes")[k % 2]} for k, row in enumerate(rows))


if __name__ == "__main__":
    sys.exit(main())
