"""The Gaussian information-gain score is an upper bound (Nickisch 2010, section 2.6).

A measurement y = u + noise of an unknown with posterior P(u) teaches I(y; u) = H(y) - H(noise); the score puts in the
entropy of the Gaussian with the same variance, 1/2 ln(1 + var(u) / noise variance). Since that Gaussian has the largest
entropy, the score is never too low where the variance is exact, and right where P is Gaussian. Tried by quadrature with
one unknown, a Gaussian factor and one potential, noise variances from 0.01 to 10. No random numbers.

The library's own variance is approximate as well; what the score becomes with that of expectation propagation or the
variational bound is in the table.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adaptive.inference import GLM, compatible, expectation_propagation, variational_bounds
from adaptive.potentials import BernoulliLogit, ExponentialPower, Gaussian, Laplace, Logistic, Step, StudentT
from experiments.inference.shared.exact import Problem, masses
from experiments.script import Script, command
from experiments.shown_by_tests import named

ONE = np.ones(1)
POTENTIALS: dict[str, Any] = {
    "Gaussian": Gaussian(0.5 * ONE),
    "Laplace": Laplace(0.3 * ONE),
    "Logistic": Logistic(0.3 * ONE),
    "ExponentialPower 1.5": ExponentialPower(1.5, 0.5 * ONE),
    "StudentT 3": StudentT(3.0, 0.3 * ONE),
    "BernoulliLogit": BernoulliLogit(ONE),
    "Step": Step(0 * ONE),
}
NOISES = (0.01, 0.1, 1.0, 10.0)


def exact_information(nodes: np.ndarray, mass: np.ndarray, noise: float, n_outcomes: int) -> float:
    """Return H(y) - H(noise) in nats for y = u + noise."""
    deviation = np.sqrt(noise)
    y = np.linspace(nodes[mass > 1e-20].min() - 9 * deviation, nodes[mass > 1e-20].max() + 9 * deviation, n_outcomes)
    density = np.zeros_like(y)
    for part in np.array_split(np.arange(len(nodes)), 20):
        density += np.exp(-((y[:, None] - nodes[part]) ** 2) / (2 * noise)) @ mass[part]
    density /= np.sqrt(2 * np.pi * noise)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(density > 0, -density * np.log(density), 0.0)
    return float(np.trapezoid(terms, y) - 0.5 * np.log(2 * np.pi * np.e * noise))


def run(script: Script) -> None:
    """Compare score and exact information, write the table, judge."""
    rows: list[dict[str, Any]] = []
    for name, potential in POTENTIALS.items():
        problem = Problem.with_data(np.ones((1, 1)), ONE, 1.0, potential)
        nodes, mass = masses(problem)
        mean = mass @ nodes
        variance = float(mass @ (nodes - mean) ** 2)
        model = GLM(potentials=potential, **problem.glm)
        posteriors = {}
        if compatible([potential], "expectation_propagation"):
            posteriors["EP"] = expectation_propagation(model, tol=1e-10)
        if compatible([potential], "variational_bounds"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # Student t: several optima are possible
                posteriors["VB"] = variational_bounds(model)
        for noise in NOISES:
            row = {"potential": name, "noise_variance": noise}
            row["exact"] = exact_information(nodes, mass, noise, 2001 if script.quick else 20_001)
            row["score"] = 0.5 * float(np.log1p(variance / noise))
            for engine in ("EP", "VB"):
                found = posteriors.get(engine)
                row[f"score_{engine}"] = found.information_gain(np.ones((1, 1)), noise) if found else ""
            rows.append(row)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]},
        "information-gain-bound",
        "What one noisy measurement of an unknown teaches, in nats: exactly by quadrature, and by the Gaussian score "
        "with the exact variance and those of expectation propagation (EP) and the variational bound (VB).",
    )
    excess = {name: [row["score"] - row["exact"] for row in rows if row["potential"] == name] for name in POTENTIALS}
    lowest = min(min(values) for values in excess.values())
    script.judge(
        "nickisch-sys-ig-gaussian",
        lowest > -1e-6 and max(map(abs, excess["Gaussian"])) < 1e-6,
        claim="Half log|I + X* V X*'/sigma^2|, an upper bound when the posterior is not Gaussian.",
        target="score minus exact information >= 0 for every posterior and noise (up to 1e-6), 0 for the Gaussian one",
        value={"lowest excess": lowest, "highest excess": {name: max(values) for name, values in excess.items()}},
        reason=named("nickisch-sys-ig-gaussian"),
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
