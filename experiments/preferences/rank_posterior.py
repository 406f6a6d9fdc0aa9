"""The posterior of four systems after comparisons, beside importance sampling of all that is unknown.

Strengths, position bias, the width of ties and the scale of strengths together; the reference draws from a Student t
about the mode, found by itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import optimize
from scipy.special import expit, gammaln, log_expit, ndtr

from adaptive import BradleyTerry
from experiments.script import Script, command, panels

DEGREES, MANY = 3.0, 50  # by 6 the widest scales are missed now and then: a few draws then weigh all
LOG_SCALES = np.log([0.25 * 2**-0.375, 0.25 * 2**4.875])  # half a step beyond the grid, at both ends


class Reference(NamedTuple):
    """Moments of strengths, log evidence, mean bias, probabilities to be the best, effective number of draws."""

    mean: np.ndarray
    covariance: np.ndarray
    log_evidence: float
    bias: float
    best: np.ndarray
    effective: float


def drawn(rng: np.random.Generator, n: int, n_items: int, *, ties: bool, bias: float) -> tuple[np.ndarray, np.ndarray]:
    """Comparisons (n, 2) of items whose strengths fall, and outcomes."""
    strength = 1.2 * np.linspace(1.0, -1.0, n_items)
    rows = np.array([rng.choice(n_items, 2, replace=False) for _ in range(n)])
    d = strength[rows[:, 0]] - strength[rows[:, 1]] + bias
    width, u = (0.5 if ties else 0.0), rng.random(n)
    return rows, np.where(u < expit(d - width), 1, np.where(u > 1.0 - expit(-d - width), -1, 0))


def reference(rows: np.ndarray, y: np.ndarray, n_items: int, *, ties: bool, n_draws: int, seed: int) -> Reference:
    """Importance sampling; unknowns are n strengths, bias, tau, ln scale.

    Of few comparisons the strengths over the scale are drawn, of many the strengths: they then vary less together.
    """
    power = 1.0 if len(y) < MANY else 0.0

    def log_joint(w: np.ndarray) -> np.ndarray:
        """(k,) of unknowns (k, n + 3)."""
        z, bias, tau, log_scale = w[:, :n_items], w[:, n_items, None], w[:, n_items + 1, None], w[:, -1, None]
        d = np.exp(power * log_scale) * (z[:, rows[:, 0]] - z[:, rows[:, 1]]) + bias
        z = z * np.exp((power - 1.0) * log_scale)
        width = np.logaddexp(0.0, tau) if ties else np.zeros_like(tau)
        said = np.where(y > 0, log_expit(d - width), log_expit(-d - width))
        if ties:
            even = log_expit(d + width) + log_expit(width - d) + np.log(-np.expm1(-2.0 * width))
            said = np.where(y == 0, even, said)
        prior = (power - 1.0) * n_items * log_scale[:, 0]
        prior = prior - 0.5 * (np.sum(z**2, axis=1) + bias[:, 0] ** 2 + ((tau[:, 0] + 0.5) / 1.5) ** 2
                        + (log_scale[:, 0] / 0.8) ** 2)  # fmt: skip
        constant = 0.5 * w.shape[1] * np.log(2 * np.pi) + np.log(1.5 * 0.8 * np.diff(ndtr(LOG_SCALES / 0.8))[0])
        inside = (log_scale[:, 0] > LOG_SCALES[0]) & (log_scale[:, 0] < LOG_SCALES[1])
        return np.where(inside, said.sum(axis=1) + prior - constant, -np.inf)

    size = n_items + 3
    mode = optimize.minimize(lambda w: min(-float(log_joint(w[None])[0]), 1e9), np.zeros(size), method="BFGS").x
    step = 1e-3 * np.eye(size)
    hessian = np.array([
        [sum(sign * float(log_joint((mode + a * step[i] + b * step[j])[None])[0])
             for a, b, sign in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))) for j in range(size)]
        for i in range(size)
    ]) / (4 * 1e-6)  # fmt: skip
    root = np.linalg.cholesky(1.3 * np.linalg.inv(-hessian))
    rng = np.random.default_rng(seed)
    normals, radius = rng.standard_normal((n_draws, size)), rng.chisquare(DEGREES, n_draws) / DEGREES
    w = mode + (normals @ root.T) / np.sqrt(radius)[:, None]
    square = np.sum(normals**2, axis=1) / radius
    proposal = (gammaln(0.5 * (DEGREES + size)) - gammaln(0.5 * DEGREES) - 0.5 * size * np.log(DEGREES * np.pi)
                - np.log(np.diag(root)).sum() - 0.5 * (DEGREES + size) * np.log1p(square / DEGREES))  # fmt: skip
    logs = np.concatenate([log_joint(part) for part in np.array_split(w, max(1, n_draws // 5000))]) - proposal
    total = float(np.logaddexp.reduce(logs))
    weights = np.exp(logs - total)
    strengths = np.exp(power * w[:, -1:]) * w[:, :n_items]
    mean = weights @ strengths
    return Reference(
        mean, (weights[:, None] * (strengths - mean)).T @ (strengths - mean), total - np.log(n_draws),
        float(weights @ w[:, n_items]), np.bincount(strengths.argmax(axis=1), weights, n_items),
        1.0 / float(np.sum(weights**2)),
    )  # fmt: skip


def gaps(seed: int, n: int, ties: bool, n_draws: int) -> dict[str, float]:
    """Largest differences from the reference: means and deviations, in deviations, and of probabilities to be best."""
    rows, y = drawn(np.random.default_rng(seed), n, 4, ties=ties, bias=0.5)
    model = BradleyTerry(range(4), ties=ties).fit(rows, y)
    known = reference(rows, y, 4, ties=ties, n_draws=n_draws, seed=seed)
    mean, covariance = model.strengths()
    deviation = np.sqrt(np.diag(known.covariance))
    return {
        "mean": float(np.max(np.abs(mean - known.mean) / deviation)),
        "deviation": float(np.max(np.abs(np.sqrt(np.diag(covariance)) / deviation - 1.0))),
        "best": float(np.max(np.abs(model.rank_probabilities()[:, 0] - known.best))),
        "evidence": abs(model.log_evidence_ - known.log_evidence),
        "effective": known.effective,
    }


def run(script: Script) -> None:
    """Few and many comparisons, with ties and without."""
    sizes, seeds, n_draws = ((10,), 1, 20_000) if script.quick else ((3, 10, 30, 100, 300), 3, 100_000)
    found: dict[str, dict[str, Any]] = {}
    effective = []
    for ties in (True, False):
        for n in sizes:
            parts = [script.kept("rank_posterior", gaps, seed, n, ties, n_draws) for seed in range(seeds)]
            effective += [float(part["effective"]) for part in parts]
            found[f"{n}{'' if ties else ', no ties'}"] = {
                name: max(float(part[name]) for part in parts) for name in ("mean", "deviation", "best", "evidence")
            }
    worst = {name: round(max(one[name] for one in found.values()), 4) for name in ("mean", "deviation", "best")}
    script.judge(
        "ours-rank-posterior", worst["mean"] < 0.05 and worst["deviation"] < 0.05 and worst["best"] < 0.025,
        kind="must hold",
        claim="Strengths of four systems, with ties and a position bias, have the posterior that a long run has.",
        target="means and deviations within 0.05 deviations, probabilities to be best within 0.025",
        value=worst | {"evidence, nats": round(max(one["evidence"] for one in found.values()), 3),
                       "effective draws of the reference, least": round(min(effective))},
        reason=f"Importance sampling, {n_draws:,} draws; {', '.join(map(str, sizes))} comparisons, {seeds} draws of "
        "each, with and without ties; probabilities are counted in 4,096 draws, which alone is 0.008 (one deviation).",
    )  # fmt: skip
    figure, axes = panels(1, 1, 5.5, 3.2)
    for k, name in enumerate(("mean", "deviation", "best")):
        axes[0, 0].plot(sizes, [found[str(n)][name] for n in sizes], "os^"[k] + "-", label=name)
    axes[0, 0].set(xscale="log", xlabel="comparisons", ylabel="largest difference", ylim=(0, None))
    axes[0, 0].legend(fontsize=8)
    script.figure(figure, "rank-posterior", "Differences from a long run, four systems with ties and a position bias: "
                  "of means and deviations, in deviations, and of probabilities to be best.")  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
