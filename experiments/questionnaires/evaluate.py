"""Full scores of language models by few items of a benchmark: chosen items beside random ones, anchors and forms.

Systems of a third of the families are evaluated by items that systems of other families calibrated. The full score is
the mean over all items of the set. Everybody gets the same systems, and answers to as many items.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

from experiments.equivalence import all_of, inside
from experiments.questionnaires.shared.evaluations import (
    AT,
    CHOSEN,
    ITEMS,
    RIDGE,
    RIVALS,
    STATED,
    evaluated,
    stronger,
)
from experiments.questionnaires.shared.systems import ALL, SETS
from experiments.script import Script, command, panels
from experiments.statistics import limits

KNOWN = {100: 5, AT: 5, 2000: 5}  # systems that calibrate, and the splits of each; 0 leaves them out
AFTER = (10, 20, 40)
NAMES = (*SETS, ALL)


def run(script: Script) -> None:
    """All cells, tables and verdicts."""
    sets = ("winogrande",) if script.quick else NAMES
    known = {100: 1} if script.quick else {n: splits for n, splits in KNOWN.items() if splits}
    cells = {
        (name, n): [script.kept("evaluate", evaluated, name, n, seed, script.quick) if script.quick else
                    script.kept("evaluate", evaluated, name, n, seed) for seed in range(splits)]
        for (n, splits), name in product(known.items(), sets)
    }  # fmt: skip
    at = min(known) if script.quick else AT
    beyond = {
        name: [script.kept("evaluate-stronger", stronger, name, at, seed, script.quick) if script.quick else
               script.kept("evaluate-stronger", stronger, name, at, seed) for seed in range(known[at])]
        for name in sets
    }  # fmt: skip
    tables(script, cells, sets, known)
    if script.quick:
        return
    judge_errors(script, cells, known)
    judge_bands(script, {name: cells[name, AT] for name in NAMES}, beyond)


# -- tables and verdicts -----------------------------------------------------------------------------------------------


def tables(script: Script, cells: dict[Any, Any], sets: tuple[str, ...], known: dict[int, int]) -> None:
    """Errors of all methods, and the picture."""
    rows: dict[str, list[Any]] = {"set": [], "calibrating": [], "method": []}
    asked = next(iter(cells.values()))[0]["items"].tolist()
    rows |= {str(n): [] for n in asked}
    for name, n_known, method in product(sets, known, (CHOSEN, *RIVALS)):
        values = mean(cells[name, n_known], method)
        rows["set"].append(name)
        rows["calibrating"].append(n_known)
        rows["method"].append(method)
        for n, value in zip(asked, [*values, *[np.nan] * (len(asked) - len(values))], strict=True):
            rows[str(n)].append(round(float(value), 2))
    script.table(rows, "ours-evaluate-error", caption(known))
    figure, axes = panels(1, len(sets), width=3.2 * len(sets), height=3.0)
    at = AT if AT in known else min(known)
    for ax, name in zip(axes[0], sets, strict=True):
        for method in (CHOSEN, RIDGE, "random, mean", "anchors, many traits", "greedy form, ridge"):
            values = mean(cells[name, at], method)
            ax.plot(asked[: len(values)], values, marker="o", markersize=3, label=method)
        ax.set(title=name, xlabel="items asked", ylabel="error (points)", xscale="log", ylim=(0, None))
    axes[0][-1].legend(frameon=False, fontsize="x-small")
    script.figure(figure, "ours-evaluate-error", caption({at: known[at]}))


def caption(known: dict[int, int]) -> str:
    """What was done, for so many splits of so many calibrating systems."""
    return (
        "Root mean square error, in points, of the full score of systems of other families by so many items; splits "
        f"by family: {listed(f'{splits} where {many(n)} calibrate' for n, splits in known.items())}. 400 systems are "
        "evaluated in each, copies of theirs are not among those that calibrate."
    )


def mean(splits: list[dict[str, np.ndarray]], what: str) -> np.ndarray:
    """Mean over the splits."""
    return np.asarray(np.mean([one[what] for one in splits], axis=0))


def between(errors: np.ndarray, n: int) -> float:
    """Error at ``n`` items, by a straight line in logarithms."""
    return float(np.exp(np.interp(np.log(n), np.log(ITEMS[: len(errors)]), np.log(errors))))


def listed(words: Iterable[str]) -> str:
    """Enumerate in English."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def many(n: int) -> str:
    """Systems that calibrate; two sets have fewer than 2,000 others that are no copies."""
    return f"{'up to ' if n > 1800 else ''}{n:,}"


def seeds(known: dict[int, int]) -> str:
    """Seeds of the splits."""
    if len(known) == 1:
        return f"splits 0 to {next(iter(known.values())) - 1}"
    return listed(f"splits 0 to {splits - 1} where {many(n)} calibrate" for n, splits in known.items())


def interval(values: Any, digits: int = 2) -> str:
    """Mean over splits, and its 95% interval."""
    return "{:.{d}f} ({:.{d}f} to {:.{d}f})".format(*limits(np.array(values)), d=digits)


