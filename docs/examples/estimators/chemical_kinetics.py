"""
Rates of a reaction: ParticleEstimator around SciPy's ODE solver
================================================================

A dimerisation, 2 A <-> B, with two unknown rates. A run of the reaction starts at a concentration and is sampled once:
which start, and when to sample? The model is a differential equation, solved for all particles at once. (Measurements
are simulated; the truth has the same equation.)
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from scipy.integrate import solve_ivp

from adaptive import ParticleEstimator, SequentialDesign
from adaptive.loop import MaxSteps, TargetDeviation
from designs.pool import grid


def concentration(parameters, X):
    """Concentration of A at settings X: columns are the start and the time."""
    forward, backward = 10.0**parameters.T
    found = np.empty((len(parameters), len(X)))
    for start in np.unique(X[:, 0]):
        rows = np.flatnonzero(X[:, 0] == start)
        times, where = np.unique(X[rows, 1], return_inverse=True)

        def flow(t, a, start=start):  # B is what is missing of A, halved
            return -2.0 * forward * a**2 + backward * (start - a)

        begun = np.full(len(parameters), start)
        solved = solve_ivp(flow, (0.0, times[-1]), begun, t_eval=times, method="LSODA", rtol=1e-5, atol=1e-6)
        found[:, rows] = solved.y[:, where.ravel()]
    return found


model = ParticleEstimator(
    model=concentration,
    prior={"log10 forward": stats.norm(-0.5, 0.5), "log10 backward": stats.norm(-1.0, 0.5)},
    noise=0.05,
    n_particles=300,
    random_state=0,
)

# %%
# Ten decisions at most; a high start costs more substance, so that information is divided by it.

TRUTH = np.array([[-0.2, -1.3]])
rng = np.random.default_rng(0)
settings = grid([0.5, 0.2], [2.0, 8.0], [3, 14])
design = SequentialDesign(
    model,
    settings,
    lambda query: concentration(TRUTH, query.candidates)[0] + 0.05 * rng.standard_normal(len(query)),
    cost=settings.take(range(len(settings)))[:, 0],
    repeat=True,
    stop=TargetDeviation(0.05) | MaxSteps(10),
    random_state=0,
).run()

asked, answers = settings.take(design.history_["position"]), np.array(design.history_["outcome"])
known = design.estimator_.parameters_
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
times = np.linspace(0.05, 8.0, 60)
for start, colour in zip(np.unique(asked[:, 0]), ("C0", "C1", "C2"), strict=False):
    curves = concentration(known.sample(60, 0), np.column_stack([np.full(60, start), times]))
    left.plot(times, curves.T, color=colour, alpha=0.06)
    own = asked[:, 0] == start
    left.plot(asked[own, 1], answers[own], "o", color=colour, label=f"start {start:g}")
left.set(xlabel="time", ylabel="concentration of A")
left.legend()
right.plot(*known.sample(500, 0).T, ".", markersize=3, alpha=0.4)
right.plot(*TRUTH.T, "*", markersize=13, color="C1", label="truth")
right.set(xlabel="log10 forward rate", ylabel="log10 backward rate")
right.locator_params(axis="x", nbins=5)
right.legend()
figure.tight_layout()
print(f"{len(answers)} samples; deviations {known.std.round(3)}")
