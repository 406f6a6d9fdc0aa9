"""People of ICAR and the Big Five answer on pages what they answered on paper: the numbers are those of the loop."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.loop import MaxSteps, SequentialDesign, TargetDeviation
from adaptive.serve import Store, Survey, SurveyItem, application
from experiments.questionnaires.adaptive_tests import people_of
from experiments.script import Script, command
from experiments.serve.shared.process import Visitor

SEED = 0
DEVIATION = 0.45


def run(script: Script) -> None:
    """Both sets, each person once on the page and once in the loop."""
    n_people = 2 if script.quick else 60
    rows = {name: compared(name, n_people) for name in ("icar", "big_five")}
    columns = ("set", "people", "questions_page", "questions_loop", "error_page", "error_loop", "different_sequences")
    table = [(name, n_people, *map(float, found)) for name, found in rows.items()]
    script.table(
        {name: [row[k] for row in table] for k, name in enumerate(columns)}, "serve-replayed-people",
        f"Held-out people of two sets answer until the deviation is at most {DEVIATION} (at most 40 questions), on "
        "pages and in a loop: mean questions, and root mean square difference of the estimate to that of all answers.",
    )  # fmt: skip
    equal = all(found[0] == found[1] and found[2] == found[3] and not found[4] for found in rows.values())
    script.judge(
        "serve-replayed-people", equal,
        claim="Replayed people get the same questions and estimates on pages as offline.",
        target="number of questions and error equal, no sequence different, bit for bit",
        value={name: f"{found[0]:.2f} and {found[1]:.2f} questions, error {found[2]:.4f} and {found[3]:.4f}, "
               f"{found[4]} of {n_people} differ" for name, found in rows.items()}, seed=SEED,
    )  # fmt: skip


def compared(name: str, n_people: int) -> tuple[float, float, float, float, int]:
    """Mean questions and error on pages and offline, and how many people were asked otherwise."""
    import anyio.from_thread
    import httpx

    model, table = people_of(name, max(1000 if n_people > 2 else 200, n_people))  # half of them calibrate
    answers = np.asarray(table, dtype=float)[:n_people]
    ids = list(model.items_)
    scale = [int(one) for one in model.respondent().bank.categories]
    items = [SurveyItem(one, str(one), [str(word) for word in scale], scale) for one in ids]
    stop = TargetDeviation(DEVIATION) | MaxSteps(min(40, len(ids)))
    survey = Survey(name, items, model.respondent(), stop, seed=SEED)
    everything = [model.respondent().fit(ids, row).mean for row in answers]
    counts, errors, different = np.zeros((2, n_people)), np.zeros((2, n_people)), 0
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        app = application(survey, store, rate=1e6)
        with anyio.from_thread.start_blocking_portal() as portal:
            for row in answers:
                said = dict(zip(map(str, ids), row, strict=True))
                on_page(portal, httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost",
                                                  follow_redirects=True), said, scale)  # fmt: skip
        for k, row in enumerate(answers):
            page = survey.design(k + 1, store.log(k + 1), begun=True)
            loop = SequentialDesign(model.respondent(), ids, stop=stop, random_state=survey.seed_of(k + 1))
            said = dict(zip(ids, row, strict=True))
            while not loop.finished:
                query = loop.ask()
                loop.tell(query, [int(said[query.labels[0]])])
            for j, design in enumerate((page, loop)):
                counts[j, k] = len(design.history_["step"])
                errors[j, k] = float(np.sqrt(np.mean((design.estimator_.mean - everything[k]) ** 2)))
            same = page.history_["label"] == loop.history_["label"]
            different += not (same and page.estimator_.mean.tobytes() == loop.estimator_.mean.tobytes())
    return *counts.mean(axis=1), *np.sqrt((errors**2).mean(axis=1)), different  # type: ignore[return-value]


def on_page(portal: Any, client: Any, said: dict[str, float], scale: list[int]) -> None:
    """One person answers in a browser until there is no question."""
    visitor = Visitor()

    def send(path: str, form: dict[str, str] | None = None) -> None:
        visitor.text = portal.call(lambda: client.request("POST" if form else "GET", path, data=form)).text

    send("/")
    send("/start", visitor.form("/start"))
    while visitor.question:
        send("/answer", {**visitor.form("/answer"), "answer": str(scale.index(int(said[visitor.question])))})


if __name__ == "__main__":
    command(run, __doc__, __file__)
