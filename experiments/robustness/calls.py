"""Every estimator of the contract through bad calls: taken rightly, or refused in one sentence that changes nothing.

Candidates and outcomes with one thing wrong (`tests/contract/bad_calls.py`) go through partial_fit, fit, select,
predict and tell of every case of the contract (`tests/contract/cases/`). "sentence": one line that names the argument
and leaves the estimator as it was; "right": taken, and what is believed afterwards is finite.

Judged: tracebacks, wrong answers, hangs, and more than one warning of a kind. Full mode: minutes; kept case by case.
Quick mode: three cases, every twelfth call.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from experiments.robustness.common import FAULTS, Tried, counted, one_table
from experiments.script import Script, command

SLOW = 20.0  # seconds that no bad call may take
QUICK = ("BayesianLogisticRegression", "PoissonFactorization map", "Respondent")


def run(script: Script) -> None:
    """Call every estimator badly."""
    names = QUICK if script.quick else tuple(_cases())
    step = 12 if script.quick else 1
    found = {name: script.kept("robust-calls", part, name, step) for name in names}
    script.table(
        one_table(found, "estimator"), "robust-calls",
        "Calls with one thing wrong: NaN, infinity, 1e155 to 1e300, complex numbers, dates, masked cells, text, None, "
        "ids of all kinds, wrong lengths, axes, columns, through fit, partial_fit, select, predict and tell. Sentence: "
        "refused in one line that names the argument, with nothing changed; right: taken, and what is believed is "
        "finite; the other columns are faults of ours. Spam: more than one warning of a kind.",
    )  # fmt: skip
    faults = {
        name: {kind: int(one[kind]) for kind in (*FAULTS, "spam") if int(one[kind])} for name, one in found.items()
    }
    faults = {name: some for name, some in faults.items() if some}
    n_calls = sum(int(one["right"]) + int(one["sentence"]) for one in found.values())
    told = [str(text) for one in found.values() for text in one["examples"]]
    script.judge(
        "ours-robust-calls", not faults,
        claim="A bad call of any estimator is refused in one sentence that names the argument and changes nothing, or "
        "it is accepted with finite results; no call warns twice of one kind.",
        target=f"{len(found)} estimators, every call: 0 tracebacks, 0 wrong, 0 hangs, 0 warned twice",
        value=faults or f"{n_calls} calls of {len(found)} estimators: none of these",
        reason="; ".join(told[:6]) if faults else "Accepted calls have to give finite results, besides keeping the "
        "contract.",
        seed=0,
    )  # fmt: skip


def part(name: str, step: int) -> dict[str, np.ndarray]:
    """Try every ``step``-th bad call of one case."""
    from tests.contract.bad_calls import calls_of, fault_of

    case = _cases()[name]
    estimator, found = case.fitted(), []
    for call in list(calls_of(case))[::step]:
        begun = time.perf_counter()
        try:
            fault, estimator, taken = fault_of(case, estimator, call)
        except Exception as problem:  # of what is judged: what was believed could not be asked any more
            fault, estimator, taken = f"{type(problem).__name__}: {problem}", case.fitted(), False
        took = time.perf_counter() - begun
        found.append(_tried(f"{call.name}: {fault}" if fault else "", fault, took, taken))
    return counted(found)


def _tried(said: str, fault: str, took: float, taken: bool) -> Tried:
    if took > SLOW:
        return Tried("hang", f"{took:.0f} s {said}", took)
    if not fault:
        return Tried("right" if taken else "sentence", "", took)
    if " times " in fault:
        return Tried("right" if taken else "sentence", said, took, warned=2)
    return Tried("wrong" if "changed" in fault or fault.startswith("taken") else "traceback", said, took)


def _cases() -> dict[str, Any]:
    from tests.contract.cases import CASES, toys

    return {case.name: case for case in CASES if case not in toys.CASES}


if __name__ == "__main__":
    command(run, __doc__, __file__)
