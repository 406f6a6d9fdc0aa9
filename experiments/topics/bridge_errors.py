"""Figures 5.5 and C.3 of Hennig (2010): what the words of a document say of its topic scores, by three steps.

Prior y ~ N(0, v I), N words of topics drawn from softmax(y). The mean of each step against that of elliptical slice
sampling (many chains), both by their distance from the truth, and by each other; vectors are centred, as the common
mode is not identifiable. Beside it what a short document says of topics that it lacks: how much less their scores vary
afterwards. And two Beta densities before and after the change to the softmax basis.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_softmax
from scipy.stats import beta as beta_density
from scipy.stats import norm

from adaptive.estimators.topics.inference import laplace_bridge
from adaptive.estimators.topics.inference.document import mode_step, softmax
from adaptive.inference.dense.elliptical_slice import elliptical_slice
from adaptive.plots import PALETTE
from experiments.equivalence import inside
from experiments.script import Script, command, panels
from experiments.statistics import limits

LENGTHS = (1, 10, 100, 1000, 10_000)
STEPS = ("newton", "laplace_bridge", "moment_bridge")


def centred(values: np.ndarray) -> np.ndarray:
    """Without the common mode."""
    return values - values.mean(axis=-1, keepdims=True)


def sampled(counts: np.ndarray, variance: float, n_steps: int, chains: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variances of the centred scores, by slice sampling; the first half is burnt."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal((chains, len(counts)))
    kept = []
    for step in range(n_steps):
        w = elliptical_slice(w, lambda z: log_softmax(np.sqrt(variance) * z, axis=1) @ counts, 1.0, rng)
        if step >= n_steps // 2:
            kept.append(centred(np.sqrt(variance) * w))
    draws = np.concatenate(kept)
    return draws.mean(axis=0), draws.var(axis=0)


def stepped(step: str, counts: np.ndarray, variance: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variances of the scores by one of the steps, the topics of the words known."""
    K, total = len(counts), float(counts.sum())
    if step == "newton":
        prior, mean = np.full(K, variance), np.zeros(K)
        y, p, work = np.zeros(K), np.empty(K), np.empty((3, K))
        softmax(y, p)
        for _ in range(200):
            if mode_step(y, p, mean, prior, counts, total, work) < 1e-10:
                break
        return centred(y), 1.0 / (1.0 / prior + total * p * (1.0 - p))
    kind = "moments" if step == "moment_bridge" else "laplace"
    alpha = laplace_bridge.dirichlet(np.zeros(K), np.full(K, variance), kind)
    return laplace_bridge.gaussian(alpha + counts, kind)


def errors(K: int, N: int, seed: int, n_steps: int, chains: int) -> dict[str, float]:
    """Distances from the truth, and from the sampler, in one run."""
    rng = np.random.default_rng([seed, K, N])
    truth = rng.standard_normal(K)
    counts = rng.multinomial(N, np.exp(log_softmax(truth))).astype(float)
    mean, _ = sampled(counts, 1.0, n_steps, chains, seed)
    found = {"slice": float(np.linalg.norm(mean - centred(truth)))}
    for step in STEPS:
        own = stepped(step, counts, 1.0)[0]
        found[step] = float(np.linalg.norm(own - centred(truth)))
        found[f"{step} from slice"] = float(np.linalg.norm(own - mean))
    return found


def heard(n_steps: int, chains: int, seed: int, n_documents: int) -> dict[str, np.ndarray]:
    """Of each document of ten words how much of the variance goes of topics that it lacks: K = 10, variance 9."""
    K, variance = 10, 9.0
    rng = np.random.default_rng(seed)
    reached: dict[str, list[float]] = {name: [] for name in ("slice", *STEPS)}
    for number in range(n_documents):
        p = np.exp(log_softmax(3.0 * rng.standard_normal(K)))
        counts = rng.multinomial(10, p).astype(float)
        absent = counts == 0
        prior = variance * (1.0 - 1.0 / K)  # centred
        reached["slice"].append(
            float(np.mean(1 - sampled(counts, variance, n_steps, chains, number)[1][absent] / prior))
        )
        for step in STEPS:
            before = variance if step == "newton" else stepped(step, counts * 0, variance)[1][absent]
            reached[step].append(float(np.mean(1 - stepped(step, counts, variance)[1][absent] / before)))
    return {name: np.array(values) for name, values in reached.items()}


