"""Defaults of Gaussian processes where nobody gave a kernel: integrated over nodes, at its mode, or fixed.

Eight sets of labels and six of numbers (``shared/process_runs.py``), after 20 and 50 rows, random or asked by the
default scorer, and after 200 random ones (or all of a small pool). Judges: accuracy, log loss and calibration error;
rms error, negative log density and the share of test rows inside 90% intervals. One half of the sets chooses, the other
confirms. Rivals, on random rows: scikit-learn's own processes as they come and with a kernel that is learnt (of
numbers with noise, and outcomes normalised), LogisticRegressionCV, RidgeCV with the deviation of its leave-one-out
errors. A log density counts at most 20 nats a row.

Full mode: some fifteen minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.loop.comparison import interval
from experiments.defaults.shared.process_runs import (
    BELIEFS,
    HEIGHTS,
    METRICS,
    RIVALS,
    SETS,
    labels_run,
    numbers_run,
)
from experiments.script import Script, command

GROUP = "default_processes"
SPLITS = 7
WAYS = ("random", "designed")
_OF_LABELS = (("accuracy", 1.0), ("log loss", -1.0))
JUDGES = {"two classes": _OF_LABELS, "more classes": _OF_LABELS, "numbers": (("error", -1.0), ("log loss", -1.0))}

Found = dict[tuple[str, str, str], dict[str, np.ndarray]]  # by set, arm and way: metric -> (splits, marks)


def all_runs(script: Script, n_seeds: int, most: int) -> dict[str, Found]:
    """Return what was found of every kind of outcomes; one split of all sets after the other."""
    runs: dict[str, dict[tuple[str, str, str], list[dict[str, np.ndarray]]]] = {kind: {} for kind in SETS}
    for seed in range(n_seeds):
        for kind, halves in SETS.items():
            run = numbers_run if kind == "numbers" else labels_run
            for name in (name for half in halves.values() for name in (half[:1] if script.quick else half)):
                for way in WAYS:
                    beside = (*RIVALS[kind], *(HEIGHTS if kind == "two classes" else ())) if way == "random" else ()
                    for arm in (*BELIEFS, *beside):
                        one = script.kept(GROUP, run, name, arm, way, seed, most)
                        runs[kind].setdefault((name, arm, way), []).append(one)
        print(f"split {seed}: done", flush=True)
    return {
        kind: {key: {metric: np.stack([one[metric] for one in each]) for metric in each[0]} for key, each in of.items()}
        for kind, of in runs.items()
    }


def apart(found: Found, metric: str, name: str, arm: str, to: str, way: str) -> np.ndarray:
    """Return the mean differences (splits,) of two arms on a set, over the marks."""
    return (found[name, arm, way][metric] - found[name, to, way][metric]).mean(axis=1)


def over_sets(found: Found, metric: str, names: tuple[str, ...], arm: str, to: str, way: str) -> list[float]:
    """Return the mean difference with its limits over sets."""
    each = np.array([apart(found, metric, name, arm, to, way).mean() for name in names])
    return [round(float(one), 4) for one in (interval(each) if len(each) > 1 else each.repeat(3))]


def behind(found: Found, kind: str, names: tuple[str, ...], arm: str, to: str, way: str) -> list[str]:
    """Return the sets and judges by which an arm is behind another by its whole interval over splits."""
    lost = []
    for name in names:
        for metric, sign in JUDGES[kind]:
            _, low, high = interval(apart(found, metric, name, arm, to, way))
            if (high if sign > 0 else -low) < 0:
                lost.append(f"{name} ({metric}, {way})")
    return lost


def counted(found: Found, kind: str, names: tuple[str, ...], arm: str, to: str) -> dict[str, list[int]]:
    """Of each judge, on how many sets an arm is certainly ahead of another on random rows, neither, behind."""
    said = {}
    for metric, sign in JUDGES[kind]:
        limits = [interval(apart(found, metric, name, arm, to, "random"))[1:] for name in names]
        signs = [round(sign) * (int(low > 0) - int(high < 0)) for low, high in limits]
        said[metric] = [signs.count(one) for one in (1, 0, -1)]
    return said


def chosen(found: Found, names: tuple[str, ...]) -> str:
    """Return the belief of the least log loss on the choosing sets, random rows and designed."""

    def loss(arm: str) -> float:
        return float(np.mean([found[name, arm, way]["log loss"].mean() for name in names for way in WAYS]))

    return min(BELIEFS, key=loss)


def run(script: Script) -> None:
    """Fit and ask; choose on one half of the sets, confirm on the other."""
    n_seeds, most = (2, 20) if script.quick else (SPLITS, 200)
    found = all_runs(script, n_seeds, most)
    cut = slice(0, 1) if script.quick else slice(None)
    halves = {half: {kind: of[half][cut] for kind, of in SETS.items()} for half in ("choose", "confirm")}
    _table(script, found, halves, n_seeds)
    chose = {kind: chosen(of, halves["choose"][kind]) for kind, of in found.items()}
    value: dict[str, Any] = {"chosen": chose}
    lost: dict[str, list[str]] = {}
    for kind, of in found.items():
        names, picked = halves["confirm"][kind], chose[kind]
        others = [arm for arm in BELIEFS if arm != picked]
        for to, ways in (*((arm, WAYS) for arm in others), *((arm, WAYS[:1]) for arm in RIVALS[kind])):
            for way in ways:
                value[f"{kind}, {way}: minus {to}"] = {
                    metric: over_sets(of, metric, names, picked, to, way) for metric in METRICS[kind]
                }
                some = behind(of, kind, names, picked, to, way)
                if some:
                    lost[to] = lost.get(to, []) + some
    heights = ("integrated", *HEIGHTS)
    value["log loss by where the height begins, random rows"] = {
        half: {
            arm: round(float(np.mean([found["two classes"][name, arm, "random"]["log loss"] for name in of])), 4)
            for arm in heights
        }
        for half, of in ((half, names["two classes"]) for half, names in halves.items())
    }
    value["designed minus random rows"] = {
        f"{kind}, {arm}": {
            metric: _design_pays(of, metric, (*halves["choose"][kind], *halves["confirm"][kind]), arm)
            for metric in METRICS[kind]
        }
        for kind, of in found.items()
        for arm in BELIEFS
    }
    value["covered of 90%"] = {
        f"{arm}, {way}": round(
            float(np.mean([one["covered"].mean() for key, one in found["numbers"].items() if key[1:] == (arm, way)])), 3
        )
        for arm in BELIEFS
        for way in WAYS
    }
    value["sets certainly ahead, neither, certainly behind"] = {
        f"{kind}, {when}, {to}": counted(of, kind, (*halves["choose"][kind], *halves["confirm"][kind]), arm, to)
        for kind, of in found.items()
        for when, arm in (("before", "fixed"), ("after", chose[kind]))
        for to in RIVALS[kind]
    }
    said = "; ".join(f"behind {to} on {', '.join(some)}" for to, some in lost.items())
    script.judge(
        "ours-default-processes", not lost,
        claim="Gaussian processes by their defaults, with a kernel that nobody gave, are certainly worse than a kernel "
        "at its mode or fixed, scikit-learn's own processes, LogisticRegressionCV and RidgeCV on none of "
        f"{sum(map(len, halves['confirm'].values()))} confirming sets ({n_seeds} splits, 95% intervals over splits).",
        target="no paired interval on the wrong side of 0, by accuracy or error nor by log loss",
        value=value,
        reason=f"{said[:1].upper()}{said[1:]}." if said else "",
        seed=f"0..{n_seeds - 1}",
    )  # fmt: skip


def _design_pays(found: Found, metric: str, names: tuple[str, ...], arm: str) -> list[float]:
    """Designed rows minus random ones at 20 and 50, mean over sets with limits."""
    each = []
    for name in names:
        designed = found[name, arm, "designed"][metric]
        each.append(float((designed - found[name, arm, "random"][metric][:, : designed.shape[1]]).mean()))
    return [round(float(one), 4) for one in interval(np.array(each))]


def _table(
    script: Script, found: dict[str, Found], halves: dict[str, dict[str, tuple[str, ...]]], n_seeds: int
) -> None:
    rows: list[dict[str, Any]] = []
    for kind, of in found.items():
        for (name, arm, way), one in of.items():
            half = next(half for half, names in halves.items() if name in names[kind])
            for k in range(one["log loss"].shape[1]):
                row: dict[str, Any] = {
                    "outcome": kind, "half": half, "set": name, "kernel": arm, "rows": way,
                    "labels": ("20", "50", "200 or all")[k],
                }  # fmt: skip
                for metric in ("accuracy", "error", "log loss", "calibration error", "covered"):
                    row[metric] = round(float(one[metric][:, k].mean()), 4) if metric in one else ""
                worst = one["log loss"][:, k].max()
                row["worst split's log loss"] = round(float(worst), 4)
                rows.append(row)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]}, "default-processes",
        f"Gaussian processes with a kernel that nobody gave, and rivals: means over {n_seeds} splits on test rows.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
