"""Response curves: p(answer r | trait x) of an item, and how its logarithm changes with the item's coordinates.

    partial credit   p_r ~ exp(r a.x + c_1 + ... + c_r)                     (two categories: the two-parameter model)
    graded           P(y >= r) = 1 / (1 + exp(-(a.x + d_r))),   d_1 = c_1, d_r = d_{r-1} - exp(c_r)
    guessing         p_1 = g + (1 - g) / (1 + exp(-(a.x + c))),     g = 1 / (1 + exp(-c_g))
    two asymptotes   p_1 = g + (u - g) / (1 + exp(-(a.x + c))),     u = g + (1 - g) / (1 + exp(-c_u))
    nominal          p_r ~ exp((r a + e_r).x + c_1 + ... + c_r),    e_0 = e_{R-1} = 0

Coordinates of an item are (a_1 .. a_T, c_1 .. c_{R-1}[, c_g[, c_u]]), of a nominal one (a, c_1, c_2, e_1, c_3, e_2,
...), each e_r of T numbers: free of constraints, so that a Gaussian may be believed about them, and those of an item
with fewer answers are the first ones. Categories count from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

__all__ = [
    "ASYMPTOTES",
    "CURVES",
    "Curve",
    "answer_slopes",
    "asymptote_coordinates",
    "difficulties",
    "from_difficulties",
    "graded_levels",
    "nominal_coordinates",
]


def _partial_credit(slopes: np.ndarray, rest: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p (..., k, R), and d log p / d coordinate (..., k, R, p)."""
    n = rest.shape[-1] + 1
    ranks = np.arange(n)
    steps = np.concatenate([np.zeros((*rest.shape[:-1], 1)), np.cumsum(rest, axis=-1)], axis=-1)
    energy = (slopes @ x.T)[..., None] * ranks + steps[..., None, :]
    p = np.exp(energy - energy.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    expected = (p @ ranks)[..., None]
    by_slope = (ranks - expected)[..., None] * x[:, None, :]
    at_least = np.cumsum(p[..., ::-1], axis=-1)[..., ::-1][..., 1:]
    by_step = (ranks[:, None] >= ranks[1:]) - at_least[..., None, :]
    return p, np.concatenate([by_slope, by_step], axis=-1)


def _graded(slopes: np.ndarray, rest: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gaps = np.exp(rest[..., 1:])
    s = (slopes @ x.T)[..., None] + graded_levels(rest)[..., None, :]
    upper, density = expit(s), expit(s) * expit(-s)
    ends = np.ones((*s.shape[:-1], 1))
    p = -np.diff(np.concatenate([ends, upper, 0 * ends], axis=-1), axis=-1)
    p = np.maximum(p, 1e-300)
    n = p.shape[-1]
    # d p_r / d s_j = f_r [j = r] - f_{r+1} [j = r + 1], thresholds j from 1
    by_level = np.zeros((*p.shape, n - 1))
    j = np.arange(n - 1)
    by_level[..., j + 1, j], by_level[..., j, j] = density, -density
    by_level /= p[..., None]
    total = by_level.sum(axis=-1, keepdims=True)
    by_slope = total * x[:, None, :]
    later = np.cumsum(by_level[..., ::-1], axis=-1)[..., ::-1][..., 1:]  # d s_j / d c_m = - exp(c_m) for j >= m
    return p, np.concatenate([by_slope, total, -later * gaps[..., None, None, :]], axis=-1)


def _guessing(slopes: np.ndarray, rest: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    g, s = expit(rest[..., 1])[..., None], (slopes @ x.T) + rest[..., :1]
    right = g + (1 - g) * expit(s)
    wrong = (1 - g) * expit(-s)
    slope = (1 - g) * expit(s) * expit(-s)
    by = np.concatenate([slope[..., None] * x, slope[..., None], (g * wrong)[..., None]], axis=-1)
    p = np.stack([wrong, right], axis=-1)
    return p, np.stack([-by / np.maximum(wrong, 1e-300)[..., None], by / right[..., None]], axis=-2)


def _two_asymptotes(slopes: np.ndarray, rest: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    g, s = expit(rest[..., 1])[..., None], (slopes @ x.T) + rest[..., :1]
    top, short = expit(rest[..., 2])[..., None], expit(-rest[..., 2])[..., None]
    f, tail = expit(s), expit(-s)
    right = g + (1 - g) * top * f
    wrong = (1 - g) * (tail + short * f)
    slope = (1 - g) * top * f * tail
    by = [slope[..., None] * x, slope[..., None], (g * wrong)[..., None], ((1 - g) * f * top * short)[..., None]]
    both = np.concatenate(by, axis=-1)
    p = np.stack([wrong, right], axis=-1)
    scores = [-both / np.maximum(wrong, 1e-300)[..., None], both / np.maximum(right, 1e-300)[..., None]]
    return p, np.stack(scores, axis=-2)


def _nominal(slopes: np.ndarray, rest: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    steps, of_trait = _nominal_places(slopes.shape[-1], rest.shape[-1])
    n, own = len(steps) + 1, rest[..., of_trait]  # (..., R - 2, T)
    ranks = np.arange(n)
    sums = np.concatenate([np.zeros((*rest.shape[:-1], 1)), np.cumsum(rest[..., steps], axis=-1)], axis=-1)
    energy = (slopes @ x.T)[..., None] * ranks + sums[..., None, :]
    energy[..., 1:-1] += np.swapaxes(own @ x.T, -1, -2)
    p = np.exp(energy - energy.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    by = np.zeros((*p.shape, slopes.shape[-1] + rest.shape[-1]))
    t = slopes.shape[-1]
    by[..., :t] = (ranks - (p @ ranks)[..., None])[..., None] * x[:, None, :]
    at_least = np.cumsum(p[..., ::-1], axis=-1)[..., ::-1][..., 1:]
    by[..., t + steps] = (ranks[:, None] >= ranks[1:]) - at_least[..., None, :]
    for r, at in enumerate(of_trait, start=1):
        by[..., t + at] = ((ranks == r) - p[..., r : r + 1])[..., None] * x[:, None, :]
    return p, by


def _nominal_places(t: int, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions, among the q coordinates behind the slopes, of c_1 .. c_{R-1} and of e_1 .. e_{R-2} (R - 2, T)."""
    n = 2 + (q - 1) // (t + 1)
    steps = np.concatenate([[0], 1 + (t + 1) * np.arange(n - 2)]).astype(np.intp)
    return steps, steps[1:, None] + 1 + np.arange(t)


@dataclass(frozen=True)
class Curve:
    """A response model: its curves, the number of coordinates beside the slopes, and the weak prior about them.

    Attributes
    ----------
    compute : (slopes (..., T), others (..., q), traits (k, T)) -> p (..., k, R), d log p (..., k, R, T + q)
    prior : (n_categories, n_traits) -> means (q,), deviations (q,) of the others; slopes: N(1, 1), or as `calibration`
        has them
    """

    compute: Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    prior: Callable[..., tuple[np.ndarray, np.ndarray]]
    dichotomous: bool = False
    common_slope: bool = False

    def __call__(self, coordinates: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Curves at traits ``x`` (k, T) for coordinates (..., p)."""
        t = x.shape[1]
        return self.compute(coordinates[..., :t], coordinates[..., t:], x)

    def traits_of(self, n_categories: int, n_traits: int) -> np.ndarray:
        """The trait (p,) of which each coordinate is a slope, -1 where it is none."""
        q = len(self.prior(n_categories, n_traits)[0])
        found = np.concatenate([np.arange(n_traits), np.full(q, -1)])
        if self.compute is _nominal:
            found[n_traits + _nominal_places(n_traits, q)[1]] = np.arange(n_traits)
        return found

    def measured(self, n_categories: int, mask: np.ndarray) -> np.ndarray:
        """(items, p) the coordinates that items have which measure the traits of ``mask`` (items, T)."""
        of = self.traits_of(n_categories, mask.shape[1])
        return np.where(of >= 0, mask[:, of], True)

    def columns(self, n_categories: int, n_traits: int, traits: np.ndarray) -> np.ndarray:
        """Positions of the coordinates of an item that measures some of the traits only."""
        of = self.traits_of(n_categories, n_traits)
        return np.flatnonzero((of < 0) | np.isin(of, traits))


def _steps_prior(n: int, t: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(n - 1), np.full(n - 1, 3.0)


def _graded_prior(n: int, t: int = 1) -> tuple[np.ndarray, np.ndarray]:
    middle = np.r_[0.5 * (n - 2), np.zeros(n - 2)]
    return middle, np.r_[3.0, np.full(n - 2, 1.5)]


def _guessing_prior(n: int, t: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return np.array([0.0, logit(0.2)]), np.array([3.0, 0.5])


def _asymptotes_prior(n: int, t: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return np.array([0.0, logit(0.2), logit(0.95)]), np.array([3.0, 0.5, 0.5])


def _nominal_prior(n: int, t: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Partial credit, from which slopes of answers depart by 1."""
    q = 1 + (n - 2) * (t + 1)
    deviations = np.ones(q)
    deviations[_nominal_places(t, q)[0]] = 3.0
    return np.zeros(q), deviations


CURVES = {
    "rasch": Curve(_partial_credit, _steps_prior, common_slope=True),
    "two_parameter": Curve(_partial_credit, _steps_prior, dichotomous=True),
    "three_parameter": Curve(_guessing, _guessing_prior, dichotomous=True),
    "four_parameter": Curve(_two_asymptotes, _asymptotes_prior, dichotomous=True),
    "graded": Curve(_graded, _graded_prior),
    "partial_credit": Curve(_partial_credit, _steps_prior),
    "nominal": Curve(_nominal, _nominal_prior),
}

ASYMPTOTES = {"three_parameter": ("guessing",), "four_parameter": ("guessing", "upper")}  # behind the thresholds
_LEAST = 1e-15  # an asymptote of 0 or 1 is so far from it: its logit is finite


def difficulties(model: str, coordinates: np.ndarray, n_traits: int) -> np.ndarray:
    """(slopes, thresholds on the trait's scale[, guessing[, upper asymptote]]) of coordinates (..., p).

    A threshold of an item of several traits is an intercept with its sign changed; of one trait, divided by the slope:
    of partial credit where two neighbouring answers are as likely, of graded where P(y >= r) = 1/2. Of nominal items
    (slopes of answer 1, its intercept, slopes of answer 2, ...): p_r ~ exp(slopes_r.x + intercept_r), 0 of answer 0.
    """
    if model == "nominal":
        rows = coordinates.reshape(-1, coordinates.shape[-1])
        found = np.full(rows.shape, np.nan)
        for row, one in zip(found, rows, strict=True):
            both = np.concatenate(answer_slopes(model, one[~np.isnan(one)], n_traits), axis=1)[1:].ravel()
            row[: len(both)] = both
        return found.reshape(coordinates.shape)
    slopes, rest = coordinates[..., :n_traits], coordinates[..., n_traits:]
    n_levels = rest.shape[-1] - len(ASYMPTOTES.get(model, ()))
    levels, asymptotes = rest[..., :n_levels], expit(rest[..., n_levels:])
    if model == "graded":
        levels = graded_levels(rest)
    if model == "four_parameter":
        asymptotes[..., 1] = asymptotes[..., 0] + (1 - asymptotes[..., 0]) * asymptotes[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        thresholds = -levels / (slopes if n_traits == 1 else 1.0)
    return np.concatenate([slopes, thresholds, asymptotes], axis=-1)


def from_difficulties(model: str, parameters: np.ndarray, n_traits: int) -> np.ndarray:
    """The coordinates of which ``difficulties`` are ``parameters``."""
    if model == "nominal":
        rows = parameters.reshape(-1, parameters.shape[-1])
        found = np.full(rows.shape, np.nan)
        for row, one in zip(found, rows, strict=True):
            both = one[~np.isnan(one)].reshape(-1, n_traits + 1)
            row[: both.size] = nominal_coordinates(both[:, :n_traits], both[:, n_traits])
        return found.reshape(parameters.shape)
    slopes, rest = parameters[..., :n_traits], parameters[..., n_traits:]
    n_levels = rest.shape[-1] - len(ASYMPTOTES.get(model, ()))
    levels = -rest[..., :n_levels] * (slopes if n_traits == 1 else 1.0)
    if model == "graded":
        levels = np.concatenate([levels[..., :1], np.log(-np.diff(levels, axis=-1))], axis=-1)
    return np.concatenate([slopes, levels, asymptote_coordinates(rest[..., n_levels:])], axis=-1)


def asymptote_coordinates(asymptotes: np.ndarray) -> np.ndarray:
    """The coordinates (..., q) of a lower asymptote, and of an upper one where there are two."""
    lower = np.maximum(asymptotes[..., :1], _LEAST)
    short = np.clip((1 - asymptotes[..., 1:]) / (1 - lower), _LEAST, 1 - _LEAST)
    return np.concatenate([logit(lower), np.log1p(-short) - np.log(short)], axis=-1)


def graded_levels(rest: np.ndarray) -> np.ndarray:
    """The intercepts d_1 > d_2 > ... (..., R - 1) of graded items from their coordinates behind the slopes."""
    gaps = np.cumsum(np.exp(rest[..., 1:]), axis=-1)
    return rest[..., :1] - np.concatenate([np.zeros((*rest.shape[:-1], 1)), gaps], axis=-1)


def answer_slopes(model: str, coordinates: np.ndarray, n_traits: int) -> tuple[np.ndarray, np.ndarray]:
    """Slopes (R, T) and intercepts (R, 1) of an item's answers, p_r ~ exp(slopes_r.x + intercept_r), first ones 0.

    Of "nominal" and "partial_credit" ("rasch", "two_parameter") items; ``coordinates`` (p,) are those the item has.
    """
    slopes, rest = coordinates[:n_traits], coordinates[n_traits:]
    steps, own = _nominal_places(n_traits, len(rest)) if model == "nominal" else (np.arange(len(rest)), None)
    found = np.arange(len(steps) + 1)[:, None] * slopes
    if own is not None:
        found[1:-1] += rest[own]
    return found, np.concatenate([[0.0], np.cumsum(rest[steps])])[:, None]


def nominal_coordinates(slopes: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
    """The coordinates (p,) of a nominal item from what `answer_slopes` gives, without the zeros of the first answer."""
    last, t = slopes.shape
    steps, own = _nominal_places(t, 1 + (last - 1) * (t + 1))
    found = np.zeros(t + 1 + (last - 1) * (t + 1))
    found[:t] = slopes[-1] / last
    found[t + steps] = np.diff(intercepts, prepend=0.0)
    found[t + own] = slopes[:-1] - np.arange(1, last)[:, None] * found[:t]
    return found
