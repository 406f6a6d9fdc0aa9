"""
Photons of a peak, counted: ParticleEstimator
=============================================

Counts have no standard deviation of their own to be told: with ``noise="poisson"`` the model says the mean, and that is
all. Here a peak on a background is scanned by a motor, one second a point; its centre is wanted, and a design is driven
by points with names, as laboratories' software asks for them. (The photons are simulated, by the same function.)
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign
from adaptive.loop import MaxSteps, Optimizer, TargetDeviation


def photons(parameters, X):
    centre, height, width, background = parameters.T[:, :, None]
    return background + height * np.exp(-0.5 * ((X[:, 0] - centre) / width) ** 2)


prior = {
    "centre": stats.uniform(-5, 10),
    "height": stats.uniform(50, 450),
    "width": stats.uniform(0.3, 1.7),
    "background": stats.uniform(2, 18),
}
positions = np.linspace(-5, 5, 101)[:, None]
truth, rng = np.array([[1.3, 250.0, 0.6, 8.0]]), np.random.default_rng(0)


def counted(motor):
    return int(rng.poisson(photons(truth, np.array([[motor]]))[0, 0]))


model = ParticleEstimator(model=photons, prior=prior, noise="poisson", n_particles=1000, random_state=0)
stop = TargetDeviation(0.03) | MaxSteps(40)
design = SequentialDesign(model, positions, target="centre", stop=stop, repeat=True, random_state=0)
optimizer = Optimizer(design, ["motor"], "photons")
while not optimizer.should_stop()[0]:
    points = optimizer.suggest(2)  # two at a time, chosen together; outcomes may come in any order
    optimizer.ingest([{"_id": one["_id"], "photons": counted(one["motor"])} for one in reversed(points)])
known = design.estimator_.parameters_
print(f"{design.iteration} points: centre {known.mean[0]:.3f} +- {known.std[0]:.3f} (it is {truth[0, 0]})")

# %%
# Beside it as many points at equal distances. Most of these fall where there is only background; the design goes to the
# flanks, where the mean moves most with the centre.

even = ParticleEstimator(model=photons, prior=prior, noise="poisson", n_particles=1000, random_state=0)
places = np.linspace(-5, 5, design.iteration)[:, None]
even.fit(places, [counted(place) for place in places[:, 0]])
print(f"as many equispaced: centre +- {even.parameters_.std[0]:.3f}")

low, high = design.estimator_.interval(positions)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.fill_between(positions[:, 0], low, high, alpha=0.3, label="counts, 90%")
left.plot(positions[:, 0], photons(truth, positions)[0], color="black", linewidth=1, label="truth")
asked = positions[design.history_["position"], 0]
dots = left.scatter(asked, design.history_["outcome"], c=np.arange(len(asked)), s=18, label="counted")
left.set(xlabel="motor", ylabel="photons in a second")
left.legend(fontsize=8)
figure.colorbar(dots, ax=left, label="step")
for fitted, name in ((design.estimator_, f"{design.iteration} by information"), (even, "as many equispaced")):
    cloud = fitted.parameters_
    right.hist(cloud.values[:, 0], bins=np.linspace(1.0, 1.6, 60), weights=cloud.weights, alpha=0.6, label=name)
right.axvline(truth[0, 0], color="black", linewidth=1)
right.set(xlabel="centre", ylabel="probability", yticks=[])
right.legend(fontsize=8)
figure.tight_layout()
