"""Response models on seventeen real scales, chosen by hidden answers, and the ridge short form beside them.

Four hundred people (or half of all) teach the items; up to 400 others show every other answer. Judges are nats of a
hidden answer and the error of the total of the hidden ones, in its deviations. "chosen" is what `adaptive calibrate`
takes when nothing is said, by hidden answers of the teaching people alone; the rival is a ridge regression of the
hidden total on the answers shown, its strength by cross-validation. Scales of Big Five markers and abilities choose,
those of bfi and the others confirm.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.linear_model import RidgeCV

from adaptive import Questionnaire, datasets
from adaptive.estimators.questionnaires.model_choice import OF_MORE, OF_TWO, chosen_model
from experiments.questionnaires.shared.people import reversed_items
from experiments.script import Script, command
from experiments.statistics import half_width

CHOOSE = (*(f"big_five {trait}" for trait in "ENACO"), "icar", "sat12")
CONFIRM = (*(f"bfi {trait}" for trait in "ACENO"), "epi", "lsat6", "lsat7", "verbal_aggression", "science")
MOST = 400
RIDGE = np.logspace(-1, 4, 11)


def scale_of(name: str) -> tuple[np.ndarray, tuple[int, ...], tuple[int, ...]]:
    """Answers (people, items), categories, and columns that are turned round."""
    source, _, trait = name.partition(" ")
    table = datasets.answers(source)
    if trait:
        table = table[[item for item in table.columns if str(item).startswith(trait)]]
    if source == "epi":
        table = table[list(table.columns)[:24]] - 1
    values = table.to_numpy(dtype=float)
    low, high = int(np.nanmin(values)), int(np.nanmax(values))
    turned = reversed_items(table, ["x"] * table.shape[1])
    return values, tuple(range(low, high + 1)), tuple(int(table.columns.get_loc(item)) for item in turned)


def judged(name: str, seed: int, most: int) -> dict[str, np.ndarray]:
    """Of each model (people, 2): nats of a hidden answer, and the total of hidden ones less the true one; seconds."""
    values, categories, reverse = scale_of(name)
    values = values[(~np.isnan(values)).all(axis=1)]
    order = np.random.default_rng([seed, 34]).permutation(len(values))
    n = min(most, len(values) // 2)
    train, judge = values[order[:n]], values[order[n : 2 * n]]
    shown = np.arange(values.shape[1]) % 2 == 0
    revealed, hidden = np.where(shown, judge, np.nan), judge[:, ~shown]
    places, found = np.searchsorted(categories, hidden), {}
    truth, unit = hidden.sum(axis=1), hidden.sum(axis=1).std()
    models = OF_TWO if len(categories) == 2 else OF_MORE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            begun = time.process_time()
            fitted = Questionnaire(model, categories=categories, reverse=reverse).fit(train)
            p = fitted.predict_proba(revealed)[:, ~shown]
            found[f"{model}, seconds"] = np.array(time.process_time() - begun)
            nats = np.log(np.take_along_axis(p, places[..., None], axis=2)[..., 0]).mean(axis=1)
            total = (p @ np.asarray(categories, dtype=float)).sum(axis=1)
            found[model] = np.column_stack([nats, (total - truth) / unit])
        begun = time.process_time()
        choice = chosen_model(train, categories, reverse, seed)
        found["choice, seconds"] = np.array(time.process_time() - begun)
    found["chosen"] = found[choice.model]
    found["took"] = np.array(models.index(choice.model))
    ridge = RidgeCV(RIDGE).fit(train[:, shown], train[:, ~shown].sum(axis=1))
    short = (ridge.predict(judge[:, shown]) - truth) / unit
    found["ridge"] = np.column_stack([np.full(n, np.nan), short])
    return found


def run(script: Script) -> None:
    """A table of all scales, and the verdict on the choice."""
    splits = 1 if script.quick else 3
    names = ("science",) if script.quick else (*CHOOSE, *CONFIRM)
    found = {
        name: [script.kept("default_questionnaires", judged, name, seed, 80 if script.quick else MOST)
               for seed in range(splits)]
        for name in names
    }  # fmt: skip
    rows, behind, said, ridge = [], [], {}, {}
    for name, of in found.items():
        models = [key for key in of[0] if f"{key}, seconds" in of[0]]
        both = {key: np.concatenate([one[key] for one in of]) for key in (*models, "chosen", "ridge")}
        took = [models[int(one["took"])] for one in of]
        for model in (*models, "chosen", "ridge"):
            less = both[model][:, 0] - both["chosen"][:, 0]
            width = float(half_width(less))
            rows.append({
                "scale": name, "half": "confirms" if name in CONFIRM else "chooses", "model": model,
                "nats": round(float(both[model][:, 0].mean()), 4), "more than chosen": round(float(less.mean()), 4),
                "half width": round(width, 4),
                "error of total": round(float(np.sqrt(np.mean(both[model][:, 1] ** 2))), 4),
                "took": ", ".join(took) if model == "chosen" else "",
                "seconds": round(float(np.mean([one.get(f"{model}, seconds", 0.0) for one in of])), 2),
            })  # fmt: skip
            if model in models and less.mean() - width > 0.002 and name in CONFIRM:
                behind.append(f"{model} on {name}, {less.mean():+.4f} +- {width:.4f}")
            if model in models:
                said[f"{name}, {model}"] = f"{less.mean():+.4f} +- {width:.4f}"
        squares = both["ridge"][:, 1] ** 2 - both["chosen"][:, 1] ** 2
        ridge[name] = f"{squares.mean():+.4f} +- {half_width(squares):.4f}"
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "default-questionnaires",
        f"{splits} splits of up to {MOST} people who teach and as many who show every other answer: nats of a hidden "
        "answer, more than by the chosen model (95% half width over people), rms error of the total of hidden answers "
        "in its deviations, which model was taken in each split, processor seconds of a fit.",
    )  # fmt: skip
    script.judge(
        "ours-default-questionnaires", not behind,
        claim="The response model that `adaptive calibrate` chooses by hidden answers is on no confirming scale "
        "certainly behind another by 0.002 nats an answer.",
        target="no 95% interval over people above 0.002 nats",
        value={"nats more than the chosen one": said, "square error of totals, ridge less chosen": ridge},
        reason=f"Behind {'; '.join(behind)}." if behind else "",
        seed=f"0..{splits - 1}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
