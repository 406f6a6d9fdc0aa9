"""
Finding a dose: ParticleEstimator, a target and what is allowed
===============================================================

Which dose harms one patient in four? The answer of a patient is 0 or 1; the model is a logistic curve in the logarithm
of the dose; what is to be learnt is a function of its two parameters. No dose may be given that is probably too high:
the pool is a function of what is known. (The patients are simulated.)
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign
from adaptive.loop import MaxSteps, TargetDeviation

DOSES = np.geomspace(1.0, 32.0, 16)[:, None]


def log_odds(parameters, X):
    middle, slope = parameters.T[:, :, None]
    return slope * (np.log2(X[:, 0]) - middle)


def harm(parameters, X):
    return 1.0 / (1.0 + np.exp(-log_odds(parameters, X)))


def log_likelihood(parameters, X, y):
    return -np.logaddexp(0.0, np.where(y == 1, -1.0, 1.0) * log_odds(parameters, X))


def wanted(parameters):
    """The logarithm of the dose that harms one in four."""
    return parameters[:, 0] - np.log(3.0) / parameters[:, 1]


def allowed(estimator):
    """Doses of which it is not probable, to 0.25, that they harm more than four in ten."""
    fitted = hasattr(estimator, "belief_")
    known = estimator.parameters_ if fitted else None
    too_high = known.weights @ (harm(known.values, DOSES) > 0.4) if fitted else np.arange(16) > 2
    return [tuple(row) for row in DOSES[np.maximum.accumulate(too_high) < 0.25].tolist()] or [tuple(DOSES[0].tolist())]


model = ParticleEstimator(
    log_likelihood,
    prior={"middle": stats.norm(3.0, 1.5), "slope": stats.gamma(4.0, scale=0.5)},
    outcomes=[0, 1],
    random_state=0,
)

# %%
# The loop, until the dose is known to a third of a doubling, or forty patients were treated.

TRUTH = np.array([[3.4, 1.8]])
rng = np.random.default_rng(4)
design = SequentialDesign(
    model,
    allowed,
    lambda query: (rng.random(len(query)) < harm(TRUTH, np.array(query.candidates))[0]).astype(int),
    target=wanted,
    repeat=True,
    stop=TargetDeviation(0.33) | MaxSteps(40),
    random_state=0,
).run()

given, answers = np.array(design.history_["label"])[:, 0], np.array(design.history_["outcome"])
known = design.estimator_.parameters_
curves = harm(known.values, np.geomspace(1.0, 32.0, 200)[:, None])
low, middle, high = (
    np.quantile(curves, q, axis=0, weights=known.weights, method="inverted_cdf") for q in (0.05, 0.5, 0.95)
)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.step(np.arange(1, len(given) + 1), given, where="mid", color="0.7")
for outcome, colour in ((0, "C0"), (1, "C1")):
    at = np.flatnonzero(answers == outcome)
    left.plot(at + 1, given[at], "o", color=colour, label=f"{'harm' if outcome else 'no harm'}")
left.set(xlabel="patient", ylabel="dose")
left.set_yscale("log", base=2)
left.yaxis.set_major_formatter("{x:g}")
left.legend()
doses = np.geomspace(1.0, 32.0, 200)
right.fill_between(doses, low, high, alpha=0.3, label="90% band")
right.plot(doses, middle, label="median")
right.plot(doses, harm(TRUTH, doses[:, None])[0], "k:", label="truth")
right.axhline(0.25, color="0.5", linewidth=0.8)
right.set(xlabel="dose", ylabel="probability of harm")
right.set_xscale("log", base=2)
right.xaxis.set_major_formatter("{x:g}")
right.legend()
figure.tight_layout()
dose = known.weights @ wanted(known.values)
print(f"{len(given)} patients; the dose: {2**dose:.1f} (truth {2 ** wanted(TRUTH)[0]:.1f})")
