"""Every figure, table and verdict of this project, and how to make it again.

python -m experiments                     # lists them: id, verdict, time, command
python -m experiments fig-3               # those whose id or claim holds this text
python -m experiments nickisch-fig-3.4    # runs the script of this one; --quick: at a small size
"""

from __future__ import annotations

import argparse
import difflib
import runpy
import sys

from experiments.catalogue import Entry, entries, module


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description="List every figure, table and verdict, or make one of them again."
    )
    parser.add_argument("id", nargs="?", default="", help="run this one; a part of an id, or a word, lists what has it")
    parser.add_argument("--quick", action="store_true", help="run it at a small size, into a temporary folder")
    parser.add_argument("--out", help="folder for what it writes (default: results/ of the repository)")
    parser.add_argument("--list", action="store_true", help="list, even where an id is whole")
    options = parser.parse_args(arguments)
    known = entries()
    chosen = [entry for entry in known if entry.id == options.id]
    if chosen and not options.list:
        return _run(chosen[0], options.quick, options.out)
    text = options.id.lower()
    found = [entry for entry in known if text in entry.id.lower() or text in entry.says.lower()]
    if not found:
        near = difflib.get_close_matches(options.id, [entry.id for entry in known], n=3)
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        print(f"nothing is called {options.id!r} or says so; python -m experiments lists all.{hint}", file=sys.stderr)
        return 2
    _show(found)
    return 0


def _run(entry: Entry, quick: bool, out: str | None) -> int:
    if not entry.script:
        print(f"no script is known to make {entry.id}.", file=sys.stderr)
        return 2
    options = [*(["--quick"] if quick else []), *(["--out", out] if out else [])]
    print(f"{entry.id}: {entry.says}", " ".join([entry.command, *options]), sep="\n", flush=True)
    sys.argv = [entry.script, *options]
    runpy.run_module(module(entry.script), run_name="__main__", alter_sys=True)
    return 0


def _show(found: list[Entry]) -> None:
    wide = max(len(entry.id) for entry in found)
    for entry in found:
        time = "" if entry.seconds is None else f"{entry.seconds:,.0f} s"
        print(f"{entry.id:{wide}s}  {entry.verdict:14s} {time:>9s}  {entry.command}")
    print(f"{len(found)} entries; what they claim and show: results/README.md")


if __name__ == "__main__":
    sys.exit(main())
