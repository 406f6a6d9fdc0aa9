"""A second referee's sample: forty claims drawn by a seed, each made again from a clone of what is committed.

Nothing that was kept is taken: runs begin anew in a folder of their own. A script has ninety seconds of a processor;
where it takes longer nothing is said of its claims. Compared are the verdict, and the numbers of the value to six
digits; seconds and what follows from them differ from run to run. A script that fails has another verdict.

Full mode: an hour; it resumes (``runs.py``), script by script.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments import catalogue, claims
from experiments.script import Script, command
from experiments.times import NO_RUN

ROOT = Path(__file__).resolve().parents[2]
SEED = 0
NUMBER = 40
LIMIT = 90  # seconds of a processor
DIGITS = 1e-6  # relative
LEFT_OUT = (*NO_RUN, "experiments/house/second_referee.py", "experiments/mutations/survivors.py")


def run(script: Script) -> None:
    """Draw, run, compare."""
    drawn = sample(claims.load(claims.RESULTS), 2 if script.quick else NUMBER)
    again: dict[str, dict[str, Any]] = {}
    failed: dict[str, str] = {}
    for path in sorted({one["script"] for one in drawn}):
        made, why = _made(script, path)
        again |= made
        failed |= {one["id"]: why.split(": ")[0] for one in drawn if one["script"] == path and why}
    ran = [one for one in drawn if one["id"] in again]
    changed = {one["id"]: [one["verdict"], again[one["id"]]["verdict"]] for one in ran
               if one["verdict"] != again[one["id"]]["verdict"]}  # fmt: skip
    equal = [same_numbers(one["value"], again[one["id"]]["value"]) for one in ran]
    script.table(
        {"claim": [one["id"] for one in drawn],
         "stored": [one["verdict"] for one in drawn],
         "again": ["failed" if one["id"] in failed else (again.get(one["id"]) or {"verdict": "did not end"})["verdict"]
                   for one in drawn],
         "numbers that agree": [f"{equal[ran.index(one)]:.2f}" if one in ran else "" for one in drawn]},
        "ours-house-second-referee",
        f"{len(drawn)} claims drawn by seed {SEED}, made again from a clone of what is committed.",
    )  # fmt: skip
    script.judge(
        "ours-house-second-referee", len(changed) + len(failed) <= 0.05 * (len(ran) + len(failed)),
        claim="A claim that is made again from what is committed has the verdict that is stored.",
        target=f"95% of the drawn claims whose scripts end within {LIMIT} seconds have their verdict again",
        value={
            "drawn": len(drawn), "ended": len(ran), "other verdict": changed, "failed": failed,
            "share with another verdict": round((len(changed) + len(failed)) / max(len(ran) + len(failed), 1), 4),
            "share whose numbers all agree": round(float(np.mean([one == 1.0 for one in equal])), 4) if equal else 0.0,
        },
        reason="Did not end: " + ", ".join(one["id"] for one in drawn if one not in ran and one["id"] not in failed)
        + "." if len(ran) + len(failed) < len(drawn) else "",
        seed=SEED,
    )  # fmt: skip


def sample(known: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """Return claims drawn by the seed, of scripts that may be run."""
    able = [one for one in known if one["script"] and one["script"] not in LEFT_OUT and one["verdict"] != "not run"]
    places = np.random.default_rng(SEED).permutation(len(able))[:number]
    return [able[int(k)] for k in sorted(places)]


def same_numbers(one: Any, other: Any) -> float:
    """Return the share of a value's numbers that another has to six digits, by their places."""
    mine, its = dict(_numbers(one)), dict(_numbers(other))
    if not mine:
        return float(one == other)
    return float(np.mean([bool(np.isclose(its.get(at, np.nan), x, rtol=DIGITS, atol=1e-9)) for at, x in mine.items()]))


def _numbers(value: Any, at: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], float]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _numbers(one, (*at, key))
    elif isinstance(value, list):
        for k, one in enumerate(value):
            yield from _numbers(one, (*at, k))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield at, float(value)


def _made(script: Script, path: str) -> tuple[dict[str, dict[str, Any]], str]:
    """Claims of a script that was run again, and why it failed."""
    if script.quick:  # what a run returns, of the stored ones
        return {one["id"]: one for one in claims.load(claims.RESULTS) if one["script"] == path}, ""
    found = script.kept("second_referee", made_again, path)
    return {one["id"]: one for one in json.loads(str(found["claims"]))}, str(found.get("failed", ""))


def made_again(path: str) -> dict[str, np.ndarray]:
    """Return the claims of a script, run from a clone; none where it does not end."""
    with tempfile.TemporaryDirectory(prefix="adaptive-referee-") as folder:
        clone = f"{folder}/clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), clone], check=True)
        done = subprocess.run(
            [sys.executable, "-m", catalogue.module(path), "--out", f"{folder}/results"], cwd=clone,
            env=os.environ | {"ADAPTIVE_RUNS": f"{folder}/runs", "PYTHONPATH": clone}, capture_output=True, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
        )  # fmt: skip
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return {"claims": np.array("[]")}
        if done.returncode:
            said = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
            return {"claims": np.array("[]"), "failed": np.array(said[:200])}
        return {"claims": np.array(json.dumps(claims.load(Path(folder) / "results")))}


if __name__ == "__main__":
    command(run, __doc__, __file__)
