"""A thousand people take a real test through two processes on PostgreSQL, with exposure control and without."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from adaptive.estimators import Questionnaire
from adaptive.serve import answers_of, open_store
from experiments.questionnaires.adaptive_tests import people_of
from experiments.script import Script, command
from experiments.serve.shared.postgres import server
from experiments.serve.shared.process import Server, free_port

N_PEOPLE, AT_ONCE, N_QUESTIONS, EXPOSURE = 1000, 40, 12, 0.4
ADDRESSES = 50  # that they come from


def files(folder: Path, model: Questionnaire, exposure: float | None) -> tuple[Path, Path]:
    """Write the test and its bank."""
    bank, test = folder / "bank.csv", folder / "test.toml"
    model.to_bank(bank)
    items = "".join(f'[[items]]\nid = "{one}"\ntext = "{one}"\n' for one in model.items_)
    cap = "" if exposure is None else f"exposure = {exposure}\n"
    test.write_text(
        f'title = "Test"\nanswers = ["1", "2"]\nshow_result = true\n{cap}{items}'
        f'[stop]\nquestions = {N_QUESTIONS}\n[api]\norigins = ["https://example.org"]\n'
    )
    return test, bank


async def everybody(url: str, answers: np.ndarray, names: list[str], n_at_once: int) -> tuple[int, list[list[int]]]:
    """Let all take the test, so many at once; return how many requests were made again, and what each was asked."""
    asked: list[list[int]] = [[] for _ in answers]
    places, turn, faults = {name: k for k, name in enumerate(names)}, asyncio.Semaphore(n_at_once), 0

    async def one(k: int, client: httpx.AsyncClient) -> None:
        nonlocal faults
        headers = {"X-Forwarded-For": f"10.0.0.{k % ADDRESSES}"}
        async with turn:
            where = (await client.post("/api/session", json={}, headers=headers)).json()
            while where["question"] is not None:
                asked[k].append(places[where["question"]["text"]])
                given = int(answers[k, asked[k][-1]]) - 1
                said = {"session": where["session"], "question": where["question"]["id"], "answer": given}
                try:
                    reply = await client.post("/api/answer", json=said, headers=headers)
                except httpx.TransportError:  # an idle connection that the server has closed: look where one is
                    reply = await client.post("/api/session", json={"session": where["session"]}, headers=headers)
                    faults += 1
                where, faults = reply.json(), faults + (reply.status_code != 200)

    limits = httpx.Limits(max_connections=n_at_once)
    async with httpx.AsyncClient(base_url=url, timeout=60, trust_env=False, limits=limits) as client:
        await asyncio.gather(*(one(k, client) for k in range(len(answers))))
    return faults, [list(dict.fromkeys(one)) for one in asked]  # a request that was made again asks the same


def taken(exposure: float | None, n_people: int) -> dict[str, Any]:
    """Serve the test to all; return what came of it, beside the simulation offline."""
    model, table = people_of("epi", max(n_people, 200))
    answers, names = np.asarray(table, dtype=float)[:n_people], [str(one) for one in model.items_]
    with tempfile.TemporaryDirectory() as folder, server() as database:
        test, bank = files(Path(folder), model, exposure)
        place = database.new()
        options = ("--bank", bank, "--workers", 2, "--behind-proxy", "--name", "localhost", "--store", place)
        with Server(test, *options, port=free_port()) as running:
            begun = time.monotonic()
            faults, columns = asyncio.run(everybody(f"http://localhost:{running.port}", answers, names, AT_ONCE))
            seconds = time.monotonic() - begun
        with open_store(place, folder=folder) as store:
            kept = [answers_of(store, k) for k in range(1, n_people + 1)]
    where = {name: k for k, name in enumerate(names)}
    everything, offline = model.transform(answers)[:, 0], model.simulate(answers, N_QUESTIONS, exposure=exposure)
    chosen = np.array([[where[str(one)] for one in row] for row in offline.items.tolist()])
    sequences = {tuple(zip(row, answers[k, row].tolist(), strict=True)) for k, row in enumerate(chosen.tolist())}
    same = 0
    for session in kept:
        said = [(where[str(one["item"])], float(one["answer"])) for one in session]
        same += tuple(said) in sequences
    estimates = [_estimate(model, row, answers[k, row]) for k, row in enumerate(columns)]
    offline_estimates = [_estimate(model, row, answers[k, row]) for k, row in enumerate(chosen.tolist())]
    asked = [str(one["item"]) for session in kept for one in session]
    counts = Counter(asked)
    offline_counts = Counter(map(str, offline.items.ravel().tolist()))
    return {
        "answers": sum(map(len, kept)), "seconds": seconds, "faults": faults, "same": same,
        "length": float(np.mean([len(one) for one in kept])),
        "error": float(np.sqrt(np.mean((estimates - everything) ** 2))),
        "offline": float(np.sqrt(np.mean((offline_estimates - everything) ** 2))),
        "most": max(counts.values()) / n_people, "most_offline": max(offline_counts.values()) / n_people,
    }  # fmt: skip


def _estimate(model: Questionnaire, columns: Any, said: Any) -> float:
    """Estimate of somebody from a few answers."""
    given = np.full((1, len(model.items_)), np.nan)
    given[0, columns] = said
    return float(model.transform(given)[0, 0])


def run(script: Script) -> None:
    """Serve twice."""
    n = 30 if script.quick else N_PEOPLE
    found = {cap: taken(cap, n) for cap in (None, EXPOSURE)}
    for cap, one in found.items():
        one["answers a second"] = round(one["answers"] / one["seconds"])
        print(json.dumps({"exposure": cap, **one}))
    free_, capped = found[None], found[EXPOSURE]
    whole = all(one["answers"] == n * N_QUESTIONS for one in found.values())
    words = [
        f"{'no cap' if cap is None else f'cap {cap}'}: {one['answers']} answers, {one['answers a second']} a second, "
        f"length {one['length']:.1f}, error {one['error']:.3f} (offline {one['offline']:.3f}), the item asked most of "
        f"{one['most']:.0%} of the people (offline {one['most_offline']:.0%})"
        for cap, one in found.items()
    ]
    script.judge(
        "ours-serve-thousand", whole and free_["same"] == n and capped["most"] <= EXPOSURE + 0.05,
        claim=f"{n} people take an adaptive test of {N_QUESTIONS} of 57 items (Eysenck's inventory) through two "
        "processes on PostgreSQL: the questions are those of the offline simulation, and a cap on exposure holds.",
        target="no answer lost; without a cap every sequence is one of the simulation's; with a cap of 40% no item is "
        "asked of more than 45% of the people",
        value="; ".join(words) + f"; {free_['same']} of {n} sequences as offline",
        reason=f"Replayed answers of real people, {AT_ONCE} at once, as fast as they are served, on the same two "
        "cores. With a cap questions depend on who came before, so that sequences are not the simulation's.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
