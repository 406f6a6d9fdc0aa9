"""All other settings of the estimators, each beside the defaults, on real sets of which some choose and others confirm.

Sixty rows (or small tables, histories, corpora) are learnt from, others predicted; nats an outcome and a second judge,
of every setting less those of the defaults, paired by split. A setting beats the defaults where it is certainly ahead
by one judge, and not certainly behind by the other, over the choosing sets and over the confirming sets: 95% intervals
of the mean over sets, from splits. Some of a hundred settings do so by luck: those that do are tried again on as many
further splits, which alone count then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.defaults.shared.setting_families import FAMILIES, one_setting
from experiments.script import Script, command

SPLITS = 4
T = {4: 3.182, 3: 4.303, 2: 12.706}
ROWS = (
    "labels", "labels by processes", "numbers", "numbers by processes", "counts", "rates", "pairs of counts",
    "comparisons",
)  # fmt: skip


Halves = dict[str, tuple[np.ndarray, np.ndarray]]


def run(script: Script) -> None:
    """A verdict for each family of rows and pairs, and one table."""
    judge_families(script, ("counts",) if script.quick else ROWS, "default-settings")


def judge_families(
    script: Script,
    families: tuple[str, ...],
    table: str,
    few: dict[str, tuple[int, int]] | None = None,
    stays: dict[str, str] | None = None,
) -> None:
    """A verdict for each, ``ours-default-settings-FAMILY``, and the table.

    ``few`` has numbers of sets of each half and of splits, ``stays`` why a default is kept although it is behind.
    """
    rows: list[dict[str, Any]] = []
    for family in families:
        own = FAMILIES[family]
        enough = " or ".join(f"{least:g}" for least in sorted(set(own.matter)))
        arms = list(own.arms)[: 1 if script.quick else None]
        most, splits = (1, 2) if script.quick else (few or {}).get(family, (None, SPLITS))
        sets = (*own.choose[:most], *own.confirm[:most])
        ahead, told = [], {}
        for arm in arms:
            halves = looked_at(script, family, arm, sets, range(splits))
            told[arm] = _said(halves)
            rows += [
                {
                    "estimator": own.owner, "setting": arm, "sets that": half, "first judge": own.first,
                    "more": round(float(mean[0]), 4),
                    "half width": round(float(width[0]), 4), "second judge": own.second,
                    "more of it": round(float(mean[1]), 4), "its half width": round(float(width[1]), 4),
                }
                for half, (mean, width) in halves.items()
            ]  # fmt: skip
            if _beats(halves, own.matter):
                again = looked_at(script, family, arm, sets, range(splits, 2 * splits))
                told[f"{arm}, again"] = _said(again)
                if _beats(again, own.matter):
                    ahead.append(arm)
        script.judge(
            f"ours-default-settings-{family.replace(' ', '-')}", not ahead,
            claim=f"No other setting of {own.owner} that was tried beats its defaults on choosing and on confirming "
            f"sets alike ({splits} splits).",
            target="95% intervals over splits of the mean over sets: by one judge above 0 (and the mean above "
            f"{enough}) in both halves, by the other not below 0; twice, on splits of their own",
            value={f"{own.first} more than the defaults, and more {own.second}": told, "sets": list(sets)},
            reason=f"Ahead: {', '.join(ahead)}. {(stays or {}).get(family, '')}".strip() if ahead else "",
            seed=f"0..{splits - 1}; again {splits}..{2 * splits - 1}",
        )  # fmt: skip
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, table,
        f"Settings less the defaults, {SPLITS} splits (or three, as claims say): two judges (the larger the better; "
        "nats are of an outcome), means over sets and 95% half widths.",
    )  # fmt: skip


def looked_at(script: Script, family: str, arm: str, sets: tuple[str, ...], seeds: range) -> Halves:
    """Mean and half width of both judges less the defaults', in both halves of the sets."""

    def judged(arm: str, name: str) -> np.ndarray:
        runs = [script.kept("default_settings", one_setting, family, arm, name, seed) for seed in seeds]
        return np.array([np.asarray(one["judges"]) for one in runs])

    found = {}
    for half, names in (("choose", FAMILIES[family].choose), ("confirm", FAMILIES[family].confirm)):
        less = np.mean([judged(arm, name) - judged("defaults", name) for name in names if name in sets], axis=0)
        found[half] = less.mean(axis=0), T[len(seeds)] * less.std(axis=0, ddof=1) / np.sqrt(len(seeds))
    return found


def _said(halves: Halves) -> str:
    return "; ".join(
        f"{half} {mean[0]:+.4f} +- {width[0]:.4f}, {mean[1]:+.4f} +- {width[1]:.4f}"
        for half, (mean, width) in halves.items()
    )


def _beats(halves: Halves, matter: tuple[float, float] = (0.0, 0.0)) -> bool:
    """Certainly ahead by one judge in both halves, by what matters, and by the other in neither certainly behind."""
    return any(
        all(mean[judge] > max(width[judge] + 1e-12, matter[judge]) for mean, width in halves.values())
        and not any(mean[1 - judge] < -width[1 - judge] for mean, width in halves.values())
        for judge in (0, 1)
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
