"""Moving rooms changes no bit: every estimator believes and chooses what it did at the commit before.

Each case of the contract (`tests/contract`) is fitted, and every scorer that it provides chooses three candidates,
jointly; states, positions and scores are hashed, in this checkout and in one of the commit before (a git worktree), on
the same machine.

Judged: of how many cases any hash differs, and of how many a fit and one score enter more files than before. Bits are
those of one machine: another adds up in another order.

Full mode: a quarter of an hour. Quick mode: three cases of this checkout, twice.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from experiments.script import Script, command

ROOT = Path(__file__).resolve().parents[2]
BEFORE = "74b561e"

# Runs in either checkout, whose folder is the current one.
CODE = """
import hashlib, json, os, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
from tests.contract.cases import CASES, SCORED_BY

def feed(digest, value):
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            digest.update(str(key).encode())
            feed(digest, value[key])
    elif isinstance(value, (list, tuple)):
        for one in value:
            feed(digest, one)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(str(value.dtype).encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    else:
        digest.update(repr(value).encode())

def hashed(value):
    digest = hashlib.sha256()
    feed(digest, value)
    return digest.hexdigest()[:16]

def found(case):
    model, result = case.fitted(), {}
    for scorer in sorted(SCORED_BY[case.name]):
        options = {"scorer": scorer, "target": case.about(scorer), "random_state": 0, "return_scores": True}
        try:
            result[scorer] = hashed(model.select(case.candidates, 3, **options))
        except Exception as refusal:
            result[scorer] = f"{type(refusal).__name__}: {refusal}"[:80]
    state = getattr(model, "state", None)
    if state is not None:
        described = state()
        for image in (described.get("belief", {}), *described.get("belief", {}).get("images", ())):
            image.pop("begun", None)  # for states of old, which there are no more
        result["state"] = hashed(described)
    return result

def files(case):
    scorer = "information_gain" if "information_gain" in SCORED_BY[case.name] else SCORED_BY[case.name][0]
    seen, inside = set(), os.path.join(os.getcwd(), "adaptive", "")

    def note(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(inside) and not code.co_name.startswith("<"):
            seen.add(code.co_filename)

    def fit_and_score():
        model = case.make().partial_fit(*case.learn)
        model.select(case.candidates, scorer=scorer, target=case.about(scorer), random_state=0)

    fit_and_score()  # what is imported or compiled on first use is no part of it
    sys.setprofile(note)
    try:
        fit_and_score()
    finally:
        sys.setprofile(None)
    return len(seen)

chosen = CASES[: int(sys.argv[1])]
print(json.dumps({case.name: found(case) | {"files": files(case)} for case in chosen}))
"""


def believed(folder: Path, n_cases: int) -> dict[str, dict[str, Any]]:
    """Return hashes by case and scorer, computed by the library in ``folder``."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CODE, str(n_cases)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def before(n_cases: int) -> dict[str, dict[str, Any]]:
    """Return the hashes of the commit before."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "before"
        subprocess.run(["git", "worktree", "add", "-q", "--detach", str(folder), BEFORE], cwd=ROOT, check=True)
        shutil.copytree(ROOT / "tests" / "contract", folder / "tests" / "contract", dirs_exist_ok=True)  # the same data
        try:
            return believed(folder, n_cases)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(folder)], cwd=ROOT, check=True)


def run(script: Script) -> None:
    """Hash what both believe, and compare."""
    n_cases = 3 if script.quick else 10_000
    then, now = (believed(ROOT, n_cases) if script.quick else before(n_cases)), believed(ROOT, n_cases)
    shared = [name for name in then if name in now]
    differing = {
        name: [what for what in then[name] if what != "files" and then[name][what] != now[name].get(what)]
        for name in shared
    }
    differing = {name: what for name, what in differing.items() if what}
    script.judge(
        "ours-house-repeats",
        not differing and bool(shared),
        kind="must hold",
        claim="Where modules move, seeded fits, choices and states stay as they were, to the bit.",
        target="no case differs",
        value={"cases": len(shared), "hashes": sum(len(then[name]) - 1 for name in shared), "differing": differing},
        reason=f"Otherwise: {', '.join(differing)}." if differing else "",
    )
    more = {
        name: [then[name]["files"], now[name]["files"]] for name in shared if now[name]["files"] > then[name]["files"]
    }
    script.judge(
        "ours-house-entered",
        not more and bool(shared),
        kind="must hold",
        claim="A fit and one score of every estimator enter no more files than before.",
        target="no case enters more",
        value={"cases": len(shared), "more": more},
        reason=f"Otherwise: {', '.join(more)}." if more else "",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
