"""One document's step: the mode against an optimiser, bounds by enumerating every assignment of words to topics."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp, psi, softmax

from adaptive.estimators.topics.inference import document
from adaptive.estimators.topics.inference.document import DIRICHLET, NEWTON, correction, exponentials, infer, mode_step
from adaptive.estimators.topics.inference.passes import Learning, Memory, Tables, sweep

# Two documents of four words each over three words of a vocabulary: 256 assignments of eight tokens to two topics.
DOCUMENTS, WORDS = np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2, 1, 0])
K, V, ALPHA, BETA = 2, 3, 0.5, 0.3
CONFIGURATIONS = np.array(list(itertools.product(range(K), repeat=len(WORDS))))


def log_words(c):
    """log p(words | topics of tokens), topics' words integrated out."""
    n = np.zeros((V, K))
    np.add.at(n, (WORDS, c), 1.0)
    of_words = gammaln(BETA + n).sum() - n.size * gammaln(BETA)
    return of_words + K * gammaln(V * BETA) - gammaln(V * BETA + n.sum(axis=0)).sum()


LOG_WORDS = np.array([log_words(c) for c in CONFIGURATIONS])


def log_topics(c):
    """log p(topics of tokens), proportions integrated out."""
    total = 0.0
    for d in range(2):
        n = np.bincount(c[DOCUMENTS == d], minlength=K)
        total += gammaln(ALPHA + n).sum() - K * gammaln(ALPHA) + gammaln(K * ALPHA) - gammaln(K * ALPHA + n.sum())
    return total


EVIDENCE = logsumexp(LOG_WORDS + [log_topics(c) for c in CONFIGURATIONS])


def of_configurations(gamma):
    return np.prod(gamma[np.arange(len(WORDS)), CONFIGURATIONS], axis=1)


def of_documents(gamma):
    """The part of the bounds in proportions and tokens, at the best Dirichlet of each document."""
    total = -np.sum(gamma * np.log(gamma))
    for d in range(2):
        nu = ALPHA + gamma[DOCUMENTS == d].sum(axis=0)
        total += gammaln(nu).sum() - gammaln(nu.sum()) + gammaln(K * ALPHA) - K * gammaln(ALPHA)
    return total


def semi_collapsed(gamma):
    return of_documents(gamma) + of_configurations(gamma) @ LOG_WORDS


def factorised(gamma):
    n = np.zeros((V, K))
    np.add.at(n, WORDS, gamma)
    words = gammaln(BETA + n).sum() - n.size * gammaln(BETA)
    return of_documents(gamma) + words + K * gammaln(V * BETA) - gammaln(V * BETA + n.sum(axis=0)).sum()


def ascended(gamma, n_sweeps=60):
    """Coordinate ascent with expectations by enumeration, and the bound after every step."""
    trace = [semi_collapsed(gamma)]
    for _ in range(n_sweeps):
        for i in range(len(WORDS)):
            own = CONFIGURATIONS[:, i]
            others = of_configurations(gamma) / gamma[i, own]
            nu = ALPHA + gamma[DOCUMENTS == DOCUMENTS[i]].sum(axis=0)
            logits = psi(nu) + [np.sum((others * LOG_WORDS)[own == k]) for k in range(K)]
            gamma[i] = softmax(logits)
            trace.append(semi_collapsed(gamma))
    return gamma, np.array(trace)


def start():
    return softmax(np.random.default_rng(1).normal(size=(8, K)), axis=1)


def test_bounds_are_in_order_and_exact_steps_ascend():
    gamma, trace = ascended(start())
    assert np.all(np.diff(trace) > -1e-10)
    best = trace[-1]
    found = minimize(lambda z: -factorised(softmax(z.reshape(8, K), axis=1)), np.log(start()).ravel())
    assert -found.fun <= best + 1e-9 and best <= EVIDENCE
    assert -found.fun < EVIDENCE - 0.05  # a case that tells them apart
    for g in (start(), gamma):
        assert factorised(g) <= semi_collapsed(g) + 1e-12


def batch(step, passes, weights=True, **options):
    """The same documents through the compiled pass, their words' topics kept."""
    indptr, ids, numbers = np.array([0, 2, 5]), np.array([0, 1, 0, 1, 2]), np.array([2.0, 2.0, 1.0, 1.0, 2.0])
    tables = Tables(
        np.zeros((V, K)), np.zeros((V, K)), np.zeros(K), np.zeros(K), np.ones((1, K)), np.zeros((1, K)),
        np.zeros((0, K)), np.zeros((K, 0, 0)), np.ones(K),
    )  # fmt: skip
    learning = Learning(step, BETA, ALPHA, 1.0, 1.0, 1.0, 1000, 0.0, options.pop("seed", 3), 1e-10, 400)
    memory = Memory(np.zeros((5, K), np.float32), np.zeros((2 if weights else 0, K, 2)), np.zeros((0, K, 2)))
    rows = np.array([0, 1, 2]) if weights else np.zeros(0, np.int64)
    entries = np.zeros(2 if weights else 0, np.int64), np.ones(2 if weights else 0)
    found = np.empty(3 + K)
    for number in range(passes):
        sweep(indptr, ids, numbers, rows, *entries, tables, learning, memory, number == 0, 0, found)
    shares = memory.shares.astype(float)
    per_token = shares[[0, 0, 1, 1, 4, 4, 3, 2]]
    return tables, per_token / per_token.sum(axis=1, keepdims=True)


