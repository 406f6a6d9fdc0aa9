"""Three demonstrations of optbayesexpt: how many measurements until parameters are known to a given deviation?

    find_peak          a Lorentzian of known width on a background, 200 frequencies, noise 500
    pipulse            a Rabi pulse (Ramsey-like fringes), length and detuning, 21 x 21 of its 101 x 101 settings
    line_plus_noise    a line whose noise is a third parameter, 101 settings

optbayesexpt (R. McMichael, NIST) is on no package index and could not be installed here: what is compared are its
*choices*, written from its public source text (McMichael and Blakley 2022) as scorers on our posterior: the variance
of the model's means over 30 draws by the noise ("variance"), the span of two draws ("max_min"), a setting drawn in
proportion to the 15th power of the first ("good"). Its own particle filter (Liu and West, no likelihood asked) is left
out. Truths are drawn from the prior. All choices are about all parameters, as theirs are; runs end where those wanted
are known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign, checks
from adaptive.images import paired_interval
from adaptive.plots import PALETTE
from adaptive.scorers.record import scorer
from designs.pool import grid
from experiments.script import Script, command, panels

BASELINE, CONTRAST, COHERENCE = 100_000.0, 0.01, 0.5  # of the pulse: counts, share, microseconds
MOST = 150


def peak(parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
    """A dip of depth a at x0 on a background b, thousands of counts."""
    x0, a, b = parameters.T[:, :, None]
    return b + a / (np.square((X[:, 0] - x0) / 0.1) + 1.0)


def pulse(parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Counts, less the baseline and in units of their noise, after a pulse of some length at some detuning."""
    strength, centre = parameters.T[:, :, None]
    apart = X[:, 1] - centre
    turned = 1.0 - np.cos(2.0 * np.pi * np.hypot(apart, strength) * X[:, 0])
    shape = np.exp(-X[:, 0] / COHERENCE) * turned / (np.square(apart / strength) + 1.0)
    return -np.sqrt(BASELINE) * CONTRAST / 2.0 * shape


