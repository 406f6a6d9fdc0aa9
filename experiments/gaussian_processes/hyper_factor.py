"""One factor on the variance of latents, fitted to leave-one-out predictions, tried for Gaussian process classifiers.

The pools of `gp_designed.py`: 60 random rows of each are learnt from, height and length by evidence; the factor comes
from the cavities of expectation propagation, as that of linear classifiers does. Judged: the log loss on test rows is
lower with the factor. (A softmax has no expectation propagation here, and so no cavities: not tried.)

Full mode: twenty splits a set, a minute on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from threadpoolctl import threadpool_limits

from adaptive import GaussianProcessClassifier
from adaptive.estimators.rows.leave_one_out import latent_factor, of_two_classes, without_sites
from adaptive.loop.comparison import interval
from adaptive.potentials import BernoulliLogit
from experiments.equivalence import inside
from experiments.gaussian_processes.gp_designed import POOLS, halves
from experiments.script import Script, command

GROUP = "hyper_factor"
LABELS, N_TEST = 60, 300


def one_run(name: str, seed: int, n_labels: int) -> dict[str, np.ndarray]:
    """Return the factor, and log losses without it and with it."""
    X, y, new, truth = halves(name, seed, 300, N_TEST)
    chosen = np.random.default_rng([seed, 1]).permutation(len(X))[:n_labels]
    typical = float(np.median(pdist(X)))
    kernel = ConstantKernel(4.0, (1.0, 100.0)) * RBF(typical, (0.25 * typical, 4.0 * typical))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianProcessClassifier(kernel, classes=[0, 1], hyperparameters="mode").fit(X[chosen], y[chosen])
        posterior = model.posterior_
        cavities = without_sites(posterior.mean, posterior.variances(), *posterior.sites)
        data = model.belief_.data
        said = of_two_classes(np.ones(1), [cavities], BernoulliLogit(), data.evidence)
        factor = latent_factor(said, data.sample_weight)
        mean, variance = model.latent_mean_and_variance(new)
    losses = []
    for one in (1.0, factor):
        p = np.clip(BernoulliLogit().outcome_probabilities(mean, one * variance)[1][:, 1], 1e-12, 1 - 1e-12)
        losses.append(-np.mean(np.log(np.where(truth == 1, p, 1 - p))))
    return {"factor": np.array(factor), "losses": np.array(losses)}


def run(script: Script) -> None:
    """Run everything; write the table and the verdict."""
    names, n_seeds = (POOLS[:1], 2) if script.quick else (POOLS, 20)
    rows, apart = [], []
    for name in names:
        runs = [script.kept(GROUP, one_run, name, seed, 20 if script.quick else LABELS) for seed in range(n_seeds)]
        losses = np.array([one["losses"] for one in runs])
        factor = float(np.exp(np.mean([np.log(one["factor"]) for one in runs])))
        apart.append(losses[:, 1] - losses[:, 0])
        rows.append((name, n_seeds, factor, *losses.mean(axis=0), *interval(apart[-1])))
    columns = ("set", "splits", "factor", "log loss", "with the factor", "difference", "lower", "upper")
    script.table(
        {key: [round(row[k], 4) if k > 1 else row[k] for row in rows] for k, key in enumerate(columns)},
        "hyper-factor",
        f"Gaussian process classifiers on {LABELS} random rows: log loss (nats) on test rows with and without one "
        f"factor on the latents' variances, its geometric mean, and paired differences over {n_seeds} splits.",
    )
    value = [round(float(one), 4) for one in interval(np.mean(apart, axis=0))]
    untold = [row[0] for row in rows if row[-1] >= 0]  # rows end with the interval's upper end
    script.judge(
        "ours-hyper-factor-processes",
        inside(*value[1:], most=0.0),
        claim="A leave-one-out factor lowers the log loss of Gaussian process classifiers, mean over sets "
        f"({len(names)} pools, {n_seeds} splits each).",
        target="certainly below 0",
        value=value,
        reason=f"Set by set it cannot be told for {', '.join(untold)}." if untold else "",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
