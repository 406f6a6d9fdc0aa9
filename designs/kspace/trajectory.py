"""Shots off the Cartesian grid - spokes, interleaves of spirals, any others - as candidates of a design.

A pool holds the samples of all shots, in radians per pixel, (m, d, axes) where they have the same length; the operator
of a shot is made when it is looked at. Shots are called by their angle where they have one, else by a name or number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import finite
from adaptive.operators import NonuniformFourier
from adaptive.operators.shapes import image_shape
from designs.kspace.angles import spoke_samples
from designs.kspace.limits import GradientLimits
from designs.kspace.spiral import spiral_samples

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Trajectory", "TrajectoryPool", "spirals", "spokes"]


class Trajectory(NonuniformFourier):
    """One shot: the operator that measures it, and what it is called.

    Parameters
    ----------
    shape : tuple of one to three int
        Shape of the image.
    samples : array (d, axes)
        Radians per pixel, each in [-pi, pi).
    name : number or str, optional
        Its angle, as a rule.

    Notes
    -----
    Two trajectories are equal when shape and samples are.

    Examples
    --------
    >>> shot = Trajectory((8, 8), [[0.0, 0.0], [0.5, 0.1]], name="short")
    >>> shot, shot.shape
    (Trajectory((8, 8), 2 samples, 'short'), (2, 64))
    """

    def __init__(self, shape: int | Sequence[int], samples: ArrayLike, name: float | str | None = None):
        super().__init__(shape, samples)
        self.name = name

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Trajectory)
            and self.input_shape == other.input_shape
            and np.array_equal(self.samples, other.samples)
        )

    def __hash__(self) -> int:
        return hash((self.input_shape, self.samples.tobytes()))

    def __repr__(self) -> str:
        name = "" if self.name is None else f", {self.name!r}"
        return f"Trajectory({self.input_shape}, {len(self.samples)} samples{name})"


class TrajectoryPool:
    """Candidate shots of one scan.

    Parameters
    ----------
    shape : tuple of one to three int
        Shape of the image.
    samples : array (m, d, axes), or list of arrays (d_k, axes)
        Of every shot, in radians per pixel.
    names : sequence of numbers or str, optional
        What the shots are called: their angles, as a rule. Default 0 to m - 1.

    Attributes
    ----------
    image_shape : tuple of int
    samples : array (m, d, axes), or list of arrays where shots differ in length
    names : tuple

    Raises
    ------
    ValueError
        If samples are not finite, outside [-pi, pi), look like other units, or have another number of axes than the
        image; if there is not one name per shot.

    Examples
    --------
    >>> pool = TrajectoryPool((8, 8), np.zeros((3, 5, 2)), names=[0.0, 0.1, 0.2])
    >>> pool, pool[1], pool.take([2, 0]).labels()
    (TrajectoryPool((8, 8), 3 shots), Trajectory((8, 8), 5 samples, 0.1), [0.2, 0.0])
    """

    def __init__(
        self, shape: int | Sequence[int], samples: Iterable[ArrayLike], names: Sequence[float | str] | None = None
    ):
        self.image_shape = image_shape("shape", shape)
        shots = [np.atleast_2d(finite(f"samples[{k}]", one)) for k, one in enumerate(samples)]
        if shots:  # all at once: the operator knows what it accepts
            lengths = np.cumsum([len(one) for one in shots])[:-1]
            shots = np.split(NonuniformFourier(self.image_shape, np.concatenate(shots)).samples, lengths)
        self.samples = _together(shots)
        self.names = tuple(range(len(shots))) if names is None else tuple(_plain(name) for name in names)
        if len(self.names) != len(shots):
            raise ValueError(f"names must hold one name for each of the {len(shots)} shots, got {len(self.names)}.")

    @property
    def angles(self) -> np.ndarray:
        """The names as an array of radians, where they are numbers."""
        return finite("the names of the shots", self.names)

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, position: int) -> Trajectory:
        return Trajectory(self.image_shape, self.samples[position], self.names[position])

    def __iter__(self) -> Iterator[Trajectory]:
        return (self[position] for position in range(len(self)))

    def __repr__(self) -> str:
        return f"TrajectoryPool({self.image_shape}, {len(self)} shots)"

    def take(self, positions: ArrayLike) -> TrajectoryPool:
        """The pool of the shots at ``positions``."""
        chosen = np.asarray(positions, dtype=int)
        return self._with([self.samples[k] for k in chosen], [self.names[k] for k in chosen])

    def concatenate(self, pools: Sequence[TrajectoryPool]) -> TrajectoryPool:
        """The shots of several pools of images of this shape, one after the other."""
        for pool in pools:
            if not isinstance(pool, TrajectoryPool) or pool.image_shape != self.image_shape:
                raise ValueError(f"only shots of images of one shape can be joined, got {self!r} and {pool!r}")
        return self._with([one for pool in pools for one in pool.samples], [n for pool in pools for n in pool.names])

    def labels(self, positions: ArrayLike | None = None) -> list[Any]:
        """Names of all shots, or of those at ``positions``."""
        return list(self.names) if positions is None else [self.names[k] for k in np.asarray(positions, dtype=int)]

    def positions(self, names: float | str | Sequence[float | str] | np.ndarray) -> np.ndarray:
        """Positions in the pool of the shots of these names, in their order; angles need to agree to 1e-9."""
        found = []
        for name in names if isinstance(names, (list, tuple, np.ndarray)) else [names]:
            at = [k for k, known in enumerate(self.names) if _same(known, name)]
            if not at:
                raise ValueError(f"no shot is called {_plain(name)!r} among the {len(self)} of this pool.")
            found.append(at[0])
        return np.array(found, dtype=int)

    def fingerprint(self) -> str:
        """The same for equal pools, as a SHA-256 digest."""
        digest = hashlib.sha256(f"kspace shots {self.image_shape} {self.names!r}".encode())
        for one in self.samples:
            digest.update(str(one.shape).encode() + np.ascontiguousarray(one, dtype="<f8").tobytes())
        return digest.hexdigest()

    def _with(self, shots: list[np.ndarray], names: list[Any]) -> TrajectoryPool:
        pool = object.__new__(TrajectoryPool)  # what was checked before
        pool.image_shape, pool.samples, pool.names = self.image_shape, _together(shots), tuple(names)
        return pool


def spirals(
    shape: Sequence[int],
    angles: ArrayLike,
    *,
    revolutions: float = 8.0,
    n_samples: int | None = None,
    limits: GradientLimits | None = None,
) -> TrajectoryPool:
    """Interleaves of an Archimedean spiral at given angles, as candidates.

    Parameters
    ----------
    shape : tuple of two int
        Of the image; its longest side is covered to the Nyquist limit, |k| = n/2.
    angles : array-like (m,)
        Radians, from axis 0 towards axis 1.
    revolutions, n_samples, limits
        As in ``spiral_samples``.

    Returns
    -------
    TrajectoryPool

    Examples
    --------
    >>> from designs.kspace import equispaced_angles
    >>> pool = spirals((64, 64), equispaced_angles(16))
    >>> pool.samples.shape, round(float(pool.angles[1]), 4)
    ((16, 201, 2), 0.3927)
    """
    sides, turns = _checked_plane(shape, angles)
    samples = spiral_samples(max(sides), turns, revolutions=revolutions, n_samples=n_samples, limits=limits)
    return TrajectoryPool(sides, samples, turns.tolist())


def spokes(shape: Sequence[int], angles: ArrayLike, *, n_samples: int | None = None) -> TrajectoryPool:
    """Radial spokes at given angles, as candidates.

    Parameters
    ----------
    shape : pair of int
        Of the image.
    angles : array-like (m,)
        In radians.
    n_samples : int, optional
        Of each spoke; default: the larger side of the image, the Nyquist rate.

    Returns
    -------
    TrajectoryPool
        One shot for each angle.

    Examples
    --------
    >>> from designs.kspace import golden_angles
    >>> spokes((32, 32), golden_angles(5))
    TrajectoryPool((32, 32), 5 shots)
    """
    sides, turns = _checked_plane(shape, angles)
    return TrajectoryPool(sides, spoke_samples(max(sides), turns, n_samples=n_samples), turns.tolist())


def _checked_plane(shape: Sequence[int], angles: ArrayLike) -> tuple[tuple[int, ...], np.ndarray]:
    sides = image_shape("shape", shape)
    if len(sides) != 2:
        raise ValueError(f"shape must be the two sides of an image, got {shape!r}.")
    turns = np.atleast_1d(finite("angles", angles))
    if turns.ndim != 1 or not len(turns):
        raise ValueError(f"angles must be a list of one or more angles in radians, got shape {turns.shape}.")
    return sides, turns


def _together(shots: Sequence[np.ndarray]) -> Any:
    """One array where all shots have the same length."""
    if len({one.shape for one in shots}) == 1:
        return np.stack(shots)
    return list(shots)


def _plain(name: object) -> Any:
    return name.item() if isinstance(name, np.generic) else name


def _same(first: object, second: object) -> bool:
    if isinstance(first, (int, float)) and isinstance(second, (int, float, np.integer, np.floating)):
        return abs(first - second) < 1e-9
    return bool(first == second)
