"""All other settings of the estimators, each beside the defaults, on real sets of which some choose and others confirm.

Sixty rows (or small tables, histories, corpora) are learnt from, others predicted; nats an outcome and a second judge,
of every setting less those of the defaults, paired by split. A setting beats the defaults where it is certainly ahead
by one judge, and not certainly behind by the other, over the choosing sets and over the confirming sets: 95% intervals
of the mean over sets, from splits. Some of a hundred settings do so by luck.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.defaults.shared.setting_families import FAMILIES, one_setting
from experiments.script import Script, command

SPLITS = 4
T = {4: 3.182, 2: 12.7}
LONG = ("pairs", "documents", "sequences", "games")


def run(script: Script) -> None:
    """A verdict for each family, and one table."""
    splits = 2 if script.quick else SPLITS
    rows: list[dict[str, Any]] = []
    for family in ("counts",) if script.quick else [one for one in FAMILIES if script.full or one not in LONG]:
        own = FAMILIES[family]
        arms = ["defaults", *list(own.arms)[: 1 if script.quick else None]]
        sets = (own.choose[0], own.confirm[0]) if script.quick else (*own.choose, *own.confirm)
        found = {
            (arm, name): np.array([
                np.asarray(script.kept("default_settings", one_setting, family, arm, name, seed)["judges"])
                for seed in range(splits)
            ])
            for arm in arms for name in sets
        }  # fmt: skip
        ahead, told = [], {}
        for arm in arms[1:]:
            halves = {}
            for half, names in (("choose", own.choose), ("confirm", own.confirm)):
                less = np.mean([found[arm, name] - found["defaults", name] for name in names if name in sets], axis=0)
                width = T[splits] * less.std(axis=0, ddof=1) / np.sqrt(splits)
                halves[half] = less.mean(axis=0), width
            told[arm] = "; ".join(
                f"{half} {mean[0]:+.4f} +- {width[0]:.4f}, {mean[1]:+.4f} +- {width[1]:.4f}"
                for half, (mean, width) in halves.items()
            )
            rows += [
                {
                    "estimator": own.owner, "setting": arm, "sets that": half, "nats more": round(float(mean[0]), 4),
                    "half width": round(float(width[0]), 4), "second judge": own.second,
                    "more": round(float(mean[1]), 4), "its half width": round(float(width[1]), 4),
                }
                for half, (mean, width) in halves.items()
            ]  # fmt: skip
            if _beats(halves):
                ahead.append(arm)
        script.judge(
            f"ours-default-settings-{family.replace(' ', '-')}", not ahead,
            claim=f"No other setting of {own.owner} that was tried beats its defaults on choosing and on confirming "
            "sets alike.",
            target="95% intervals over splits of the mean over sets: by one judge above 0 in both halves, by the "
            "other not below",
            value={f"nats more than the defaults, and more {own.second}": told},
            reason=f"Ahead: {', '.join(ahead)}." if ahead else "",
            seed=f"0..{splits}",
        )  # fmt: skip
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "default-settings",
        f"Settings less the defaults, {splits} splits: nats an outcome and a second judge (the larger the better), "
        "means over sets and 95% half widths.",
    )  # fmt: skip


def _beats(halves: dict[str, tuple[np.ndarray, np.ndarray]]) -> bool:
    """Certainly ahead by one judge in both halves, and by the other in neither certainly behind."""
    return any(
        all(mean[judge] > width[judge] + 1e-12 for mean, width in halves.values())
        and not any(mean[1 - judge] < -width[1 - judge] for mean, width in halves.values())
        for judge in (0, 1)
    )


if __name__ == "__main__":
    command(run, __doc__, __file__, full="pairs, documents, sequences and games, too: an hour more")
