"""Every public scorer through loops of thirty answers, with every estimator: from nothing, from a fit, in any clothes.

For every case of the contract and every scorer that it serves: a loop (`tests/contract/loops.py`) that asks one by
one, five at a time, while others wait, and about a target; from nothing and from a fit; with rows of double and single
precision, frames and sparse rows where these are taken. A loop is right where it ends, no score is negative or not
finite, no candidate is asked twice in a query, and what is believed afterwards is finite.

Full mode: an hour on one core; kept case by case. Quick mode: three cases, four turns each.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from experiments.script import Script, command

QUICK = ("BayesianLogisticRegression", "PoissonFactorization map", "Respondent")
FEW = [(1, 1, False), (5, 0, True), (1, 0, False)]


def run(script: Script) -> None:
    """Run every loop."""
    names = QUICK if script.quick else tuple(_cases())
    found = {name: script.kept("thirty-answers", part, name, script.quick) for name in names}
    columns: dict[str, list[object]] = {"estimator": list(found)}
    for key in ("scorers", "loops", "queries", "faults"):
        columns[key] = [int(one[key]) for one in found.values()]
    columns["seconds"] = [round(float(one["seconds"]), 1) for one in found.values()]
    script.table(
        columns, "thirty-answers",
        "Loops of thirty answers (fewer where there are fewer candidates), each with one scorer: one by one, five at a "
        "time, while others wait, about a target; from nothing and from a fit; rows as double, single precision, "
        "frames and sparse where taken. Faults: an exception, a score that is negative or not finite, a candidate "
        "asked twice in a query, a belief that is not finite. Seconds of one core, of all loops of the estimator.",
    )  # fmt: skip
    faults = {name: [str(text) for text in one["examples"]] for name, one in found.items() if int(one["faults"])}
    loops, queries = (sum(columns[key]) for key in ("loops", "queries"))  # type: ignore[arg-type]
    script.judge(
        "ours-thirty-answers", not faults,
        claim="Every public scorer goes through loops of thirty answers with every estimator that serves it.",
        target="0 faults",
        value={name: len(some) for name, some in faults.items()} or f"{loops} loops, {queries} queries, no fault",
        reason="; ".join(f"{name}: {some[0]}" for name, some in list(faults.items())[:4]),
        kind="must hold",
        seed=1,
    )  # fmt: skip


def part(name: str, quick: bool) -> dict[str, np.ndarray]:
    """All loops of one case."""
    from tests.contract import loops

    case, begun = _cases()[name], time.perf_counter()
    faults, count, queries = [], 0, 0
    for scorer in case.scorers:
        about = case.target is not None and _serves(case, scorer)
        for clothes in _clothes(case):
            for start in ("nothing", "a fit"):
                count += 1
                estimator = case.make() if start == "nothing" else case.fitted()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        turns = [(n, kept, aims and about) for n, kept, aims in (FEW if quick else loops.TURNS)]
                        design = loops.run(case, estimator, clothes, turns=turns, names=[scorer])
                        assert np.isfinite(loops.believed(design, case)).all(), "what is believed is not finite"
                        queries += design.iteration
                    except Exception as problem:  # what is judged
                        faults.append(f"{scorer}, {clothes}, from {start}: {type(problem).__name__}: {problem}"[:300])
    return {
        "scorers": np.array(len(case.scorers)), "loops": np.array(count), "queries": np.array(queries),
        "faults": np.array(len(faults)), "examples": np.array(faults, dtype=str),
        "seconds": np.array(time.perf_counter() - begun),
    }  # fmt: skip


def _serves(case: Any, scorer: str) -> bool:
    """True where what is believed about the target serves the scorer, too."""
    from adaptive import scorers
    from adaptive.predictive import MissingField

    try:
        scorers.get(scorer)(case.fitted().predictive(case.candidates, target=case.target, random_state=1), 0)
    except MissingField:
        return False
    return True


def _clothes(case: Any) -> list[str]:
    """Forms of its rows that a case takes: what it promises in ``tests/contract/test_loops.py``."""
    from tests.contract import loops

    rows = isinstance(case.candidates, np.ndarray) and case.candidates.ndim == 2
    if not rows or case.name.startswith(("Simulator", "Metadata")) or "pipe" in case.name:
        return ["float64"]
    estimator = case.make()
    sparse = hasattr(estimator, "__sklearn_tags__") and estimator.__sklearn_tags__().input_tags.sparse
    return [name for name in loops.CLOTHES if name != "sparse" or sparse]


def _cases() -> dict[str, Any]:
    from tests.contract.cases import CASES, toys

    return {case.name: case for case in CASES if case not in toys.CASES}


if __name__ == "__main__":
    command(run, __doc__, __file__)
