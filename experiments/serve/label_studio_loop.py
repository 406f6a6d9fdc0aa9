"""One loop at a real Label Studio and at the pages of `serve`, beside random order: labels, and minutes of two people.

Two people label texts of two newsgroups (words by their numbers), in turn. Afterwards the default model is fitted to
the first 10, 20, ... labels of each order, and judged on the texts that nobody labelled in any of them. A person takes
three seconds to read and decide; what Label Studio and the pages take on top is measured.

Full mode: five minutes, most of it waiting for Label Studio; it resumes (``runs.py``).
"""

from __future__ import annotations

import csv
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from adaptive import BayesianLogisticRegression, datasets
from adaptive.cli.serve import pools
from adaptive.cli.serve.features import words
from adaptive.plots.style import style
from adaptive.serve import Store
from adaptive.serve.labelling import LabellingDesk
from experiments.drawing import BARS, with_interval
from experiments.script import Script, command, panels
from experiments.serve.shared.studio_people import Follower, begin
from experiments.serve.shared.studio_server import Server

GROUP = "label-studio-loop"
N_TEXTS, N_LABELS, EVERY = 600, 80, 10
THINKS = 3.0  # seconds of a person for a text
PAUSE = 0.5  # seconds that are really waited: Label Studio has less time to keep up than it would have
WAYS = ("Label Studio", "pages of serve", "random order")


def texts(seed: int) -> tuple[list[str], np.ndarray]:
    """Texts and their labels, "no" and "yes"."""
    counts, groups = datasets.newsgroups("sci.crypt", "sci.electronics")
    order = np.random.default_rng([seed, 45]).permutation(len(groups))[:N_TEXTS]
    found = []
    for row in order:
        of_row = counts[row]
        said = [f"w{word}" for word, n in zip(of_row.indices, of_row.data, strict=True) for _ in range(min(int(n), 5))]
        found.append(" ".join(said[:150]) or "empty")
    return found, np.where(groups[order] == "sci.crypt", "yes", "no")


def in_label_studio(seed: int, n_labels: int) -> dict[str, Any]:
    """Return the order in which texts were labelled, and seconds of the server for each."""
    said, y = texts(seed)
    with tempfile.TemporaryDirectory() as path, Server(Path(path) / "studio") as server:
        owner, second, token = begin(server, Path(path))
        project = owner.project([{"text": one} for one in said])
        tasks = owner.ask("GET", "/api/tasks", project=project, page_size=N_TEXTS)["tasks"]
        row = {task: k for k, task in enumerate(sorted(int(one["id"]) for one in tasks))}
        follower = Follower(server, project, Path(path) / "run", token)
        follower.start()
        follower.wait_for("0 answers of 0 people")
        order, seconds = [], 0.0
        for k in range(n_labels):
            person, begun = (owner, second)[k % 2], time.monotonic()
            task = int(person.next(project)["id"])
            person.label(task, str(y[row[task]]))
            seconds += time.monotonic() - begun
            order.append(row[task])
            time.sleep(PAUSE)
        follower.stop()
    return {"order": np.array(order), "seconds": seconds / n_labels}


def in_pages(seed: int, n_labels: int) -> dict[str, Any]:
    """Return the same of the desk of the pages, without the way through a browser."""
    said, y = texts(seed)
    with tempfile.TemporaryDirectory() as path:
        table = Path(path) / "texts.csv"
        with table.open("w", newline="") as stream:
            csv.writer(stream).writerows([["number", "text"], *([k, one] for k, one in enumerate(said))])
        source = pools.pool(
            table, "no,yes", text="text", image=None, features=None, overlap=1, seed=seed, stop=None
        )  # fmt: skip
        with Store(Path(path) / "store") as store:
            desk, order, seconds = LabellingDesk(replace(source, ahead=0), store), [], 0.0
            for k in range(n_labels):
                begun = time.monotonic()
                place = desk.place(1 + k % 2)
                position = int(str(place.number).split(".")[1])
                desk.answer(1 + k % 2, str(place.number), str(["no", "yes"].index(str(y[position]))))
                seconds += time.monotonic() - begun
                order.append(position)
            desk.close()
    return {"order": np.array(order), "seconds": seconds / n_labels}


