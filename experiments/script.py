"""What every script shares: where its results go, its quick mode, and how a claim becomes a verdict.

A script defines ``run(script)`` and ends with::

    if __name__ == "__main__":
        command(run, __doc__, __file__)

``python -m experiments.SUBJECT.NAME`` runs the full mode, from which verdicts come, and writes into ``results/``;
``--quick`` tries everything once in seconds and writes into a temporary folder, ``--out FOLDER`` into that one. A
script may offer ``--full``, a size beyond that of its verdicts.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adaptive.plots import PALETTE
from experiments import artifacts, catalogue, claims, runs

__all__ = ["Script", "command", "located", "panels", "processor_seconds"]

ROOT = Path(__file__).resolve().parents[1]
_NO_REASON = {
    "not reproduced": "The value misses the target; no reason was found.",
    "could not be told": "Some interval reaches beyond the band of the claim.",
}


@dataclass(frozen=True)
class Script:
    """One run of a script.

    Attributes
    ----------
    path : str
        The script, from the repository root.
    results : Path
        The folder that figures, tables and verdicts go into.
    quick : bool
        Whether this is the quick mode, in which every step is taken at a small size.
    full : bool
        Whether the larger size was asked for that the script offers.
    """

    path: str
    results: Path
    quick: bool = False
    full: bool = False

    def judge(
        self, id: str, holds: bool | None, *, claim: str, target: Any, value: Any, reason: str = "", **more: Any
    ) -> None:
        """Record a claim that was tried: "reproduced" where it ``holds``; ``reason`` says why not, or what to know.

        None, of a comparison whose interval reaches beyond the band of its claim (`experiments.equivalence`), is
        recorded as "could not be told".
        """
        verdict = "could not be told" if holds is None else "reproduced" if holds else "not reproduced"
        claims.record(
            id,
            claim=claim,
            kind=more.pop("kind", "to judge"),
            target=target,
            value=value,
            verdict=verdict,
            reason=reason if holds or reason else _NO_REASON[verdict],
            script=self.path,
            results=self.results,
            ruled=not self.quick,
            **more,
        )
        print(f"{verdict if holds else verdict.upper():>17}  {id}: {_short(value)}")
        if reason and not holds:
            print(f"{'':17}  because: {reason}")

    def kept(self, group: str, run: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
        """Return ``run(*arguments)``: kept from run to run (``runs.py``), in quick mode made anew."""
        return run(*arguments) if self.quick else runs.kept(group, run, *arguments)

    def figure(self, figure: Any, name: str, caption: str) -> None:
        """Write a figure beside its caption, its colours cut down to a palette: a third of the bytes."""
        from PIL import Image

        path = artifacts.save_figure(figure, name, caption, results=self.results)
        with Image.open(path) as image:
            few = Image.Quantize.MAXCOVERAGE  # the usual one gives curves of few pixels each other's colours
            image.convert("RGB").quantize(256, method=few, kmeans=1).save(path, optimize=True)

    def table(self, columns: Mapping[str, Sequence[Any]], name: str, caption: str) -> None:
        """Write a table beside its caption."""
        artifacts.save_table(columns, name, caption, results=self.results)


def command(run: Callable[[Script], None], description: str | None, file: str, *, full: str = "") -> None:
    """Run a script from the command line, or with ``--quick``; ``full`` says what ``--full`` does, if there is one."""
    parser = argparse.ArgumentParser(description=(description or "").strip().splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="every step at a small size, into a temporary folder")
    parser.add_argument("--out", type=Path, help="folder for what is written (default: results/ of the repository)")
    if full:
        parser.add_argument("--full", action="store_true", help=full)
    options = parser.parse_args()
    quick = options.quick
    results = options.out or (Path(tempfile.mkdtemp(prefix="adaptive-quick-")) if quick else claims.RESULTS)
    path = Path(file).resolve().relative_to(ROOT).as_posix()
    begun = processor_seconds()
    run(Script(path, results, quick, bool(getattr(options, "full", False)) and not quick))
    own = results == claims.RESULTS
    counted = not runs.taken() and not multiprocessing.active_children()  # else not all seconds of a full run
    if own and counted:
        catalogue.note_time(path, processor_seconds() - begun)
    print(f"written into {results}" + ("; now run: python -m experiments.index" if own else ""))


def processor_seconds() -> float:
    """Return the processor's seconds of this process and of all others that it began and has waited for."""
    return sum(os.times()[:4])


def _short(value: Any) -> Any:
    """Return a value with numbers of four digits, as a person reads it."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, Mapping):
        return {name: _short(one) for name, one in value.items()}
    return [_short(one) for one in value] if isinstance(value, (list, tuple)) else value


def located(name: str) -> str:
    """Return the path, from the repository root, of the script of this name; benchmarks lie apart."""
    (found,) = (path for path in (ROOT / "experiments").rglob(f"{name}.py") if "benchmarks" not in path.parts)
    return found.relative_to(ROOT).as_posix()


def panels(n_rows: int, n_columns: int, width: float = 9.0, height: float = 3.6) -> tuple[Any, Any]:
    """Return an empty figure (inches) and its (n_rows, n_columns) axes, in the style of `adaptive.plots`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    for one in axes.flat:
        one.set_prop_cycle(color=PALETTE)  # where a script names no colour
        one.spines[["top", "right"]].set_visible(False)
        one.grid(True, color="#DDDDDD", linewidth=0.6)
        one.set_axisbelow(True)
    return figure, axes
