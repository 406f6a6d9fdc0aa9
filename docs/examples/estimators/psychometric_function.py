"""
A psychometric function: ParticleEstimator with guesses and lapses
==================================================================

A listener says which of two intervals held the tone. Below threshold they guess, and sometimes they press the wrong
key. What is wanted is the threshold; slope and lapses are unknown too, and integrated out. (The listener is simulated.)
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign
from adaptive.diagnostics import simulation_based_calibration, uniformity
from adaptive.loop import MaxSteps, PredictiveCheck, TargetDeviation


def right(parameters, X):
    """Probability of a right answer at levels X (m, 1), in decibel."""
    threshold, width, lapse = parameters.T[:, :, None]
    return 0.5 + (0.5 - lapse) * stats.norm.cdf((X[:, 0] - threshold) / width)


def log_likelihood(parameters, X, y):
    p = right(parameters, X)
    return np.log(np.where(y == 1, p, 1.0 - p))


model = ParticleEstimator(
    log_likelihood,
    prior={"threshold": stats.norm(0.0, 8.0), "width": stats.gamma(4.0, scale=1.0), "lapse": stats.beta(1.5, 40.0)},
    outcomes=[0, 1],
    random_state=0,
)

# %%
# Until the threshold is known to a decibel. `PredictiveCheck` would warn of answers that such a listener does not give.

TRUTH = np.array([[3.0, 2.5, 0.03]])
rng = np.random.default_rng(2)
levels = np.linspace(-20.0, 20.0, 41)[:, None]
check, path = PredictiveCheck(), []
design = SequentialDesign(
    model,
    levels,
    lambda query: (rng.random(len(query)) < right(TRUTH, query.candidates)[0]).astype(int),
    target="threshold",
    repeat=True,
    stop=TargetDeviation(1.0) | MaxSteps(120),
    callbacks=[
        check,
        lambda one, event: (
            event["event"] == "tell" and path.append(one.estimator_.parameters_.quantiles([0.05, 0.5, 0.95]))
        ),
    ],
    random_state=0,
).run()

asked, answers = levels[design.history_["position"], 0], np.array(design.history_["outcome"])
low, middle, high = np.array(path)[:, :, 0].T
figure, ax = plt.subplots(figsize=(7.4, 3.6))
steps = np.arange(1, len(asked) + 1)
ax.fill_between(steps, low, high, alpha=0.3, label="90% of the threshold")
ax.plot(steps, middle)
ax.plot(steps[answers == 1], asked[answers == 1], "o", markersize=4, color="C0", label="right")
ax.plot(steps[answers == 0], asked[answers == 0], "x", markersize=5, color="C1", label="wrong")
ax.axhline(TRUTH[0, 0], color="black", linestyle=":", label="truth")
ax.set(xlabel="trial", ylabel="level (dB)")
ax.legend(fontsize=8)
figure.tight_layout()
print(f"{len(asked)} trials; all answers together had probability {check.history_['overall'][-1]:.2g} under the model")

# %%
# Is the whole loop honest? Ranks of the truth among draws of the posterior, over forty short designed runs of simulated
# listeners: uniform if prior, answers and posterior belong together.

short = SequentialDesign(model, levels[::4], target="threshold", repeat=True, random_state=0)
table = simulation_based_calibration(short, 40, steps=5, random_state=0)
print("probability of ranks so uneven:", [round(p, 2) for p in uniformity(table)["p_value"]])
