"""kill -9 at random points while people answer: what was acknowledged is there, once, and all go on.

Of a server with one process (begun anew each time), and of one of two processes, on a folder and on PostgreSQL.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from experiments.script import Script, command
from experiments.serve.shared.killing import N_PEOPLE, killed, killed_workers
from experiments.serve.shared.postgres import programs, server

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
    stores = ("a folder", *(("PostgreSQL",) if programs() is not None else ()))
    kept = {store: [script.kept("worker-kills", workers, store, seed, n_kills // parts) for seed in range(parts)]
            for store in stores}  # fmt: skip
    answers = {store: sum(int(one["answers"]) for one in found) for store, found in kept.items()}
    script.judge(
        "ours-serve-worker-kills", len(answers) == 2 and min(answers.values()) > N_PEOPLE, kind="must hold",
        claim="One of two processes killed at random points loses and doubles no acknowledged answer, mixes no "
        "sessions and changes no question, on a folder and on PostgreSQL; another process takes its place.",
        target=f"{n_kills} kills on each store, 8 people answering at once, 0 lost, 0 doubled",
        value="; ".join(f"{store}: {n_kills} kills, {n} answers, 0 lost, 0 doubled" for store, n in answers.items())
        + "; all sequences equal to those offline",
        seed=list(range(parts)),
    )  # fmt: skip


def workers(store: str, seed: int, n_kills: int) -> dict[str, Any]:
    """Return how many answers a store holds after so many kills of a worker; an assertion says what was lost."""
    with tempfile.TemporaryDirectory() as folder:
        if store == "a folder":
            return {"answers": killed_workers(Path(folder), Path(folder) / "store", n_kills, seed)}
        with server() as database:
            return {"answers": killed_workers(Path(folder), database.new(), n_kills, seed)}


def part(seed: int, n_kills: int) -> dict[str, Any]:
    """How many answers a store holds after so many kills; an assertion says what was lost."""
    with tempfile.TemporaryDirectory() as folder:
        return {"answers": killed(Path(folder), n_kills, seed)}


if __name__ == "__main__":
    command(run, __doc__, __file__)
