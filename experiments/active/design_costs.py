"""Table 2.4 of Nickisch (2010): the classical design costs D, A and E as norms of the covariance's eigenvalues.

The estimator's covariance V is judged by (mean of eigenvalue^p)^(1/p): p -> 0 the product (D), p = 1 the trace (A),
p -> infinity the largest eigenvalue (E). Tried on random covariances against determinant, trace and spectral norm; and
on the designs themselves: for a parabola on [-1, 1] the optimal shares of the runs at -1, 0 and 1 are known exactly.

References
----------
Pukelsheim (1993), Optimal design of experiments: quadratic regression, D (1/3, 1/3, 1/3), A (1/4, 1/2, 1/4),
E (1/5, 3/5, 1/5).
"""

from __future__ import annotations

import numpy as np

from designs.optimal import kiefer, optimal_design
from experiments.script import Script, command

SEED = 0
N_RUNS = 60
SHARES = {"D": (1 / 3, 1 / 3, 1 / 3), "A": (1 / 4, 1 / 2, 1 / 4), "E": (1 / 5, 3 / 5, 1 / 5)}
POWERS = {"D": 0.0, "A": 1.0, "E": np.inf}
COSTS = {"D": "product of the eigenvalues", "A": "sum of the eigenvalues", "E": "largest eigenvalue"}


def norm_errors(n_matrices: int) -> dict[str, float]:
    """Return the largest relative difference of each norm from determinant, trace, spectral norm, over random V."""
    rng = np.random.default_rng(SEED)
    worst = dict.fromkeys(POWERS, 0.0)
    for _ in range(n_matrices):
        d = int(rng.integers(2, 9))
        root = rng.standard_normal((d, d + 2)) * np.exp(rng.standard_normal((d, 1)))
        V = root @ root.T
        expected = {"D": np.linalg.det(V) ** (1 / d), "A": np.trace(V) / d, "E": np.linalg.norm(V, 2)}
        for name, p in POWERS.items():
            worst[name] = max(worst[name], abs(kiefer(V, p) / expected[name] - 1))
    return worst


def run(script: Script) -> None:
    """Compare the norms, find the designs, write the table."""
    worst = norm_errors(20 if script.quick else 500)
    settings = np.linspace(-1, 1, 21)
    rows = np.stack([np.ones_like(settings), settings, settings**2], axis=1)
    found, differences, values = {}, {}, {}
    for name, shares in SHARES.items():
        design = optimal_design(rows, N_RUNS, name, n_starts=1 if script.quick else 10, random_state=SEED)
        counts = np.bincount(design.positions, minlength=len(settings))
        at_support = counts[[0, 10, 20]]
        found[name] = [int(count) for count in at_support]
        elsewhere = counts.sum() - at_support.sum()
        differences[name] = float(elsewhere + np.abs(at_support - N_RUNS * np.array(shares)).max())
        covariance = np.linalg.inv(rows[design.positions].T @ rows[design.positions])
        values[name] = {cost: kiefer(covariance, p) for cost, p in POWERS.items()}
    script.table(
        {
            "criterion": list(SHARES),
            "cost": [COSTS[name] for name in SHARES],
            "p": [str(p) for p in POWERS.values()],
            "runs_at_-1_0_1": [" ".join(map(str, counts)) for counts in found.values()],
            **{f"cost_{cost}": [values[name][cost] for name in SHARES] for cost in POWERS},
        },
        "nickisch-tab-2.4",
        f"Classical design costs, and the best {N_RUNS} runs for a parabola with settings -1, -0.9, ..., 1 under "
        f"each; the last columns give what each design (row) costs under each criterion: every one is best under its "
        f"own.",
    )
    best = all(values[cost][cost] == min(values[name][cost] for name in SHARES) for cost in POWERS)
    script.judge(
        "nickisch-tab-2.4",
        max(worst.values()) < 1e-9 and max(differences.values()) < 1e-9 and best,
        claim="Eigenvalue norms of the estimator covariance: product (p = 0), trace (1), largest one (infinity).",
        target="norms agree to 1e-9; runs at -1, 0, 1: D 20 20 20, A 15 30 15, E 12 36 12; each best under its cost",
        value={"relative error of the norms": worst, "runs": found},
        seed=SEED,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
