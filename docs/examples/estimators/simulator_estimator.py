"""
A simulator without a likelihood: SimulatorEstimator
====================================================

An epidemic in a school of two hundred: everybody who is infected infects others and recovers, at unknown rates. Nobody
can write down how probable a count of infected people is; simulating it takes three lines. On which days to test the
school? (The epidemic is simulated, too, by the same rules.)
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from adaptive import SequentialDesign, SimulatorEstimator

PEOPLE, PER_DAY = 200, 3


def infected(parameters, x, generator):
    """Count of infected people on day x, of as many epidemics as there are rows of parameters."""
    infects, recovers = parameters.T
    ill, well = np.full(len(parameters), 5), np.full(len(parameters), PEOPLE - 5)
    for _ in range(int(x[0] * PER_DAY)):
        new = generator.binomial(well, 1.0 - np.exp(-infects * ill / PEOPLE / PER_DAY))
        ill, well = ill + new - generator.binomial(ill, 1.0 - np.exp(-recovers / PER_DAY)), well - new
    return ill.astype(float)


model = SimulatorEstimator(
    infected,
    prior={"infects": stats.gamma(4.0, scale=0.2), "recovers": stats.gamma(4.0, scale=0.08)},
    n_particles=200,
    n_simulations=25,
    n_nested=128,
    random_state=0,
)
days = np.arange(1.0, 25.0, 2.0)[:, None]

# %%
# Where does a first test tell most? Information comes by nested draws, with a lower and an upper bound.

bounds = model.information_bounds(days)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.4))
axes[0].fill_between(days[:, 0], bounds.lower, bounds.upper, alpha=0.4, label="bounds")
axes[0].set(xlabel="day", ylabel="information of a first test (nats)", ylim=(0, None))
axes[0].legend()

# %%
# Six tests, each on another epidemic of the same disease, chosen one by one; how many simulations spoke of each answer
# is said.

TRUTH = np.array([[1.0, 0.25]])
rng = np.random.default_rng(3)
design = SequentialDesign(
    model, days, lambda query: [infected(TRUTH, x, rng)[0] for x in query.candidates], repeat=True, random_state=0
).run(6)
learnt = design.estimator_
low, high = learnt.interval(days)
axes[1].fill_between(days[:, 0], low, high, alpha=0.3, label="90% of counts")
axes[1].plot(days[:, 0], learnt.predict(days))
axes[1].plot(days[design.history_["position"], 0], design.history_["outcome"], "o", color="C1", label="tests")
axes[1].set(xlabel="day", ylabel="infected")
axes[1].legend()
axes[2].plot(*learnt.parameters_.sample(500, 0).T, ".", markersize=3, alpha=0.5)
axes[2].plot(*TRUTH.T, "*", markersize=13, color="C1", label="truth")
axes[2].set(xlabel="infects (per day)", ylabel="recovers (per day)")
axes[2].legend()
figure.tight_layout()
print("days:", days[design.history_["position"], 0].astype(int).tolist())
print("simulations that spoke of each answer:", learnt.effective_simulations_.round().astype(int).tolist())
