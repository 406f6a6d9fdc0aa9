"""Any model by particles, with its likelihood or a simulator."""

from __future__ import annotations

import numpy as np
from scipy import stats

from adaptive import ParticleEstimator, SimulatorEstimator
from tests.contract.case import Case

DOSES = np.linspace(-2.0, 2.0, 23)[:, None]
PRIOR = {"slope": stats.uniform(0.5, 2.0), "middle": stats.norm(0.0, 1.0)}


def curve(parameters, X):
    slope, middle = parameters.T[:, :, None]
    return 1.0 / (1.0 + np.exp(-slope * (X[:, 0] - middle)))


def answered(parameters, X, y):
    return np.log(np.where(np.asarray(y) == 1, curve(parameters, X), 1.0 - curve(parameters, X)))


def near_the_curve(parameters, X, y):
    return stats.norm.logpdf(np.asarray(y), curve(parameters, X), 0.3)


def scattered(parameters, x, generator):
    return curve(parameters, x[None])[:, 0] + 0.3 * generator.standard_normal(len(parameters))


def tossed(parameters, x, generator):
    return (generator.random(len(parameters)) < curve(parameters, x[None])[:, 0]).astype(int)


def particles(**options):
    return lambda: ParticleEstimator(prior=PRIOR, **{"n_particles": 300, "resample": 0.0, "random_state": 0, **options})


def simulator(simulate, **options):
    small = {"n_particles": 40, "n_simulations": 10, "n_nested": 16, "resample": 0.0, "random_state": 0}
    return lambda: SimulatorEstimator(simulate, PRIOR, **small, **options)


def number(name, make, doses):
    y = np.array([0.2, 0.3, 0.9])
    return Case(name, make, doses, (DOSES[::9], y), lambda doses: np.asarray(doses)[:, 0] / 4 + 0.5, target=DOSES[:4])


def counted(parameters, X):
    return 12.0 * curve(parameters, X)


def of_counts(name, make):
    def measure(doses):
        return np.round(6.0 + 3.0 * np.asarray(doses)[:, 0])

    return Case(name, make, DOSES, (DOSES[::9], np.array([2.0, 5.0, 11.0])), measure, target=DOSES[:4])


def of_a_list(name, make):
    def measure(doses):
        return (np.asarray(doses)[:, 0] > 0.3).astype(int)

    return Case(name, make, DOSES, (DOSES[::9], np.array([0, 1, 1])), measure, target=DOSES[:4])


CASES = [
    number("ParticleEstimator", particles(model=curve, noise=0.3), DOSES),
    number(
        "ParticleEstimator of an interval",
        particles(log_likelihood=near_the_curve, outcomes=(-1.0, 2.0), n_particles=60), DOSES[::2],
    ),
    of_counts("ParticleEstimator of counts", particles(model=counted, noise="poisson")),
    of_a_list("ParticleEstimator of a list", particles(log_likelihood=answered, outcomes=[0, 1])),
    number("SimulatorEstimator", simulator(scattered), DOSES[:12]),
    of_a_list("SimulatorEstimator of labels", simulator(tossed, outcomes=[0, 1])),
]  # fmt: skip
