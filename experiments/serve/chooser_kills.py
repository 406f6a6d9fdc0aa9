"""The process that chooses rows for labellers is killed: how long until another one chooses."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from experiments.script import Script, command
from experiments.serve.shared.killing import killed_choosers

PARTS = 4  # pools, of each of which two processes are killed


def run(script: Script) -> None:
    """Kill, and wait until somebody has learnt what was said since."""
    parts = 1 if script.quick else PARTS
    waits = [float(one) for seed in range(parts) for one in script.kept("chooser-kills", choosers, seed)["waits"]]
    script.judge(
        "ours-serve-chooser-kills", max(waits) <= 5.0, kind="must hold",
        claim="When the process that chooses rows for labellers is killed, another one takes over; no row is given to "
        "two people, and no answer is lost.",
        target="chosen rows again within 5 s of each kill",
        value=f"{len(waits)} kills, {max(waits):.1f} s at most", seed=list(range(parts)),
    )  # fmt: skip


def choosers(seed: int) -> dict[str, Any]:
    """Return after how many seconds somebody chose again."""
    with tempfile.TemporaryDirectory() as folder:
        return {"waits": killed_choosers(Path(folder), Path(folder) / "store")["waits"]}


if __name__ == "__main__":
    command(run, __doc__, __file__)
