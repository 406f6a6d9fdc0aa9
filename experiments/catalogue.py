"""What there is to reproduce: every figure, table and verdict, with the script that makes it.

    entries()  =  verdicts of results/claims.json  +  figures and tables that no verdict names

The seconds of a script are those of the processor, workers included, in its last full run from nothing
(``results/times.json``); of a run that was stopped, "over" so many.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from adaptive.files import write_file
from experiments import claims

__all__ = ["NOT_TIMED", "Entry", "counted", "entries", "minutes", "module", "note_time", "times"]

ROOT = Path(__file__).resolve().parents[1]
TIMES = "times.json"
NOT_TIMED = "not timed"


class Entry(NamedTuple):
    """One thing that can be made again.

    Attributes
    ----------
    id : str
        As in the list of sources, or our own; of a figure or table without a verdict, the name of its file.
    verdict : str
        One of `experiments.claims.VERDICTS`; "figure" or "table" without one.
    script : str
        Its path from the repository root; "" where none is known.
    seconds : float or None
    says : str
        The claim, or the first sentence of the caption.
    """

    id: str
    verdict: str
    script: str
    seconds: float | None
    says: str

    @property
    def command(self) -> str:
        return f"python -m {module(self.script)}" if self.script else ""


def entries(results: Path = claims.RESULTS) -> list[Entry]:
    """Return everything that ``results`` holds, sorted by id as a person counts."""
    known = times(results)
    found = {
        one["id"]: Entry(one["id"], one["verdict"], one["script"], known.get(one["script"]), one["claim"])
        for one in claims.load(results)
    }
    for kind, ending in (("figure", "png"), ("table", "csv")):
        for path in sorted((results / f"{kind}s").glob(f"*.{ending}")):
            if path.stem not in found:
                script = _script_naming(path.stem)
                caption = path.with_suffix(".txt")
                says = caption.read_text(encoding="utf-8").strip().split(". ")[0] if caption.exists() else ""
                found[path.stem] = Entry(path.stem, kind, script, known.get(script), says)
    return [found[name] for name in sorted(found, key=counted)]


def module(script: str) -> str:
    """Return what ``python -m`` calls a script.

    Examples
    --------
    >>> module("experiments/inference/gallery.py")
    'experiments.inference.gallery'
    """
    return script.removesuffix(".py").replace("/", ".")


def note_time(script: str, seconds: float, results: Path = claims.RESULTS, *, stopped: bool = False) -> None:
    """Keep how long a full run of a script took, or after how long it was stopped."""
    known = _noted(results) | {script: f"over {int(seconds)}" if stopped else round(seconds, 1)}
    write_file(results / TIMES, json.dumps(known, indent=1, sort_keys=True) + "\n")


def minutes(script: str, results: Path = claims.RESULTS) -> str:
    """Return how long a full run takes: as timed (``times.json``), else as the script says, else what was waited."""
    noted = _noted(results).get(script, NOT_TIMED)
    if isinstance(noted, float):
        return f"{noted / 60:.1f}" if noted >= 6 else "under 0.1"
    said = re.search(r"Full mode:(.*?)(?:\.\s|\"\"\")", _text(script), re.DOTALL)
    words = " ".join(said.group(1).split()) if said else ""
    found = re.findall(r"(?:[\w]+ ){0,4}(?:minutes|minute|hours|hour)\b", words)
    waited = re.fullmatch(r"over (\d+)", noted)
    return found[0] if found else f"over {int(waited[1]) / 60:.2g}" if waited else NOT_TIMED


def times(results: Path = claims.RESULTS) -> dict[str, float]:
    """Return the seconds of scripts whose full run was timed to its end."""
    return {script: seconds for script, seconds in _noted(results).items() if isinstance(seconds, float)}


def _noted(results: Path) -> dict[str, float | str]:
    """Seconds by script; "over 180" where the run was stopped then."""
    path = results / TIMES
    noted = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {script: one if isinstance(one, str) else float(one) for script, one in noted.items()}


@cache
def _script_naming(name: str) -> str:
    """The script that makes a figure or table: its text, or that of a helper it imports, names it, or its beginning."""
    texts = _texts()
    wanted = [name]
    while wanted[-1].count("-") > 1:
        wanted.append(wanted[-1].rpartition("-")[0])
    for part in wanted:
        for quoted in (f'"{part}"', f'"{part}-', f'{part}"'):
            for script, text in texts.items():
                if quoted in text:
                    return script if _runs(text) else _importing(script)
    return ""


@cache
def _texts() -> dict[str, str]:
    """Scripts before helpers, benchmarks behind the others."""
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in (ROOT / "experiments").rglob("*.py")
    }
    own = {script: text for script, text in texts.items() if "/" in script.removeprefix("experiments/")}
    return dict(sorted(own.items(), key=lambda one: (not _runs(one[1]), "benchmarks" in one[0], one[0])))


@cache
def _text(script: str) -> str:
    path = ROOT / script
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _runs(text: str) -> bool:
    return 'if __name__ == "__main__"' in text


def _importing(helper: str) -> str:
    """The first script that imports a helper."""
    package, _, name = module(helper).rpartition(".")
    lines = (f"from {package} import", f"from {package}.{name} import")
    for script, text in _texts().items():
        if _runs(text) and any(line.startswith(lines) and name in line for line in text.splitlines()):
            return script
    return ""


def counted(id: str) -> tuple[tuple[int, str], ...]:
    """Return the key by which 4.10 is sorted behind 4.9."""
    parts = id.replace(".", "-").split("-")
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)
