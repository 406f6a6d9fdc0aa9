"""Does it pay? The same estimator asks by its scorers and at random, from the same splits and first questions."""

from __future__ import annotations

import contextlib
import copy
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info, threadpool_limits

from adaptive import checks
from adaptive import pool as pools
from adaptive.estimators.views.classifier_view import wrap
from adaptive.loop.comparison import Comparison
from adaptive.loop.log.header import parameters_of
from adaptive.loop.metrics import METRICS, Metric
from adaptive.loop.sequential_design import SequentialDesign
from adaptive.scorers import named as name_of

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Classifier, Estimator, Pool, Scorer

__all__ = ["compare_with_random"]

Run = tuple[dict[str, dict[int, float]], dict[str, list[Any]]]  # every metric by number of answers; the questions


def compare_with_random(
    estimator: Estimator | Classifier,
    X: Pool,
    y: ArrayLike,
    *,
    scorers: Scorer | Iterable[Scorer] = ("auto",),
    reference: str = "random",
    n_queries: int = 50,
    seeds: int | Sequence[int] = 10,
    initial: int = 2,
    batch_size: int = 1,
    joint: bool = True,
    exploration: float | str = "auto",
    target: Pool | None = None,
    test: float | tuple[Pool, Sequence[Any] | np.ndarray] = 0.5,
    metric: str | Metric | Sequence[str | Metric] = "accuracy",
    every: int = 1,
    chunk_size: int | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Run a design with each scorer and at random, several times, and compare what was learnt.

    Random choice is the least that a scorer must beat; ``reference="margin"`` compares with margin sampling, which is
    harder to beat, as well.

    Parameters
    ----------
    estimator : as for :class:`SequentialDesign`
        Where it has a parameter ``classes`` that is None, it is told the classes in ``y``.
    X : pool of length m
    y : (m,) array-like
        The answers.
    scorers : str, callable, or a sequence of them, default ("auto",)
        "random" and the reference are added.
    reference : str, default "random"
        The scorer that differences are taken to, for instance "margin".
    n_queries : int, default 50
        Answers per run, the initial ones included.
    seeds : int or sequence of int, default 10
        How many runs, or their seeds. A seed decides split, initial questions and all later draws; scorers share the
        first two.
    initial : int, default 2
        Questions at random before the scorer chooses.
    batch_size, joint, exploration, target, chunk_size
        As for :class:`SequentialDesign`.
    test : float or (X_test, y_test), default 0.5
        Which rows are never asked but measured on: a share, drawn anew by each seed, or given ones.
    metric : {"accuracy", "log_loss", "calibration_error", "rmse", "score"}, callable, or a list of them
        Callable: (estimator, X_test, y_test) -> float.  A scorer may win in one and lose in another.
    every : int, default 1
        Measure after each ``every``-th query, and after the last.
    n_jobs : int, optional
        Processes (joblib); the result is the same for any number of them.

    Returns
    -------
    Comparison
        Curves, paired differences with confidence limits, areas. It begins where every run can predict. Of a list of
        metrics a dictionary of them, by name, about the same runs.

    Raises
    ------
    ValueError
        If an argument is not as above, or more is asked than is there.
    RuntimeError
        If a worker process died before the runs of any seed were finished.

    Warns
    -----
    RuntimeWarning
        If a worker process died, as where memory runs out: names the seeds that are missing. The others are compared.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> table = compare_with_random(
    ...     LogisticRegression(), X, X[:, 0] > 0, scorers="uncertainty", n_queries=12, seeds=2, every=5
    ... )
    >>> table.scorers
    ['uncertainty', 'random']
    """
    y = np.asarray(y)
    checks.shape("y", y, (pools.length(X),))
    measures = _measures(metric)
    learner = wrap(copy.deepcopy(estimator))
    named = _named(scorers, reference, learner)
    numbers = _seeds(seeds)
    last = getattr(learner, "last", learner)  # of a pipeline's view
    if (parameters_of(last, deep=False) or {}).get("classes", ()) is None:
        last.set_params(classes=np.unique(y))
    n_queries = checks.integer("n_queries", n_queries, minimum=1)
    initial = checks.integer("initial", initial, minimum=0)
    options = {
        "n_queries": n_queries,
        "initial": initial,
        "batch_size": checks.integer("batch_size", batch_size, minimum=1),
        "every": checks.integer("every", every, minimum=1),
        "design": {"joint": joint, "exploration": exploration, "target": target, "chunk_size": chunk_size},
        "threads": {module["user_api"]: module["num_threads"] for module in threadpool_info()},
    }
    splits = {seed: _split(X, y, test, seed) for seed in numbers}
    smallest = min(len(pool) for pool, _, _ in splits.values())
    if not initial <= n_queries <= smallest:
        raise ValueError(
            f"initial <= n_queries <= {smallest} (the candidates) must hold, "
            f"got initial={initial} and n_queries={n_queries}."
        )
    tasks = [(name, seed) for seed in numbers for name in named]  # seed by seed: what is finished is paired
    runs = _finished(
        n_jobs,
        (
            joblib.delayed(_keyed)((name, seed), learner, X, y, splits[seed], named[name], seed, measures, **options)
            for name, seed in tasks
        ),
    )
    whole = [seed for seed in numbers if all((name, seed) in runs for name in named)]
    if len(whole) < len(numbers):
        _warn_of_missing([seed for seed in numbers if seed not in whole], len(numbers))
    found = {name: _gathered(name, numbers, whole, list(named), runs, reference) for name in measures}
    return found[next(iter(found))] if isinstance(metric, str) or callable(metric) else found


def _measures(metric: str | Metric | Sequence[str | Metric]) -> dict[str, Metric]:
    """Return what is measured by its name."""
    listed = [metric] if isinstance(metric, str) or callable(metric) else list(metric)
    if not listed:
        raise ValueError("metric must name one metric or more, got none.")
    found: dict[str, Metric] = {}
    for one in listed:
        measure = one if callable(one) else METRICS[checks.choice("metric", one, METRICS)]
        name = one if isinstance(one, str) else getattr(one, "__name__", type(one).__name__)
        if found.setdefault(name, measure) is not measure:
            raise ValueError(f"metric must have one function of each name, got two that are called {name!r}.")
    return found


def _finished(n_jobs: int | None, tasks: Iterable[Any]) -> dict[tuple[str, int], Run]:
    """Return what the tasks came to, by scorer and seed, until they are done or a worker process dies."""
    runs: dict[tuple[str, int], Run] = {}
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    with contextlib.suppress(BrokenProcessPool):
        runs.update(parallel(tasks))  # what came before it breaks stays
    return runs


def _warn_of_missing(missing: list[int], n_seeds: int) -> None:
    consequence = f"a worker process died (out of memory?), and the runs of seeds {missing} are missing"
    if len(missing) == n_seeds:
        raise RuntimeError(f"{consequence}: nothing is left to compare; try n_jobs=1.")
    warnings.warn(
        f"{consequence}: the other {n_seeds - len(missing)} of {n_seeds} are compared; seeds={missing} makes up for "
        "them.",
        RuntimeWarning,
        stacklevel=3,
    )


def _keyed(key: tuple[str, int], *arguments: Any, **options: Any) -> tuple[tuple[str, int], Run]:
    return key, _run(*arguments, **options)


def _run(
    estimator: Estimator,
    X: Pool,
    y: np.ndarray,
    split: tuple[np.ndarray, Pool, np.ndarray],
    scorer: Scorer,
    seed: int,
    metrics: dict[str, Metric],
    *,
    n_queries: int,
    initial: int,
    batch_size: int,
    every: int,
    design: dict[str, Any],
    threads: dict[str, int],
) -> Run:
    """Return every metric by number of answers, and the questions of one run."""
    asked, X_test, y_test = split
    first = np.random.default_rng([seed, 1]).permutation(len(asked))[:initial]
    values: dict[str, dict[int, float]] = {name: {} for name in metrics}
    with threadpool_limits(threads):  # a worker process would otherwise take fewer, and round differently
        loop = SequentialDesign(
            estimator,
            pools.take(X, asked),
            scorer=scorer,
            initial=first,
            batch_size=batch_size,
            random_state=seed,
            **design,
        )
        n_answers = 0
        while n_answers < n_queries:
            query = loop.ask(min(batch_size, initial - n_answers if n_answers < initial else n_queries - n_answers))
            loop.tell(query, y[asked[query.positions]])
            n_answers += len(query)
            if loop.iteration % every == 0 or n_answers == n_queries:
                for name, metric in metrics.items():
                    try:
                        values[name][n_answers] = float(metric(loop.estimator_, X_test, y_test))
                    except NotFittedError:  # has seen one class only
                        continue
    history = loop.history_
    history["position"] = asked[history["position"]].tolist()
    return values, history


def _split(
    X: Pool, y: np.ndarray, test: float | tuple[Pool, Sequence[Any] | np.ndarray], seed: int
) -> tuple[np.ndarray, Pool, np.ndarray]:
    """Return the positions that may be asked, and the rows and answers to measure on."""
    m = pools.length(X)
    if isinstance(test, tuple):
        if len(test) != 2 or pools.length(test[0]) != len(test[1]):
            raise ValueError("test must be a share of the rows or (X_test, y_test) of one length.")
        return np.arange(m), test[0], np.asarray(test[1])
    share = checks.finite("test", test)
    if share.ndim != 0 or not 0 < share < 1:
        raise ValueError(f"test must be a share of the rows between 0 and 1 or (X_test, y_test), got {test!r}.")
    order = np.random.default_rng([seed, 0]).permutation(m)
    n_test = max(1, round(float(share) * m))
    held_out = np.sort(order[:n_test])
    return np.sort(order[n_test:]), pools.take(X, held_out), y[held_out]


def _seeds(seeds: int | Sequence[int]) -> list[int]:
    if np.ndim(seeds) == 0:
        return list(range(checks.integer("seeds", seeds, minimum=1)))
    numbers = [checks.integer("seeds", seed, minimum=0) for seed in seeds]  # type: ignore[union-attr]
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"seeds must be a number of runs or different seeds, got {numbers}.")
    return numbers


def _named(scorers: Scorer | Iterable[Scorer], reference: str, learner: Estimator) -> dict[str, Scorer]:
    if not isinstance(reference, str):
        raise ValueError(f"reference must be the name of a scorer, got {reference!r}.")
    listed = [scorers] if isinstance(scorers, str) or callable(scorers) else scorers
    listed = [name_of(scorer, learner) for scorer in listed]
    named = {scorer if isinstance(scorer, str) else scorer.__name__: scorer for scorer in listed}
    return named | {name: name for name in (reference, "random") if name not in named}


def _gathered(
    metric: str,
    asked: list[int],
    seeds: list[int],
    scorers: list[str],
    runs: dict[tuple[str, int], Run],
    reference: str,
) -> Comparison:
    """Return the comparison by one metric of the ``seeds`` that are finished, of those that were ``asked`` for."""
    of_metric = {(scorer, seed): runs[scorer, seed][0][metric] for scorer in scorers for seed in seeds}
    everywhere = sorted(set.intersection(*map(set, of_metric.values())))
    if not everywhere:
        raise ValueError("no run could predict by the end of its queries; raise n_queries.")
    curves: dict[str, np.ndarray] = {}
    names = ("seed", "scorer", "step", "position", "label", "outcome", "score")
    questions: dict[str, list[Any]] = {name: [] for name in names}
    for scorer in scorers:
        curves[scorer] = np.array([[of_metric[scorer, seed][n] for n in everywhere] for seed in seeds])
        for seed in seeds:
            history = runs[scorer, seed][1]
            history = {**history, "seed": [seed] * len(history["step"]), "scorer": [scorer] * len(history["step"])}
            for name, column in questions.items():
                column.extend(history[name])
    missing = [seed for seed in asked if seed not in seeds]
    return Comparison(metric, seeds, scorers, np.array(everywhere), curves, questions, reference, missing)
