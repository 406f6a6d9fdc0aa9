"""Whom to ask where people cost 1, 1, 1, 2 and 6: gain for each unit of cost, or gain less a price for each unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.active.shared.skill_runs import DEAR, PRICED, UNIT, for_the_money, one_run
from experiments.script import Script, command

BUDGETS, N_SEEDS, LABELS = (60.0, 120.0), 3, 120
GROUP = "skills-price"


def run(script: Script) -> None:
    """Label, and compare what was learnt for the same money."""
    names, budgets = (PRICED[:1], (30.0,)) if script.quick else (PRICED, BUDGETS)
    n_seeds, most = (1, 20) if script.quick else (N_SEEDS, LABELS)
    value: dict[str, Any] = {}
    for arm in (DEAR[0], *UNIT):
        runs = [script.kept(GROUP, one_run, name, arm, seed, True, most) for name in names for seed in range(n_seeds)]
        value[arm] = for_the_money(runs, budgets)
        value[arm]["spent by 120 labels"] = round(float(np.mean([one["spent"][-1] for one in runs])))
    holds = all(
        value[DEAR[0]][f"{budget:.0f}"]["log loss"] <= value[arm][f"{budget:.0f}"]["log loss"]
        for arm in UNIT
        for budget in budgets
    )
    script.judge(
        "ours-skills-price", holds, kind="to judge",
        claim="Where people cost 1, 1, 1, 2 and 6, gain for each unit of cost has a lower log loss for the money than "
        "gain less 0.01 or 0.03 nats a unit: `cost=` alone is the default, `price=` an option.",
        target=f"lowest mean at sums of {' and '.join(f'{one:.0f}' for one in BUDGETS)}",
        value=value,
        reason=f"{n_seeds} draws of people on {len(names)} sets: small differences cannot be seen.",
        seed=f"0..{n_seeds - 1}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
