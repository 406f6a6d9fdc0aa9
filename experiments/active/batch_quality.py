"""Batches of twenty beside one row at a time, badge, the top twenty, BatchBALD and random rows.

Digits, USPS (ten classes each), six newsgroups, poliblog and image segments (two classes each): 20 random labels, then
80 in four batches of 20, pools of 400 rows, tests of up to 600 (`shared/batch_runs.py`). "Joint batch" is what `select`
does by the committee (futures, by the default scorer of classifiers); "one at a time" and "top 20" are by the same
scorer; BatchBALD is by information gain, from 1,024 draws and 64 sampled configurations of outcomes; predictive
information gain about 64 rows of the pool chooses jointly, and its top 20.

Judged: means over the four batches, paired over set and seed, 95% limits, of 20 seeds. Without `--full` there are 12 of
predictive information, a batch of which takes 10 s of a processor among ten classes.

    python -m experiments.active.batch_quality [--quick | --full]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.active.shared.batch_runs import SETS, WAYS, one_run
from experiments.equivalence import all_of, inside
from experiments.script import Script, command, panels
from experiments.statistics import limits

GROUP, SEEDS, BATCH, BATCHES = "batch_quality", 20, 20, 4
RUN = {"main": 20, "one": 20, "predictive": 12}  # seeds without --full: what two shared cores gave time for
ONE = ("one at a time",)
MAIN = tuple(way for way in WAYS if not way.startswith("predictive"))
PREDICTIVE = tuple(way for way in WAYS if way.startswith("predictive"))
METRICS = ("accuracy", "log loss")


def runs_of(script: Script, ways: tuple[str, ...], names: tuple[str, ...], seeds: int, batches: int) -> dict[Any, Any]:
    """Return the runs by set and way, of the seeds 0 .. seeds - 1."""
    size = (6, 1) if script.quick else (BATCH, batches)
    found: dict[Any, list[Any]] = {}
    for seed in range(seeds):
        for name in names:
            for way in ways:
                found.setdefault((name, way), []).append(script.kept(GROUP, one_run, name, way, seed, *size))
    return found


def run(script: Script) -> None:
    """Run what is missing; write table, figure and verdicts."""
    names = SETS[-1:] if script.quick else SETS
    seeds = {group: 1 if script.quick else SEEDS if script.full else least for group, least in RUN.items()}
    runs = runs_of(script, ONE, names, seeds["one"], BATCHES)
    runs |= runs_of(script, MAIN[1:], names, seeds["main"], BATCHES)
    runs |= runs_of(script, PREDICTIVE, names, seeds["predictive"], BATCHES)
    ways = list(dict.fromkeys(way for _, way in runs))

    def apart(way: str, other: str, metric: str, name: str | None = None) -> np.ndarray:
        """Return paired differences of means over the batches, one for each set and seed."""
        found: list[float] = []
        for one in names if name is None else (name,):
            pairs = zip(runs[one, way], runs[one, other], strict=False)  # some have fewer seeds
            found += [float(a[metric][1:].mean() - b[metric][1:].mean()) for a, b in pairs]
        return np.array(found)

    def value(way: str, other: str) -> dict[str, list[float]]:
        return {metric: [round(one, 4) for one in limits(apart(way, other, metric))] for metric in METRICS}

    columns: dict[str, list[Any]] = {"way": ways, "seeds": [len(runs[names[0], way]) for way in ways]}
    for name in names:
        for metric in METRICS:
            columns[f"{metric}, {name}"] = [
                round(float(np.mean([one[metric][1:].mean() for one in runs[name, way]])), 4) for way in ways
            ]
    script.table(
        columns, "batch-quality",
        "Accuracy and log loss (nats) on test rows, means over 40 to 100 labels in batches of 20, and over seeds.",
    )  # fmt: skip
    if script.quick:
        return
    _draw(script, names, [way for way in ways if way != "one at a time"], apart)
    n = seeds["main"]

    def size(n: int) -> str:
        return f"{len(names)} sets x {n} seeds ({SEEDS} asked), 95% limits of paired differences"

    to_one = {way: value(way, "one at a time") for way in MAIN[1:]}
    joint = to_one["joint batch"]
    near = all_of([inside(*joint["accuracy"][1:], least=-0.01), inside(*joint["log loss"][1:], most=0.03)])
    worse = " and ".join(metric for metric, most in (("accuracy", -0.01), ("log loss", 0.03))
                         if (joint[metric][2] < most if most < 0 else joint[metric][1] > most))  # fmt: skip
    script.judge(
        "ours-batch-quality-one-at-a-time", near,
        claim=f"Joint batches of 20 teach as much as one row at a time ({size(seeds['one'])}).",
        target="intervals above -0.01 accuracy and below +0.03 nats", value=to_one,
        reason="" if near else f"Certainly worse by {worse}." if worse else "The intervals reach beyond the band.",
    )  # fmt: skip
    rivals = {way: value("joint batch", way) for way in ("top 20", "badge", "BatchBALD", "random")}
    for way, id in (("top 20", "top"), ("badge", "badge"), ("BatchBALD", "batchbald")):
        loss, accuracy = rivals[way]["log loss"], rivals[way]["accuracy"]
        holds = True if loss[2] < 0 and accuracy[2] > 0 else False if loss[1] > 0 or accuracy[2] < 0 else None
        script.judge(
            f"ours-batch-quality-{id}", holds,
            claim=f"Joint batches of 20 have a lower log loss than {way}, at no loss of accuracy ({size(n)}).",
            target="interval of the log loss below 0, that of accuracy not below", value={way: rivals[way],
                                                                                         "random": rivals["random"]},
            reason="" if holds else "The intervals hold 0." if holds is None else "Certainly no better.",
        )  # fmt: skip
    if not seeds["predictive"]:
        return
    pair = "predictive information, joint", "predictive information, top 20"
    found = {f"joint minus {pair[1]}": value(*pair), "joint minus the committee's joint batch": value(pair[0], MAIN[1])}
    loss = found[f"joint minus {pair[1]}"]["log loss"]
    told = len(apart(*pair, "log loss")) > 5
    script.judge(
        "ours-batch-quality-predictive", None if not told or loss[1] < 0 < loss[2] else loss[2] < 0,
        claim="Joint batches by predictive information gain have a lower log loss than its top 20 "
        f"({len(names)} sets x {seeds['predictive']} seeds).",
        target="interval below 0", value=found,
        reason="" if told and loss[2] < 0 else "The interval holds 0." if told and loss[1] < 0 else "Certainly no "
        "better." if told else "Too few pairs.",
    )  # fmt: skip


def _draw(script: Script, names: tuple[str, ...], ways: list[str], apart: Any) -> None:
    figure, axes = panels(1, 2, width=9.0, height=3.2)
    for axis, metric in zip(axes[0], METRICS, strict=True):
        for row, way in enumerate(ways):
            for name in names:
                axis.plot(apart(way, "one at a time", metric, name).mean(), row, "o", color="#BBBBBB", markersize=3)
            mean, low, high = limits(apart(way, "one at a time", metric))
            axis.plot([low, high], [row, row], color="#0072B2", linewidth=1.5)
            axis.plot(mean, row, "o", color="#0072B2", markersize=5)
        axis.axvline(0.0, color="#555555", linewidth=0.8)
        axis.locator_params(axis="x", nbins=5)
        axis.set_yticks(range(len(ways)), ways if metric == METRICS[0] else [""] * len(ways))
        axis.invert_yaxis()
        axis.set_xlabel(f"{metric}, minus one at a time{' (nats)' if metric == 'log loss' else ''}")
    script.figure(
        figure, "batch-quality",
        "Batches of 20 beside one row at a time: means over 40 to 100 labels, paired differences with 95% limits over "
        "sets and seeds; grey: each set. Real labels, given at once.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__, full=f"all {SEEDS} seeds")
