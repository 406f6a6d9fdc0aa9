"""Table 4.1: the mean log probability of unseen answers under models of thresholds, discrimination and neither.

Half of the people train the items, the others reveal every other answer; the rest is predicted. The source's people
(MyPersonality) are not public: Big-Five markers (50 items) and bfi (25 items) stand in.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive import Questionnaire
from experiments.questionnaires.shared.people import Halves, halves
from experiments.script import Script, command
from experiments.statistics import standard_error

SOURCE = {
    "users & items": -1.257, "partial credit": -1.299, "items only": -1.306, "Rasch": -1.362, "users only": -1.385,
    "uniform": -1.609,
}  # fmt: skip
MODELS: dict[str, dict[str, Any]] = {
    "users & items": {},
    "users & items, noise per item": {"noise_per_item": True},
    "items only": {"styles": "items"},
    "users only": {"styles": "people"},
    "partial credit": {"response_model": "partial_credit"},
    "graded": {"response_model": "graded"},
    "Rasch": {"response_model": "rasch"},
}
PEOPLE = {"big_five": 3000, "bfi": 2400}
SEED = 0


def run(script: Script) -> None:
    """Both sets, all models; a table, and the verdicts."""
    tables = {}
    for name, n_people in PEOPLE.items():
        if script.quick and name != "bfi":
            continue
        tables[name] = script.kept("answer_tables", compared, name, 60 if script.quick else n_people)
    columns: dict[str, list[Any]] = {"set": [], "model": [], "mean_log_p": [], "error": [], "geometric_mean_p": []}
    for name, logs in tables.items():
        for model, per_person in logs.items():
            columns["set"].append(name)
            columns["model"].append(model)
            columns["mean_log_p"].append(round(float(per_person.mean()), 4))
            columns["error"].append(round(error(per_person), 4))
            columns["geometric_mean_p"].append(round(float(np.exp(per_person.mean())), 3))
            print(f"{name:9s} {model:30s} {per_person.mean():.4f} ({error(per_person):.4f})")
    sizes = ", ".join(f"{n // 2} + {n // 2} people of {name}" for name, n in PEOPLE.items() if name in tables)
    script.table(
        columns, "hennig-tab-4.1",
        f"Mean log probability (nats) of unseen answers; standard errors over people. {sizes}, real answers; "
        "items were turned round by the sign of their loading in the training half.",
    )  # fmt: skip
    if script.quick:
        return
    judge(script, tables, sizes)


def error(per_person: np.ndarray) -> float:
    """Standard error of the mean."""
    return float(standard_error(per_person))


def compared(name: str, n_people: int) -> dict[str, np.ndarray]:
    """(people,) mean log probability of each person's hidden answers, by model."""
    split = halves(name, n_people, SEED)
    found = {}
    for model, options in MODELS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = Questionnaire(
                **options, item_traits=split.traits, reverse=split.reverse, categories=categories(split)
            ).fit(split.train)
        found[model] = of_hidden(split, fitted.predict_proba(split.revealed))
        print(f"  {name} {model}: {found[model].mean():.4f}", flush=True)
    n = len(categories(split))
    found["uniform"] = of_hidden(split, np.full((*split.hidden.shape, n), 1 / n))
    found["classical test theory"] = of_hidden(split, classical(split))
    counts = np.array([[np.sum(split.train[item] == r) + 1.0 for r in categories(split)] for item in split.train])
    shares = counts / counts.sum(axis=1, keepdims=True)
    found["item frequencies"] = of_hidden(split, np.broadcast_to(shares, (*split.hidden.shape, shares.shape[1])))
    return found


def categories(split: Halves) -> tuple[int, ...]:
    """1 to R."""
    return tuple(range(1, int(np.nanmax(split.train.to_numpy())) + 1))


def of_hidden(split: Halves, p: np.ndarray) -> np.ndarray:
    """Each person's mean log probability of the hidden answers."""
    hidden = split.hidden.to_numpy()
    seen = ~np.isnan(hidden)
    place = np.where(seen, hidden - 1, 0).astype(int)
    logs = np.log(np.take_along_axis(p, place[..., None], axis=2)[..., 0])
    return np.where(seen, logs, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)


