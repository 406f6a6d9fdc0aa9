"""Evaluating systems by few items: seconds of a calibration, of a replay by each scorer, and of a choice.

CPU seconds, one BLAS thread; the replay is of 600 systems and 100 items of mmlu (metabench), which 500 others of other
families calibrated. The sparse table is calibrated by a process of its own, for the sake of its memory.

    python -m experiments.benchmarks.evaluating [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import itertools
import multiprocessing
import resource
import warnings

import numpy as np
from scipy.special import expit

from adaptive import BradleyTerry, Questionnaire
from adaptive.estimators.questionnaires.factors.bank import FactorBank
from adaptive.estimators.questionnaires.simulation import AT_ONCE, replay
from experiments.benchmarks.cpu_seconds import least_seconds, median_seconds
from experiments.questionnaires.shared.systems import systems
from experiments.script import Script, command

SYSTEMS, ITEMS = 600, 100
CALIBRATED, SPARSE, SEEN = (5000, 249), (2000, 14_000), 0.1


def run(script: Script) -> None:
    """All times, and two verdicts."""
    warnings.simplefilter("ignore")
    n = 20 if script.quick else SYSTEMS
    one = systems("mmlu", 100 if script.quick else 500, 0, n_new=n)
    banks = {
        "many traits": Questionnaire("two_parameter", n_traits="held_out").fit(one.known),
        "one trait": Questionnaire("two_parameter").fit(one.known),
    }
    seconds = {}
    for (name, items), target in itertools.product(banks.items(), (None, "total")):
        for scorer in AT_ONCE:
            found = replayed(items, target, scorer, one.new.astype(int)[:n], 5 if script.quick else ITEMS)
            if found is not None:
                seconds[f"{name}, {target or 'traits'}, {scorer}"] = round(found, 2)
    times = {
        "calibration of 5,000 x 249, seconds": round(calibration(*((60, 20) if script.quick else CALIBRATED)), 2),
        "choice among 14,000 items, milliseconds": round(1e3 * choice(200 if script.quick else 14_000), 2),
        "choice of a pair of 110 systems, milliseconds": round(1e3 * pair(20 if script.quick else 110), 1),
    }
    with multiprocessing.get_context("spawn").Pool(1) as other:
        spent, gigabytes = other.apply(sparse, (60, 40) if script.quick else SPARSE)
    if script.quick:
        print(seconds, times, spent, gigabytes)
        return
    script.judge(
        "ours-evaluate-sparse", spent <= 300 and gigabytes <= 2, kind="must hold",
        claim="2,000 systems and 14,000 items, of which each system saw a tenth, are calibrated in 5 minutes and 2 GB.",
        target="<= 300 CPU seconds and <= 2 GiB at the peak", seed=0,
        value={"seconds": round(spent, 1), "GiB at the peak": round(gigabytes, 2)},
        reason="Drawn answers of three traits, their number chosen by held-out ones; the memory is that of the whole "
        "process, its table of numbers with gaps (0.21 GiB) and what drew it included.",
    )  # fmt: skip
    slow = [name for name, value in seconds.items() if value > 2.0]
    script.judge(
        "ours-evaluate-replay-time", not slow, kind="must hold",
        claim="600 systems are asked 100 items in 2 seconds, whatever the scorer.",
        target="<= 2 CPU seconds, by every scorer that the items provide", value=seconds, seed=0,
        reason=f"Longer: {', '.join(slow) or 'none'}. All systems are asked together, and the same as each alone.",
    )  # fmt: skip
    script.judge(
        "ours-evaluate-times", None, kind="must hold",
        claim="Items are calibrated, and the next one is chosen, in the time that an evaluation allows.",
        target="5,000 x 249 in 30 s, a choice among 14,000 items in 20 ms, a pair of 110 systems in 1 s", value=times,
        seed=0, reason="Drawn answers; the number of traits is chosen by held-out ones.",
    )  # fmt: skip


def replayed(items: Questionnaire, target: str | None, scorer: str, table: np.ndarray, n: int) -> float | None:
    """CPU seconds of all people; None where the items do not provide what the scorer needs."""
    prior = "newcomer" if items.n_traits == "held_out" else None
    person = items.respondent(target, prior)

    def of(people: int) -> float:
        return least_seconds(lambda: replay(person, table[:people], n, scorer=scorer, random_state=0), 1)

    try:
        of(1)  # what compiles does so here
    except ValueError:
        return None
    return of(len(table))


def calibration(n_systems: int, n_items: int, seen: float = 1.0) -> float:
    """CPU seconds of a fit of drawn answers by three traits, their number chosen."""
    rng = np.random.default_rng(0)
    loadings = rng.normal(0.6, 0.6, (n_items, 3))
    s = rng.standard_normal((n_systems, 3)) @ loadings.T + rng.normal(0.0, 1.0, n_items)
    answers = (rng.random(s.shape) < expit(s)).astype(float)
    answers[rng.random(s.shape) >= seen] = np.nan
    del s
    return least_seconds(lambda: Questionnaire("two_parameter", n_traits="held_out").fit(answers), 1)


def sparse(n_systems: int, n_items: int) -> tuple[float, float]:
    """CPU seconds of a fit of answers to a tenth of the items, and GiB of this process at the peak."""
    warnings.simplefilter("ignore")
    seconds = calibration(n_systems, n_items, SEEN)
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def choice(n_items: int, k: int = 8) -> float:
    """CPU seconds of the next item of somebody who has answered ten, about the total."""
    rng = np.random.default_rng(0)
    steps = np.column_stack([np.zeros(n_items), rng.normal(0.0, 1.0, n_items)])
    none = np.zeros(n_items)
    bank = FactorBank(range(n_items), (0, 1), rng.normal(0.3, 0.4, (n_items, k)), steps, none, none)
    person = Questionnaire._of_bank(bank).respondent("total", "newcomer").fit(list(range(10)), [1, 0] * 5)
    left = list(range(10, n_items))
    return median_seconds(lambda: person.select(left), 7)


def pair(n: int) -> float:
    """CPU seconds of the next comparison for the order of the best five."""
    rng, names = np.random.default_rng(0), list(range(n))
    rows = [(int(i), int(j)) for i, j in rng.integers(0, n, (3 * n, 2)) if i != j]
    model = BradleyTerry(names).fit(rows, rng.choice([1, -1], len(rows)))
    pairs = list(itertools.permutations(names, 2))
    return median_seconds(lambda: model.select(pairs, target=5, random_state=0), 3)


if __name__ == "__main__":
    command(run, __doc__, __file__)
