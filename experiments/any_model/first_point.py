"""Minutes from ``pip install`` to the first chosen point, in three communities.

A fresh environment, the checkout installed by pip with what the community's program needs, and the ten lines or so that
a newcomer takes from the guide: a physicist with Bluesky (a peak of counted photons), a physicist with a QCoDeS loop (a
Ramsey fringe: shots that were excited), a psychometrician with item parameters written by R's mirt. Every step is timed
by the clock. What a person reads, thinks and types is not in it; the lines that are typed are counted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from experiments.script import ROOT, Script, command

PEAK = """
import numpy as np
from scipy import stats
from adaptive import ParticleEstimator, SequentialDesign
from adaptive.loop import Optimizer

def photons(parameters, X):
    centre, height = parameters.T[:, :, None]
    return 20 + height * np.exp(-0.5 * (X[:, 0] - centre) ** 2)

prior = {"centre": stats.uniform(-5, 10), "height": stats.uniform(200, 1800)}
model = ParticleEstimator(model=photons, prior=prior, noise="poisson", random_state=0)
design = SequentialDesign.open("scan.log", model, np.linspace(-5, 5, 201)[:, None], target="centre", repeat=True)
print(Optimizer(design, ["motor"], "counts").suggest(1))
"""
FRINGE = """
import numpy as np
from scipy import stats
from adaptive import ParticleEstimator

def excited(parameters, X):
    (detuning,) = parameters.T[:, :, None]
    return 0.5 + 0.5 * np.cos(2 * np.pi * detuning * X[:, 0])

waits = np.column_stack([np.linspace(0.1, 10, 100), np.full(100, 50)])
model = ParticleEstimator(
    model=excited, prior={"detuning": stats.uniform(0, 1)}, noise="binomial", trials=1, random_state=0
)
print(waits[model.select(waits)[0]])
"""
BANK = """
from pathlib import Path
Path("bank.csv").write_text('"","a1","d","g","u"\\n"q1",1.2,0.3,0,1\\n"q2",0.8,-1.0,0,1\\n"q3",1.5,1.1,0,1\\n')
"""  # as `write.csv(coef(fit, simplify = TRUE)$items)` writes it; no line of the newcomer
TEST = """
from adaptive import Questionnaire
test = Questionnaire.from_bank("bank.csv")
person = test.respondent()
items = list(test.items_)
print(items[person.select(items)[0]])
"""


class Community(NamedTuple):
    """Who starts, what is installed beside, what is there already and what is typed."""

    packages: tuple[str, ...]
    there: str
    typed: str


COMMUNITIES = {
    "Bluesky: a peak of photons": Community(("bluesky", "ophyd"), "", PEAK),
    "QCoDeS: a Ramsey fringe": Community(("qcodes",), "", FRINGE),
    "R's mirt: a test": Community((), BANK, TEST),
}
MINUTES = 10.0


def timed(arguments: list[str], folder: Path) -> tuple[float, str]:
    """Seconds by the clock, and the last line that was printed."""
    begun = time.perf_counter()
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)[:200]} ended with:\n{done.stderr[-3000:]}")
    lines = done.stdout.strip().splitlines()
    return time.perf_counter() - begun, lines[-1] if lines else ""


def measured(one: Community, install: bool) -> dict[str, float | int | str]:
    """Install, or take this environment; then the program."""
    with tempfile.TemporaryDirectory() as name:
        folder, python, seconds = Path(name), sys.executable, 0.0
        if install:
            timed([sys.executable, "-m", "venv", "env"], folder)
            python = str(folder / "env" / "bin" / "python")
            seconds, _ = timed([python, "-m", "pip", "install", "-q", str(ROOT), *one.packages], folder)
        if one.there:
            timed([python, "-c", one.there], folder)
        first, said = timed([python, "-c", one.typed], folder)
    typed = [line for line in one.typed.splitlines() if line.strip()]
    return {
        "seconds of pip install": round(seconds, 1), "seconds to the first point": round(first, 1),
        "lines typed": len(typed), "minutes": round((seconds + first) / 60.0, 2), "first point": said,
    }  # fmt: skip


def run(script: Script) -> None:
    """Measure all, judge; in quick mode nothing is installed."""
    found = {name: measured(one, install=not script.quick) for name, one in COMMUNITIES.items()}
    rows = [{"community": name, **values} for name, values in found.items()]
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "any-model-first-point",
        "From pip install to the first chosen point, by the clock; pip took packages from a mirror or its cache.",
    )  # fmt: skip
    script.judge(
        "ours-bridge-minutes", all(float(one["minutes"]) < MINUTES for one in found.values()),
        claim="A newcomer of each of three communities waits less than ten minutes from pip install to the first point "
        "that is chosen.",
        target=f"less than {MINUTES:g} minutes of waiting",
        value=found,
        reason="The minutes are waiting alone; reading and typing are not counted. The lines were taken from the "
        "guide by its author; no newcomer was watched.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
