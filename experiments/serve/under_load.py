"""Twenty labellers on one pool, and two hundred people at one test: how long an answer takes, and what memory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from experiments.script import Script, command
from experiments.serve.shared.crowd import Crowd, memory
from experiments.serve.shared.killing import questionnaire
from experiments.serve.shared.postgres import programs, server
from experiments.serve.shared.process import Server

N_ROWS, N_COLUMNS, LABELLERS, TAKERS, N_ITEMS = 3000, 300, 20, 200, 60


def labelling(people: int, seconds: float, rows: int, columns: int) -> dict[str, Any]:
    """Let people label through the pages."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns)).round(3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        np.savetxt(path, X, delimiter=",", fmt="%g", header=",".join(f"x{k}" for k in range(columns)), comments="")
        with Server("--label", path, "--classes", "no,yes", "--store", Path(folder) / "store") as running:
            crowd = Crowd(running.url, people, lambda rng: rng.uniform(0.0, 3.0))
            crowd.run(seconds)
            used = memory(running.process.pid)
    return {"posts": np.array(crowd.posts), "pages": np.array(crowd.pages), "faults": crowd.faults, "memory": used}


def taking(people: int, seconds: float, store: str, workers: int) -> dict[str, Any]:
    """Let people take a test through the pages."""
    with tempfile.TemporaryDirectory() as folder:
        file = questionnaire(Path(folder) / "test.toml", N_ITEMS)
        with Server(file, "--store", store or Path(folder) / "store", "--workers", workers) as running:
            Crowd(running.url, 2 * workers, lambda rng: 0.0, seed=1).run(4.0)  # all that is loaded once
            before = memory(running.process.pid)
            crowd = Crowd(running.url, people, lambda rng: rng.uniform(2.0, 8.0))
            crowd.run(seconds)
            used = memory(running.process.pid)
    return {"posts": np.array(crowd.posts), "pages": np.array(crowd.pages), "faults": crowd.faults, "memory": used,
            "session": 1024 * (used - before) / people}  # fmt: skip


def _said(found: dict[str, Any]) -> str:
    post, page = (1000 * np.percentile(found[key], 95) for key in ("posts", "pages"))
    return (
        f"{len(found['posts'])} answers, 95% of them acknowledged within {post:.0f} ms (median "
        f"{1000 * np.median(found['posts']):.0f}), pages within {page:.0f} ms, {found['faults']} faults, "
        f"{found['memory']:.0f} MB"
    )


def run(script: Script) -> None:
    """Serve under load."""
    seconds = 6.0 if script.quick else 60.0
    size = (4, 200, 20) if script.quick else (LABELLERS, N_ROWS, N_COLUMNS)
    found = labelling(size[0], seconds, *size[1:])
    script.judge(
        "ours-serve-labellers-load", np.percentile(found["posts"], 95) <= 0.2 and not found["faults"],
        claim=f"With {LABELLERS} labellers who think 0 to 3 s, on {N_ROWS:,} rows of {N_COLUMNS} numbers, answers are "
        "kept while rows are chosen.",
        target="95% of answers acknowledged within 200 ms, on two cores", value=_said(found),
        reason="One process chooses in a thread of its own and shares Python's lock with the pages; the simulated "
        "people run on the same two cores.",
    )  # fmt: skip
    script.judge(
        "ours-serve-labellers-memory", found["memory"] <= 400,
        claim="The server of that pool fits into 400 MB.", target="400 MB resident", value=f"{found['memory']:.0f} MB",
    )  # fmt: skip
    places = {"a folder": ""}
    people, workers = (8, 2) if script.quick else (TAKERS, 2)
    taken = {"a folder": taking(people, seconds, places["a folder"], workers)}
    if programs() is not None:
        with server() as database:
            taken["PostgreSQL"] = taking(people, seconds, database.new(), workers)
    worst = max(float(np.percentile(one["posts"], 95)) for one in taken.values())
    script.judge(
        "ours-serve-takers-load", worst <= 0.15 and not any(one["faults"] for one in taken.values()),
        claim=f"With {TAKERS} people at one test, who think 2 to 8 s, and two workers, the next question comes at "
        "once.",
        target="95% of answers acknowledged within 150 ms, on two cores",
        value="; ".join(f"{name}: {_said(one)}" for name, one in taken.items()),
        reason="The simulated people, and PostgreSQL, run on the same two cores.",
    )  # fmt: skip
    session = max(one["session"] for one in taken.values())
    script.judge(
        "ours-serve-session-memory", session <= 50,
        claim="An open session of a test is cheap.", target="at most 50 kB a session",
        value=f"{session:.0f} kB ({TAKERS} sessions, what two processes grew by)",
        reason="Each session is a design of its own, with the answers of one person; both processes may hold it.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
