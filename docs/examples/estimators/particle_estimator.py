"""
A resonance curve with unknown noise: ParticleEstimator
=======================================================

Your own fitting function, an instrument with one knob, and minutes per measurement: which setting next, and when may
you stop? The centre of the resonance is wanted; width, height and background are not known either, nor is the noise.
(The measurements are simulated, by the same function.)
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign
from adaptive.loop import MaxSteps, TargetDeviation


def resonance(parameters, X):
    centre, width, height, background, _ = parameters.T[:, :, None]
    return background + height / (1.0 + ((X[:, 0] - centre) / width) ** 2)


prior = {
    "centre": stats.uniform(2.0, 2.0),
    "width": stats.uniform(0.05, 0.15),
    "height": stats.uniform(0.5, 1.5),
    "background": stats.norm(0.0, 0.5),
    "noise": stats.lognorm(0.7, scale=0.15),
}
settings = np.linspace(2.0, 4.0, 81)[:, None]
truth, rng = np.array([[2.83, 0.1, 1.2, 0.3, 0.2]]), np.random.default_rng(0)


def measure(query):
    return resonance(truth, query.candidates)[0] + 0.2 * rng.standard_normal(len(query))


model = ParticleEstimator(model=resonance, prior=prior, noise="noise", random_state=0)
design = SequentialDesign(
    model, settings, measure, target="centre", stop=TargetDeviation(0.008) | MaxSteps(60), repeat=True, random_state=0
).run()
known = design.estimator_.parameters_
print(f"{design.iteration} measurements: centre {known.mean[0]:.3f} +- {known.std[0]:.3f} (it is {truth[0, 0]})")
print(f"noise {known.mean[4]:.2f} +- {known.std[4]:.2f} (it is 0.2)")
print(f"log evidence {design.estimator_.log_evidence_:.1f} +- {design.estimator_.log_evidence_std_:.1f}")

# %%
# The first settings search the whole range; the others go to the flanks, where the curve moves most with its centre.
# As many settings drawn at random leave more uncertain.

spread = SequentialDesign(model, settings, measure, scorer="random", repeat=True, random_state=0)
spread.run(design.iteration)
print(f"{spread.iteration} random settings: centre +- {spread.estimator_.parameters_.std[0]:.3f}")

mean, deviation = design.estimator_.predict(settings, return_std=True)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.fill_between(settings[:, 0], mean - 2 * deviation, mean + 2 * deviation, alpha=0.3, label="curve, 95%")
left.plot(settings[:, 0], resonance(truth, settings)[0], color="black", linewidth=1, label="truth")
order = np.arange(design.iteration)
asked = settings[design.history_["position"], 0]
dots = left.scatter(asked, design.history_["outcome"], c=order, s=18, cmap="viridis", label="measured")
left.set(xlabel="setting", ylabel="signal", ylim=(-0.5, 2.4))
left.legend(fontsize=8, loc="upper right")
figure.colorbar(dots, ax=left, label="step")
for fitted, name in ((design, f"{design.iteration} by information"), (spread, f"{spread.iteration} at random")):
    cloud = fitted.estimator_.parameters_
    right.hist(cloud.values[:, 0], bins=np.linspace(2.75, 2.91, 60), weights=cloud.weights, alpha=0.6, label=name)
right.axvline(truth[0, 0], color="black", linewidth=1)
right.set(xlabel="centre", ylabel="probability", yticks=[])
right.legend(fontsize=8)
figure.tight_layout()
