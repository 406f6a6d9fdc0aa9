"""What a question costs where pools are wide, outcomes discrete or parameters few: beside peers in the same run.

1. 100,000 x 768 in single and in double precision, 60 labels: an ask after one more answer (`inclusion`), one after
   all nodes of the prior scale were fitted, predictions of the pool; beside scikit-learn's LogisticRegression,
   refitted, and the margin of its decisions. The peak is of memory beyond the pool.
2. Tables of 5,000 draws x 200 candidates, 2 and 10 outcomes: information gain, beside the lines of NumPy that a user
   writes for a table (draws, candidates, outcomes).
3. 5,000 particles, 200 settings, two outcomes: choosing about one parameter beside choosing about all.
4. `import adaptive` and `adaptive --help` beside importing scikit-learn, each in a process of its own.

CPU seconds, the least of some repetitions, one BLAS thread.

    python -m experiments.benchmarks.large_asks [--quick]
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np

from experiments.benchmarks.cpu_seconds import least_seconds
from experiments.benchmarks.own_process import measured
from experiments.script import Script, command

LABELLED, SEED = 60, 0


def measure(dtype: str, m: int, d: int) -> dict[str, float]:
    """In a process of its own: CPU seconds of each, and MiB beyond the pool at the peak of asks and predictions."""
    from sklearn.linear_model import LogisticRegression

    from adaptive import BayesianLogisticRegression
    from experiments.benchmarks.own_process import memory

    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((m, d), dtype=np.float32).astype(dtype)
    weights = 2.0 * rng.standard_normal(d) / np.sqrt(d)
    y = (X @ weights.astype(dtype) + rng.logistic(size=m) > 0).astype(int)
    known = list(range(LABELLED))
    small = BayesianLogisticRegression().fit(X[:LABELLED, :20], y[:LABELLED])  # what compiles is compiled
    small.select(X[:3000, :20])
    small.partial_fit(X[[LABELLED], :20], y[[LABELLED]]).select(X[:3000, :20])
    model, before = BayesianLogisticRegression().fit(X[known], y[known]), memory("VmRSS")
    found = {"first ask": least_seconds(lambda: model.select(X, exclude=known, random_state=0), 1)}
    asks = []
    for k in range(5):
        position = int(model.select(X, exclude=known, random_state=k)[0])
        known.append(position)
        model.partial_fit(X[[position]], y[[position]])
        asks.append(least_seconds(lambda k=k: model.select(X, exclude=known, random_state=k), 1))
    found["ask"] = min(asks)
    found["predictions"] = least_seconds(lambda: model.predict_proba(X), 1)
    found["peak"] = memory("VmHWM") - before
    peer = LogisticRegression()

    def step() -> Any:
        return np.argmin(np.abs(peer.fit(X[known], y[known]).decision_function(X)))

    found["peer"] = least_seconds(step, 3)
    return found


def of_numpy(weights: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Information gain as a user of NumPy writes it."""
    p = np.tensordot(weights, table, axes=1)
    return -(p * np.log(p)).sum(axis=1) + np.tensordot(weights, (table * np.log(table)).sum(axis=2), axes=1)


def tables(script: Script) -> dict[str, float]:
    """Ratio of our seconds to NumPy's, by the number of outcomes; both say the same."""
    from adaptive.predictive import WeightedDraws

    rng, found = np.random.default_rng(SEED), {}
    draws, m = (500, 50) if script.quick else (5000, 200)
    for c in (2, 10):
        first = np.ascontiguousarray(rng.dirichlet(np.ones(c), (draws, m)).transpose(2, 0, 1))
        table, weights = np.ascontiguousarray(first.transpose(1, 2, 0)), rng.dirichlet(np.ones(draws))

        def ours(given: np.ndarray, weights: np.ndarray = weights, c: int = c) -> np.ndarray:
            believed = WeightedDraws(weights, given, np.arange(c))
            return believed.outcome_entropy - believed.expected_entropy

        np.testing.assert_allclose(ours(table), of_numpy(weights, table), atol=1e-12)
        peer = least_seconds(lambda table=table, weights=weights: of_numpy(weights, table), 7)
        found[f"{c} outcomes, as the user has them"] = least_seconds(lambda table=table: ours(table), 7) / peer
        found[f"{c} outcomes, outcomes first"] = (
            least_seconds(lambda first=first: ours(np.moveaxis(first, 0, 2)), 7) / peer
        )
    return found


