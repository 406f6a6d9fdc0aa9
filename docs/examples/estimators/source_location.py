"""
Where are the two sources? ParticleEstimator on a plane
=======================================================

Two sources of unknown place send a signal that falls with the squared distance; a sensor measures the logarithm of the
sum, with noise. Where to stand next? (The example of Foster and others, 2021; measurements are simulated.)
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign
from designs.pool import grid


def signal(parameters, X):
    """Log of a background and the two sources, at places X (m, 2)."""
    sources = parameters.reshape(len(parameters), 2, 1, 2)
    squared = np.square(sources - X).sum(axis=3)
    return np.log(0.1 + (1.0 / (1e-4 + squared)).sum(axis=1))


normal = stats.norm(0.0, 1.0)
model = ParticleEstimator(
    model=signal, prior={"x1": normal, "y1": normal, "x2": normal, "y2": normal}, noise=0.5, random_state=0
)
TRUTH = np.array([[-1.2, 0.6, 0.9, -0.4]])
rng = np.random.default_rng(1)
places = grid([-3, -3], [3, 3], 25)
design = SequentialDesign(
    model,
    places,
    lambda query: signal(TRUTH, query.candidates)[0] + 0.5 * rng.standard_normal(len(query)),
    random_state=0,
)

# %%
# After 5 and after 25 measurements. Which source is the first and which the second nobody can say: the draws of both
# are drawn in one colour.

figure, axes = plt.subplots(1, 2, figsize=(8.4, 4), sharex=True, sharey=True)
for ax, steps in zip(axes, (5, 20), strict=True):
    design.run(steps)
    draws = design.estimator_.parameters_.sample(800, 0).reshape(-1, 2)
    asked = places.take(design.history_["position"])
    ax.plot(*asked.T, "o-", markersize=4, linewidth=0.5, color="0.6", label="measured")
    ax.plot(*draws.T, ".", markersize=2, alpha=0.4, color="C0", label="draws of the sources")
    ax.plot(*TRUTH.reshape(2, 2).T, "*", markersize=10, color="C1", label="truth")
    ax.set(title=f"{len(asked)} measurements", xlabel="x", xlim=(-3, 3), ylim=(-3, 3), aspect="equal")
axes[0].set_ylabel("y")
axes[0].legend(fontsize=8, loc="lower left")
figure.tight_layout()
print(f"effective draws: {design.estimator_.effective_sample_size_:.0f}")
