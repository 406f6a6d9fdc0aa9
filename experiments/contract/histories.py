"""Histories of 30 answers, with and without signal, for every estimator that learns; and how far the order of learning
moves what it says.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adaptive
from adaptive import pool
from adaptive.estimators import wrap
from adaptive.predictive import Predictive, SummedPredictive

__all__ = ["ANSWERS", "STORIES", "Gap", "Story", "gap"]

ANSWERS = 30
EVIDENCE, PREDICTION = 0.1, 0.1  # nats; deviations of the outcome


class History(NamedTuple):
    """What was asked, what came back, and what is asked of both fits afterwards."""

    asked: Any
    answers: Any
    probes: Any


@dataclass(frozen=True)
class Story:
    """An estimator and its histories.

    Attributes
    ----------
    name : str
    make : callable -> estimator
    drawn : callable (generator, signal) -> History
    promised : bool
        Whether the order of learning must not matter; ``why`` not, where it may.
    slow : bool
        Whether answers come in blocks of uneven size: one by one they take too long.
    fits : bool
        Whether all at once is by ``fit``, where ``partial_fit`` on nothing learns in another way.
    """

    name: str
    make: Callable[[], Any]
    drawn: Callable[[np.random.Generator, bool], History]
    why: str = ""
    slow: bool = False
    fits: bool = False

    @property
    def promised(self) -> bool:
        """Whether the order of learning must not matter."""
        return not self.why


class Gap(NamedTuple):
    """By how much answers one by one end elsewhere than all at once.

    Attributes
    ----------
    evidence : float
        Log evidence of the one less that of the other, nats; nan where there is none.
    prediction : float
        Largest difference of a mean, or of a deviation, in deviations of the outcome.
    """

    evidence: float
    prediction: float

    @property
    def kept(self) -> bool:
        """Whether that is within .1 nat and a tenth of a deviation, or a higher evidence."""
        higher = self.evidence > EVIDENCE
        return not self.evidence < -EVIDENCE and (higher or self.prediction <= PREDICTION)


def gap(story: Story, seed: int, signal: bool) -> Gap:
    """Learn a history in both ways."""
    told = story.drawn(np.random.default_rng([seed, signal]), signal)
    cuts = [0, 7, 8, 17, 22, ANSWERS] if story.slow else range(ANSWERS + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole, parts = story.make(), story.make()
        (whole.fit if story.fits else whole.partial_fit)(told.asked, told.answers)
        for low, high in pairwise(cuts):
            parts.partial_fit(pool.take(told.asked, np.arange(low, high)), told.answers[low:high])
        evidences = [float(getattr(one, "log_evidence_", np.nan)) for one in (parts, whole)]
        (mean, spread), (other, width) = (_said(one.predictive(told.probes, random_state=0)) for one in (parts, whole))
    least = np.maximum(width, 1e-3 * width.max())
    apart = max(float(np.max(np.linalg.norm(mean - other, axis=1) / least)), float(np.max(abs(spread - width) / least)))
    return Gap(evidences[0] - evidences[1], apart)


def _said(predictive: Predictive) -> tuple[np.ndarray, np.ndarray]:
    """Means (m, c) and deviations (m,) of outcomes: of discrete ones as vectors of 0 and a 1; else with the noise."""
    if isinstance(predictive, SummedPredictive):  # of images that have outcomes of their own
        means, spreads = zip(*map(_said, predictive.parts), strict=True)
        return np.concatenate(means), np.concatenate(spreads)
    if predictive.provides("probabilities"):
        p = predictive.probabilities
        return p[:, :12], np.sqrt(np.maximum(np.sum(p * (1.0 - p), axis=1), 1e-4))
    if isinstance(predictive, SummedPredictive):  # several outcomes at once
        means, spreads = zip(*map(_said, predictive.parts), strict=True)
        return np.concatenate(means, axis=1), np.linalg.norm(spreads, axis=0)
    noise = [w * float(np.mean(getattr(getattr(one, "likelihood", None), "variance", 0.0)))
             for w, one in predictive.components]  # fmt: skip
    return predictive.mean[:, None], np.sqrt(predictive.variance + sum(noise))


# -- rows --------------------------------------------------------------------------------------------------------------


def _rows(width: int, answer: Callable[[np.random.Generator, np.ndarray], np.ndarray]) -> Callable[..., History]:
    def drawn(rng: np.random.Generator, signal: bool) -> History:
        X = rng.uniform(-2.0, 2.0, (ANSWERS + 20, width))
        f = 1.5 * np.sin(1.5 * X[:, 0]) + X[:, -1] if signal else np.zeros(len(X))
        return History(X[:ANSWERS], answer(rng, f)[:ANSWERS], X[ANSWERS:])

    return drawn


def _label(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return np.where(rng.logistic(size=len(f)) < 2 * f, "yes", "no")


def _three(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return np.array(["a", "b", "c"])[np.digitize(f + rng.normal(size=len(f)), [-0.8, 0.8])]


def _number(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return f + 0.3 * rng.normal(size=len(f))


def _count(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return rng.poisson(np.exp(0.5 + 0.4 * f))


def _kernel(noise: bool = False) -> Any:
    kernel = ConstantKernel(1.0, (1e-2, 1e2)) * RBF(1.0, (0.1, 20.0))
    return kernel + WhiteKernel(0.1, (1e-3, 1e1)) if noise else kernel


def _logistic(**options: Any) -> Callable[[], Any]:
    return lambda: adaptive.BayesianLogisticRegression(**options)


def _sparse(*prior: str, **options: Any) -> Callable[[], Any]:
    return lambda: adaptive.SparseLinearRegression(*prior, **options)


def _classifier(**options: Any) -> Callable[[], Any]:
    return lambda: adaptive.GaussianProcessClassifier(
        _kernel(), classes=["no", "yes"], **{"hyperparameters": "mode", **options}
    )


def _regressor(**options: Any) -> Callable[[], Any]:
    return lambda: adaptive.GaussianProcessRegressor(
        _kernel("likelihood" not in options), **{"hyperparameters": "mode", **options}
    )


TWO, THREE = {"classes": ["no", "yes"]}, {"classes": ["a", "b", "c"]}
ROWS = [
    Story("BayesianLogisticRegression", _logistic(**TWO), _rows(3, _label)),
    Story("BayesianLogisticRegression at the mode", _logistic(hyperparameters="mode", **TWO), _rows(3, _label)),
    Story("BayesianLogisticRegression, three classes", _logistic(**THREE), _rows(3, _three), slow=True),
    Story("SparseLinearRegression", _sparse(), _rows(10, _number), slow=True),
    Story("SparseLinearRegression laplace", _sparse("laplace"), _rows(10, _number), slow=True),
    Story("SparseLinearRegression gaussian", _sparse("gaussian"), _rows(10, _number)),
    Story(
        "SparseLinearRegression at the mode", _sparse("gaussian", hyperparameters="mode"), _rows(10, _number), slow=True
    ),
    Story("GaussianProcessRegressor", _regressor(), _rows(2, _number)),
    Story(
        "GaussianProcessRegressor integrated", _regressor(hyperparameters="integrated"), _rows(2, _number), slow=True
    ),
    Story("GaussianProcessRegressor laplace", _regressor(likelihood="laplace"), _rows(1, _number), slow=True),
    Story("GaussianProcessClassifier", _classifier(), _rows(2, _label)),
    Story(
        "GaussianProcessClassifier integrated", _classifier(hyperparameters="integrated"), _rows(2, _label), slow=True
    ),
    Story("PoissonRegression", adaptive.PoissonRegression, _rows(3, _count)),
    Story("CoxProcess", adaptive.CoxProcess, _rows(1, _count), slow=True),
    Story("a plain classifier", lambda: wrap(LogisticRegression()), _rows(3, _label), slow=True),
    Story(
        "a pipeline",
        lambda: wrap(make_pipeline(StandardScaler(), _logistic(**TWO)())).prepare(
            np.random.default_rng(0).uniform(-2.0, 2.0, (40, 3))
        ),
        _rows(3, _label),
    ),
]


# -- other things ------------------------------------------------------------------------------------------------------


def _pairs(answer: Callable[[np.random.Generator, np.ndarray], np.ndarray]) -> Callable[..., History]:
    def drawn(rng: np.random.Generator, signal: bool) -> History:
        every = rng.permutation([(u, i) for u in range(6) for i in range(8)])
        f = np.where((every[:, 0] < 3) == (every[:, 1] < 4), 1.2, -1.2) * signal
        rows = [tuple(pair) for pair in every.tolist()]
        return History(rows[:ANSWERS], answer(rng, f)[:ANSWERS], rows[ANSWERS:])

    return drawn


def _of_items(answer: Callable[[np.random.Generator, np.ndarray], np.ndarray]) -> Callable[..., History]:
    def drawn(rng: np.random.Generator, signal: bool) -> History:
        items = rng.permutation(40)
        return History(items[:ANSWERS].tolist(), answer(rng, 1.0 * signal + 0.0 * items[:ANSWERS]),
                       items[ANSWERS:].tolist())  # fmt: skip

    return drawn


def _taken(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return (rng.logistic(size=len(f)) < f).astype(int)


def _preferred(rng: np.random.Generator, signal: bool) -> History:
    ends = np.array([rng.choice(6, 2, replace=False) for _ in range(ANSWERS + 20)])
    people = rng.integers(0, 4, len(ends))
    f = (ends[:, 0] - ends[:, 1]) * np.where(people < 2, 1.0, -1.0) * signal
    rows = [(int(u), int(i), int(j)) for u, (i, j) in zip(people, ends, strict=True)]
    return History(rows[:ANSWERS], np.where(f + rng.normal(size=len(f)) > 0, 1, -1)[:ANSWERS], rows[ANSWERS:])


def _compared(rng: np.random.Generator, signal: bool) -> History:
    """Comparisons of six items, some of them ties."""
    ends = np.array([rng.choice(6, 2, replace=False) for _ in range(ANSWERS + 20)])
    d = (ends[:, 0] - ends[:, 1]) * (0.5 * signal) + rng.logistic(size=len(ends))
    rows = [(int(i), int(j)) for i, j in ends]
    return History(rows[:ANSWERS], (np.sign(d) * (np.abs(d) > 0.5)).astype(int)[:ANSWERS], rows[ANSWERS:])


def _one_person(rng: np.random.Generator, signal: bool) -> History:
    told = _preferred(rng, signal)
    return History([row[1:] for row in told.asked], told.answers, [row[1:] for row in told.probes])


def _preference(**options: Any) -> Any:
    return adaptive.CollaborativePreference(1, random_state=0, **options)


def _person() -> Any:
    told = _preferred(np.random.default_rng(0), True)
    return _preference(tol=1e-3).fit(told.asked, told.answers).user("new")


def _factorization(**options: Any) -> Any:
    return adaptive.PoissonFactorization(1, random_state=0, **options)


def _listener() -> Any:
    told = _pairs(_count)(np.random.default_rng(0), True)
    return _factorization().fit(told.asked, told.answers).user("new")


def _plays(rng: np.random.Generator, signal: bool) -> History:
    items = rng.integers(0, 8, ANSWERS)
    return History(items.tolist(), _count(rng, np.where(items < 4, 1.2, -1.2) * signal), list(range(8)))


def _symbols(**options: Any) -> Callable[[], Any]:
    return lambda: adaptive.PairedSymbols(1, random_state=0, **options)


def _came_or_taken(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    """Every third pair was shown, the others came by themselves."""
    return np.array([None if k % 3 else int(one) for k, one in enumerate(_taken(rng, f))], dtype=object)


def _bank() -> Any:
    rng = np.random.default_rng(0)
    thresholds = np.sort(rng.uniform(-2.0, 2.0, (40, 2)), axis=1)
    return adaptive.Questionnaire.from_parameters(
        rng.uniform(0.7, 2.0, 40), thresholds=thresholds, response_model="graded"
    )


TWO_TRAITS = {item: ["first"] * (item < 4) + ["second"] * (item > 2) for item in range(8)}


def _items(model: str, categories: tuple[int, ...], item_traits: Any = None) -> Callable[[], Any]:
    single = {item: traits[-1] for item, traits in item_traits.items()} if item_traits else None
    item_traits = single if model == "ordinal" else item_traits
    return lambda: adaptive.Questionnaire(model, item_traits=item_traits, categories=categories)


def _graded(rng: np.random.Generator, f: np.ndarray) -> np.ndarray:
    return 1 + np.digitize(f + rng.normal(size=len(f)), [-0.5, 0.5])


def _curve(parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
    slope, middle = parameters.T[:, :, None]
    return 1.0 / (1.0 + np.exp(-slope * (X[:, 0] - middle)))


def _particles() -> Any:
    prior = {"slope": stats.uniform(0.5, 2.0), "middle": stats.norm(0.0, 1.0)}
    return adaptive.ParticleEstimator(model=_curve, noise=0.3, prior=prior, n_particles=500, random_state=0)


def _simulated(parameters: np.ndarray, x: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    return _curve(parameters, x[None])[:, 0] + 0.3 * generator.normal(size=len(parameters))


def _simulator() -> Any:
    prior = {"slope": stats.uniform(0.5, 2.0), "middle": stats.norm(0.0, 1.0)}
    return adaptive.SimulatorEstimator(
        _simulated, prior, n_particles=200, n_simulations=30, move="liu_west", random_state=0
    )


def _rolled(rng: np.random.Generator, signal: bool) -> History:
    nodes = [(i, j, k) for i in range(4) for j in range(4) for k in range(4)]
    nodes = [nodes[k] for k in rng.permutation(len(nodes))]
    f = np.array([1.5 * (node[0] - 1.5) for node in nodes]) * signal
    return History(nodes[:ANSWERS], np.where(rng.logistic(size=64) < f, 1.0, -1.0)[:ANSWERS], nodes[ANSWERS:])


def _image() -> Any:
    return adaptive.ImageReconstructor(
        (8, 8), prior_scales=0.2, noise_variance=0.01, inference="expectation_propagation"
    )


def _two_images(rng: np.random.Generator, signal: bool) -> History:
    told = _patterns(rng, signal)
    other = 0.5 * told.asked[:, ::-1].sum(axis=1) * signal + 0.1 * rng.normal(size=ANSWERS)
    return History(told.asked, np.column_stack([told.answers, other]), told.probes)


def _patterns(rng: np.random.Generator, signal: bool) -> History:
    rows, image = rng.choice([-1.0, 1.0], (ANSWERS + 12, 64)), np.zeros((8, 8))
    image[2:6, 3:7] = 1.0 * signal
    y = rows @ image.ravel() + 0.1 * rng.normal(size=len(rows))
    return History(rows[:ANSWERS], y[:ANSWERS], rows[ANSWERS:])


def _texts(rng: np.random.Generator, signal: bool) -> tuple[np.ndarray, np.ndarray]:
    """Metadata, five authors, and counts of twelve words in documents of about fifteen; with signal by the author."""
    authors = rng.integers(0, 5, ANSWERS)
    likes = np.kron(np.eye(3), np.ones(4))[authors % 3] * 3.0 * signal + 0.25
    return np.eye(5)[authors], rng.poisson(15.0 * likes / likes.sum(axis=1, keepdims=True)).astype(float)


def _read(rng: np.random.Generator, signal: bool) -> History:
    rows, counts = _texts(rng, signal)
    return History(rows, counts, np.eye(5))


def _documents(rng: np.random.Generator, signal: bool) -> History:
    rows, counts = _texts(rng, signal)
    return History(counts, rows, np.eye(5))


def _topics(**options: Any) -> Callable[[], Any]:
    return lambda: adaptive.MetadataTopicModel(3, random_state=0, **options)


def _reader() -> Any:
    rows, counts = _texts(np.random.default_rng(0), True)
    return _topics(max_iter=20)().fit(counts, rows).reader()


def _nets(**options: Any) -> Callable[[], Any]:
    return lambda: adaptive.CollaborativeRNN(
        3, items=range(4), learning_rate=0.05, patience=1, max_iter=10, tol=1.0, random_state=0, **options
    )


def _events(rng: np.random.Generator, signal: bool) -> History:
    """Six users, who go round a circle of four items one way or the other, or anywhere."""
    users, at = rng.integers(0, 6, ANSWERS), np.zeros(6, dtype=int)
    items = []
    for user in users.tolist():
        at[user] = (at[user] + (1 if user % 2 else 3)) % 4 if signal else rng.integers(4)
        items.append(int(at[user]))
    return History(users, np.array(items), np.arange(7))


def _trained(**options: Any) -> Callable[[], Any]:
    def trained() -> Any:
        told = _events(np.random.default_rng(0), True)
        return _nets(**options)().fit(told.asked, told.answers)

    return trained


OTHERS = [
    Story("PoissonFactorization", _factorization, _pairs(_count)),
    Story("PoissonFactorization full", lambda: _factorization(inference="full"), _pairs(_count), slow=True),
    Story("PoissonFactorization's user", _listener, _plays),
    Story("PairedSymbols", _symbols(user_precision=4.0, item_precision=4.0), _pairs(_taken)),
    Story(
        "PairedSymbols, precisions fitted",
        _symbols(user_precision=None, item_precision=None, bias_precision=None),
        _pairs(_came_or_taken),
        slow=True,
    ),
    Story("MetadataTopicModel in a single pass", _topics(learning="single_pass"), _documents, fits=True),
    Story(
        "MetadataTopicModel in batch",
        _topics(),
        _documents,
        why="partial_fit is a single pass, which keeps nothing of a document; fit makes many",
        fits=True,
    ),
    Story("MetadataTopicModel's reader", _reader, _read),
    Story(
        "CollaborativeRNN",
        _nets(n_members=3),
        _events,
        why="fit trains nets, partial_fit trains them anew where events have doubled",
        fits=True,
    ),
    Story("CollaborativeRNN's members", _trained(n_members=3), _events),
    Story("CollaborativeRNN's users by Laplace", _trained(cell="tanh", uncertainty="laplace", n_draws=8), _events),
    Story("BradleyTerry", adaptive.BradleyTerry, _compared),
    Story("CollaborativePreference", _preference, _preferred, slow=True),
    Story("CollaborativePreference's person", _person, _one_person),
    Story("Questionnaire's respondent", lambda: _bank().respondent(), _of_items(_graded)),
    *(
        Story(f"Questionnaire {model}", _items(model, (0, 1)), _pairs(_taken), slow=True)
        for model in ("rasch", "two_parameter", "three_parameter", "four_parameter")
    ),
    *(
        Story(f"Questionnaire {model}", _items(model, (1, 2, 3)), _pairs(_graded), slow=True)
        for model in ("graded", "partial_credit", "nominal")
    ),
    Story("Questionnaire of two traits", _items("two_parameter", (0, 1), TWO_TRAITS), _pairs(_taken), slow=True),
    Story("Questionnaire ordinal", _items("ordinal", (1, 2, 3)), _pairs(_graded), slow=True),
    Story("Questionnaire ordinal of two traits", _items("ordinal", (1, 2, 3), TWO_TRAITS), _pairs(_graded), slow=True),
    Story("ParticleEstimator", _particles, _rows(1, _number)),
    Story(
        "GameTreeSearch",
        lambda: adaptive.GameTreeSearch(branching=4, depth=4, score_variance=0.5, random_state=0),
        _rolled,
    ),
    Story("SimulatorEstimator", _simulator, _rows(1, _number), slow=True),
    Story("ImageReconstructor", _image, _patterns, slow=True),
    Story("SeveralImages", lambda: adaptive.SeveralImages([_image(), _image()]), _two_images, slow=True),
]
STORIES = [*ROWS, *OTHERS]