def draw_errors(script: Script, table: dict[tuple[int, int], dict[str, float]]) -> None:
    """Figure 5.5."""
    figure, axes = panels(1, 2)
    lengths = sorted({N for _, N in table})
    for ax, K in zip(axes[0], sorted({K for K, _ in table}), strict=True):
        for name, colour, line in zip(("slice", *STEPS), PALETTE, ("-", "--", ":", "-."), strict=False):
            ax.loglog(lengths, [table[K, N][name] for N in lengths], line, color=colour, label=name.replace("_", " "))
        ax.set(title=f"{K} topics", xlabel="words", ylabel="centred distance from the truth")
    axes[0, 0].legend()
    script.figure(
        figure, "hennig-fig-5.5",
        "Mean over runs of the distance of each posterior mean from the scores that words were drawn from; simulated, "
        "y ~ N(0, I); topics of words known.",
    )  # fmt: skip


def draw_change_of_basis(script: Script) -> dict[str, float]:
    """Figure C.3: two Beta densities, their form in the logistic basis, and Laplace's Gaussian there."""
    figure, axes = panels(1, 2)
    x, y = np.linspace(1e-3, 1 - 1e-3, 400), np.linspace(-9, 9, 801)
    distances = {}
    for colour, (a, b) in zip(PALETTE, ((0.8, 0.9), (2.0, 6.0)), strict=False):
        label = f"Beta({a:g}, {b:g})"
        axes[0, 0].plot(x, beta_density(a, b).pdf(x), color=colour, label=label)
        p = expit(y)
        density = beta_density(a, b).pdf(p) * p * (1 - p)
        gaussian = norm(np.log(a / b), np.sqrt(1 / a + 1 / b)).pdf(y)
        axes[0, 1].plot(y, density, color=colour, label=label)
        axes[0, 1].plot(y, gaussian, "--", color=colour, label="Laplace")
        distances[label] = float(0.5 * np.trapezoid(np.abs(density - gaussian), y))
    axes[0, 0].set(xlabel="proportion", ylabel="density")
    axes[0, 1].set(xlabel="y1 - y2")
    for ax in axes[0]:
        ax.legend()
    script.figure(figure, "hennig-fig-C.3", "Two Beta densities, and the same in the softmax basis beside Laplace's.")
    return distances


def run(script: Script) -> None:
    """Both figures, and what is not heard."""
    runs, n_steps, chains = (1, 40, 20) if script.quick else (10, 400, 100)
    lengths = LENGTHS[:2] if script.quick else LENGTHS
    table, each = {}, {}
    for K in (5, 10):
        for N in lengths:
            found = each[K, N] = [errors(K, N, seed, n_steps, chains) for seed in range(runs)]
            table[K, N] = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    columns: dict[str, list[float]] = {"topics": [K for K, _ in table], "words": [N for _, N in table]}
    for name in next(iter(table.values())):
        columns[name] = [row[name] for row in table.values()]
    script.table(columns, "hennig-fig-5.5", "Centred distances from the truth, mean of runs; and from slice sampling.")
    draw_errors(script, table)
    value = {}
    for step in STEPS:  # of each run the geometric mean over topics and lengths
        logs = np.array([[np.log(one[step] / one["slice"]) for one in found] for found in each.values()]).mean(axis=0)
        mean, low, high = np.exp(limits(logs)).tolist()
        worst = max(row[step] / row["slice"] for row in table.values())
        value[step] = {"mean": mean, "low": low, "high": high, "worst": worst}
    script.judge(
        "hennig-fig-5.5",
        inside(value["laplace_bridge"]["low"], value["laplace_bridge"]["high"], 0.9, 1.1),
        claim="The bridge's error falls as fast as slice sampling's, without bias: within 10% on average.",
        target="mean ratio of errors 0.9 to 1.1, the whole 95% interval over runs",
        value={**value, "runs": runs},
        seed=0,
    )
    lacking = heard(n_steps, chains, 0, 2 if script.quick else 20)
    off = {step: np.abs(lacking[step] - lacking["slice"]) for step in STEPS}
    nearer = limits(off["laplace_bridge"] - off["newton"])
    script.judge(
        "ours-topics-lacking",
        inside(nearer[1], nearer[2], least=0.0),
        claim="Newton's step notices better than the bridge that a document of ten words lacks a topic.",
        target="share of the variance of absent topics that goes: Newton nearer to slice sampling, the whole 95% "
        "interval over documents",
        value={
            **{name: float(values.mean()) for name, values in lacking.items()},
            "how much nearer to slice sampling": list(nearer),
            "documents": len(lacking["slice"]),
        },
        seed=0,
    )
    distances = draw_change_of_basis(script)
    script.judge(
        "hennig-fig-C.3",
        max(distances.values()) < 0.15,
        claim="Two Beta densities, one without a mode inside, become nearly Gaussian in the softmax basis.",
        target="total variation below 0.15",
        value=distances,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
