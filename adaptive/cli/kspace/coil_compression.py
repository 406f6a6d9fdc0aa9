"""Coils of raw samples as fewer virtual ones (``--compress``): what is estimated and planned costs in proportion.

    auto    as few as keep 99% of the energy in the centre of k-space, where there are more than 12 coils
    off     all coils as they are
    N       so many

Noise that is white stays white: virtual coils are orthonormal sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.images import compress_coils

__all__ = ["Compressed", "compressed"]

MANY = 12  # coils that are left as they are
_CENTRE = 32  # samples along every axis that decide, at most: farther out noise would count for energy


class Compressed(NamedTuple):
    """Result of `compressed`.

    Attributes
    ----------
    samples : array (coils, h, w)
    matrix : array (coils, coils before) or None
        None: they are as they were.
    said : str
        "32 coils", or what became of them.
    """

    samples: np.ndarray
    matrix: np.ndarray | None
    said: str


def compressed(samples: np.ndarray, wanted: int | str, option: str, title: str) -> Compressed:
    """Samples of fewer coils, where that is wanted.

    Parameters
    ----------
    samples : array (coils, h, w)
        Centred k-space.
    wanted : int, "auto" or "off"
    option, title : str
        Where the samples come from, for messages.

    Raises
    ------
    CommandError
        If there are fewer coils than are wanted.
    """
    n = len(samples)
    if isinstance(wanted, int) and wanted > n:
        raise CommandError(f"--compress {wanted} is more than the coils of {option} {title}, which are {n}.")
    if wanted in ("off", n) or (wanted == "auto" and n <= MANY):
        return Compressed(samples, None, f"{n} coils" if n > 1 else "1 coil")
    sides = [min(_CENTRE, side // 2) for side in samples.shape[1:]]
    first = [whole // 2 - side // 2 for whole, side in zip(samples.shape[1:], sides, strict=True)]
    centre = samples[:, first[0] : first[0] + sides[0], first[1] : first[1] + sides[1]]
    found = compress_coils(centre, None if wanted == "auto" else int(wanted))
    virtual = np.tensordot(found.matrix.astype(samples.dtype), samples, 1)
    ones = "one" if len(virtual) == 1 else "ones"
    said = f"{n} coils, compressed to {len(virtual)} virtual {ones} with {found.energy:.1%} of the energy of the centre"
    return Compressed(virtual, found.matrix, said)
