"""How often stated errors hold: scores of lines and sampled variances against exact ones, over 200 draws of samples.

32 x 32, a head with a smooth phase, SNR 50, 10 lines measured; four samples, the default, in three models that design:
the default one (complex, the imaginary part small), a real one, and the model that reconstructs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import ImageReconstructor
from adaptive.estimators.imaging.predictive import BlockPredictive
from adaptive.inference import LargePosterior
from adaptive.linalg import Perturbations
from designs.kspace import central, lines
from experiments.kspace.pays.shared import scan
from experiments.script import Script, command

MODELS: dict[str, dict[str, Any]] = {
    "default": {},
    "real": {"design_dtype": None},
    "as the reconstruction": {"design_dtype": None, "design_noise_variance": None, "design_prior_scales": None},
}
SAMPLES, SEEDS = 4, 200


def covered(name: str, n_seeds: int) -> dict[str, np.ndarray]:
    """Return the shares of scores and of variances whose limits hold the exact values."""
    acquired = scan("small 12", 50.0)
    pool, first = lines(acquired.image.shape), [*central(32, 6), 4, 8, 11, 22]
    model = ImageReconstructor((32, 32), check=False, n_samples=SAMPLES, **MODELS[name])
    model.fit(pool.take(first), acquired.measure(pool.take(first)))
    free = pool.take(np.setdiff1d(np.arange(32), first))
    predictive: Any = model.predictive(free)
    old, noise = predictive.posterior, predictive.noise_variance
    inverse = np.linalg.inv(old.system.to_dense())
    truth = np.empty(len(free))
    for k in range(len(free)):
        rows = old._operator(predictive._operator(free[k])).to_dense()
        truth[k] = np.linalg.slogdet(np.eye(len(rows)) + rows @ inverse @ rows.T / noise)[1]
    scores, variances = [], []
    known = {field: getattr(old, field) for field in ("mean", "sites", "group_lengths")}
    for seed in range(n_seeds):
        numbers = Perturbations(SAMPLES, np.random.default_rng(seed), old.samples.dtype)
        drawn = LargePosterior(old.system, perturbations=numbers, **known)
        other = BlockPredictive(
            drawn, free, predictive.acquired, noise, sensitivity=predictive.sensitivity, rough_phase=False
        )
        values, errors = other.log_determinant()
        scores.append(np.mean(np.abs(values - truth) < 1.96 * errors))
        low, high = drawn.variance_interval()
        variances.append(np.mean((low < np.diag(inverse)) & (np.diag(inverse) < high)))
    return {"scores": np.array(np.mean(scores)), "variances": np.array(np.mean(variances))}


def run(script: Script) -> None:
    """Draw, judge."""
    names, seeds = (tuple(MODELS)[1:2], 4) if script.quick else (tuple(MODELS), SEEDS)
    found = {name: script.kept("kspace-pays-coverage", covered, name, seeds) for name in names}
    shares = {kind: {name: round(float(found[name][kind]), 3) for name in names} for kind in ("scores", "variances")}
    more = {"reason": f"32 x 32, {SAMPLES} samples, {seeds} draws.", "kind": "must hold"}
    script.judge(
        "ours-kspace-pays-coverage-scores",
        min(shares["scores"].values()) >= 0.93,
        claim="Scores of lines are within 1.96 stated errors of the exact ones in at least 93%.",
        target="share at least 0.93 in every model",
        value=shares["scores"],
        **more,
    )
    script.judge(
        "ours-kspace-pays-coverage-variances",
        all(0.93 <= share <= 0.97 for share in shares["variances"].values()),
        claim="Intervals of sampled variances cover 93 to 97% at nominal 95.",
        target="share between 0.93 and 0.97 in every model",
        value=shares["variances"],
        **more,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
