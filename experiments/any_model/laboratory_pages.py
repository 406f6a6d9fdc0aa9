"""Pages of the gallery about laboratories: each script beside its page, run on the real packages.

`docs/laboratories/NAME.py` runs in the peers' environment (`experiments/benchmarks/peers/laboratories.txt`), which the
site's build does not have. What it prints must be what its page quotes; its picture is kept for the page.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from adaptive.plots.style import PALETTE, SHEET
from experiments import artifacts
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.report.cells import spelled
from experiments.script import ROOT, Script, command

PAGES = ROOT / "docs" / "laboratories"
CAPTIONS = {
    "bluesky_scan": "A peak scanned under Bluesky's run engine. Left: photons counted, coloured by the event, and the "
    "peak that was simulated; right: what is known of its centre, and of as many equispaced points.",
    "qcodes_loop": "A Ramsey fringe measured in a QCoDeS loop. Left: shares that were excited, coloured by the step, "
    "the fringe that was simulated and the band; right: what is known of the detuning, and by a sweep of as many.",
    "optuna_ask_and_tell": "Thirty measurements of a simulated resonance by Optuna's default and by information. Left: "
    "where they were made; right: what the same model knows of the centre from each.",
}
CHATTER = "Starting experimental run"  # of QCoDeS


def quoted(name: str) -> list[str]:
    """Lines of output that a page quotes."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    return re.findall(r"^```text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[0].splitlines()


def look() -> str:
    """The look of all figures, as lines of a matplotlibrc."""
    cycle = "cycler('color', [" + ", ".join(repr(colour.removeprefix("#")) for colour in PALETTE) + "])"
    return "".join(
        f"{name}: {str(value).removeprefix('#')}\n" for name, value in {**SHEET, "axes.prop_cycle": cycle}.items()
    )


def printed(name: str, picture: Path) -> list[str]:
    """Lines that the script prints; its picture is moved."""
    compiled = Path(tempfile.gettempdir()) / "adaptive-laboratories"  # of other versions than ours
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(compiled), "MPLBACKEND": "Agg"}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "matplotlibrc").write_text(look())  # which matplotlib reads where a script starts
        done = subprocess.run(
            [str(python_of("laboratories")), str(PAGES / f"{name}.py")],
            cwd=folder, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{name}.py did not run to its end:\n{done.stderr[-3000:]}")
        shutil.copy(Path(folder) / "picture.png", picture)
    return [line for line in done.stdout.splitlines() if line and not line.startswith(CHATTER)]


def run(script: Script) -> None:
    """Run all, judge."""
    if script.quick:
        for name in CAPTIONS:
            compile((PAGES / f"{name}.py").read_text(encoding="utf-8"), name, "exec")
            print(f"{name} compiles, and its page quotes {len(quoted(name))} lines; the peers were not asked")
        return
    found = {}
    for name, caption in CAPTIONS.items():
        path = script.results / "figures" / f"ours-laboratory-{name.replace('_', '-')}.png"
        found[name] = printed(name, artifacts.captioned(path, caption))
    others = [name for name in found if found[name] != quoted(name)]
    script.judge(
        "ours-bridge-gallery", not others, kind="must hold",
        claim="The scripts of the gallery's pages about laboratories run on Bluesky's run engine, in QCoDeS and beside "
        "Optuna, and print what the pages quote.",
        target="every line", value={**found, "pages that quote something else": len(others)},
        reason=f"Simulated devices; {spelled(versions_of('laboratories', 'bluesky', 'ophyd', 'qcodes', 'optuna'))}.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
