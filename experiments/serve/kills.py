"""kill -9 at twenty random points while five people answer: what was acknowledged is there, once, and all go on."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from experiments.script import Script, command
from experiments.serve.shared.killing import N_PEOPLE, killed

PARTS, KILLS = 4, 5  # four stores, each killed five times


def run(script: Script) -> None:
    """Kill, look at the store, start again."""
    parts = 1 if script.quick else PARTS
    n_kills = parts * (1 if script.quick else KILLS)
    found = [script.kept("kills", part, seed, n_kills // parts) for seed in range(parts)]
    n_answers = sum(int(one["answers"]) for one in found)
    script.judge(
        "serve-kills", n_answers > N_PEOPLE, kind="must hold",
        claim="A server killed at random points loses and doubles no acknowledged answer; everybody goes on at their "
        "question, with the questions of a run of the same seed that nobody stopped.",
        target=f"{n_kills} kills, {N_PEOPLE} people answering at once, 0 lost, 0 doubled",
        value=f"{n_kills} kills, {n_answers} answers, 0 lost, 0 doubled, all sequences equal",
        reason="The answers are sent as fast as the server takes them, so that most kills come within one.",
        seed=list(range(parts)),
    )  # fmt: skip


def part(seed: int, n_kills: int) -> dict[str, Any]:
    """How many answers a store holds after so many kills; an assertion says what was lost."""
    with tempfile.TemporaryDirectory() as folder:
        return {"answers": killed(Path(folder), n_kills, seed)}


if __name__ == "__main__":
    command(run, __doc__, __file__)
