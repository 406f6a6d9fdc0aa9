"""Comparison designs in two phase-encode directions: which encodes to measure without looking at any data.

low-pass (a disc), uniform, variable density, Poisson disc with variable density. Each holds the encodes nearest to DC,
``n_central`` of them, and returns sorted pairs of indices. With ``half_plane`` no encode is measured together with its
mirror, which an image without phase makes pointless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import choice, finite, generator, integer, positive
from designs.kspace.density_draws import drawn, lifted
from designs.kspace.encode_indices import as_encodes, central_encodes, mirror_encodes, rank, relative_radius
from designs.kspace.poisson_disc import poisson_disc

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = [
    "comparison_encodes",
    "low_pass_encodes",
    "poisson_disc_encodes",
    "uniform_encodes",
    "variable_density_encodes",
]


def low_pass_encodes(
    plane: Sequence[int], n_encodes: int, n_central: int = 1, *, half_plane: bool = False
) -> np.ndarray:
    """The encodes nearest to DC: a disc, or one half of a larger one.

    Parameters
    ----------
    plane : pair of int
        Sides of the plane of phase encodes.
    n_encodes : int
        Number of encodes to measure, the central ones included.
    n_central : int, default 1
        Number of central encodes.
    half_plane : bool, default False
        Measure no encode whose mirror is measured, outside of the centre.

    Returns
    -------
    ndarray (n_encodes, 2) of int
        Sorted.

    Raises
    ------
    ValueError
        If there are fewer encodes than central ones, or more than there are (on one side).

    Examples
    --------
    >>> low_pass_encodes((8, 8), 5).tolist()
    [[3, 4], [4, 3], [4, 4], [4, 5], [5, 4]]
    """
    plane, n_encodes, centre, rest = _start(plane, n_encodes, n_central, half_plane)
    nearest = np.argsort(relative_radius(plane)[rest[:, 0], rest[:, 1]].round(12), kind="stable")
    return _design(plane, centre, rest[nearest[: n_encodes - len(centre)]])


def uniform_encodes(
    plane: Sequence[int], n_encodes: int, n_central: int, *, half_plane: bool = False, random_state: RandomState = None
) -> np.ndarray:
    """The central encodes, and others drawn with equal probability, none twice.

    Parameters
    ----------
    plane : pair of int
        Numbers of phase encodes along the two axes.
    n_encodes, n_central : int
        Encodes in all, and around DC.
    half_plane : bool, default False
        Outside the centre only one of two encodes that mirror each other.
    random_state : None, int or NumPy generator

    Returns
    -------
    ndarray of int, shape (n_encodes, 2)
        Sorted.

    Examples
    --------
    >>> uniform_encodes((16, 16), 40, 9, random_state=0).shape
    (40, 2)
    """
    plane, n_encodes, centre, rest = _start(plane, n_encodes, n_central, half_plane)
    picked = generator(random_state).permutation(len(rest))[: n_encodes - len(centre)]
    return _design(plane, centre, rest[picked])


def variable_density_encodes(
    plane: Sequence[int],
    n_encodes: int,
    n_central: int,
    *,
    exponent: float = 3.0,
    half_plane: bool = False,
    random_state: RandomState = None,
) -> np.ndarray:
    """The central encodes, and others drawn without replacement from a density that falls off polynomially.

        density = clip((1 - |k|)^exponent + c, 0, 1),       |k| = 1 at the largest frequency, 0 in the corners

    with c such that densities add up to the number of encodes wanted.

    Parameters
    ----------
    plane, n_encodes, n_central, half_plane
        As in ``low_pass_encodes``.
    exponent : float > 0, default 3
        Larger: a narrower peak and a heavier tail.
    random_state : None, int or NumPy generator

    Returns
    -------
    ndarray (n_encodes, 2) of int

    References
    ----------
    M. Lustig, D. Donoho, J. Pauly (2007), "Sparse MRI".

    Examples
    --------
    >>> variable_density_encodes((16, 16), 40, 9, random_state=0).shape
    (40, 2)
    """
    plane, n_encodes, centre, rest = _start(plane, n_encodes, n_central, half_plane)
    falling = np.maximum(1 - relative_radius(plane)[rest[:, 0], rest[:, 1]], 0) ** positive("exponent", exponent)
    wanted, rng = n_encodes - len(centre), generator(random_state)
    return _design(plane, centre, drawn(rest, lifted(falling, wanted), wanted, rng))


def poisson_disc_encodes(
    plane: Sequence[int],
    n_encodes: int,
    n_central: int,
    *,
    slope: float = 3.0,
    half_plane: bool = False,
    random_state: RandomState = None,
) -> np.ndarray:
    """The central encodes, and others at random that keep a distance r (1 + slope |k|) from one another.

    Parameters
    ----------
    plane, n_encodes, n_central, half_plane
        As in ``low_pass_encodes``.
    slope : float >= 0, default 3
        How fast the distance grows outwards; 0: the same everywhere.
    random_state : None, int or NumPy generator

    Returns
    -------
    ndarray (n_encodes, 2) of int

    Notes
    -----
    r is found by bisection; where no r gives the number asked for, the next larger number is thrown and a few are left
    out at random.

    References
    ----------
    R. Bridson (2007), Fast Poisson disk sampling in arbitrary dimensions; in MRI: Lustig and Pauly (2010), SPIRiT.

    Examples
    --------
    >>> poisson_disc_encodes((16, 16), 40, 9, random_state=0).shape
    (40, 2)
    """
    plane, n_encodes, centre, rest = _start(plane, n_encodes, n_central, half_plane)
    growth = 1 + float(positive("slope", slope, or_zero=True)) * relative_radius(plane)
    return _design(plane, centre, poisson_disc(centre, rest, n_encodes - len(centre), growth, random_state))


def comparison_encodes(
    plane: Sequence[int],
    n_encodes: int,
    n_central: int,
    *,
    tuned: Mapping[str, float] | None = None,
    half_plane: bool = False,
    n_draws: int = 10,
    random_state: RandomState = None,
) -> dict[str, list[np.ndarray]]:
    """All comparison designs of one size: one low-pass disc, ``n_draws`` of each random design.

    Parameters
    ----------
    plane, n_encodes, n_central, half_plane
        As in ``low_pass_encodes``.
    tuned : mapping, optional
        The exponent of "variable_density" and the slope of "poisson_disc", where they were tuned.
    n_draws : int, default 10
    random_state : None, int or NumPy generator
        Each random design has a stream of its own.

    Returns
    -------
    dict of design to list of arrays (n_encodes, 2)

    Examples
    --------
    >>> {name: len(draws) for name, draws in comparison_encodes((16, 16), 40, 9, n_draws=2, random_state=0).items()}
    {'low_pass': 1, 'uniform': 2, 'variable_density': 2, 'poisson_disc': 2}
    """
    settings = {} if tuned is None else dict(tuned)
    for name in settings:
        choice("tuned", name, ("variable_density", "poisson_disc"))
    streams = generator(random_state).spawn(3)
    n_draws = integer("n_draws", n_draws, minimum=1)
    about = (plane, n_encodes, n_central)
    exponent, slope = settings.get("variable_density", 3.0), settings.get("poisson_disc", 3.0)

    def several(design: Callable[..., np.ndarray], stream: np.random.Generator, **more: float) -> list[np.ndarray]:
        return [design(*about, half_plane=half_plane, random_state=stream, **more) for _ in range(n_draws)]

    return {
        "low_pass": [low_pass_encodes(*about, half_plane=half_plane)],
        "uniform": several(uniform_encodes, streams[0]),
        "variable_density": several(variable_density_encodes, streams[1], exponent=exponent),
        "poisson_disc": several(poisson_disc_encodes, streams[2], slope=slope),
    }


def _start(
    plane: Sequence[int], n_encodes: int, n_central: int, half_plane: bool
) -> tuple[tuple[int, int], int, np.ndarray, np.ndarray]:
    """The plane, how many encodes, the central ones, and those there are to choose from besides."""
    n_encodes, centre = integer("n_encodes", n_encodes), central_encodes(plane, n_central)
    sides = (int(plane[0]), int(plane[1]))
    rest = np.argwhere(np.ones(sides, bool))
    rest = rest[~np.isin(rank(sides, rest), rank(sides, centre))]
    if half_plane:
        rest = rest[rank(sides, rest) <= rank(sides, mirror_encodes(sides, rest))]
    if n_encodes < len(centre):
        raise ValueError(
            f"n_encodes counts the central encodes too: it must be at least n_central = {len(centre)}, got {n_encodes}."
        )
    if n_encodes > len(centre) + len(rest):
        there = "that there are without mirrors" if half_plane else "that there are"
        raise ValueError(f"n_encodes must be at most {len(centre) + len(rest)}, those {there}, got {n_encodes}.")
    return sides, n_encodes, centre, rest


def _design(plane: tuple[int, int], centre: np.ndarray, others: np.ndarray) -> np.ndarray:
    return as_encodes(plane, finite("encodes", np.concatenate([centre, others]), dtype=int), 0)
