"""Seeded runs whose logs, snapshots and results were written by the code before estimators had rooms (commit 9dfda50).

    python -m tests.loop.before_rooms.runs FOLDER      writes them anew, to compare one version with another

The files beside this module are kept: a log that somebody has must open whatever moves inside the library.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from adaptive import (
    BayesianLogisticRegression,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    ImageReconstructor,
    SequentialDesign,
    SeveralImages,
    SparseLinearRegression,
    kernels,
    means,
    scorers,
)
from adaptive.datasets import digits_pair
from adaptive.images import simulate_scan
from adaptive.loop import EventLog
from designs import kspace


@dataclass(frozen=True)
class Run:
    """A design from its first question: what to start from, what may be asked, who answers."""

    make: Callable[[], Any]
    pool: Any
    measure: Callable[[Any], Any]
    probe: Any
    steps: int = 7
    options: dict[str, Any] = field(default_factory=dict)
    then: Callable[[], Any] | None = None  # states what were defaults then and are others now
    fewer_steps: bool = False  # of the inference, than it took then

    def design(self, **more: Any) -> SequentialDesign:
        return SequentialDesign(
            (self.then or self.make)(), self.pool, self.measure, random_state=7, **self.options, **more
        )

    def written(self, path: Path) -> SequentialDesign:
        """Run with a log that has a snapshot of the first events, and a tail."""
        with SequentialDesign(
            (self.then or self.make)(),
            self.pool,
            self.measure,
            random_state=7,
            log=EventLog(path, snapshot_every=2 * self.steps - 3),
            **self.options,
        ) as design:
            return design.run(self.steps)

    def loaded(self, path: Path) -> SequentialDesign:
        return SequentialDesign.load(path, self.make(), self.pool, self.measure, **self.again)

    @property
    def again(self) -> dict[str, Any]:
        """What must be given again."""
        return {name: value for name, value in self.options.items() if callable(value)}

    def results(self, design: SequentialDesign) -> dict[str, np.ndarray]:
        """What came out: questions, scores, and what the last estimator believes about the probes."""
        model = design.estimator_
        answers: dict[str, np.ndarray] = {
            "position": np.array(design.history_["position"]),
            "score": np.array(design.history_["score"], dtype=float),
        }
        predictive = model.predictive(self.probe)
        for name in ("mean", "variance"):
            if predictive.provides(name):
                answers[name] = np.asarray(getattr(predictive, name))
        if predictive.provides("log_determinant"):
            answers["log_determinant"] = predictive.log_determinant()[0]
        if hasattr(model, "predict_proba"):
            answers["probabilities"] = model.predict_proba(self.probe)
        if hasattr(model, "image_"):
            answers["image"] = model.image_
        evidence = getattr(model, "log_evidence_", None)
        if evidence is not None and not isinstance(model, SeveralImages):  # which had none then
            answers["log_evidence"] = np.array(evidence)
        return answers


DIGITS, DIGIT_LABELS = digits_pair(3, 5)
LINE = np.linspace(-3.0, 3.0, 40)[:, None]
PLANE = np.random.default_rng(5).standard_normal((60, 2))
WIDE = np.random.default_rng(6).standard_normal((60, 30))
WEIGHTS = np.where(np.arange(30) % 10 == 3, 2.0, 0.0)
NOISE = 0.1 * np.random.default_rng(9).standard_normal(60)
SHAPE = (32, 24)
BLOB = (np.add.outer(np.linspace(-1, 1, 32) ** 2, np.linspace(-1, 1, 24) ** 2) < 0.7) * np.linspace(0.4, 1.0, 24)
SCANS = [simulate_scan(np.roll(BLOB, k, 0), snr=100, largest_phase=0.3, random_state=k) for k in (0, 2)]
LINES = kspace.lines(SHAPE)
PICTURE = np.tri(16) * np.linspace(0.2, 1.0, 16)
PATTERNS = np.random.default_rng(8).standard_normal((120, 256)) / 16


def _digits(query: Any) -> Any:
    return DIGIT_LABELS[query.positions]


SECTORS = ["east", "north", "west"]


def _sector(query: Any) -> Any:
    angles = np.arctan2(query.candidates[:, 1], query.candidates[:, 0])
    return np.array(SECTORS)[np.searchsorted([-1.0, 1.2], angles)]


def _pattern(query: Any) -> Any:
    return query.candidates @ PICTURE.ravel() + 0.02 * np.cos(query.positions)


LOGISTIC = {"initial": 4, "batch_size": 2, "scorer": "information_gain", "exploration": 0.0}
CENTRE = {"initial": list(range(12, 20))}
RUNS: dict[str, Run] = {
    "logistic": Run(
        lambda: BayesianLogisticRegression(classes=[3, 5]), DIGITS[:120], _digits, DIGITS[120:130], options=LOGISTIC,
        then=lambda: BayesianLogisticRegression(classes=[3, 5], hyperparameters="mode"),
    ),
    "logistic_margin": Run(
        lambda: BayesianLogisticRegression("laplace", classes=[3, 5], prior_scale=0.3), DIGITS[:60], _digits,
        DIGITS[120:130], options={"scorer": scorers.margin, "initial": [0, 5], "exploration": 0.0},
    ),
    "logistic_density": Run(
        lambda: BayesianLogisticRegression(classes=[3, 5], prior_scale=0.3), DIGITS[:30], _digits, DIGITS[120:130],
        steps=4,
        options={"scorer": scorers.density_weighted("margin", beta=0.5), "initial": [0, 5], "exploration": 0.0},
    ),
    "inclusion": Run(
        lambda: BayesianLogisticRegression(classes=[3, 5], update="inclusion", block_size=3), DIGITS[:80], _digits,
        DIGITS[120:130], options={"initial": 3, "scorer": "information_gain", "exploration": 0.0},
        then=lambda: BayesianLogisticRegression(
            classes=[3, 5], update="inclusion", block_size=3, hyperparameters="mode"
        ),
    ),
    "softmax": Run(
        lambda: BayesianLogisticRegression(classes=SECTORS), PLANE, _sector, PLANE[:9], options=LOGISTIC,
        then=lambda: BayesianLogisticRegression(classes=SECTORS, hyperparameters="mode"),
    ),
    "one_vs_rest": Run(
        lambda: BayesianLogisticRegression(classes=SECTORS, multi_class="one_vs_rest"), PLANE, _sector, PLANE[:9],
        options=LOGISTIC,
        then=lambda: BayesianLogisticRegression(classes=SECTORS, multi_class="one_vs_rest", hyperparameters="mode"),
    ),
    "sparse": Run(
        SparseLinearRegression, WIDE, lambda query: query.candidates @ WEIGHTS + NOISE[query.positions], WIDE[:9],
        options={"initial": 12},
    ),
    "process": Run(
        lambda: GaussianProcessClassifier(
            kernels.NeuralNetwork() * 4.0, mean=means.Constant(0.1), classes=["left", "right"]
        ),
        LINE, lambda query: np.where(np.sin(2 * query.candidates[:, 0]) > 0, "right", "left"), LINE[::5],
        options={"initial": [0, 20, 39], "scorer": "uncertainty", "exploration": 0.0},
    ),
    "regression": Run(
        lambda: GaussianProcessRegressor(1.0 * RBF(0.7), alpha=0.01, likelihood="student_t"), LINE,
        lambda query: np.sin(2 * query.candidates[:, 0]), LINE[::5], options={"initial": 5},
    ),
    "lines": Run(
        lambda: ImageReconstructor(SHAPE), LINES, lambda query: SCANS[0].measure(query.candidates), LINES, steps=11,
        options=CENTRE, then=lambda: ImageReconstructor(SHAPE, **ImageReconstructor.former_defaults), fewer_steps=True,
    ),
    "two_images": Run(
        lambda: SeveralImages([ImageReconstructor(SHAPE), ImageReconstructor(SHAPE)]), LINES,
        lambda query: [np.stack(pair) for pair in zip(*(s.measure(query.candidates) for s in SCANS), strict=True)],
        LINES, steps=10, options=CENTRE,
        then=lambda: SeveralImages([ImageReconstructor(SHAPE, **ImageReconstructor.former_defaults)] * 2),
        fewer_steps=True,
    ),
    "photograph": Run(
        lambda: ImageReconstructor((16, 16), inference="expectation_propagation", noise_variance=4e-4), PATTERNS,
        _pattern, PATTERNS[:9], options={"initial": list(range(40)), "batch_size": 8},
    ),
    "photograph_tree": Run(
        lambda: ImageReconstructor((16, 16), prior="tree", wavelet="haar", noise_variance=4e-4, n_samples=4), PATTERNS,
        _pattern, PATTERNS[:9], steps=5, options={"initial": list(range(40)), "batch_size": 20},
    ),
}  # fmt: skip


def main(folder: Path) -> None:
    """Write every run: log, snapshot, results."""
    folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, np.ndarray] = {}
    for name, run in RUNS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            design = run.written(folder / f"{name}.log")
        results |= {f"{name}/{key}": value for key, value in run.results(design).items()}
    np.savez_compressed(folder / "results.npz", **results)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
