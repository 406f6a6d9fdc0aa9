"""Families of `other_settings.py`: real sets, and what a setting of an estimator predicts of rows that are left out.

A family has sets that choose, sets that confirm, arms (settings beside the defaults), and a function of set, seed and
setting that returns two judges, the larger the better: nats an outcome (of images minus coverage's distance from .9),
and a second one (accuracy, minus the error, minus coverage's distance from .9, rank).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from adaptive import (
    BayesianLogisticRegression,
    CollaborativePreference,
    CollaborativeRNN,
    CoxProcess,
    GameTreeSearch,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    MetadataTopicModel,
    PairedSymbols,
    PoissonFactorization,
    PoissonRegression,
    SparseLinearRegression,
)
from adaptive.means import Constant, Linear
from experiments.bands.counts import ROWS
from experiments.defaults.censored_pairs import table_of
from experiments.defaults.cox_kernels import problem
from experiments.defaults.preference_components import drawn, values_of
from experiments.defaults.sequence_memories import histories_of
from experiments.defaults.shared import label_runs, measured_families, process_runs
from experiments.defaults.shared.small_games import positions
from experiments.defaults.simulator_densities import MODELS
from experiments.defaults.stops import counts_of
from experiments.images.shared.photographs import TEST
from experiments.topics.shared.corpora import cut, real

__all__ = ["FAMILIES", "Family", "one_setting"]

ROWS_LEARNT = 60
MOST = 20.0  # nats that a single row may cost

Arms = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Family:
    """An estimator's settings, and the sets they are judged on.

    Attributes
    ----------
    owner : str
        The estimator's name.
    choose, confirm : tuple of str
    arms : dict of str to dict
        The setting's name, "parameter" or "parameter value", and its options.
    run : callable (set, seed, options) -> (nats, second judge)
    second : str
    matter : (2,) tuple of float, default 0
        By how much of each judge a setting has to be ahead.
    first : str
    """

    owner: str
    choose: tuple[str, ...]
    confirm: tuple[str, ...]
    arms: Arms
    run: Callable[[str, int, dict[str, Any]], tuple[float, float]]
    second: str
    matter: tuple[float, float] = (0.0, 0.0)
    first: str = "nats"


def one_setting(family: str, arm: str, name: str, seed: int) -> dict[str, np.ndarray]:
    """Nats and second judge of one arm on one split."""
    own = FAMILIES[family]
    options = {} if arm == "defaults" else own.arms[arm]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"judges": np.array(own.run(name, seed, options))}


def _labels(kind: Any) -> Callable[[str, int, dict[str, Any]], tuple[float, float]]:
    def run(name: str, seed: int, options: dict[str, Any]) -> tuple[float, float]:
        X, y, Z, truth = label_runs.split(name, seed)
        model = kind(classes=range(int(y.max()) + 1), random_state=seed, **options)
        told = label_runs.judged(model.fit(X[:ROWS_LEARNT], y[:ROWS_LEARNT]).predict_proba(Z), truth)
        return -told["log loss"], told["accuracy"]

    return run


def _numbers(kind: Any) -> Callable[[str, int, dict[str, Any]], tuple[float, float]]:
    def run(name: str, seed: int, options: dict[str, Any]) -> tuple[float, float]:
        X, y, Z, truth = process_runs.numbers_of(name, seed)
        own = {"random_state": seed} if kind is GaussianProcessRegressor else {}
        model = kind(**own, **options).fit(X[:ROWS_LEARNT], y[:ROWS_LEARNT])
        nats = np.maximum(model.log_predictive(Z, truth) + np.log(y.std()), -MOST)
        return float(nats.mean()), -float(np.sqrt(np.mean((model.predict(Z) - truth) ** 2)) / y.std())

    return run


def _counts(name: str, seed: int, options: dict[str, Any]) -> tuple[float, float]:
    X, y = ROWS[name]()
    order = np.random.default_rng([seed, 34]).permutation(len(y))
    train, test = order[:ROWS_LEARNT], order[ROWS_LEARNT : ROWS_LEARNT + 300]
    deviation = X[train].std(axis=0)
    X = (X - X[train].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    model = PoissonRegression(**options).fit(X[train], y[train])
    low, high = model.interval(X[test], 0.9)
    covered = np.mean((low <= y[test]) & (y[test] <= high))
    return float(np.maximum(model.log_predictive(X[test], y[test]), -MOST).mean()), -abs(float(covered) - 0.9)


def _rates(name: str, seed: int, options: dict[str, Any]) -> tuple[float, float]:
    one = problem(name, seed)
    model = CoxProcess(random_state=seed, **{"rate": "rectified", "overdispersion": None, **options}).fit(one.X, one.y)
    low, high = model.interval(one.Z, 0.9)
    nats = np.mean([np.maximum(model.log_predictive(one.Z, y), -MOST) for y in one.later])
    return float(nats), -abs(float(np.mean((low <= one.later) & (one.later <= high))) - 0.9)


def _table_of_counts(name: str, seed: int, options: dict[str, Any]) -> tuple[float, float]:
    pairs, y = counts_of(name)
    some = np.isin(pairs[:, 0], np.unique(pairs[:, 0])[:100])
    pairs, y = pairs[some], y[some]
    test = np.random.default_rng([seed, 34]).random(len(y)) < 0.2
    model = PoissonFactorization(random_state=seed, **options).fit(pairs[~test], y[~test])
    mean = np.minimum(model.predict(pairs[test]), 1e3)
    return model.score(pairs[test], y[test]), -float(np.abs(mean - y[test]).mean())


def _pairs(name: str, seed: int, options: dict[str, Any]) -> tuple[float, float]:
    size = {"registries": 1000, "groceries": 1000}.get(name, 300)
    table = sp.coo_array(table_of(name, size))
    both = np.column_stack([table.row, table.col])
    test = np.random.default_rng([seed, 34]).random(len(both)) < 0.1
    model = PairedSymbols(random_state=seed, **options).fit(both[~test])
    asked = both[test][:300]
    asked = asked[np.isin(asked[:, 0], model.users_) & np.isin(asked[:, 1], model.items_)]
    scores = np.asarray(model.item_scores(asked[:, 0].tolist()))
    place = {item: k for k, item in enumerate(model.items_.tolist())}
    own = scores[np.arange(len(asked)), [place[item] for item in asked[:, 1].tolist()]]
    return float(np.mean(model.log_predictive(asked))), float(np.mean(scores < own[:, None]))


def _comparisons(name: str, seed: int, options: dict[str, Any]) -> tuple[float, float]:
    rows, y = drawn(values_of(name), 60, 20, np.random.default_rng([seed, 34]))
    test = np.arange(len(rows)) % 30 >= 20
    model = CollaborativePreference(random_state=seed, **options).fit(rows[~test], y[~test])
    return float(np.maximum(model.log_predictive(rows[test], y[test]), -MOST).mean()), model.score(rows[test], y[test])


def _documents(name: str, seed: int, options: dict[str, Any]) -> tuple[float, float]:
    counts, group, _ = real(name)
    some = np.random.default_rng([seed, 34]).permutation(len(group))[:700]
    counts, group, test = cut(counts[some], 20), group[some], np.arange(len(some)) >= 500
    model = MetadataTopicModel(15, random_state=seed, **options).fit(counts[~test], group[~test])
    weights = np.asarray(model.predict_topics(group[test])) @ model.belief_.word_probabilities.T
    table = counts[test].tocoo()
    told = table.data @ np.log(weights[table.row, table.col]) / table.data.sum()  # of documents not read yet
    return model.score(counts[test], group[test]), float(told)


def _sequences(name: str, seed: int, options: dict[str, Any]) -> tuple[float, float]:
    kind, users, events = name.split(", ")
    histories = histories_of(kind, int(users), int(events), seed)
    n = {who: len(one) - max(3, len(one) // 10) for who, one in histories.items()}
    items = sorted({event for one in histories.values() for event in one})
    model = CollaborativeRNN(items=items, random_state=seed, **{"pooled": True, **options})
    model.fit({who: one[: n[who]] for who, one in histories.items()})
    late = {who: one[n[who] :] for who, one in histories.items()}
    first = [model.predict([who])[0] == one[0] for who, one in late.items()]
    return model.score(late), float(np.mean(first))


@cache
def _positions(name: str) -> list[tuple[int, Any, np.ndarray]]:
    return list(positions(name, 60))


def _games(name: str, seed: int, options: dict[str, Any]) -> tuple[float, float]:
    hit, stated = [], []
    for k, (start, game, right) in enumerate(_positions(name)):
        if k % 4 == seed:
            model = GameTreeSearch(game, results=game.results, random_state=start, **options)
            model.search(50)
            hit.append(right[game.moves(game.start).index(model.best_move())])
            stated.append(max(float(model.best_move_proba()[right].sum()), 1e-3))
    return float(np.log(stated).mean()), float(np.mean(hit))


_LABELS, _CLASSES = ("ionosphere", "heart", "wine"), ("crabs", "german", "wheat_seeds")
_MODELS, _BANDS = tuple(MODELS), "minus distance of coverage from .9"
_CHOOSE = process_runs.SETS["numbers"]["choose"]
_CONFIRM = process_runs.SETS["numbers"]["confirm"]
FAMILIES: dict[str, Family] = {
    "labels": Family("BayesianLogisticRegression", ("ionosphere", "heart", "diabetes"), ("crabs", "german", "sonar"), {
        "prior laplace": {"prior": "laplace"}, "prior student_t": {"prior": "student_t"},
        "link probit": {"link": "probit"}, "fit_intercept False": {"fit_intercept": False},
    }, _labels(BayesianLogisticRegression), "accuracy"),
    "labels by processes": Family("GaussianProcessClassifier", _LABELS, _CLASSES, {
        "link probit": {"link": "probit"}, "mean learnt": {"mean": Constant()}, "optimizer None": {"optimizer": None},
        "n_restarts_optimizer 3": {"n_restarts_optimizer": 3},
    }, _labels(GaussianProcessClassifier), "accuracy"),
    "numbers": Family("SparseLinearRegression", _CHOOSE, _CONFIRM, {
        "prior laplace": {"prior": "laplace"}, "prior gaussian": {"prior": "gaussian"},
        "hyperparameters mode": {"hyperparameters": "mode"}, "df 1": {"df": 1.0}, "df 10": {"df": 10.0},
        "inference variational_bounds": {"inference": "variational_bounds"},
        "noise_variance 1": {"noise_variance": 1.0}, "prior_scale 1": {"prior_scale": 1.0},
        "fit_intercept False": {"fit_intercept": False},
    }, _numbers(SparseLinearRegression), "minus rms error, deviations"),
    "numbers by processes": Family("GaussianProcessRegressor", _CHOOSE, _CONFIRM, {
        "likelihood laplace": {"likelihood": "laplace"}, "likelihood student_t": {"likelihood": "student_t"},
        "likelihood logistic": {"likelihood": "logistic"}, "mean learnt": {"mean": Constant()},
        "mean linear": {"mean": Linear()}, "optimizer None": {"optimizer": None},
        "n_restarts_optimizer 3": {"n_restarts_optimizer": 3},
    }, _numbers(GaussianProcessRegressor), "minus rms error, deviations"),
    "counts": Family("PoissonRegression", ("quine", "visits to a doctor"), ("crabs' satellites", "epilepsy"), {
        "rate softplus": {"rate": "softplus"}, "rate rectified": {"rate": "rectified"},
        "prior laplace": {"prior": "laplace"}, "prior student_t": {"prior": "student_t"},
        "prior_scale 1": {"prior_scale": 1.0},
        "inference laplace_approximation": {"inference": "laplace_approximation"},
        "inference expectation_propagation": {"inference": "expectation_propagation"},
        "fit_intercept False": {"fit_intercept": False},
    }, _counts, "minus distance of coverage from .9"),
    "rates": Family("CoxProcess", ("coal", "e060817citron 1, 1 trials", "e060817citron 2, 4 trials"),
                    ("discoveries", "sunspots", "CAL1V 1, 1 trials", "CAL2C 2, 4 trials"), {
        "rate exp": {"rate": "exp"}, "rate softplus": {"rate": "softplus"}, "optimizer None": {"optimizer": None},
        "mean given": {"mean": 0.0},
        "inference laplace_approximation": {"rate": "exp", "inference": "laplace_approximation"},
    }, _rates, "minus distance of coverage from .9"),
    "pairs of counts": Family("PoissonFactorization", ("Last.fm", "statements"), ("Jester", "poliblog"), {
        "n_components 2": {"n_components": 2}, "n_components 10": {"n_components": 10},
        "inference full": {"inference": "full"}, "inference em": {"inference": "em"},
        "inference map": {"inference": "map"},
        "user_variance 0.3": {"user_variance": 0.3}, "user_variance 3": {"user_variance": 3.0},
        "item_variance 0.2": {"item_variance": 0.2}, "item_variance 1": {"item_variance": 1.0},
        "fit_bias False": {"fit_bias": False}, "n_init 3": {"n_init": 3},
    }, _table_of_counts, "minus mean absolute error"),
    "pairs": Family("PairedSymbols", ("Last.fm", "Jester"), ("registries", "groceries"), {
        "fit_bias False": {"fit_bias": False}, "n_init 3": {"n_init": 3},
    }, _pairs, "mean rank"),
    "comparisons": Family("CollaborativePreference", ("sushi", "Jester"), ("Last.fm", "statements"), {
        "covariance full": {"covariance": "full"},
        "inference laplace_approximation": {"inference": "laplace_approximation"},
        "inference variational_bounds": {"inference": "variational_bounds"}, "max_pairs 10": {"max_pairs": 10},
    }, _comparisons, "share right"),
    "documents": Family("MetadataTopicModel", ("poliblog", "addresses"), ("newsgroups",), {
        "word_prior 0.02": {"word_prior": 0.02}, "word_prior 0.2": {"word_prior": 0.2},
        "word_prior None": {"word_prior": None},
        "topic_prior 0.03": {"topic_prior": 0.03}, "topic_prior 0.3": {"topic_prior": 0.3},
        "document_variance 1": {"document_variance": 1.0}, "document_variance 3": {"document_variance": 3.0},
        "weight_variance 1": {"weight_variance": 1.0},
        "document_step laplace_bridge": {"document_step": "laplace_bridge"},
        "document_step moment_bridge": {"document_step": "moment_bridge"}, "regression dense": {"regression": "dense"},
        "learning single_pass": {"learning": "single_pass"}, "n_init 4": {"n_init": 4},
    }, _documents, "nats a word of documents not read"),
    "sequences": Family("CollaborativeRNN", ("words, 15, 600", "spikes, 20, 150"),
                        ("letters, 20, 600", "words, 42, 150"), {
        "n_components 16": {"n_components": 16}, "cell tanh": {"cell": "tanh"}, "n_members 4": {"n_members": 4},
        "window 32": {"window": 32}, "batch_size 32": {"batch_size": 32}, "n_sampled 20": {"n_sampled": 20},
        "learning_rate 0.003": {"learning_rate": 0.003}, "clip 1": {"clip": 1.0},
        "validation_fraction 0.1": {"validation_fraction": 0.1}, "patience 20": {"patience": 20},
        "max_iter 300": {"max_iter": 300}, "tol 0.001": {"tol": 0.001},
    }, _sequences, "share of first events right"),
    "games": Family("GameTreeSearch", ("tic-tac-toe", "Connect Four"), ("Hex 4 x 4", "Domineering 4 x 5"), {
        "coupling parent": {"coupling": "parent"}, "deviations 1": {"deviations": 1.0},
        "root_mean 2": {"root_mean": 2.0}, "score_variance 1": {"score_variance": 1.0}, "drift 0.1": {"drift": 0.1},
    }, _games, "share of moves right"),
    "lines": Family("ImageReconstructor", ("nibabel 12", "norm axial 120"), ("admm 1", "FLAIR axial 75"), {
        "prior tv": {"prior": "tv"}, "prior wavelet": {"prior": "wavelet"}, "wavelet haar": {"wavelet": "haar"},
        "wavelet sym8": {"wavelet": "sym8"}, "level 2": {"level": 2},
        "imaginary_prior transform": {"imaginary_prior": "transform"},
        "reconstruction mean": {"reconstruction": "mean"}, "n_samples 16": {"n_samples": 16},
        "max_iter 60": {"max_iter": 60}, "tol 0.0001": {"tol": 1e-4},
    }, measured_families.kspace, "minus relative error", first=_BANDS),
    "photographs": Family("ImageReconstructor", TEST[:3], TEST[3:6], {
        "prior tv": {"prior": "tv"}, "prior wavelet": {"prior": "wavelet"}, "prior tree": {"prior": "tree"},
        "wavelet haar": {"wavelet": "haar"}, "wavelet db4": {"wavelet": "db4"}, "level 2": {"level": 2},
        "reconstruction mean": {"reconstruction": "mean"},
        "inference expectation_propagation": {"inference": "expectation_propagation"},
        "n_samples 16": {"n_samples": 16}, "refine True": {"refine": True}, "max_iter 60": {"max_iter": 60},
        "tol 0.0001": {"tol": 1e-4},
    }, measured_families.photographs, "minus relative error", first=_BANDS),
    "instruments": Family("ParticleEstimator", _MODELS[:3], _MODELS[3:], {
        "n_particles 500": {"n_particles": 500}, "n_particles 8000": {"n_particles": 8000},
        "resample 0.25": {"resample": 0.25}, "resample 0.75": {"resample": 0.75}, "move liu_west": {"move": "liu_west"},
    }, measured_families.instruments, "minus error of means, exact deviations", (0.01, 0.05)),
    "simulators": Family("SimulatorEstimator", _MODELS[:3], _MODELS[3:], {
        "n_simulations 20": {"n_simulations": 20}, "n_simulations 150": {"n_simulations": 150},
        "resample 0.25": {"resample": 0.25}, "resample 0.75": {"resample": 0.75},
    }, measured_families.simulators, "minus error of means, exact deviations", (0.01, 0.05)),
    "next settings": Family("SimulatorEstimator", _MODELS[:3], _MODELS[3:], {
        "n_nested 64": {"n_nested": 64}, "n_nested 1000": {"n_nested": 1000},
    }, measured_families.next_settings, "share that lacks less than .05 nats", (0.01, 0.05)),
    "answers": Family("Questionnaire", ("big_five E", "big_five A", "big_five O"), ("bfi N", "bfi C", "science"), {
        "response adjacent": {"response": "adjacent"}, "trait_noise 1": {"trait_noise": 1.0},
        "trait_noise 2": {"trait_noise": 2.0}, "threshold_noise 0.1": {"threshold_noise": 0.1},
        "threshold_noise 0.5": {"threshold_noise": 0.5}, "threshold_noise None": {"threshold_noise": None},
        "trait_scale 0.5": {"trait_scale": 0.5}, "trait_scale 2": {"trait_scale": 2.0},
        "trait_scale None": {"trait_scale": None}, "max_iter 100": {"max_iter": 100}, "tol 0.002": {"tol": 0.002},
    }, measured_families.answers, "minus error of total, deviations"),
}  # fmt: skip
