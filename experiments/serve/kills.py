"""kill -9 at twenty random points while five people answer: what was acknowledged is there, once, and all go on."""

from __future__ import annotations

import tempfile
from pathlib import Path

from experiments.script import Script, command
from experiments.serve.shared.killing import N_PEOPLE, killed

SEED = 2


def run(script: Script) -> None:
    """Kill, look at the store, start again."""
    n_kills = 1 if script.quick else 20
    with tempfile.TemporaryDirectory() as folder:
        n_answers = killed(Path(folder), n_kills, SEED)
    script.judge(
        "serve-kills", n_answers > N_PEOPLE, kind="must hold",
        claim="A server killed at random points loses and doubles no acknowledged answer; everybody goes on at their "
        "question, with the questions of a run of the same seed that nobody stopped.",
        target=f"{n_kills} kills, {N_PEOPLE} people answering at once, 0 lost, 0 doubled",
        value=f"{n_kills} kills, {n_answers} answers, 0 lost, 0 doubled, all sequences equal",
        reason="The answers are sent as fast as the server takes them, so that most kills come within one.", seed=SEED,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
