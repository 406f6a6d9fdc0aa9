"""Comparison designs: which lines of a Cartesian scan one would measure without looking at what was measured.

Every design holds the ``n_central`` lines around DC and ``n_lines`` lines in all; they differ in what they add outside:

    low_pass                      the next lines outwards, on both sides
    one_sided_low_pass            the next lines outwards, on one side
    equispaced                    every m-th of the rest
    uniform                       any of the rest, equally likely
    variable_density              any of the rest, more likely near DC
    half_plane_variable_density   any of the rest on one side, more likely near DC
    half_plane_quantiles          on one side at the quantiles of such a density: no randomness

An image that is nearly real says the same on line k and on its mirror -k. The *half-plane rule* therefore leaves
mirrors unmeasured: outside the centre only lines of negative frequency are taken, so that no two lines outside the
centre, and no line and a central one, are mirrors. Where more lines are asked for than that leaves, mirrors are forced:
all of the half plane is taken, and the same recipe chooses among the rest.

All designs return sorted line indices; index 0 is frequency -n/2, index n // 2 is DC.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import choice, finite, generator, integer
from designs.kspace.cartesian import central
from designs.kspace.density_draws import drawn, lifted, shares

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = [
    "comparison_designs",
    "equispaced",
    "half_plane_quantiles",
    "half_plane_variable_density",
    "low_pass",
    "one_sided_low_pass",
    "uniform",
    "variable_density",
]

_Pick = Callable[[np.ndarray, int], np.ndarray]  # (candidate lines, how many) -> that many of them


def low_pass(n: int, n_lines: int, n_central: int = 1, *, half_plane: bool = False) -> np.ndarray:
    """The lines nearest to DC.

    Parameters
    ----------
    n : int
        Number of phase encodes.
    n_lines : int
        Number of lines to measure, the central ones included.
    n_central : int, default 1
        Number of central lines; a low-pass design only needs it to be checked beside others, or for one side.
    half_plane : bool, default False
        True is ``one_sided_low_pass``.

    Returns
    -------
    ndarray of shape (n_lines,), int
        Sorted line indices.

    Raises
    ------
    ValueError
        If there are no central lines, fewer lines than central ones, or more than n.

    Examples
    --------
    >>> low_pass(16, 5)
    array([ 6,  7,  8,  9, 10])
    >>> low_pass(16, 5, 3, half_plane=True)
    array([5, 6, 7, 8, 9])
    """
    n, n_lines, n_central = _checked(n, n_lines, n_central)

    def nearest(lines: np.ndarray, k: int) -> np.ndarray:
        # On a tie the negative frequency goes first, so that a design of n_lines is ``central(n, n_lines)``.
        return lines[np.argsort(np.abs(lines - n // 2), kind="stable")[:k]]

    return _design(n, n_lines, n_central, half_plane, nearest)


def one_sided_low_pass(n: int, n_lines: int, n_central: int) -> np.ndarray:
    """The central lines and the next ones on one side: the low-pass design that measures no mirror.

    `low_pass` reaches half as far with as many lines.

    Parameters
    ----------
    n : int
        Number of phase encodes.
    n_lines, n_central : int
        Lines in all, and around DC.

    Returns
    -------
    ndarray of int, shape (n_lines,)
        Sorted.

    Examples
    --------
    >>> one_sided_low_pass(16, 7, 4)
    array([3, 4, 5, 6, 7, 8, 9])
    """
    return low_pass(n, n_lines, n_central, half_plane=True)


def equispaced(n: int, n_lines: int, n_central: int, *, half_plane: bool = False) -> np.ndarray:
    """The central lines, and lines at equal distances among the rest.

    With the m lines outside the centre in order of frequency, and k of them wanted, line number floor((i + 1/2) m / k)
    is taken for i = 0, ..., k - 1.

    Parameters
    ----------
    n : int
        Number of phase encodes.
    n_lines, n_central : int
        Lines in all, and around DC.
    half_plane : bool, default False
        Outside the centre only lines of negative frequency, no two of which mirror each other.

    Returns
    -------
    ndarray of int, shape (n_lines,)
        Sorted.

    Examples
    --------
    >>> equispaced(16, 8, 4)
    array([ 1,  4,  6,  7,  8,  9, 11, 14])
    """
    n, n_lines, n_central = _checked(n, n_lines, n_central)
    return _design(
        n, n_lines, n_central, half_plane, lambda lines, k: lines[(2 * np.arange(k) + 1) * len(lines) // (2 * k)]
    )


def uniform(
    n: int, n_lines: int, n_central: int, *, half_plane: bool = False, random_state: RandomState = None
) -> np.ndarray:
    """The central lines, and others drawn with equal probability, none twice.

    Parameters
    ----------
    n : int
        Number of phase encodes.
    n_lines, n_central : int
        Lines in all, and around DC.
    half_plane : bool, default False
        Outside the centre only lines of negative frequency, no two of which mirror each other.
    random_state : None, int or NumPy generator

    Returns
    -------
    ndarray of int, shape (n_lines,)
        Sorted.

    Examples
    --------
    >>> lines = uniform(64, 20, 8, random_state=0)
    >>> len(lines), bool(np.isin(np.arange(28, 36), lines).all())
    (20, True)
    """
    n, n_lines, n_central = _checked(n, n_lines, n_central)
    rng = generator(random_state)
    return _design(n, n_lines, n_central, half_plane, lambda lines, k: drawn(lines, np.ones(len(lines)), k, rng))


def variable_density(
    n: int, n_lines: int, n_central: int, *, exponent: float = 3.0, random_state: RandomState = None
) -> np.ndarray:
    """The central lines, and others drawn one after the other from a density that falls off polynomially.

        density(k) = clip((1 - r(k))^exponent + c, 0, 1),        r = |linspace(-1, 1, n)|

    with c by root finding such that the densities of all lines, 1 for the central ones, add up to ``n_lines``: the
    expected number if each were measured by a coin of its own. Lines are drawn without replacement in proportion to it.

    Parameters
    ----------
    n, n_lines, n_central
        As in ``low_pass``.
    exponent : float > 0, default 3
        Larger: a narrower peak at DC, and, the total being what it is, a heavier tail. Light tails suit few lines; tune
        it within 2 ... 6.
    random_state : None, int or NumPy generator
        Seed of the draw.

    Returns
    -------
    ndarray of shape (n_lines,), int
        Sorted line indices.

    Notes
    -----
    Where (1 - r)^exponent alone adds up to more than asked for, c is negative and the outermost lines are never drawn.

    References
    ----------
    M. Lustig, D. Donoho, J. Pauly (2007), "Sparse MRI", on variable density sampling; H. Nickisch (2010), chapter 6,
    with a smaller centre.

    Examples
    --------
    >>> variable_density(256, 64, 32, exponent=4, random_state=1)[:6]
    array([...])
    """
    n, n_lines, n_central = _checked(n, n_lines, n_central)
    falling, rng = _falling(n, exponent), generator(random_state)
    return _design(n, n_lines, n_central, False, lambda lines, k: drawn(lines, lifted(falling[lines], k), k, rng))


def half_plane_variable_density(
    n: int, n_lines: int, n_central: int, *, exponent: float = 6.0, random_state: RandomState = None
) -> np.ndarray:
    """The central lines, and others drawn on one side in proportion to (1 - r)^exponent: no line wasted on a mirror.

    Parameters
    ----------
    n : int
        Number of phase encodes.
    n_lines, n_central : int
        Lines in all, and around DC.
    exponent : float, default 6.0
        Larger means nearer to DC.
    random_state : None, int or NumPy generator

    Returns
    -------
    ndarray of int, shape (n_lines,)
        Sorted.

    Notes
    -----
    No constant is added to the density. On one side, with half as many candidates for as many lines, it would make the
    tail heavy and the design worse.

    Examples
    --------
    >>> lines = half_plane_variable_density(64, 24, 8, random_state=0)
    >>> bool(np.all(lines < 36))
    True
    """
    n, n_lines, n_central = _checked(n, n_lines, n_central)
    falling, rng = _falling(n, exponent), generator(random_state)
    return _design(n, n_lines, n_central, True, lambda lines, k: drawn(lines, falling[lines], k, rng))


def half_plane_quantiles(n: int, n_lines: int, n_central: int, *, exponent: float = 2.0) -> np.ndarray:
    """The central lines, and others on one side at the quantiles of a density that falls off polynomially.

        share(k) = min(1, c (1 - r(k))^exponent),        sum of the shares = number of lines wanted

    Outwards from the centre a line is taken wherever the sum of the shares passes 1/2, 3/2, 5/2, ...: what a density
    means on average, without the chance of a draw.

    Parameters
    ----------
    n : int
        Number of phase encodes.
    n_lines, n_central : int
        Lines in all, and around DC.
    exponent : float, default 2.0
        Larger means nearer to DC.

    Returns
    -------
    ndarray of int, shape (n_lines,)
        Sorted.

    Notes
    -----
    One side of k-space has few lines: a draw of `half_plane_variable_density` leaves gaps near DC, and is 1 to 3% worse
    on average than its own quantiles.

    Examples
    --------
    >>> half_plane_quantiles(64, 24, 8)
    array([ 8, 11, 13, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
           29, 30, 31, 32, 33, 34, 35])
    """
    n, n_lines, n_central = _checked(n, n_lines, n_central)
    falling = _falling(n, exponent)

    def at_quantiles(lines: np.ndarray, k: int) -> np.ndarray:
        outwards = lines[np.argsort(np.abs(lines - n // 2), kind="stable")]
        passed = np.floor(np.cumsum(shares(falling[outwards], k)).round(9) + 0.5).astype(int)
        return outwards[np.diff(np.minimum(passed, k), prepend=0) > 0]

    return _design(n, n_lines, n_central, True, at_quantiles)


def comparison_designs(
    n: int,
    n_lines: int,
    n_central: int,
    *,
    exponents: Mapping[str, float] | None = None,
    n_draws: int = 10,
    random_state: RandomState = None,
) -> dict[str, list[np.ndarray]]:
    """All comparison designs of one size: one each of the fixed ones, ``n_draws`` of the random ones.

    Parameters
    ----------
    n, n_lines, n_central
        As in ``low_pass``.
    exponents : mapping of design to exponent, optional
        Of "variable_density", "half_plane_variable_density" and "half_plane_quantiles", where they were tuned.
    n_draws : int, default 10
    random_state : None, int or NumPy generator
        Each random design has a stream of its own: tuning one does not change the draws of another.

    Returns
    -------
    dict of design to list of arrays (n_lines,)

    Examples
    --------
    >>> found = comparison_designs(64, 24, 8, n_draws=2, random_state=0)
    >>> {name: len(draws) for name, draws in found.items()}
    {'low_pass': 1, 'equispaced': 1, 'uniform': 2, 'variable_density': 2, 'half_plane_variable_density': 2,
     'one_sided_low_pass': 1, 'half_plane_quantiles': 1}
    """
    powers = {} if exponents is None else dict(exponents)
    for name in powers:
        choice("exponents", name, ("variable_density", "half_plane_variable_density", "half_plane_quantiles"))
    n_draws = integer("n_draws", n_draws, minimum=1)
    streams = generator(random_state).spawn(3)

    def power(design: Callable[..., np.ndarray]) -> dict[str, float]:
        return {"exponent": powers[design.__name__]} if design.__name__ in powers else {}

    def several(design: Callable[..., np.ndarray], stream: np.random.Generator) -> list[np.ndarray]:
        return [design(n, n_lines, n_central, random_state=stream, **power(design)) for _ in range(n_draws)]

    return {
        "low_pass": [low_pass(n, n_lines, n_central)],
        "equispaced": [equispaced(n, n_lines, n_central)],
        "uniform": several(uniform, streams[0]),
        "variable_density": several(variable_density, streams[1]),
        "half_plane_variable_density": several(half_plane_variable_density, streams[2]),
        "one_sided_low_pass": [one_sided_low_pass(n, n_lines, n_central)],
        "half_plane_quantiles": [half_plane_quantiles(n, n_lines, n_central, **power(half_plane_quantiles))],
    }


def _design(n: int, n_lines: int, n_central: int, half_plane: bool, pick: _Pick) -> np.ndarray:
    centre = central(n, n_central)
    outside = np.setdiff1d(np.arange(n), centre)
    groups = [outside[outside < n // 2], outside[outside > n // 2]] if half_plane else [outside]
    chosen, left = [centre], n_lines - n_central
    for group in groups:  # the second one only when mirrors are forced
        k = min(left, len(group))
        if k:
            chosen.append(pick(group, k))
        left -= k
    return np.sort(np.concatenate(chosen))


def _falling(n: int, exponent: float) -> np.ndarray:
    """(1 - r)^exponent of all lines, r = |linspace(-1, 1, n)|."""
    power = float(finite("exponent", exponent))
    if power <= 0:
        raise ValueError(f"exponent must be > 0 (the density falls off towards high frequencies), got {exponent!r}.")
    return (1 - np.abs(np.linspace(-1, 1, n))) ** power if n > 1 else np.ones(1)


def _checked(n: int, n_lines: int, n_central: int) -> tuple[int, int, int]:
    n, n_lines = integer("n", n, minimum=1), integer("n_lines", n_lines)
    if integer("n_central", n_central) < 1:
        raise ValueError(
            f"n_central must be at least 1 (without central lines an image has no scale and no phase), got {n_central}."
        )
    if n_lines < n_central:
        raise ValueError(
            f"n_lines counts the central lines too: it must be at least n_central = {n_central}, got {n_lines}."
        )
    if n_lines > n:
        raise ValueError(f"n_lines must be at most n = {n}, the number of lines that there are, got {n_lines}.")
    return n, n_lines, int(n_central)
