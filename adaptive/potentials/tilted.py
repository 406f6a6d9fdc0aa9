"""Moments of T(s)^f N(s | c, v) by quadrature: find the mode, bracket the mass, integrate about the mode.

With L(s) = f log T(s) - (s - c)^2/(2v) everything is computed from differences L(s0 + x) - L(s0), so that a cavity 10^4
standard deviations away loses no digits, and variances are sums of positive terms. A log-concave T makes L strongly
concave: its mass lies within 9.5 cavity standard deviations of the mode, and what has dropped by d nats at distance x
has dropped by at least k d at distance k x, so no second peak can hide between the first panels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.potentials.quadrature import panels, refine, rows_of

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential

__all__ = ["moments"]

_DROP = 42.0  # nats below the mode where the tail is cut (6e-19 of the peak)
_REACH = 9.6


def moments(
    potential: Potential, mean: np.ndarray, variance: np.ndarray, fraction: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log normaliser, mean and variance; arrays of one shape, potential of matching rows."""
    shape = mean.shape
    flat = rows_of(potential, shape)
    c, v = mean.ravel(), variance.ravel()
    if len(c) == 0:
        return mean.copy(), mean.copy(), variance.copy()
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        if np.all(potential.log_concave):
            start = _mode(flat, c, v, fraction)
            edges = _edges_log_concave(flat, c, v, fraction, start)
        else:
            start, edges = _edges_general(flat, c, v, fraction)
        result = _integrate(flat, c, v, fraction, start, edges)
    log_normaliser, centre, spread = (a.reshape(shape) for a in result)
    return log_normaliser, centre, spread