def line(parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
    """m x + b."""
    return parameters[:, :1] * X[:, 0] + parameters[:, 1:2]


DEMOS: dict[str, dict[str, Any]] = {
    "find_peak": {
        "model": peak, "noise": 0.5, "settings": np.linspace(1.5, 4.5, 200)[:, None], "wanted": ["x0"], "limit": 0.02,
        "prior": {"x0": stats.uniform(2, 2), "a": stats.uniform(-2, 1.6), "b": stats.norm(50, 1)},
    },
    "pipulse": {
        "model": pulse, "noise": 1.0, "settings": grid([0.0, -10.0], [1.0, 10.0], 21).take(range(21**2)),
        "wanted": ["strength", "centre"], "limit": 0.25,
        "prior": {"strength": stats.uniform(1, 4), "centre": stats.uniform(-7, 14)},
    },
    "line_plus_noise": {
        "model": line, "noise": "sigma", "settings": np.linspace(0, 1, 101)[:, None], "wanted": ["m", "b"],
        "limit": 0.05, "prior": {"m": stats.uniform(-1, 2), "b": stats.uniform(-1, 2), "sigma": stats.expon(scale=0.1)},
    },
}  # fmt: skip


def drawn_means(predictive: Any, random_state: Any, n: int) -> tuple[np.ndarray, float]:
    """Means (n, m) of the model at n draws, and the mean noise variance."""
    rng = checks.generator(random_state)
    values = predictive.cloud.values[rng.choice(len(predictive.weights), n, p=predictive.weights)]
    means, deviations = predictive.settings.likelihood.moments(values, predictive.X)
    return means[:, :, 0], float(np.mean(np.square(deviations)))


def variance(predictive: Any, random_state: Any = None) -> np.ndarray:
    """Their default: the variance of 30 drawn means by that of the noise."""
    means, noise = drawn_means(predictive, random_state, 30)
    return means.var(axis=0) / noise


def max_min(predictive: Any, random_state: Any = None) -> np.ndarray:
    """The squared span of two drawn means."""
    means, noise = drawn_means(predictive, random_state, 2)
    return np.square(np.ptp(means, axis=0)) / noise


def good(predictive: Any, random_state: Any = None) -> np.ndarray:
    """A setting with probability in proportion to variance^15: the largest of Gumbel's noise and the logarithm."""
    rng = checks.generator(random_state)
    scores = 15.0 * np.log(np.maximum(variance(predictive, rng), 1e-300)) + rng.gumbel(size=len(predictive))
    return scores - scores.min()


for one in (variance, max_min, good):
    scorer(whole_pool=True)(one)  # one set of draws for all settings

CHOICES: dict[str, str | Callable[..., np.ndarray]] = {
    "information": "information_gain", "variance": variance, "max_min": max_min, "good": good, "random": "random",
}  # fmt: skip


def known_to(design: SequentialDesign, columns: list[int]) -> float:
    """The largest deviation of the parameters wanted; infinite before any answer."""
    return float(design.estimator_.parameters_.std[columns].max()) if design.iteration else np.inf


def measured(demo: str, choice: str, run: int, n_particles: int, most: int) -> dict[str, np.ndarray]:
    """Measurements until the deviation is reached (``most`` if it is not), and the share of truths inside."""
    about, rng = DEMOS[demo], np.random.default_rng([7, run])
    truth = np.array([[one.rvs(random_state=rng) for one in about["prior"].values()]])
    if demo == "line_plus_noise":
        truth[0, 2] = 0.2  # as in the demonstration
    columns = [list(about["prior"]).index(name) for name in about["wanted"]]
    noise = truth[0, 2] if about["noise"] == "sigma" else about["noise"]
    model = ParticleEstimator(
        model=about["model"], prior=about["prior"], noise=about["noise"], n_particles=n_particles, random_state=run
    )
    design = SequentialDesign(
        model,
        about["settings"],
        lambda query: about["model"](truth, query.candidates)[0] + noise * rng.standard_normal(len(query)),
        scorer=CHOICES[choice],
        repeat=True,
        stop=lambda one: one.iteration >= most or known_to(one, columns) <= about["limit"],
        random_state=run,
    ).run()
    known = design.estimator_.parameters_
    low, high = known.quantiles([0.05, 0.95])[:, columns]
    inside = np.mean((low <= truth[0, columns]) & (truth[0, columns] <= high))
    return {"n": np.array(design.iteration), "inside": np.array(inside)}


def run(script: Script) -> None:
    """All demonstrations, all choices, the same truths and seeds."""
    n, n_particles, most = (2, 100, 2) if script.quick else (50, 1000, MOST)
    table: dict[str, list[Any]] = {
        name: []
        for name in ("demonstration", "choice", "measurements", "median", "most", "of information", "90% cover")
    }
    ratios: dict[str, dict[str, list[float]]] = {}
    figure, axes = panels(1, len(DEMOS), 10.0, 3.4)
    for ax, demo in zip(axes[0], DEMOS, strict=True):
        found = {}
        for choice in CHOICES:
            runs = [script.kept("any_model", measured, demo, choice, k, n_particles, most) for k in range(n)]
            found[choice] = np.array([int(one["n"]) for one in runs]), float(np.mean([one["inside"] for one in runs]))
        ratios[demo] = {}
        for colour, (choice, (counts, cover)) in zip(PALETTE, found.items(), strict=False):
            ratio = paired_interval(counts.astype(float), found["information"][0].astype(float))
            ratios[demo][choice] = [ratio.mean, ratio.low, ratio.high]
            row = demo, choice, float(counts.mean()), float(np.median(counts)), int(counts.max()), ratio.mean, cover
            for column, value in zip(table.values(), row, strict=True):
                column.append(value)
            reached = np.sort(counts[counts < most])  # the others were stopped there
            ax.plot(reached, (np.arange(len(reached)) + 1) / n, color=colour, label=choice)
        ax.set(title=demo, xlabel="measurements", ylabel="share of runs that reached it", xscale="log")
        ax.set_xticks([5, 10, 20, 50, 100], labels=["5", "10", "20", "50", "100"])
        ax.minorticks_off()
    axes[0, 0].legend(fontsize=8)
    caption = (
        f"Measurements until the deviation wanted, {n} simulated instruments each, truths drawn from the prior that "
        f"the model is told; at most {most}."
    )
    script.figure(figure, "ours-any-model-instruments", caption)
    script.table(table, "ours-any-model-instruments", caption)
    script.judge(
        "ours-any-model-instruments", all(of["random"][1] > 1.0 for of in ratios.values()),
        claim="Settings chosen by information need fewer measurements than random ones to the same deviation, on the "
        "demonstrations of optbayesexpt.",
        target="measurements of random settings over those by information: 95% interval above 1 on all three",
        value={"measurements over those by information": {demo: of["random"] for demo, of in ratios.items()}, "runs": n,
               "particles": n_particles},
        reason=f"Runs end at {most} measurements, which flatters random settings, since many of their runs end there. "
        "Means of ratios flatter information, whose luck stands below the line; the ratios of the means in the table "
        "are 2.3, 2.5 and 2.5.",
        seed=7,
    )  # fmt: skip
    rivals = [of[choice] for of in ratios.values() for choice in ("variance", "max_min", "good")]
    none_less = True if all(low > 0.95 for _, low, _ in rivals) else None
    script.judge(
        "ours-any-model-instruments-utilities", False if any(high < 0.95 for _, _, high in rivals) else none_less,
        claim="Settings chosen by information need no more measurements than those by the utilities of optbayesexpt.",
        target="measurements by each utility over those by information: 95% intervals above 0.95 on all three",
        value={"measurements over those by information": ratios, "runs": n, "particles": n_particles},
        reason="The package is on no index, so its choices were written from its public source text, on our "
        "posterior. Means of ratios flatter what stands below the line, which here is information. By means of "
        "measurements (in the table) information is behind the variance (53.8 for 55.1) and the good settings (51.1) "
        "on find_peak, ahead by 1% to 11% elsewhere, and ahead of max_min on all three. These differences are small "
        "beside what random settings need.",
        seed=7,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
