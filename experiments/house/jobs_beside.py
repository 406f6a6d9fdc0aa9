"""Two of nine jobs beside the tools that people would otherwise use, on data drawn anew several times.

    python -m experiments.house.jobs_beside

"Label a table": 40 labels of support tickets in two batches of 20, by `adaptive label --ask` and ``--tell`` with the
file as it comes, and by modAL and scikit-activeml as their users write it (``benchmarks/peers/tickets_labelled.py``:
reading, features, logistic regression, the package's own batch). "Give a test": the items of a table of 400 people,
then eight chosen questions of 100 others, by `Questionnaire`, and by girth and catsim
(``benchmarks/peers/table_tested.py``), which know two answers only. Each tool runs in an environment of its own. CPU
seconds include starting Python, but for `Questionnaire`, which runs in this process.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from adaptive import Questionnaire
from experiments.benchmarks.peers.environments import python_of
from experiments.house.job_data import MAKERS
from experiments.script import Script, command, processor_seconds
from experiments.statistics import limits

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"
SEEDS = {"labels": tuple(range(900, 908)), "test": tuple(range(900, 908))}
BATCH, CALIBRATED, QUESTIONS = 20, 400, 8
LINES = {"label": 4, "test": 9}  # typed with ours: commands and files handed over; lines of `_tested`


def labelled(seed: int) -> dict[str, Any]:
    """Accuracy and CPU seconds of each tool on one draw of the tickets."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth = np.array(MAKERS["label a table"](folder, np.random.default_rng(seed))["labels"])
        begun = processor_seconds()
        _adaptive(folder, "label", "tickets.csv", "--classes", "billing,login,delivery,other", "--ask", "0.csv")
        _fill(folder / "0.csv", truth)
        _adaptive(folder, "label", "--tell", "0.csv", "--ask", "1.csv")
        _fill(folder / "1.csv", truth)
        _adaptive(folder, "label", "--tell", "1.csv")
        seconds = {"adaptive": processor_seconds() - begun}
        with (folder / "adaptive-label-run" / "labels.csv").open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        open_rows = [k for k, row in enumerate(rows) if not row["label"]]
        predicted = np.array([rows[k]["label_predicted"] for k in open_rows])
        accuracy = {"adaptive": float(np.mean(predicted == truth[open_rows]))}
        lines = {"adaptive": LINES["label"]}
        for tool in ("modal", "skactiveml"):
            found = _peer(tool, "tickets_labelled.py", tool, name)
            accuracy[tool], seconds[tool], lines[tool] = found["accuracy"], found["seconds"], found["lines"]
    return {"told": np.array(json.dumps({"scores": accuracy, "seconds": seconds, "lines": lines}))}


def tested(seed: int) -> dict[str, Any]:
    """Rank correlation of the estimates with the true traits, and CPU seconds, on one draw of the answers."""
    with tempfile.TemporaryDirectory() as name:
        trait = MAKERS["give a test"](Path(name), np.random.default_rng(seed))["trait"][CALIBRATED:]
        path = f"{name}/answers.csv"
        begun = time.process_time()
        ours = _tested(path)
        seconds = {"adaptive": time.process_time() - begun}
        items = _peer("girth", "table_tested.py", "items", path, str(CALIBRATED))
        others = _peer("catsim", "table_tested.py", "test", path, str(CALIBRATED), str(QUESTIONS),
                       json.dumps(items["a"]), json.dumps(items["b"]))  # fmt: skip
        seconds["girth and catsim"] = items["seconds"] + others["seconds"]
    scores = {"adaptive": _rank(ours, trait), "girth and catsim": _rank(others["estimates"], trait)}
    lines = {"adaptive": LINES["test"], "girth and catsim": items["lines"] + others["lines"]}
    return {"told": np.array(json.dumps({"scores": scores, "seconds": seconds, "lines": lines}))}


def _tested(path: str) -> list[float]:
    answers = np.genfromtxt(path, delimiter=",", skip_header=1)[:, 1:]
    model, estimates = Questionnaire().fit(answers[:CALIBRATED]), []
    for row in answers[CALIBRATED:]:
        person, left = model.respondent(), list(np.flatnonzero(np.isfinite(row)))
        for _ in range(QUESTIONS):
            item = left.pop(int(person.select(left)[0]))
            person.partial_fit([item], [int(row[item])])
        estimates.append(float(person.mean[0]))
    return estimates


def _rank(estimates: Any, trait: np.ndarray) -> float:
    return float(stats.spearmanr(estimates, trait).statistic)


def _adaptive(folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "adaptive", *words], cwd=folder, check=True, capture_output=True)


def _fill(path: Path, truth: np.ndarray) -> None:
    """Answer what a file asks, as a person with a spreadsheet."""
    with path.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | {"answer": truth[int(row["position"])]} for row in rows)


def _peer(environment: str, script: str, *arguments: str) -> dict[str, Any]:
    line = [str(python_of(environment)), str(PEERS / script), *arguments]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    begun = processor_seconds()
    told = subprocess.run(line, check=True, capture_output=True, text=True, env=clean).stdout
    return json.loads(told.strip().splitlines()[-1]) | {"seconds": processor_seconds() - begun}


JOBS = (
    ("labels", labelled, "accuracy on the other 560 tickets",
     "Forty labels that `adaptive label` asks for teach support tickets better than forty of modAL's or "
     "scikit-activeml's."),
    ("test", tested, "rank correlation with the true trait",
     "Eight questions chosen from a table of answers rank new people better than by girth and catsim."),
)  # fmt: skip


def run(script: Script) -> None:
    """Both jobs on every draw."""
    for job, one, measure, claim in JOBS:
        draws = SEEDS[job][:2] if script.quick else SEEDS[job]
        found = [json.loads(str(script.kept(f"jobs-beside-{job}", one, seed)["told"])) for seed in draws]
        tools = list(found[0]["scores"])
        scores = {tool: np.array([told["scores"][tool] for told in found]) for tool in tools}
        gains = {
            f"adaptive less {tool}": [round(one, 4) for one in limits(scores["adaptive"] - scores[tool])]
            for tool in tools[1:]
        }
        script.judge(
            f"ours-first-hour-{job}", all(low > 0 for _, low, _ in gains.values()),
            claim=claim, target=f"paired 95% intervals over draws of the difference in {measure} above 0",
            value={"gain": gains, "mean": {tool: round(float(of.mean()), 4) for tool, of in scores.items()},
                   "CPU seconds": {t: round(float(np.mean([told["seconds"][t] for told in found])), 1) for t in tools},
                   "lines typed": found[0]["lines"]},
            reason=f"{len(found)} draws of the data (`job_data.py`); the peers' scripts were written by the people who "
            "wrote ours, as short as is usual. The gain is that of the whole tool: its features, its model and its "
            "choice. CPU seconds were taken on a busy machine.",
            seed=list(draws),
        )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