def one_parameter(script: Script) -> float:
    """Seconds of choosing about one of two parameters over those of choosing about both."""
    from scipy import stats

    from adaptive import ParticleEstimator

    def log_likelihood(parameters: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        slope, place = parameters.T[:, :, None]
        p = 1.0 / (1.0 + np.exp(-slope * (X[:, 0] - place)))
        return np.where(np.asarray(y) == 1, np.log(p), np.log1p(-p))

    X = np.linspace(-3.0, 3.0, 200)[:, None]
    prior = {"slope": stats.uniform(1, 3), "place": stats.norm(0, 1)}
    model = ParticleEstimator(
        log_likelihood, prior=prior, outcomes=[0, 1], n_particles=500 if script.quick else 5000, random_state=SEED
    ).fit(X[::20], (X[::20, 0] > 0).astype(int))
    both = least_seconds(lambda: model.select(X, random_state=0), 5)
    return least_seconds(lambda: model.select(X, target="place", random_state=0), 5) / both


def start(code: str) -> float:
    """Least CPU seconds of a new Python that runs this."""
    import resource

    def used() -> float:
        of_children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return of_children.ru_utime + of_children.ru_stime

    taken = []
    for _ in range(5):
        before = used()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        taken.append(used() - before)
    return min(taken)


def run(script: Script) -> None:
    """Measure and judge."""
    m, d = (2_000, 96) if script.quick else (100_000, 768)
    rows = {dtype: measured("large_asks", dtype, m, d) for dtype in ("float32", "float64")}
    pool = {"float32": 4 * m * d / 2**20, "float64": 8 * m * d / 2**20}
    columns = {"precision": list(rows)} | {
        name: [round(rows[dtype][name], 3) for dtype in rows]
        for name in ("first ask", "ask", "predictions", "peer", "peak")
    }  # fmt: skip
    script.table(
        columns, "large-asks",
        f"{m:,} x {d}, {LABELLED} labels: CPU seconds of the first ask (all nodes of the prior scale fitted anew), an "
        "ask after one more answer, predictions of the pool, and LogisticRegression's refit and margin; MiB beyond it.",
    )  # fmt: skip
    single, double = rows["float32"], rows["float64"]
    ratios = {name: round(single[name] / double[name], 2) for name in ("first ask", "ask", "predictions")}
    script.judge(
        "ours-scale-single-precision", max(ratios.values()) <= 1.1,
        claim="A pool in single precision is asked about and predicted as quickly as in double.",
        target="at most 1.1 times the seconds", value=ratios,
    )  # fmt: skip
    beside = {dtype: round(rows[dtype]["ask"] / rows[dtype]["peer"], 2) for dtype in rows}
    script.judge(
        "ours-scale-wide-ask", max(beside.values()) <= 2.0,
        claim="An ask after one more answer, 100,000 x 768, takes at most twice LogisticRegression's refit and margin.",
        target=2.0, value=beside,
        reason="Two thirds of the seconds are one product with nine nodes' directions in double precision, where the "
        "peer multiplies one in the pool's precision. The other third are the committee's shares at nine nodes.",
    )  # fmt: skip
    peaks = {dtype: round(rows[dtype]["peak"] / pool[dtype], 2) for dtype in rows}
    script.judge(
        "ours-scale-wide-memory", max(peaks.values()) <= 1.0 or script.quick,
        claim="Asking and predicting take no more memory than the pool itself has.", target="at most as much again as "
        "the pool",
        value=peaks,
    )  # fmt: skip
    found = {name: round(ratio, 2) for name, ratio in tables(script).items()}
    script.judge(
        "ours-scale-discrete", max(found.values()) <= 1.2,
        claim="Information gain of a table of discrete outcomes takes at most 1.2 times what the user's lines of "
        "NumPy take.",
        target=1.2, value=found,
        reason="With ten outcomes that are last in memory, putting them first costs what the logarithms save.",
    )  # fmt: skip
    ratio = round(one_parameter(script), 2)
    script.judge(
        "ours-scale-one-parameter", ratio <= 2.0,
        claim="Choosing about one parameter of particles takes at most twice what choosing about all takes.",
        target=2.0, value=ratio,
    )  # fmt: skip
    peer = start("import sklearn")
    starts = {
        "import adaptive": round(start("import adaptive") / peer, 2),
        "adaptive --help": round(start("from adaptive.cli import run; run(['--help'])") / peer, 2),
    }
    script.judge(
        "ours-scale-start", max(starts.values()) <= 1.2,
        claim="Importing the library, and the help of its command, take at most 1.2 times the time of importing "
        "scikit-learn.",
        target=1.2, value=starts,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
