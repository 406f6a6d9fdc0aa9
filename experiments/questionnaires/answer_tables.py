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
from experiments.equivalence import all_of, inside
from experiments.questionnaires.shared.people import Halves, halves
from experiments.script import Script, command
from experiments.statistics import limits, standard_error

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
SAYS: dict[str, tuple[str | None, str]] = {
    "hennig-tab-4.1": (None, "Mean log probability of test answers orders the models as in table 4.1: users and items, "
                       "partial credit, items, Rasch, users, uniform."),
    "hennig-sys-ordinal-users-items": ("users & items", "The best of the learnt models of the table."),
    "hennig-sys-ordinal-items": ("items only", "Close to partial credit: within 0.02 nats."),
    "hennig-sys-ordinal-users": ("users only", "The weakest learnt model."),
    "hennig-sys-rasch": ("Rasch", "Below partial credit, above uniform."),
    "hennig-sys-gpcm": ("partial credit", "Above items only and Rasch, below users and items."),
    "hennig-sys-classic-test-theory": ("classical test theory", "True score shrunk linearly by reliability; below "
                                       "partial credit, above uniform."),
}  # fmt: skip
ROWS = {  # (a model, one that it is above), of each row of the table
    "hennig-sys-ordinal-items": [("items only", "partial credit")],  # within .02
    "hennig-sys-rasch": [("partial credit", "Rasch"), ("Rasch", "uniform")],
    "hennig-sys-gpcm": [("partial credit", "items only"), ("partial credit", "Rasch"),
                        ("users & items", "partial credit")],
    "hennig-sys-classic-test-theory": [("partial credit", "classical test theory"),
                                       ("classical test theory", "uniform")],
}  # fmt: skip


def run(script: Script) -> None:
    """Both sets, all models; a table, and the verdicts."""
    tables = {}
    for name, n_people in PEOPLE.items():
        if script.quick and name != "bfi":
            continue
        n = 60 if script.quick else n_people
        tables[name] = {model: script.kept("answer_tables", learnt, name, n, model)["logs"] for model in MODELS}
        tables[name] |= simple(name, n)
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


def learnt(name: str, n_people: int, model: str) -> dict[str, np.ndarray]:
    """(people,) mean log probability of each person's hidden answers under one model."""
    split = halves(name, n_people, SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = Questionnaire(
            **MODELS[model], item_traits=split.traits, reverse=split.reverse, categories=categories(split)
        ).fit(split.train)
    return {"logs": of_hidden(split, fitted.predict_proba(split.revealed))}


def simple(name: str, n_people: int) -> dict[str, np.ndarray]:
    """The same by what needs no fit of ours."""
    split, found = halves(name, n_people, SEED), {}
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


def judge(script: Script, tables: dict[str, dict[str, np.ndarray]], sizes: str) -> None:
    """The table's order, each model's row, and where the gain comes from: by paired intervals over people."""
    data = "MyPersonality is not public; this is a stand-in, judged by the order. "
    means = {name: {model: round(float(values.mean()), 4) for model, values in logs.items()}
             for name, logs in tables.items()}  # fmt: skip
    order = list(SOURCE)
    steps = {
        "hennig-tab-4.1": list(pairwise(order)),
        "hennig-sys-ordinal-users-items": [("users & items", one) for one in order[1:]],
        "hennig-sys-ordinal-users": [(one, "users only") for one in order[:-1] if one != "users only"],
        **ROWS,
    }
    for id, pairs in steps.items():
        differences = {name: {f"{one} - {other}": list(limits(logs[one] - logs[other])) for one, other in pairs}
                       for name, logs in tables.items()}  # fmt: skip
        close = id == "hennig-sys-ordinal-items"
        bounds = {"least": -0.02, "most": 0.02} if close else {"least": 0.0}
        holds = all_of(inside(*three[1:], **bounds) for found in differences.values() for three in found.values())
        model, claim = SAYS[id]
        script.judge(
            id, holds, claim=claim, seed=SEED, target={
                "the source": SOURCE if model is None else SOURCE.get(model, "as claimed"),
                "here": f"differences {'within 0.02 nats' if close else 'above 0'}: whole 95% intervals over people",
            },
            value={**differences, "means": means if model is None else {name: m[model] for name, m in means.items()},
                   "of": sizes},
            reason=data if holds else data + "Places that differ are seen in the means: " + ", ".join(
                f"{name}: {' > '.join(sorted(order, key=lambda one: -m[one]))}" for name, m in means.items()
            ),
        )  # fmt: skip
    parts, more = {}, []
    for name, logs in tables.items():
        style, discrimination = logs["users & items"] - logs["items only"], logs["partial credit"] - logs["Rasch"]
        more.append(limits(style - discrimination))
        parts[name] = {
            "style - discrimination": list(more[-1]),
            "style (users & items - items only)": list(limits(style)),
            "discrimination (partial credit - Rasch)": list(limits(discrimination)),
            "noise per item (beside users & items)": list(
                limits(logs["users & items, noise per item"] - logs["users & items"])
            ),
        }
    script.judge(
        "ours-questionnaire-style", all_of(inside(*three[1:], least=0.0) for three in more),
        claim="More of the gain comes from style than from discrimination.",
        target="style > discrimination, nats per answer, the whole 95% interval over people",
        value={**parts, "of": sizes}, seed=SEED,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
