"""Nine kinds of problem on which designs are certified, with the published bounds beside ours.

Rows are what a candidate measures of unknowns that are independent with variance 1, in units of the noise:

    f(B) = 1/2 log|I + A_B A_B'|
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits

from adaptive import ImageReconstructor, Questionnaire, datasets
from adaptive.images import head_scan, simulate_scan
from adaptive.linalg.relaxations import Budget, folded, frank_wolfe
from adaptive.predictive.joint_gaussian import pivoted_root
from adaptive.selection import Certificate, certificate
from adaptive.selection.bounds.exchanges import improved
from adaptive.selection.bounds.greedy import greedy, information
from designs import kspace

__all__ = ["Problem", "banks", "bounds", "gaussian_problems", "lines", "predictive_rows", "small_head", "standardised"]


BANKS = {"sat12": (10, "two_parameter"), "verbal_aggression": (10, "graded"), "icar": (5, "two_parameter")}


class Problem(NamedTuple):
    """Rows (m, b, d), and how many are chosen."""

    name: str
    rows: np.ndarray
    n: int


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1 / d, so that a row's prior variance is 1 on average; constant ones stay 0."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0) / np.sqrt(np.count_nonzero(spread))


def gaussian_problems(quick: bool = False) -> Iterator[Problem]:
    """Yield rows of digits, maps, a polynomial, heavy tails, sensors on a grid of pixels, and lines of a small head."""
    few = slice(None, 300 if quick else None)
    digits = standardised(load_digits().data)[few]
    for n, noise in ((8, 1.0), (32, 1.0), (32, 0.1), (128, 1.0)):
        yield Problem(f"digits rows, noise {noise:g}", digits[:, None] * np.sqrt(8.0 / noise), n)
    raw = load_digits().data[few][:, None] / 16
    for noise in (1.0, 0.1):
        yield Problem(f"digits rows not centred, noise {noise:g}", raw / np.sqrt(noise), 32)
    side = 8 if quick else 25
    x, y = np.meshgrid(*[np.linspace(0, 1, side)] * 2)
    places = np.stack([x.ravel(), y.ravel()], axis=1)
    K = np.exp(-0.5 * np.square(places[:, None] - places).sum(axis=2) / 0.2**2)
    for n, noise in ((20, 0.01), (60, 0.1)):
        yield Problem(f"map {side} x {side}, noise {noise:g}", pivoted_root(K / noise)[:, None], min(n, len(K) // 2))
    t = np.linspace(-1, 1, 201)
    yield Problem("polynomial of degree 5", np.polynomial.legendre.legvander(t, 5)[:, None], 12)
    rng = np.random.default_rng(0)
    heavy = rng.standard_t(2.5, (200 if quick else 5000, 40))
    yield Problem("heavy-tailed rows", heavy[:, None], 32)
    pixels = datasets.usps("train", None)[0] if not quick else np.repeat(np.repeat(load_digits().images, 2, 1), 2, 2)
    readings = pixels.reshape(len(pixels), -1)
    covariance = np.cov(readings, rowvar=False)
    noise = 0.1 * np.trace(covariance) / len(covariance)
    yield Problem("sensors on the pixels of USPS", pivoted_root(covariance / noise)[:, None], 20)
    yield Problem("lines of 24 x 24", small_head(12 if quick else 24), 3 if quick else 5)


def small_head(n: int) -> np.ndarray:
    """Rows of the lines that are left of a small head, whose four central lines were measured: a dense posterior."""
    image = head_scan()[12].image
    h, w = (side - side % n for side in image.shape)
    small = image[:h, :w].reshape(n, h // n, n, w // n).mean(axis=(1, 3))
    scan = simulate_scan(small, snr=100, largest_phase=0.0, random_state=0)
    pool = kspace.lines(small.shape, axis=0, half_plane=True)
    first = pool.positions([n // 2 - 1, n // 2])  # DC and the line beside it
    model = ImageReconstructor(
        small.shape, inference="expectation_propagation", noise_variance=scan.noise_variance, check=False,
        prior_scales={"wavelet": 0.2, "tv": 0.1},
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(pool.take(first), scan.measure(pool.take(first)))
    return predictive_rows(model, pool.take(np.setdiff1d(np.arange(len(pool)), first)))


def predictive_rows(model: object, pool: object) -> np.ndarray:
    """Rows of a Gaussian belief."""
    rows = model.predictive(pool).whitened()  # type: ignore[attr-defined]
    assert rows is not None
    return rows


def bounds(problem: Problem, n_iter: int = 20) -> dict[str, float]:
    """Return informations of designs, and the published bounds beside ours, in nats."""
    rows, n = problem.rows, problem.n
    m, b, d = rows.shape
    budget = Budget(np.ones(m), float(n))
    found = greedy(rows, budget)
    ended = improved(rows, found.chosen)
    start = np.zeros(m)
    start[ended] = 1.0
    rng = np.random.default_rng(0)
    told = [information(rows[rng.choice(m, n, replace=False)]) for _ in range(20)]
    flat = rows.reshape(m * b, d)
    eigenvalues = np.linalg.eigvalsh(flat.T @ flat)[::-1][: n * b]
    return {
        "random": float(np.mean(told)),
        "greedy": found.information,
        "with exchanges": information(rows[ended]),
        "greedy guarantee": found.information / (1 - np.exp(-1.0)),  # Nemhauser, Wolsey, Fisher (1978)
        "prefixes": found.prefixes,  # Leskovec et al. (2007)
        "eigenvalues": 0.5 * float(np.log1p(np.maximum(eigenvalues, 0.0)).sum()),  # Ko, Lee, Queyranne (1995)
        "D-optimal relaxation": frank_wolfe(rows, budget, start, r=d, n_iter=n_iter).bound,  # Joshi, Boyd (2009)
        "tangent": found.tangent,
        "folded relaxation": frank_wolfe(rows, budget, start, r=n * b, n_iter=n_iter).bound,  # Nikolov (2015)
        "eigenvalues, folded": folded(np.linalg.eigvalsh(flat.T @ flat) * n / m, n * b)[0],  # all alike: no bound
    }


def lines(side: int, n: int, n_central: int) -> Certificate:
    """Certificate of lines that were chosen one after the other, by the samples of a large posterior."""
    image = head_scan()[12].image
    factor = max(1, 128 // side)
    h, w = (s - s % factor for s in image.shape)
    small = image[:h, :w].reshape(h // factor, factor, w // factor, factor).mean(axis=(1, 3))
    return kspace.line_certificate(small, n, n_central, random_state=0)[1]


def banks(quick: bool = False) -> Iterator[tuple[str, Certificate]]:
    """Yield certificates of short forms of ten items (five of the smallest bank), of three banks of real answers."""
    for name, (n, model) in BANKS.items():
        table = datasets.answers(name).dropna(how="all").iloc[: 120 if quick else 600]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            items = Questionnaire(model).fit(table)
        person = items.respondent()
        pool = list(items.items_)
        chosen = person.select(pool, 2 if quick else n, scorer="information_gain", random_state=0)
        yield f"{name}, {len(pool)} items", certificate(person, pool, chosen, random_state=0)
