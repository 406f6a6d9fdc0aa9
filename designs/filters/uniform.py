"""Filters without any structure: directions drawn uniformly from the unit sphere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import generator, integer
from adaptive.operators.shapes import image_shape
from designs.filters.normalised import as_filters

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["uniform"]


def uniform(shape: int | Sequence[int], n_filters: int, *, random_state: RandomState = None) -> np.ndarray:
    """Rows of independent Gaussian numbers, normalised: every direction is as likely as any other.

    Parameters
    ----------
    shape : int or tuple of int
        Of the image.
    n_filters : int
        How many; more than pixels are allowed.
    random_state : None, int or Generator

    Returns
    -------
    array (n_filters, pixels)

    References
    ----------
    Nickisch (2010), section 5.4, "rand uni".

    Examples
    --------
    >>> filters = uniform((8, 8), 3, random_state=0)
    >>> filters.shape, np.linalg.norm(filters, axis=1).round(12)
    ((3, 64), array([1., 1., 1.]))
    """
    pixels = int(np.prod(image_shape("shape", shape)))
    draws = generator(random_state).standard_normal((integer("n_filters", n_filters, minimum=0), pixels))
    return as_filters(draws)