def _drop(
    flat: Potential, c: np.ndarray, v: np.ndarray, fraction: float, start: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """L(start) - L(start + x), without forming either."""
    drop = x * (0.5 * x + (start - c)) / v - fraction * flat.log_ratio(start, x)
    return np.where(np.isnan(drop), np.inf, drop)


def _integrate(
    flat: Potential, c: np.ndarray, v: np.ndarray, fraction: float, start: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integrate exp(L(start + x) - L(start)) over the panels given by the edges (e, m) in x."""
    count = len(c)
    scale = 0.5 * (edges.max(axis=0) - edges.min(axis=0))
    slope = (start - c) / v

    def integrand(t: np.ndarray, owner: np.ndarray) -> np.ndarray:
        rows = flat if flat.size is None else flat[owner]
        x = t * scale[owner]
        exponent = fraction * rows.log_ratio(start[owner], x) - x * (0.5 * x / v[owner] + slope[owner])
        return np.exp(np.where(np.isnan(exponent), -np.inf, exponent))

    owner, middle, parts, mass = refine(integrand, *panels(edges / scale), count, tolerance=2e-12, spread=True)
    centre = np.bincount(owner, parts[0] * middle + parts[1], count) / mass
    offset = middle - centre[owner]
    second = parts[2] + offset * (2 * parts[1] + offset * parts[0])
    spread = np.bincount(owner, second, count) / mass
    log_peak = fraction * flat.log_density(start) - (start - c) * (0.5 * (start - c) / v)
    log_normaliser = log_peak + np.log(mass * scale) - 0.5 * np.log(2 * np.pi * v)
    return log_normaliser, start + centre * scale, spread * scale**2


# ---------------------------------------------------------------------------------------------------- log-concave case
def _mode(flat: Potential, c: np.ndarray, v: np.ndarray, fraction: float) -> np.ndarray:
    """A point whose L is within a fraction of a nat of the maximum: Newton's method kept inside a bracket.

    L' falls strictly, so its sign brackets the mode. Bisection runs over the ordered floats, which reaches any scale in
    64 steps. Kinks are tried first: a mode often sits on one.
    """
    sd = np.sqrt(v)
    lower, upper = (np.broadcast_to(np.asarray(end, dtype=float), c.shape) for end in flat.support)

    def slope_of(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, second = flat.derivatives(s)
        slope = fraction * first - (s - c) / v
        slope = np.where(s <= lower, np.inf, np.where(s >= upper, -np.inf, slope))
        return slope, fraction * second - 1 / v

    start = np.clip(c, lower, upper)
    slope, bend = slope_of(start)
    sign = np.where(slope < 0, -1.0, 1.0)
    low, high = start.copy(), start.copy()
    # the other end: the fixed-point image c + v f g'(c) brackets the mode; where it is far away, walk there by doubling
    jump = np.where(np.isfinite(slope), np.abs(slope) * v, np.inf)
    step = np.minimum(jump, sd)
    for _ in range(2000):
        end = np.clip(start + sign * step, lower, upper)
        beyond = (sign * slope_of(end)[0] <= 0) | (step >= jump)
        low, high = np.where(sign > 0, low, end), np.where(sign > 0, end, high)
        if beyond.all():
            break
        step = np.where(beyond, step, np.minimum(2 * step, jump))
    for kink in flat.kinks:
        at = np.broadcast_to(np.asarray(kink, dtype=float), c.shape)
        below, above = (slope_of(np.nextafter(at, side))[0] for side in (-np.inf, np.inf))
        low = np.where((below >= 0) & (at > low), np.minimum(at, high), low)
        high = np.where((above <= 0) & (at < high), np.maximum(at, low), high)
    # a bracket closed by kinks may be empty; otherwise start from the Newton step out of the cavity mean
    s = np.clip(start - slope / bend, low, high)
    s = np.where(np.isfinite(s), s, _middle(low, high))
    previous = np.zeros_like(s)
    for iteration in range(200):
        slope, bend = slope_of(s)
        # three signs that L(mode) - L(s) is small; the first two are bounds, the third is Newton's method converging
        done = (np.abs(slope) * (high - low) < 0.05) | (slope**2 * v < 0.05) | (low >= high)
        done |= (slope**2 < -1e-6 * bend) & (np.abs(slope) < 0.1 * previous)
        if done.all():
            break
        previous = np.abs(slope)
        low, high = np.where(slope > 0, np.maximum(s, low), low), np.where(slope < 0, np.minimum(s, high), high)
        newton = s - slope / bend
        inside = (newton > low) & (newton < high) & (iteration % 4 < 3)
        s = np.where(done, s, np.where(inside, newton, _middle(low, high)))
    return s


def _middle(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The float halfway between two floats in the order of their bit patterns."""
    key = _to_key(low) // 2 + _to_key(high) // 2
    return _from_key(key)


def _to_key(x: np.ndarray) -> np.ndarray:
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _from_key(key: np.ndarray) -> np.ndarray:
    return np.where(key < 0, np.int64(-(2**63)) - key, key).view(np.float64)


def _edges_log_concave(
    flat: Potential, c: np.ndarray, v: np.ndarray, fraction: float, start: np.ndarray, pieces: int = 4
) -> np.ndarray:
    """Edges about the mode: on each side a distance at which L has dropped by 42 nats, cut into equal pieces."""
    sd = np.sqrt(v)
    _, second = flat.derivatives(start)
    guess = 9.0 / np.sqrt(np.maximum(1 / v - fraction * np.where(np.isfinite(second), second, 0.0), 1 / v))
    edges = [np.zeros((1, len(c)))]
    lower, upper = flat.support
    for sign, end in ((-1.0, lower), (1.0, upper)):
        high = np.minimum(_REACH * sd, np.abs(end - start))
        low = np.zeros_like(high)
        x = np.minimum(guess, high)
        for _ in range(40):
            drop = _drop(flat, c, v, fraction, start, sign * x)
            # convexity of the drop: it is at least proportional to x
            scaled = x * (_DROP / np.maximum(drop, 1e-3))
            far = drop >= _DROP
            high = np.where(far, np.minimum(high, x), np.minimum(high, scaled * 1.01))
            low = np.maximum(low, np.where(far, np.where(np.isfinite(drop), np.minimum(scaled, x), 0.0), x))
            if (high <= 1.5 * low).all():
                break
            x = np.where(low > 0, np.sqrt(low * high), _middle(low, high))
            x = np.clip(x, 0.001 * high, high)
        edges.append(sign * high * np.linspace(0, 1, pieces + 1)[1:, None])
    stacked = np.concatenate(edges)
    return _with_kinks(flat, start, stacked)


def _with_kinks(flat: Potential, start: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Split at the kinks; about a singular one grade by powers of three, on which a power of x is smooth."""
    low, high = edges.min(axis=0), edges.max(axis=0)
    steps = np.array([0.0])
    if flat.singular:
        graded = 3.0 ** -np.arange(1.0, 17.0)
        steps = np.concatenate([-graded, [0.0], graded])
    kinks = [np.clip(kink - start + steps[:, None] * (high - low), low, high) for kink in flat.kinks]
    return np.concatenate([edges, *kinks])


# ------------------------------------------------------------------------------------------------------- general case
def _edges_general(flat: Potential, c: np.ndarray, v: np.ndarray, fraction: float) -> tuple[np.ndarray, np.ndarray]:
    """Panels graded by powers of two about every place where the mass may sit: the cavity, the modes, the kinks.

    Where T is at most M, L(s) <= f log M - (s - c)^2/(2v): that bounds the interval outside which nothing counts.
    """
    sd = np.sqrt(v)
    centres, scales = flat.tilted_modes(c, v, fraction)  # (k, m) each
    log_density = fraction * flat.log_density(centres)
    level = log_density - (centres - c) ** 2 / (2 * v)
    best = np.argmax(level, axis=0)
    columns = np.arange(len(c))
    start, peak = centres[best, columns], level[best, columns]
    reach = np.sqrt(2 * v * np.maximum(_DROP + log_density.max(axis=0) - peak, _DROP))
    low, high = c - reach - start, c + reach - start
    edges = [low[None], high[None], (c - start)[None]]
    steps = 2.0 ** np.arange(-1, 64)[:, None]
    for centre, scale in [*zip(centres, scales, strict=True), (c, sd)]:
        used = int(np.ceil(np.log2(np.maximum(2 * reach.max() / scale.min(), 2)))) + 2
        for sign in (-1.0, 1.0):
            graded = centre - start + sign * scale * steps[:used]
            edges += [np.clip(graded, low, high)]
        edges.append(np.clip(centre - start, low, high)[None])
    return start, _with_kinks(flat, start, np.concatenate(edges))


def scan_modes(flat: Potential, c: np.ndarray, v: np.ndarray, fraction: float) -> tuple[np.ndarray, np.ndarray]:
    """The three highest local maxima of L on a grid graded about 0 and about c, polished, and their widths (4, m).

    The fourth row is the highest place of T itself on the grid.
    """
    sd = np.sqrt(v)
    steps = np.concatenate([-(2.0 ** np.arange(40, -21, -1.0)), [0.0], 2.0 ** np.arange(-20, 41.0)])[:, None]
    grid = np.sort(np.concatenate([steps + 0 * c, c + sd * steps[np.abs(steps[:, 0]) < 100]]), axis=0)

    def level(s: np.ndarray) -> np.ndarray:
        value = fraction * flat.log_density(s) - (s - c) ** 2 / (2 * v)
        return np.where(np.isnan(value), -np.inf, value)

    values = level(grid)
    padded = np.pad(values, ((1, 1), (0, 0)), constant_values=-np.inf)
    peaks = np.where((values >= padded[:-2]) & (values >= padded[2:]), values, -np.inf)
    highest = np.clip(np.argsort(peaks, axis=0)[-3:], 1, len(grid) - 2)
    low, high = (np.take_along_axis(grid, highest + side, axis=0) for side in (-1, 1))
    width = 0.25 * (high - low)
    for _ in range(60):  # golden-section search
        left, right = high - 0.618 * (high - low), low + 0.618 * (high - low)
        better = level(left) >= level(right)
        low, high = np.where(better, low, left), np.where(better, right, high)
    top = np.take_along_axis(grid, np.argmax(flat.log_density(grid), axis=0)[None], axis=0)
    return np.concatenate([0.5 * (low + high), top]), np.concatenate([width, sd[None]])