def test_the_second_order_step_comes_close_to_the_enumerated_one():
    _, gamma = batch(DIRICHLET, 60, weights=False)
    best = max(ascended(softmax(np.random.default_rng(s).normal(size=(8, K)), axis=1))[1][-1] for s in range(4))
    assert best - 0.3 < semi_collapsed(gamma) <= best + 1e-6


def test_nothing_is_counted_twice():
    for step, weights in ((DIRICHLET, False), (NEWTON, True)):
        tables, _ = batch(step, 7, weights)
        assert tables.totals.sum() == pytest.approx(8.0, rel=1e-6)
        np.testing.assert_allclose(tables.words.sum(axis=1), [3.0, 3.0, 2.0], rtol=1e-6)
        np.testing.assert_allclose(tables.words.sum(axis=0), tables.totals, rtol=1e-6)


def test_the_correction_is_capped():
    assert correction(0.01, 0.0099, 1e-4) == 0.0  # the formula says 49
    assert correction(0.6, 5.0, 0.0) == 2.0
    assert correction(3.0, 0.5, 1.0) == pytest.approx(0.5 / 32)


def test_exponentials_by_products_are_those_of_the_library():
    scores = np.concatenate([-np.linspace(0.0, 20.0, 101), [-40.0, -60.0, -700.0, -1e4]])
    found = np.empty(len(scores))
    exponentials(scores + 3.0, 3.0, found)
    np.testing.assert_allclose(found[:101], np.exp(scores[:101]), rtol=2e-12)
    np.testing.assert_allclose(found[101:103], np.exp(scores[101:103]), rtol=1e-8)
    assert np.all((found[103:] >= 0.0) & (found[103:] < 1e-25))


@pytest.mark.parametrize("total", [0.0, 3.0, 1000.0])
def test_the_mode_is_the_mode(total):
    rng = np.random.default_rng(0)
    mean, variance, counts = rng.normal(0, 3, 4), rng.gamma(1.0, 3.0, 4), total * rng.dirichlet(np.full(4, 0.3))

    def negative(y):
        return 0.5 * np.sum((y - mean) ** 2 / variance) - counts @ y + total * logsumexp(y)

    y, p = mean.copy(), softmax(mean)
    work = np.empty((3, len(y)))
    lengths = [mode_step(y, p, mean, variance, counts, total, work) for _ in range(60)]
    assert lengths[-1] < 1e-9
    np.testing.assert_allclose(p, softmax(y), atol=1e-14)
    assert negative(y) <= minimize(negative, mean).fun + 1e-6


@pytest.mark.parametrize("step", [document.NEWTON, document.BRIDGE, document.MOMENTS, document.DIRICHLET])
def test_the_words_of_a_known_topic_are_its(step):
    table = np.array([[500.0, 0.0], [0.0, 500.0]])
    mean, variance, concentration = np.zeros(2), np.full(2, 4.0), np.full(2, 0.5)
    scores, proportions, shares, counts = np.empty(2), np.empty(2), np.empty((1, 2)), np.empty(2)
    infer(
        np.array([1]), np.array([6.0]), table, table * 0, np.full(2, 500.0), np.zeros(2), 0.01, step, mean, variance,
        concentration, mean, 0.0, False, 1e-9, 200, scores, proportions, shares, counts,
    )  # fmt: skip
    assert counts[1] > 5.99 and proportions[1] > 0.8 and proportions.sum() == pytest.approx(1.0)


def test_the_message_is_the_curvature_of_words_whose_topics_are_not_known():
    rng, K = np.random.default_rng(0), 4
    topics = rng.dirichlet(np.full(6, 0.3), K)  # (K, words)
    numbers, y, step = np.array([3.0, 5.0, 1.0, 0.0, 2.0, 4.0]), rng.normal(0, 1.0, K), 1e-4

    def log_likelihood(y):
        return numbers @ np.log(softmax(y) @ topics)

    p = softmax(y)
    shares = (p[:, None] * topics).T / (p @ topics)[:, None]
    precision, shift = np.empty(K), np.empty(K)
    document.message(
        NEWTON, np.zeros(K), np.ones(K), np.ones(K), y, p, numbers @ shares, precision, shift, numbers, shares
    )
    for k, one in enumerate(np.eye(K)):
        values = [log_likelihood(y + side * step * one) for side in (-1, 0, 1)]
        curvature = -(values[0] - 2 * values[1] + values[2]) / step**2
        assert precision[k] == pytest.approx(max(curvature, document.LEAST * 15 * p[k] * (1 - p[k])), rel=1e-4)
        slope = (values[2] - values[0]) / (2 * step)
        assert shift[k] - precision[k] * y[k] == pytest.approx(slope, rel=1e-5)
    assert precision.max() > document.LEAST * 15 * (p * (1 - p)).max()  # not all of them at the floor