def curves(seed: int, orders: dict[str, np.ndarray]) -> dict[str, list[float]]:
    """Return the accuracy of each order after every ten labels, on the texts that are in none of them."""
    said, y = texts(seed)
    X = words(said, Path("texts"), "text")
    others = np.setdiff1d(np.arange(N_TEXTS), np.concatenate(list(orders.values())))
    found: dict[str, list[float]] = {}
    for way, order in orders.items():
        found[way] = []
        for n in range(EVERY, len(order) + 1, EVERY):
            model = BayesianLogisticRegression(classes=["no", "yes"]).fit(X[order[:n]], y[order[:n]])
            found[way].append(float(model.score(X[others], y[others])))
    return found


def run(script: Script) -> None:
    """Label three times, and compare."""
    seeds, n = (range(1), 10) if script.quick else (range(3), N_LABELS)
    found: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    seconds = dict.fromkeys(WAYS, 0.0)
    for seed in seeds:
        studio = script.kept(f"{GROUP}-studio", in_label_studio, seed, n)
        pages = script.kept(f"{GROUP}-pages", in_pages, seed, n)
        drawn = np.random.default_rng(seed).permutation(N_TEXTS)[:n]
        for way, curve in curves(seed, dict(zip(WAYS, (studio["order"], pages["order"], drawn), strict=True))).items():
            found[way].append(curve)
        seconds[WAYS[0]] += float(studio["seconds"]) / len(seeds)
        seconds[WAYS[1]] += float(pages["seconds"]) / len(seeds)
        print(f"seed {seed}: done", flush=True)
    mean = {way: np.mean(found[way], axis=0) for way in WAYS}
    level = 0.95 * max(float(curve[-1]) for curve in mean.values())
    value: dict[str, Any] = {}
    for way in WAYS:
        reached = np.flatnonzero(mean[way] >= level)
        labels = int(EVERY * (reached[0] + 1)) if len(reached) else None
        minutes = None if labels is None else round(labels / 2 * (THINKS + seconds[way]) / 60.0, 2)
        value[way] = {"labels": labels, "minutes of each": minutes, "seconds on top": round(seconds[way], 3),
                      "accuracy": [round(float(one), 3) for one in mean[way]]}  # fmt: skip
    counts = [value[way]["labels"] or np.inf for way in WAYS]
    script.judge(
        "ours-studio-loop", counts[0] <= counts[2] and counts[1] <= counts[2],
        claim="Two people in Label Studio, and two at the pages of serve, reach 0.95 of the best last accuracy with "
        "no more labels than in random order.",
        target="no more labels than at random", value=value,
        reason="Three draws say little. In Label Studio, with half a second between answers on a busy machine, tasks "
        "are chosen several ahead and shown in any order, and its curve is not above that of random order "
        "throughout. The pages were tested without a browser.",
        seed=f"0..{len(seeds) - 1}",
    )  # fmt: skip
    figure, axes = panels(1, 1, 5.6, 3.8)
    for k, way in enumerate(WAYS):
        at = EVERY * np.arange(1, len(mean[way]) + 1) + k - 1  # beside each other, so that no bar hides another
        with_interval(axes[0][0], at, 100 * np.array(found[way]).T, bars=True, label=way, **style(way, k))
    axes[0][0].set(xlabel="labels of both people", ylabel="accuracy on texts nobody labelled (%)", ylim=(20, 100))
    axes[0][0].legend(frameon=False, loc="lower right")
    script.figure(figure, "studio-loop", f"{BARS} over {len(seeds)} draws of {N_TEXTS} texts; few draws make them "
                  "wide, and some are cut off at 100%.")  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
