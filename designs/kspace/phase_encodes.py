"""Phase encodes of a 3-D scan: one read-out of a volume, as candidates of a design.

A scan of a volume (n0, n1, n2) reads out one axis completely; what is chosen are pairs of indices along the two others
(`encode_indices`). After the transform along the read-out every plane (n0, n1) is a problem of its own, whose encodes
are single points: there ``readout`` is None. An encode knows how to measure itself; a pool only knows indices, and
makes encodes when asked.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.fft

from adaptive.checks import choice, integer
from adaptive.operators import FourierMask, Operator
from designs.kspace.encode_indices import central_encodes, checked_encodes, mirror_encodes, rank

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["PhaseEncode", "PhaseEncodePool", "phase_encodes"]

LARGEST_VOLUME = 2**27  # voxels: beyond it one complex volume takes more than a GB


class PhaseEncode(FourierMask):
    """One read-out of a volume: the operator that measures it, and its indices.

    Parameters
    ----------
    shape : tuple of three int, or of two
        Shape of the volume, or of one plane of it after the transform along the read-out.
    encode : pair of int
        Indices along the two axes that are not read out, in order.
    readout : int, default 0
        The axis that is read out; of a plane there is none.

    Attributes
    ----------
    encode, readout
    mask : ndarray of bool, shape of the volume
        Where in k-space it measures; made when it is looked at.

    Notes
    -----
    Two encodes are equal when shape, read-out and indices are. Products transform the read-out only: the other two axes
    are one sum with exponentials.

    Examples
    --------
    >>> dc = PhaseEncode((4, 6, 8), (3, 4))
    >>> dc
    PhaseEncode((4, 6, 8), (3, 4), readout=0)
    >>> dc.shape, np.abs(dc.forward(np.ones((4, 6, 8)))).round(9)
    ((4, 192), array([ 0.        ,  0.        , 13.85640646,  0.        ]))
    """

    def __init__(self, shape: Sequence[int], encode: Sequence[int], readout: int | None = 0):
        sides, self.readout = _checked_scan(shape, readout)
        one = checked_encodes(_plane(sides, self.readout), [encode])[0]
        self.encode: tuple[int, int] = (int(one[0]), int(one[1]))
        self._kept: dict[np.dtype, np.ndarray] = {}
        length = 1 if self.readout is None else sides[self.readout]
        Operator.__init__(self, sides, (length,), complex)

    @cached_property
    def mask(self) -> np.ndarray:  # type: ignore[override]
        """Mask of what it measures in k-space."""
        mask = np.zeros(self.input_shape, bool)
        _by_plane(mask, self.readout)[..., self.encode[0], self.encode[1]] = True
        return mask

    @cached_property
    def _positions(self) -> np.ndarray:  # type: ignore[override]
        return np.flatnonzero(self.mask)

    @property
    def _waves(self) -> tuple[np.ndarray, np.ndarray]:
        """The exponentials of the two other axes."""
        waves = []
        for k, n in zip(self.encode, _plane(self.input_shape, self.readout), strict=True):
            # The product of integers is taken modulo n: exact phases, however large it is.
            turns = (k - n // 2) * (np.arange(n) - n // 2) % n
            waves.append(np.exp(-2j * np.pi / n * turns) / np.sqrt(n))
        return waves[0], waves[1]

    def _forward(self, u: np.ndarray) -> np.ndarray:
        first, second = (wave.astype(np.result_type(u, np.complex64)) for wave in self._waves)
        line = _by_plane(u, self.readout, 1) @ second @ first
        if self.readout is None:
            return line[:, None]
        line = scipy.fft.fft(scipy.fft.ifftshift(line, 1), axis=1, norm="ortho")
        return scipy.fft.fftshift(line, 1)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        first, second = (wave.astype(np.result_type(v, np.complex64)).conj() for wave in self._waves)
        if self.readout is None:
            return v[:, :, None] * (first[:, None] * second)
        line = scipy.fft.ifft(scipy.fft.ifftshift(v, 1), axis=1, norm="ortho")
        line = scipy.fft.fftshift(line, 1)
        volume = line[:, :, None, None] * (first[:, None] * second)
        return np.ascontiguousarray(np.moveaxis(volume, 1, 1 + self.readout))

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        return Operator._normal(self, u, weights)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PhaseEncode) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"PhaseEncode({self.input_shape}, {self.encode}, readout={self.readout})"

    def _key(self) -> tuple[tuple[int, ...], tuple[int, int], int | None]:
        return self.input_shape, self.encode, self.readout


class PhaseEncodePool:
    """Candidate phase encodes of one 3-D scan; an encode's operator is made when it is looked at.

    Parameters
    ----------
    shape, readout
        As of :class:`PhaseEncode`.
    encodes : array-like (m, 2) of int
        Indices of the candidates along the two axes that are not read out, in any order, none twice.

    Attributes
    ----------
    image_shape : tuple of three int, or of two
    encodes : ndarray (m, 2) of int
    readout : int, or None of a plane

    Examples
    --------
    >>> pool = PhaseEncodePool((8, 4, 4), [[2, 2], [2, 3], [0, 1]])
    >>> len(pool), pool[1].encode, pool.take([2, 0]).labels()
    (3, (2, 3), [(0, 1), (2, 2)])
    """

    def __init__(self, shape: Sequence[int], encodes: ArrayLike, readout: int | None = 0):
        self.image_shape, self.readout = _checked_scan(shape, readout)
        self.encodes = checked_encodes(self.plane, encodes)

    @property
    def plane(self) -> tuple[int, int]:
        """Sides of the plane of phase encodes."""
        return _plane(self.image_shape, self.readout)

    def __len__(self) -> int:
        return len(self.encodes)

    def __getitem__(self, position: int) -> PhaseEncode:
        return PhaseEncode(self.image_shape, self.encodes[position], self.readout)

    def __iter__(self) -> Iterator[PhaseEncode]:
        return (self[position] for position in range(len(self)))

    def __repr__(self) -> str:
        return f"PhaseEncodePool({self.image_shape}, {len(self)} encodes, readout={self.readout})"

    def take(self, positions: ArrayLike) -> PhaseEncodePool:
        """The pool of the encodes at ``positions``."""
        return self._with(self.encodes[np.asarray(positions, dtype=int)])

    def concatenate(self, pools: Sequence[PhaseEncodePool]) -> PhaseEncodePool:
        """The encodes of several pools of this scan, one after the other."""
        for pool in pools:
            if not isinstance(pool, PhaseEncodePool) or (pool.image_shape, pool.readout) != (
                self.image_shape,
                self.readout,
            ):
                raise ValueError(f"only phase encodes of the same scan can be joined, got {self!r} and {pool!r}")
        return self._with(np.concatenate([pool.encodes for pool in pools]))

    def labels(self, positions: ArrayLike | None = None) -> list[tuple[int, int]]:
        """Pairs of plain integers: of all encodes, or of those at ``positions``."""
        chosen = self.encodes if positions is None else self.encodes[np.asarray(positions, dtype=int)]
        return [(int(a), int(b)) for a, b in chosen]

    def fingerprint(self) -> str:
        """The same for equal pools, as a SHA-256 digest."""
        text = f"kspace phase encodes {self.image_shape} {self.readout} {self.encodes.tolist()}"
        return hashlib.sha256(text.encode()).hexdigest()

    def positions(self, encodes: ArrayLike) -> np.ndarray:
        """Positions of these encodes in the pool, in their order; what a loop's ``initial`` wants.

        Raises
        ------
        ValueError
            If an encode is not in the pool.
        """
        where = {encode: position for position, encode in enumerate(self.labels())}
        wanted = [tuple(one) for one in np.asarray(encodes, dtype=int).reshape(-1, 2).tolist()]
        absent = [one for one in wanted if one not in where]
        if absent:
            raise ValueError(f"encode {absent[0]} is not among the {len(self)} candidates of this pool.")
        return np.array([where[one] for one in wanted], dtype=int)

    def mask(self) -> np.ndarray:
        """The plane of phase encodes, True where there is a candidate."""
        found = np.zeros(self.plane, bool)
        found[self.encodes[:, 0], self.encodes[:, 1]] = True
        return found

    def _with(self, encodes: np.ndarray) -> PhaseEncodePool:
        # Without the check for duplicates: pending and further candidates are joined while they are scored.
        pool = object.__new__(PhaseEncodePool)
        pool.image_shape, pool.readout, pool.encodes = self.image_shape, self.readout, encodes
        return pool


def phase_encodes(
    shape: Sequence[int], readout: int | None = 0, half_plane: bool = False, n_central: int = 1
) -> PhaseEncodePool:
    """All candidate phase encodes of a 3-D scan, in order of their indices.

    Parameters
    ----------
    shape, readout
        As of :class:`PhaseEncode`.
    half_plane : bool, default False
        Leave out one of every pair of mirrored encodes, except the central ones.
    n_central : int, default 1
        Number of central encodes, which are candidates on both sides.

    Returns
    -------
    PhaseEncodePool

    Examples
    --------
    >>> len(phase_encodes((16, 8, 8))), len(phase_encodes((16, 8, 8), half_plane=True))
    (64, 34)
    >>> phase_encodes((8, 8))
    PhaseEncodePool((8, 8), 64 encodes, readout=None)
    """
    sides, readout = _checked_scan(shape, readout)
    plane = _plane(sides, readout)
    every = np.stack(np.unravel_index(np.arange(plane[0] * plane[1]), plane), axis=1)
    if half_plane:
        centre = central_encodes(plane, n_central)
        kept = rank(plane, every) <= rank(plane, mirror_encodes(plane, every))
        kept |= np.isin(rank(plane, every), rank(plane, centre))
        every = every[kept]
    return PhaseEncodePool(sides, every, readout)


def _checked_scan(shape: Sequence[int], readout: int | None) -> tuple[tuple[int, ...], int | None]:
    given = tuple(shape) if np.ndim(shape) == 1 else ()
    if len(given) not in (2, 3):
        raise ValueError(f"shape must be the three sides of a volume, or the two of one plane of it, got {shape!r}.")
    if len(given) == 3:
        choice("readout", str(readout), ("0", "1", "2"))
    sides = tuple(integer("shape", side, minimum=1) for side in given)
    if math.prod(sides) > LARGEST_VOLUME:
        raise ValueError(
            f"a volume of shape {sides} has {math.prod(sides):.3g} voxels; designs take at most "
            f"{LARGEST_VOLUME:.3g}: design on a smaller volume, or on one plane after the transform along the read-out."
        )
    return sides, None if readout is None or len(sides) == 2 else int(readout)


def _plane(shape: tuple[int, ...], readout: int | None) -> tuple[int, int]:
    """Sides of the plane of phase encodes."""
    first, second = (side for axis, side in enumerate(shape) if axis != readout)
    return first, second


def _by_plane(array: np.ndarray, readout: int | None, first: int = 0) -> np.ndarray:
    """A view of volumes with the read-out before the plane, after ``first`` other axes; planes are left alone."""
    return array if readout is None else np.moveaxis(array, first + readout, first)
