"""Gaussian process classification where it can be computed exactly: one input, and two points (figures 4.2 to 4.5).

Two points x = +-sqrt(2) with labels +1 and -1, covariance sf^2 exp(-|x - x'|^2 / (2 l^2)); exact values are sums over
a grid of whitened latents, N(z | 0, I) prod_i sig(y_i [L z]_i), 9 standard deviations wide.

1. Figure 4.2: samples of the prior, posterior after 7 and after 20 labels of one simulated function.
2. Figure 4.3: nine regimes (probit), how far from Gaussian each posterior is.
3. Figures 4.4 and 4.5: regime 2 (ln l = 1, ln sf = 1.5), the best Gaussian and those of EP, KL, VB and Laplace's
   method; and what each puts in the place of the likelihood, N(m~, W^-1) with m~ = m + W^-1 alpha.
4. Table 4.8: the six sets and the sizes of their splits.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from adaptive import GaussianProcessClassifier
from adaptive.inference import (
    GLM,
    expectation_propagation,
    laplace_approximation,
    mean_field,
    variational_bounds,
    variational_gaussian,
)
from adaptive.plots import PALETTE
from adaptive.potentials import BernoulliLogit, BernoulliProbit
from experiments.gaussian_processes.shared.classification_sets import SIZES, whole
from experiments.script import Script, command, panels

X = np.array([np.sqrt(2), -np.sqrt(2)])
Y = np.array([1.0, -1.0])
LOG_LENGTHS, LOG_SCALES = (0.0, 1.0, 2.5), (1.5, 0.0, -1.5)  # columns, and rows from the top
LINKS = {"probit": BernoulliProbit, "logit": BernoulliLogit}
ENGINES: dict[str, Any] = {
    "EP": lambda model: expectation_propagation(model, tol=1e-10),
    "KL": lambda model: variational_gaussian(model, tol=1e-9),
    "VB": lambda model: variational_bounds(model, tol=1e-13, max_iter=2000),
    "LA": laplace_approximation,
}


@dataclass(frozen=True)
class TwoPoints:
    """The exact posterior of two latents, by a grid."""

    covariance: np.ndarray
    family: Any
    n_nodes: int = 601

    def solved(self) -> dict[str, Any]:
        """Return evidence, moments, KL divergence to the best Gaussian, mass where no label is contradicted, mode."""
        axis = np.linspace(-9, 9, self.n_nodes)
        z = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
        f = z @ np.linalg.cholesky(self.covariance).T
        log_likelihood = self.family(Y).log_density(f).sum(axis=-1)
        log_joint = log_likelihood - 0.5 * (z**2).sum(axis=1) - np.log(2 * np.pi)
        cell = (axis[1] - axis[0]) ** 2
        Z = np.exp(log_joint).sum() * cell
        mass = np.exp(log_joint) * cell / Z
        mean = mass @ f
        V = (f - mean).T @ (mass[:, None] * (f - mean))
        # in z the density is smooth, and negentropy does not depend on coordinates
        to_z = np.linalg.inv(np.linalg.cholesky(self.covariance))
        used = mass > 0
        entropy = -mass[used] @ (log_joint - np.log(Z))[used]
        gaussian = 0.5 * np.linalg.slogdet(2 * np.pi * np.e * to_z @ V @ to_z.T)[1]
        return {
            "log_evidence": float(np.log(Z)),
            "mean": mean,
            "covariance": V,
            "divergence": float(gaussian - entropy),
            "agreeing": float(mass[((f * Y) > 0).all(axis=1)].sum()),
            "mode": f[np.argmax(log_joint)],
            "step": float((axis[1] - axis[0]) * np.sqrt(self.covariance[0, 0])),
        }

    def log_density(self, f: np.ndarray) -> np.ndarray:
        """Of latents f (..., 2), unnormalised."""
        quadratic = np.einsum("...i,ij,...j->...", f, np.linalg.inv(self.covariance), f)
        return self.family(Y).log_density(f).sum(axis=-1) - 0.5 * quadratic

    def approximations(self) -> dict[str, Any]:
        """Return the posterior of every engine."""
        model = GLM(potentials=self.family(Y), prior_covariance=self.covariance)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # probit says that its bound is loose
            return {name: engine(model) for name, engine in ENGINES.items()}


def covariance(log_length: float, log_scale: float) -> np.ndarray:
    """K of the two points."""
    return np.exp(2 * log_scale - 0.5 * (X[:, None] - X) ** 2 / np.exp(2 * log_length))


# ------------------------------------------------------------------------------------------------- figure 4.2
def judge_one_input(script: Script) -> None:
    """Draw prior samples and two posteriors over one input; judge that uncertainty shrinks."""
    rng = np.random.default_rng(3)
    grid = np.linspace(-6, 6, 241)[:, None]
    lengths, scale = (0.5, 1.0, 3.0), 2.0
    samples = {}
    for length in lengths:
        K = scale**2 * RBF(length)(grid) + 1e-8 * np.eye(len(grid))
        samples[length] = np.linalg.cholesky(K) @ rng.standard_normal((len(grid), 3))
    truth = samples[1.0][:, 0]
    chosen = rng.permutation(len(grid))[:20]
    labels = (rng.uniform(size=20) < expit(truth[chosen])).astype(int)
    figure, axes = panels(2, 3, 10.0, 5.4)
    for ax, length in zip(axes[0], lengths, strict=True):
        for k in range(3):
            ax.plot(grid, expit(samples[length][:, k]), color=PALETTE[k], linewidth=1.4)
        ax.set(title=f"prior, length scale {length:g}", ylim=(0, 1))
    spread, found = {}, {}
    for ax, n in zip(axes[1], (7, 20), strict=False):
        rows = chosen[:n]
        kernel = ConstantKernel(scale**2) * RBF(1.0)
        model = GaussianProcessClassifier(kernel, classes=[0, 1], optimizer=None, calibration=None)
        model.fit(grid[rows], labels[:n])
        mean, variance = model.latent_mean_and_variance(grid)
        sd, p = np.sqrt(variance), model.predict_proba(grid)[:, 1]
        spread[n], found[n] = sd, (mean, p)
        distance = np.abs(grid - grid[rows].T).min(axis=1)
        found[f"correlation {n}"] = float(np.corrcoef(distance, sd)[0, 1])
        ax.fill_between(
            grid[:, 0], expit(mean - 2 * sd), expit(mean + 2 * sd), color=PALETTE[0], alpha=0.2, linewidth=0
        )
        ax.plot(grid, p, color=PALETTE[0], label="predictive probability")
        ax.plot(grid, expit(truth), color="black", linestyle="--", linewidth=1, label="truth")
        ax.plot(grid[rows], labels[:n], linestyle="", marker="o", markersize=4, color=PALETTE[1], label="labels")
        ax.set(title=f"posterior, {n} labels", ylim=(-0.05, 1.05))
    for n in (7, 20):
        axes[1, 2].plot(grid, spread[n], label=f"{n} labels", color=PALETTE[0 if n == 7 else 1])
    axes[1, 2].axhline(scale, color="black", linewidth=0.8)
    axes[1, 2].set(title="standard deviation of the latent", ylim=(0, 1.1 * scale))
    axes[1, 2].legend(frameon=False)
    figure.legend(*axes[1, 1].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    for ax in axes[1]:
        ax.set_xlabel("input")
    axes[0, 0].set_ylabel("P(y = 1)")
    axes[1, 0].set_ylabel("P(y = 1)")
    script.figure(
        figure,
        "nickisch-fig-4.2",
        "Simulated: Gaussian process classification of one input. Top: samples of the prior through the logistic "
        "function at three length scales. Bottom: posterior after 7 and after 20 labels of one of them (bands: the "
        "latent within two standard deviations), and the latent's standard deviation. The model was told the kernel.",
    )
    crossings = [
        float(np.mean(np.abs(np.diff(np.sign(samples[length]), axis=0)).sum(axis=0) / 2)) for length in lengths
    ]
    sds = [scale, *(float(spread[n].mean()) for n in (7, 20))]
    near = [found["correlation 7"], found["correlation 20"]]
    value = {
        "mean standard deviation of the latent: prior, 7, 20 labels": sds,
        "correlation with the distance to the next label: 7, 20": near,
        "sign changes of prior samples by length scale": crossings,
    }
    script.judge(
        "nickisch-fig-4.2",
        sds[0] > sds[1] > sds[2] and min(near) > 0.5 and crossings[0] > crossings[1] >= crossings[2],
        claim="Prior samples at several length scales; after 7 and 20 labels uncertainty shrinks, most near the data.",
        target="mean latent standard deviation falls with labels; it correlates with the distance to them (> 0.5)",
        value=value,
        seed=3,
    )


# ------------------------------------------------------------------------------------------------- figure 4.3
def judge_regimes(script: Script) -> None:
    """Draw and judge the nine posteriors."""
    figure, axes = panels(3, 3, 7.6, 7.6)
    columns: dict[str, list[Any]] = {key: [] for key in
        ("regime", "ln l", "ln sf", "ln Z", "KL to the best Gaussian", "mass agreeing with both labels")}  # fmt: skip
    far = np.empty((3, 3))
    for i, log_scale in enumerate(LOG_SCALES):
        for j, log_length in enumerate(LOG_LENGTHS):
            problem = TwoPoints(covariance(log_length, log_scale), BernoulliProbit, 201 if script.quick else 601)
            exact = problem.solved()
            far[i, j] = exact["divergence"]
            for column, value in zip(columns.values(), (
                3 * i + j + 1, log_length, log_scale, exact["log_evidence"], exact["divergence"], exact["agreeing"],
            ), strict=True):  # fmt: skip
                column.append(value)
            axis = np.linspace(-3.5, 3.5, 141)
            g = np.stack(np.meshgrid(axis, axis), -1) * np.exp(log_scale)
            log_p = problem.log_density(g)
            ax = axes[i, j]
            ax.contour(axis, axis, log_p - log_p.max(), levels=[-4.5, -3, -2, -1, -0.5, -0.1], colors=PALETTE[0],
                       linestyles="-", linewidths=1.0)  # fmt: skip
            prior = log_p - BernoulliProbit(Y).log_density(g).sum(axis=-1)
            ax.contour(axis, axis, prior, levels=[-2.0], colors="black", linewidths=0.7)
            ax.axhline(0, color="grey", linewidth=0.5)
            ax.axvline(0, color="grey", linewidth=0.5)
            ax.set_title(f"{3 * i + j + 1}: ln l = {log_length:g}, ln sf = {log_scale:g}", fontsize=9)
            ax.set_aspect("equal")
    for ax in axes[-1]:
        ax.set_xlabel("latent with label +1 / sf", fontsize=8)
    for ax in axes[:, 0]:
        ax.set_ylabel("latent with label -1 / sf", fontsize=8)
    script.figure(
        figure,
        "nickisch-fig-4.3",
        "Nine regimes of two points with opposite labels (probit), exact: contours of the posterior at 0.1, 0.5, 1, 2, "
        "3 and 4.5 nats below its mode, axes f / sf; black: the prior's two-standard-deviation ellipse. Columns: "
        "length scale; rows: latent scale.",
    )
    script.table(
        columns, "nickisch-fig-4.3",
        "Nine regimes of two points (probit): exact log evidence, KL divergence from the posterior to the Gaussian of "
        "its moments (nats), and how much of its mass agrees with both labels.",
    )  # fmt: skip
    limits = {
        "regime 7, ln Z + 2 ln 2": float(columns["ln Z"][6] + 2 * np.log(2)),
        "no correlation (l -> 0), ln Z + 2 ln 2": float(
            TwoPoints(np.exp(3.0) * np.eye(2), BernoulliProbit).solved()["log_evidence"] + 2 * np.log(2)
        ),
    }
    script.judge(
        "nickisch-fig-4.3",
        bool((np.diff(far, axis=0) < 0).all() and far[2].max() < 1e-3 < 1e-1 < far[0, 0])
        and abs(limits["no correlation (l -> 0), ln Z + 2 ln 2"]) < 1e-6,
        claim="Over latent scale and length scale the posterior of two points goes from near Gaussian to truncated.",
        target="KL divergence to the best Gaussian falls with sf in every column, from above 0.1 nats (regime 1) to "
        "below 0.001 (regimes 7 to 9); independent latents have evidence 1/4",
        value={"KL, rows from the top": far.round(6).tolist(), **limits},
    )


# ----------------------------------------------------------------------------------------- figures 4.4 and 4.5
def judge_five(script: Script) -> None:
    """Judge the Gaussians of regime 2, and what they put in the place of the likelihood."""
    K = covariance(1.0, 1.5)
    rows: list[dict[str, Any]] = []
    kept: dict[str, Any] = {}
    for link, family in LINKS.items():
        problem = TwoPoints(K, family, 401 if script.quick else 801)
        exact, found = problem.solved(), problem.approximations()
        found["FV"] = mean_field(GLM(potentials=family(Y), prior_covariance=K), ridge=1e-10)
        best, sd = exact["covariance"], np.sqrt(np.diag(exact["covariance"]))
        for name, posterior in found.items():
            V, off = posterior.covariance(), posterior.mean - exact["mean"]
            divergence = 0.5 * (np.trace(np.linalg.solve(V, best)) - 2 + off @ np.linalg.solve(V, off))
            divergence += 0.5 * (np.linalg.slogdet(V)[1] - np.linalg.slogdet(best)[1])
            precision = np.linalg.inv(V) - np.linalg.inv(K)
            rows.append(
                {
                    "link": link,
                    "method": name,
                    "mean / exact": float(posterior.mean[0] / exact["mean"][0]),
                    "sd / exact": float(np.sqrt(V[0, 0]) / sd[0]),
                    "correlation": float(V[0, 1] / np.sqrt(V[0, 0] * V[1, 1])),
                    "KL from the best Gaussian": float(divergence),
                    "ln Z - exact": float(posterior.log_evidence - exact["log_evidence"]),
                    "sd of the effective likelihood": float(1 / np.sqrt(precision[0, 0])),
                    "its mean": float(posterior.mean[0] + np.linalg.solve(K @ precision, posterior.mean)[0]),
                }
            )  # fmt: skip
        kept[link] = (problem, exact, found)
    correlation = exact["covariance"][0, 1] / np.prod(sd)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]},
        "nickisch-fig-4.4",
        "Two points in regime 2: mean and standard deviation of the first latent over the exact ones, correlation "
        f"(exact, logit: {correlation:.3f}), KL divergence from the best Gaussian (nats), error of the log evidence, "
        "and standard deviation and mean of what stands for the first factor of the likelihood.",
    )
    _draw_five(script, *kept["probit"])
    _draw_effective(script, *kept["probit"])
    at = {(row["link"], row["method"]): row for row in rows}
    problem, exact, found = kept["probit"]
    at_mode = float(np.abs(found["LA"].mean - exact["mode"]).max())
    closest = {link: min(ENGINES, key=lambda name: at[link, name]["KL from the best Gaussian"]) for link in LINKS}
    narrow = {link: [at[link, name]["sd / exact"] for name in ("VB", "KL", "LA", "EP")] for link in LINKS}
    script.judge(
        "nickisch-fig-4.4",
        at_mode <= exact["step"] and set(closest.values()) == {"EP"} and all(n[0] < 0.95 for n in narrow.values()),
        claim="Regime 2: Laplace's method sits at the mode, VB is too narrow, EP is near the best Gaussian.",
        target="Laplace's mean is the mode (within a step of the grid); EP has the smallest KL divergence from the "
        "best Gaussian; VB's standard deviation is below 0.95 of the exact one; both links",
        value={
            "largest distance of Laplace's mean from the mode": at_mode,
            "closest": closest,
            "KL from the best Gaussian, probit: EP, KL, VB, LA": [
                at["probit", name]["KL from the best Gaussian"] for name in ENGINES
            ],
            "sd / exact: VB, KL, LA, EP": narrow,
        },
    )
    widths = {link: {name: at[link, name]["sd of the effective likelihood"] for name in ENGINES} for link in LINKS}
    wider = {link: min(w["EP"], w["KL"]) > max(w["LA"], w["VB"]) for link, w in widths.items()}
    script.judge(
        "nickisch-fig-4.5",
        all(wider.values()),
        claim="What stands for the likelihood is broader with EP and KL, which cover where the prior has mass, than "
        "with Laplace's method and VB.",
        target="standard deviations of EP's and KL's effective likelihoods above those of LA and VB, both links",
        value=widths,
        reason=""
        if all(wider.values())
        else "Holds for " + (", ".join(link for link, one in wider.items() if one) or "neither link") + "; the link of "
        "the source's picture is not stated beside it.",
    )


def _ellipse(mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """One standard deviation."""
    angle = np.linspace(0, 2 * np.pi, 200)
    return mean + np.stack([np.cos(angle), np.sin(angle)], -1) @ np.linalg.cholesky(covariance).T


def _draw_five(script: Script, problem: TwoPoints, exact: dict[str, Any], found: dict[str, Any]) -> None:
    figure, ((ax,),) = panels(1, 1, 5.6, 5.0)
    first, second = np.linspace(-3, 11, 201), np.linspace(-11, 3, 201)
    log_p = problem.log_density(np.stack(np.meshgrid(first, second), -1))
    ax.contourf(first, second, np.exp(log_p - log_p.max()), levels=np.linspace(0.02, 1, 9), cmap="Greys", alpha=0.7)
    best = _ellipse(exact["mean"], exact["covariance"])
    ax.plot(*best.T, color="black", linewidth=2.2, label="best Gaussian")
    for k, name in enumerate(ENGINES):
        line = _ellipse(found[name].mean, found[name].covariance())
        ax.plot(*line.T, color=PALETTE[k], linewidth=1.5, linestyle="-" if name != "EP" else "--", label=name)
        ax.plot(*found[name].mean, color=PALETTE[k], marker="x")
    ax.set(xlabel="latent with label +1", ylabel="latent with label -1", aspect="equal")
    ax.legend(frameon=False, loc="upper right")
    script.figure(
        figure,
        "nickisch-fig-4.4",
        "Regime 2 (probit): the exact posterior of two points (grey), the Gaussian of its moments and those of EP, KL, "
        "VB and Laplace's method, ellipses of one standard deviation, crosses at the means.",
    )


def _draw_effective(script: Script, problem: TwoPoints, exact: dict[str, Any], found: dict[str, Any]) -> None:
    figure, axes = panels(1, 5, 12.0, 2.7)
    first, second = np.linspace(-6, 14, 151), np.linspace(-14, 6, 151)
    f = np.stack(np.meshgrid(first, second), -1)
    prior_precision = np.linalg.inv(problem.covariance)
    prior = -0.5 * np.einsum("...i,ij,...j->...", f, prior_precision, f)
    likelihood = np.exp(problem.family(Y).log_density(f).sum(axis=-1))
    gaussians = {"best": (exact["mean"], exact["covariance"])}
    gaussians |= {name: (found[name].mean, found[name].covariance()) for name in ENGINES}
    for k, (name, (mean, V)) in enumerate(gaussians.items()):
        ax = axes[0, k]
        ax.contourf(first, second, likelihood, levels=np.linspace(0, 1, 9), cmap="Greys", alpha=0.5)
        ax.contour(first, second, prior, levels=[-4.5, -2, -0.5], colors="black", linewidths=0.6, linestyles="-")
        log_ratio = -0.5 * np.einsum("...i,ij,...j->...", f - mean, np.linalg.inv(V), f - mean) - prior
        levels = [-4.5, -2, -0.5]
        ax.contour(first, second, log_ratio - log_ratio.max(), levels=levels, colors=PALETTE[1], linestyles="-")
        ax.set(title=name, aspect="equal")
    script.figure(
        figure,
        "nickisch-fig-4.5",
        "Regime 2 (probit): the likelihood (grey), the prior (black) and what each Gaussian puts in the place of the "
        "likelihood (posterior over prior, coloured), contours at one, two and three standard deviations.",
    )


# ------------------------------------------------------------------------------------------------- table 4.8
def judge_sets(script: Script) -> None:
    """Judge that the sets have the sizes of the source."""
    shapes = {name: whole(name)[0].shape for name in SIZES}
    script.table(
        {
            "set": list(SIZES),
            "training rows": [size[0] for size in SIZES.values()],
            "test rows": [size[1] for size in SIZES.values()],
            "columns": [shape[1] for shape in shapes.values()],
            "columns as printed": [size[2] for size in SIZES.values()],
        },
        "nickisch-tab-4.8",
        "The six classification sets: rows of the splits and columns, ours and as printed.",
    )
    other = [name for name in SIZES if shapes[name][1] != SIZES[name][2]]
    script.judge(
        "nickisch-tab-4.8",
        all(shapes[name][0] == sum(SIZES[name][:2]) for name in SIZES),
        claim="Six sets are split into 300/383, 100/100, 200/151, 350/418, 108/100 and 767/773 rows.",
        target="every set has as many rows as training and test rows together",
        value={name: list(shape) for name, shape in shapes.items()},
        reason="It is not published which rows are for training, so splits are random by seed. "
        f"{', '.join(other).capitalize()} has fewer columns than printed: species and sex are classes, and sex is "
        "told from the five measurements.",
    )


def run(script: Script) -> None:
    """Run, draw, judge."""
    judge_one_input(script)
    judge_regimes(script)
    judge_five(script)
    judge_sets(script)


if __name__ == "__main__":
    command(run, __doc__, __file__)