def classical(split: Halves) -> np.ndarray:
    """(people, items, R): a true score, shrunk to the mean by Cronbach's reliability, with Gaussian errors."""
    scale = np.array(categories(split), dtype=float)
    turn = np.array([-1.0 if item in split.reverse else 1.0 for item in split.train])
    train, shown = split.train.to_numpy(), split.revealed.to_numpy()
    mean, deviation = np.nanmean(train, axis=0), np.nanstd(train, axis=0)
    p = np.zeros((*shown.shape, len(scale)))
    for trait in dict.fromkeys(split.traits):
        items = np.array([one == trait for one in split.traits])
        known = items & (np.arange(len(items)) % 2 == 0)
        z = np.where(np.isnan(train), 0.0, (train - mean) / deviation * turn)
        r = np.corrcoef(z[:, known].T)
        n = known.sum()
        average = (r.sum() - n) / (n * (n - 1))
        reliability = n * average / (1 + (n - 1) * average)
        score = np.nanmean(np.where(known, (shown - mean) / deviation * turn, np.nan)[:, known], axis=1)
        score = np.where(np.isnan(score), 0.0, score)
        old = np.mean(z[:, known], axis=1)
        for i in np.flatnonzero(items):
            residual = z[:, i] - reliability * old
            spread = deviation[i] * residual.std()
            centre = mean[i] + turn[i] * deviation[i] * reliability * score
            logs = -0.5 * ((scale - centre[:, None]) / spread) ** 2
            logs -= logs.max(axis=1, keepdims=True)
            p[:, i] = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    return p


def paired(logs: dict[str, np.ndarray], one: str, other: str) -> str:
    """Mean difference with its standard error."""
    difference = logs[one] - logs[other]
    return f"{difference.mean():+.4f} ({error(difference):.4f})"


def judge(script: Script, tables: dict[str, dict[str, np.ndarray]], sizes: str) -> None:
    """The table's order, each model's row, and where the gain comes from."""
    data = "MyPersonality is not public: stand-in, judged by the order. "
    means = {name: {model: float(values.mean()) for model, values in logs.items()} for name, logs in tables.items()}
    order = list(SOURCE)
    agrees = {name: all(m[a] > m[b] for a, b in pairwise(order)) for name, m in means.items()}
    values = {name: {model: round(m[model], 3) for model in m} for name, m in means.items()}
    script.judge(
        "hennig-tab-4.1", all(agrees.values()), claim="Mean log probability of test answers orders the models as in "
        "table 4.1: users and items, partial credit, items, Rasch, users, uniform.",
        target=str(SOURCE), value=f"{values}; {sizes}", seed=SEED,
        reason=data + ("" if all(agrees.values()) else "Places that differ are seen in the values: " + ", ".join(
            f"{name}: {' > '.join(sorted(order, key=lambda one: -m[one]))}" for name, m in means.items()
        )),
    )  # fmt: skip
    for id, model, claim, holds in (
        ("hennig-sys-ordinal-users-items", "users & items", "The best of the learnt models of the table.",
         all(m["users & items"] == max(m[one] for one in order) for m in means.values())),
        ("hennig-sys-ordinal-items", "items only", "Close to partial credit: within 0.02 nats.",
         all(abs(m["items only"] - m["partial credit"]) < 0.02 for m in means.values())),
        ("hennig-sys-ordinal-users", "users only", "The weakest learnt model.",
         all(m["users only"] == min(m[one] for one in order[:-1]) for m in means.values())),
        ("hennig-sys-rasch", "Rasch", "Below partial credit, above uniform.",
         all(m["partial credit"] > m["Rasch"] > m["uniform"] for m in means.values())),
        ("hennig-sys-gpcm", "partial credit", "Above items only and Rasch, below users and items.",
         all(m["users & items"] > m["partial credit"] > max(m["items only"], m["Rasch"]) for m in means.values())),
        ("hennig-sys-classic-test-theory", "classical test theory", "True score shrunk linearly by reliability; below "
         "partial credit, above uniform.",
         all(m["partial credit"] > m["classical test theory"] > m["uniform"] for m in means.values())),
    ):  # fmt: skip
        found = {name: round(m[model], 4) for name, m in means.items()}
        script.judge(id, holds, claim=claim, target=SOURCE.get(model, "as claimed"), value=f"{found}; {sizes}",
                     seed=SEED, reason=data if holds else data + f"All means: {values}.")  # fmt: skip
    parts = {
        name: {
            "style (users & items - items only)": paired(logs, "users & items", "items only"),
            "discrimination (partial credit - Rasch)": paired(logs, "partial credit", "Rasch"),
            "noise per item (beside users & items)": paired(logs, "users & items, noise per item", "users & items"),
            "users & items - partial credit": paired(logs, "users & items", "partial credit"),
        }
        for name, logs in tables.items()
    }
    larger = all(
        (logs["users & items"] - logs["items only"]).mean() > (logs["partial credit"] - logs["Rasch"]).mean()
        for logs in tables.values()
    )
    script.judge(
        "ours-questionnaire-style", larger, claim="More of the gain is style than discrimination.",
        target="style > discrimination, nats per answer", value=f"{parts}; {sizes}", seed=SEED,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