def judge_errors(script: Script, cells: dict[Any, Any], known: dict[int, int]) -> None:
    """Chosen items beside ridge on random ones, and beside each rival."""
    place = ITEMS.index(20)
    where = f"on each of four sets, and on all at once; {listed(map(many, known))} systems calibrate"
    ratios = {
        f"{name}, {n}": [one[CHOSEN][place] / one[RIDGE][place] for one in cells[name, n]]
        for name, n in product(NAMES, known)
    }
    within = [inside(*limits(np.array(one))[1:], most=0.7) for one in ratios.values()]
    script.judge(
        "ours-evaluate-ridge", all_of(within),
        claim="At 20 chosen items the error of the full score is at most 0.7 of ridge's on 20 random ones.",
        target=f"<= 0.7 {where}",
        value={name: interval(one, 3) for name, one in ratios.items()}, seed=seeds(known),
        reason=f"Within in {within.count(True)} of {len(within)} cells by whole intervals, by means in "
        f"{sum(np.mean(one) <= 0.7 for one in ratios.values())}; above in {within.count(False)}.",
    )  # fmt: skip
    many_more = {
        name_n: [one[CHOSEN][place] / between(one[RIDGE], 50) for one in splits]
        for name_n, splits in ((f"{name}, {n}", cells[name, n]) for name, n in product(NAMES, known))
    }
    script.judge(
        "ours-evaluate-items", all_of(inside(*limits(np.array(one))[1:], most=1.0) for one in many_more.values()),
        claim="20 chosen items leave no more error of the full score than ridge regression on 50 random ones.",
        target=f"ratio <= 1 {where}",
        value={name: interval(one, 3) for name, one in many_more.items()}, seed=seeds(known),
        reason="Ridge's error at 50 items lies, in logarithms, on the straight line between those at 40 and 60. 50 are "
        "half of all items of mmlu and winogrande, and ridge knows it.",
    )  # fmt: skip
    told: dict[str, Any] = {}
    wins, losses = 0, 0
    for name, n in product(NAMES, known):
        means = {m: mean(cells[name, n], m) for m in (CHOSEN, *RIVALS)}
        for k in AFTER:
            i = ITEMS.index(k)
            best = min(RIVALS, key=lambda m, i=i, means=means: means[m][i])
            less = [one[CHOSEN][i] - one[best][i] for one in cells[name, n]]
            _, low, high = limits(np.array(less))
            wins, losses = wins + (high < 0), losses + (low > 0)
            told.setdefault(f"{name}, {n}", {})[str(k)] = (
                f"{means[CHOSEN][i]:.2f}; {best} {means[best][i]:.2f}; difference {interval(less)}"
            )
    script.judge(
        "ours-evaluate-error",
        False if losses else True if wins == len(cells) * len(AFTER) else None,
        claim="Chosen items leave less error than random ones by ridge or by item-response models, anchors by "
        "clustering of item parameters, a greedy fixed form, and maximum information of one trait.",
        target=f"least at 10, 20 and 40 items, {where}",
        value=told, seed=seeds(known),
        reason=f"Beside the best rival of each cell, which is picked by the same splits: certainly less in {wins} of "
        f"{len(cells) * len(AFTER)} cells, certainly more in {losses}.",
    )  # fmt: skip


def judge_bands(script: Script, ours: dict[str, Any], beyond: dict[str, Any]) -> None:
    """Coverage, stated errors, and stronger systems."""

    def after(cells: dict[str, Any], what: str) -> dict[str, dict[str, str]]:
        return {
            name: {str(k): interval([one[what][i] for one in splits], 3) for i, k in enumerate(AFTER)}
            for name, splits in cells.items()
        }

    covered = {
        "by the calibrating families": after(ours, "by families"),
        "by the model alone": after(ours, "by the model"),
    }
    held = all_of(
        inside(*limits(np.array([one["by families"][i] for one in ours[name]]))[1:], least=0.85, most=0.95)
        for name in NAMES for i in range(len(AFTER))
    )  # fmt: skip
    script.judge(
        "ours-evaluate-coverage", held, kind="must hold",
        claim="The 90% band of the full score covers 85 to 95% of systems of other families after 10, 20 and 40 items.",
        target="0.85 to 0.95 on each of four sets, and on all at once", value=covered, seed=seeds({AT: KNOWN[AT]}),
        reason=f"{AT} calibrate.",
    )  # fmt: skip
    until: dict[str, Any] = {}
    for name, (place, limit) in product(NAMES, enumerate(STATED)):
        items, error, reached = np.array([one["stated"][place] for one in ours[name]]).T
        until.setdefault(name, {})[f"{limit:g} points"] = {
            "items": round(float(items.mean()), 1), "error": interval(error),
            "reached": round(float(reached.mean()), 2),
        }  # fmt: skip
    script.judge(
        "ours-evaluate-stated", all_of(
            inside(*limits(np.array([one["stated"][place][1] for one in ours[name]]))[1:], most=1.1 * limit)
            for name in NAMES for place, limit in enumerate(STATED)
        ), claim="Asked until the stated error is below 3 (2) points, the error is so.",
        target="root mean square error <= 1.1 times what was stated", value=until, seed=seeds({AT: KNOWN[AT]}),
        reason=f"{AT} calibrate; at most 100 items.",
    )  # fmt: skip
    told = {
        name: {what: mean(splits, what).round(2).tolist() for what in ("error", "ridge", "bias")}
        | {what: [interval([one[what][i] for one in splits], 3) for i in range(len(AFTER))]
           for what in ("by families", "by the model")}
        for name, splits in beyond.items()
    }  # fmt: skip
    script.judge(
        "ours-evaluate-stronger", all_of(
            inside(*limits(np.array([one["by families"][i] for one in found]))[1:], least=0.85)
            for found in beyond.values() for i in range(len(AFTER))
        ),
        claim="Systems that are better than all that calibrated are covered, too.",
        target="90% bands cover at least 85% after 10, 20 and 40 items", value=told, seed=seeds({AT: KNOWN[AT]}),
        reason="Errors and biases at 5, 10, 20 and 40 items. The prior (one in five answers 2 logits better on all "
        "items) was chosen on splits 0 and 1 of mmlu and winogrande, by the model's own band; gsm8k, truthfulqa, all "
        "four and the other splits had no part in it. Under the former prior the band covered 0.15 to 0.78. The band "
        "of the calibrating families knows of none like these, and what they could not answer says little of much "
        "better ones.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
