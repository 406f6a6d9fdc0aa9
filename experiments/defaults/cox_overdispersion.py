"""Overdispersion of `CoxProcess`: counts left out of the default's real sets, with and without a negative binomial.

The sets, splits and judges are those of `cox_kernels`: spikes and coal-mining disasters choose, spikes of other
recordings, earthquakes, discoveries and sunspots confirm. Arms: the default, which takes whichever of Poisson and
negative binomial counts predicts those left out better; Poisson counts about a rectified rate (white noise where a
place is counted at more than once), which was the default before, or about an exponential one; and ``rate="exp",
overdispersion="learnt"``.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from adaptive import CoxProcess
from experiments.defaults.cox_kernels import CHOOSE, _of_process, names, problem
from experiments.script import Script, command
from experiments.statistics import half_width

ARMS: dict[str, dict[str, Any]] = {
    "default": {},
    "Poisson": {"overdispersion": None},
    "exp": {"rate": "exp", "overdispersion": None},
    "negative binomial": {"rate": "exp", "overdispersion": "learnt"},
}


def judged_overdispersion(name: str, splits: int) -> dict[str, np.ndarray]:
    """Of each arm (splits, 5): nats a count left out, share that intervals hold, overdispersion found, 1 where counts
    are negative binomial, seconds of the processor for the fit.
    """
    found: dict[str, list[tuple[float, ...]]] = {arm: [] for arm in ARMS}
    for seed in range(splits):
        one = problem(name, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parameters may end at their bounds
            for arm, options in ARMS.items():
                begun = time.process_time()
                model = CoxProcess(**options).fit(one.X, one.y)
                seconds = time.process_time() - begun
                found[arm].append((*_of_process(model, one), float(model.belief_.settings.overdispersed), seconds))
    return {arm: np.array(values) for arm, values in found.items()}


def run(script: Script) -> None:
    """All sets."""
    splits = 2 if script.quick else 10
    chosen = ["discoveries"] if script.quick else names(False)
    found = {name: script.kept("cox_overdispersion", judged_overdispersion, name, splits) for name in chosen}
    rows, behind, ahead = [], [], []
    for name, of in found.items():
        less = of["negative binomial"][:, 0] - of["default"][:, 0]
        half = float(half_width(less))
        if name not in CHOOSE:
            behind += [name] if less.mean() > half else []
            ahead += [name] if less.mean() < -half else []
        for arm, values in of.items():
            difference = values[:, 0] - of["default"][:, 0]
            rows.append({
                "set": name, "half": "chooses" if name in CHOOSE else "confirms", "arm": arm,
                "nats a count": round(float(values[:, 0].mean()), 4), "in 90%": round(float(values[:, 1].mean()), 3),
                "less default": round(float(difference.mean()), 4),
                "half width": round(float(half_width(difference)), 4),
                "overdispersion": float(f"{values[:, 2].mean():.3g}"),
                "negative binomial": round(float(values[:, 3].mean()), 2),
                "seconds": round(float(values[:, 4].mean()), 3),
            })  # fmt: skip
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "default-cox-overdispersion",
        f"Counts left out, {splits} splits: nats a count, what 90% intervals hold, difference to the default and its "
        "95% half width, overdispersion (of Poisson counts: variance of the function between counts of a place), share "
        "of splits in which counts are negative binomial, seconds of the processor for a fit.",
    )  # fmt: skip
    longer = [of["default"][:, 4].mean() / of["Poisson"][:, 4].mean() for of in found.values()]
    chooses = {
        name: of["negative binomial"][:, 0] - of["default"][:, 0] for name, of in found.items() if name in CHOOSE
    }
    script.judge(
        "ours-default-cox-overdispersion", not behind,
        claim="CoxProcess by its default (Poisson or negative binomial counts, by counts left out) is certainly behind "
        'rate="exp", overdispersion="learnt" on none of the confirming sets, in nats a held-out count.',
        target="no paired 95% interval over splits above 0",
        value={
            "negative binomial less default": {
                row["set"]: f"{row['less default']:+.4f} +- {row['half width']:.4f}"
                for row in rows if row["arm"] == "negative binomial"
            },
            "default certainly ahead on": ahead,
            "default certainly behind Poisson's": [
                row["set"] for row in rows
                if row["arm"] == "Poisson" and row["half"] == "confirms" and row["less default"] > row["half width"]
            ],
            "fit beside Poisson's": {
                "median": round(float(np.median(longer)), 2), "largest": round(float(np.max(longer)), 2)
            },
            "choosing sets, mean": round(float(np.mean([x.mean() for x in chooses.values()])), 4) if chooses else None,
        },
        reason=f"Behind on {', '.join(behind)}." if behind else "", seed=f"0..{splits - 1}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
