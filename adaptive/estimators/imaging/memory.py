"""Memory that an image needs at most: samples, projections, control variates, conjugate gradients; dense matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.memory import memory_there

if TYPE_CHECKING:
    from adaptive.estimators.imaging.prior import ImagePrior

__all__ = ["check_dense_memory", "check_memory", "memory_of"]

MATRICES = 4  # of all pixels by all pixels, while a dense posterior is inferred


def memory_of(
    shape: tuple[int, ...], prior: ImagePrior, dtypes: Sequence[Any], n_samples: int, n_coils: int = 1
) -> float:
    """Bytes that the largest of the models needs at most, about.

    Parameters
    ----------
    shape : tuple of int
        Of the image or volume.
    prior : ImagePrior
        Its projections are counted.
    dtypes : sequence of dtype
        Of the unknowns of the models.
    n_samples, n_coils : int
    """
    pixels = float(np.prod(shape))
    projections = sum(operator.shape[0] for operator in prior.operators) / pixels
    arrays = 8 * n_samples + 2 * (1 + projections) * n_samples + 40
    numbers = max(np.dtype(dtype).itemsize for dtype in dtypes)
    return pixels * (numbers * arrays + 6 * 16 * n_coils)


def check_memory(
    shape: tuple[int, ...], prior: ImagePrior, dtypes: Sequence[Any], n_samples: int, n_coils: int = 1
) -> None:
    """Refuse, in one sentence, what does not fit; the arguments are those of `memory_of`."""
    needed, there = memory_of(shape, prior, dtypes, n_samples, n_coils), memory_there()
    if needed > there:
        kind, coils = "an image" if len(shape) == 2 else "a volume", f" and {n_coils} coils" if n_coils > 1 else ""
        raise ValueError(
            f"{kind} of shape {shape} with n_samples={n_samples}{coils} needs about {needed / 1e9:.0f} GB of memory, "
            f"and there are {there / 1e9:.0f} GB: take fewer samples or pixels."
        )


def check_dense_memory(shape: tuple[int, ...], prior: ImagePrior) -> None:
    """Refuse, in one sentence, images whose covariance does not fit as a matrix."""
    unknowns = float(np.prod(shape)) * (2 if prior.complex else 1)
    needed, there = 8 * MATRICES * unknowns**2, memory_there()
    if needed > there:
        raise ValueError(
            f"expectation_propagation keeps matrices of {unknowns:.0f} x {unknowns:.0f} entries for an image of shape "
            f"{shape}, about {needed / 1e9:.0f} GB of memory, and there are {there / 1e9:.0f} GB: take fewer pixels or "
            'inference="variational_bounds".'
        )
