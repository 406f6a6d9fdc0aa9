"""Writes tilted_reference.json: tilted moments of every potential to 17 digits, by mpmath and by brute force.

The integral of T(s)^f N(s | c, v) is cut into pieces graded by powers of two about the cavity mean, every mode and the
points where T changes its character; each piece is integrated by one and by two 24-point Gauss-Legendre rules in
50-digit arithmetic, and the run stops if the sums disagree by more than 1e-14. Nothing is shared with the library.

    python tests/potentials/make_tilted_reference.py            # about a quarter of an hour; rewrites the table
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import mpmath as mp
import numpy as np

mp.mp.dps = 50
DROP = mp.mpf(110)  # nats at which a tail is cut

# name -> (constructor arguments, log T in mpmath as a function of s, structure points, log-concave)
POTENTIALS = {}


def potential(arguments, *, kinks=(), scale=1.0, modes=None, support=(-mp.inf, mp.inf)):
    def register(log_density):
        key = log_density.__name__.strip("_")
        POTENTIALS[key] = (arguments, log_density, [mp.mpf(k) for k in kinks], mp.mpf(scale), modes, support)
        return log_density

    return register


@potential(["Gaussian", [0.7, -0.3]])
def gaussian(s):
    return -((s + mp.mpf(0.3)) ** 2) / (2 * mp.mpf(0.7)) - mp.log(2 * mp.pi * mp.mpf(0.7)) / 2


@potential(["Laplace", [0.4, 0.5]], kinks=[0.5], scale=0.4)
def laplace(s):
    b = mp.mpf(0.4)
    return -abs(s - mp.mpf(0.5)) / b - mp.log(2 * b)


def _student(df, scale):
    df, scale = mp.mpf(df), mp.mpf(scale)
    constant = mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2) - mp.log(mp.pi * df) / 2 - mp.log(scale)
    return lambda s: constant - (df + 1) / 2 * mp.log1p(s * s / (df * scale**2))


def _student_modes(df, scale):
    def modes(c, v, f):
        a, k = mp.mpf(df) * mp.mpf(scale) ** 2, v * f * (mp.mpf(df) + 1)
        roots = mp.polyroots([1, -c, a + k, -c * a], maxsteps=500, extraprec=400)
        return [mp.re(r) for r in roots if abs(mp.im(r)) < mp.mpf(10) ** -20 * (1 + abs(r))]

    return modes


@potential(["StudentT", [3.0, 1.0]], kinks=[0], modes=_student_modes(3.0, 1.0))
def student_3(s):
    return _student(3.0, 1.0)(s)


@potential(["StudentT", [1.0, 0.01]], kinks=[0], scale=0.01, modes=_student_modes(1.0, 0.01))
def student_narrow(s):
    return _student(1.0, 0.01)(s)


@potential(["Logistic", [0.5, 0.25]], kinks=[0.25], scale=0.5)
def logistic(s):
    b = mp.mpf(0.5)
    z = abs(s - mp.mpf(0.25)) / b
    return -z - 2 * mp.log1p(mp.exp(-z)) - mp.log(b)


def _power(p, scale):
    p, scale = mp.mpf(p), mp.mpf(scale)
    constant = mp.log(p) - mp.log(2 * scale) - mp.loggamma(1 / p)
    return lambda s: constant - abs(s / scale) ** p


@potential(["ExponentialPower", [1.5, 0.8]], kinks=[0], scale=0.8)
def power_15(s):
    return _power(1.5, 0.8)(s)


@potential(["ExponentialPower", [3.0, 2.0]], kinks=[0], scale=2.0)
def power_3(s):
    return _power(3.0, 2.0)(s)


@potential(["ExponentialPower", [0.5, 1.0]], kinks=[0], modes=lambda c, v, f: _cusp_modes(c, v, f))
def power_05(s):
    return _power(0.5, 1.0)(s)


def _cusp_modes(c, v, f):
    """Zero, and the larger root of x - |c| + (v f / 2) / sqrt(x) = 0 where there is one: a cubic in sqrt(x)."""
    roots = mp.polyroots([1, 0, -abs(c), v * f / 2], maxsteps=500, extraprec=400)
    real = [mp.re(r) ** 2 for r in roots if abs(mp.im(r)) < mp.mpf(10) ** -20 * (1 + abs(r)) and mp.re(r) > 0]
    return [mp.mpf(0), *((mp.sign(c) or 1) * x for x in real)]


@potential(["BernoulliLogit", [1.0]], kinks=[0])
def logit(s):
    return min(s, mp.mpf(0)) - mp.log1p(mp.exp(-abs(s)))


@potential(["BernoulliProbit", [-1.0]], kinks=[0])
def probit(s):
    return mp.log(mp.erfc(s / mp.sqrt(2)) / 2)


def _poisson(y, rate):
    y = mp.mpf(y)

    def log_density(s):
        if rate == "exp":
            return y * s - mp.exp(s) - mp.loggamma(y + 1)
        if rate == "softplus":
            value = max(s, mp.mpf(0)) + mp.log1p(mp.exp(-abs(s)))
            return y * mp.log(value) - value - mp.loggamma(y + 1)
        if s <= 0:
            return mp.mpf(0) if y == 0 else -mp.inf
        return y * mp.log(s) - s - mp.loggamma(y + 1)

    return log_density


for _y in (0, 4, 300):
    for _rate in ("exp", "softplus", "rectified"):
        _log_density = _poisson(_y, _rate)
        _log_density.__name__ = f"poisson_{_rate}_{_y}"
        _centre = [0] if _rate != "exp" or _y == 0 else [0, float(np.log(_y))]
        _support = (mp.mpf(0), mp.inf) if _rate == "rectified" and _y > 0 else (-mp.inf, mp.inf)
        potential(["Poisson", [_y, _rate]], kinks=_centre, support=_support)(_log_density)


@potential(["Step", [0.0]], kinks=[0], support=(mp.mpf(0), mp.inf))
def step(s):
    return mp.mpf(0) if s > 0 else -mp.inf


_NODES, _WEIGHTS = [], []
for _x in np.polynomial.legendre.leggauss(24)[0]:
    _root = mp.findroot(lambda t: mp.legendre(24, t), mp.mpf(_x))
    _slope = 24 * (_root * mp.legendre(24, _root) - mp.legendre(23, _root)) / (_root**2 - 1)
    _NODES.append(_root)
    _WEIGHTS.append(2 / ((1 - _root**2) * _slope**2))


def moments(key, c, v, f):
    """Return (log normaliser, mean, variance) as mpmath numbers, to about 1e-15."""
    _, log_density, kinks, scale, find_modes, (lower, upper) = POTENTIALS[key]
    c, v, f = mp.mpf(c), mp.mpf(v), mp.mpf(f)
    sd = mp.sqrt(v)

    def level(s):
        if s < lower or s > upper or (s == lower and log_density(s) == -mp.inf):
            return -mp.inf
        return f * log_density(s) - (s - c) ** 2 / (2 * v)

    if find_modes is not None:
        centres = find_modes(c, v, f)
    else:
        centres = [_mode(level, c, sd, kinks, lower, upper)]
    peak = max(level(m) for m in centres)
    ends = []
    for sign, start in (
        (-1, min([*centres, c] if find_modes else centres)),
        (1, max([*centres, c] if find_modes else centres)),
    ):
        near, far = mp.mpf(0), sd * mp.mpf(2) ** -200
        while level(start + sign * far) > peak - DROP:
            near, far = far, 2 * far
        for _ in range(30):
            middle = mp.sqrt(near * far) if near else far / 2**10
            near, far = (middle, far) if level(start + sign * middle) > peak - DROP else (near, middle)
        ends.append(max(min(start + sign * far, upper), lower))
    points = {ends[0], ends[1]}
    width = ends[1] - ends[0]
    for centre in [c, *centres, *kinks]:
        smallest = width * mp.mpf(2) ** (-70 if centre in kinks else -12)
        reach = width + abs(centre - ends[0]) + abs(centre - ends[1])
        points.add(centre)
        step = smallest
        while step < reach:
            points.update((centre - step, centre + step))
            step *= 2
    for k in range(1, 24):
        points.add(ends[0] + width * k / 24)
    points = sorted(p for p in points if ends[0] <= p <= ends[1])

    def piece(a, b):
        half, middle = (b - a) / 2, (a + b) / 2
        total = [mp.mpf(0)] * 3
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            x = middle + half * node
            value = weight * half * mp.exp(level(x) - peak)
            total = [total[k] + value * (x - centres[0]) ** k for k in range(3)]
        return total

    coarse, fine = [mp.mpf(0)] * 3, [mp.mpf(0)] * 3
    for a, b in pairwise(points):
        if max(level(a), level(b)) < peak - DROP and b - a < width / 100:
            continue
        middle = (a + b) / 2
        for total, parts in ((coarse, [(a, b)]), (fine, [(a, middle), (middle, b)])):
            for part in parts:
                for k, value in enumerate(piece(*part)):
                    total[k] += value
    results = []
    for zero, one, two in (coarse, fine):
        mean = one / zero
        results.append((mp.log(zero) + peak - mp.log(2 * mp.pi * v) / 2, centres[0] + mean, two / zero - mean**2))
    (z0, m0, v0), (z1, m1, v1) = results
    error = max(abs(z0 - z1) / max(1, abs(z1)), abs(m0 - m1) / mp.sqrt(v1), abs(v0 / v1 - 1))
    assert error < mp.mpf(10) ** -14, (key, c, v, f, float(error))
    return z1, m1, v1


def _mode(level, c, sd, kinks, lower, upper):
    """Maximum of a concave function: golden steps would lose digits, the sign of a tiny difference does not."""
    low, high = max(c - sd, lower), min(c + sd, upper)
    tiny = mp.mpf(10) ** -30

    def rising(s):
        step = tiny * (abs(s) + sd)
        below, above = level(s - step), level(s + step)
        if below == -mp.inf and above == -mp.inf:
            return s < c or s <= lower
        return above > below

    step = sd
    low = high = min(max(c, lower), upper)
    while low > lower and not rising(low):
        low, step = max(low - step, lower), 2 * step
    step = sd
    while high < upper and rising(high):
        high, step = min(high + step, upper), 2 * step
    for _ in range(300):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) else (low, middle)
        if high - low < mp.mpf(10) ** -25 * sd * mp.mpf(10) ** -10:
            break
    candidates = [(low + high) / 2, *[k for k in kinks if level(k) > -mp.inf]]
    return max(candidates, key=level)


DEVIATIONS = (0.0, 0.7, -3.0, 40.0, -40.0, 1e4, -1e4)
VARIANCES = (1e-10, 1e-3, 1.0, 50.0, 1e5, 1e10)
FRACTIONS = (1.0, 0.9, 0.5, 0.1)


def rows(per_potential, seed=0):
    """A seeded selection of the grid for each potential; fraction 1 takes half of it."""
    rng = np.random.default_rng(seed)
    grid = [(d, v, f) for d in DEVIATIONS for v in VARIANCES for f in FRACTIONS]
    weight = np.array([3.0 if f == 1.0 else 1.0 for _, _, f in grid])
    for key in POTENTIALS:
        for index in sorted(rng.choice(len(grid), per_potential, replace=False, p=weight / weight.sum())):
            deviation, variance, fraction = grid[index]
            yield key, deviation * float(np.sqrt(variance)), variance, fraction


def main(per_potential=24):
    table = []
    for key, mean, variance, fraction in rows(per_potential):
        values = moments(key, mean, variance, fraction)
        table.append([key, mean, variance, fraction, *(float(value) for value in values)])
        print(*table[-1], file=sys.stderr)
    potentials = {key: entry[0] for key, entry in POTENTIALS.items()}
    lines = ",\n  ".join(json.dumps(row) for row in table)
    text = f'{{"potentials": {json.dumps(potentials)},\n "columns": ["potential", "mean", "variance", "fraction",'
    text += f' "log_normaliser", "tilted_mean", "tilted_variance"],\n "rows": [\n  {lines}\n ]}}\n'
    Path(__file__).with_name("tilted_reference.json").write_text(text)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
