"""Bounds on the moments of many projections that cost a fraction of the moments themselves.

    |m_ik - means_ki| <= slack_k sqrt(sizes_i),        low_k sizes_i <= v_ik <= high_k sizes_i

of the projection of candidate i under component k: one product with the means of all components and the root of one of
them, in single precision, says which candidates are worth the exact moments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Envelope"]


class Envelope(NamedTuple):
    """Bounds on m candidates under k weighted components.

    Attributes
    ----------
    weights, low, high, slack : (k,) arrays
    means : (k, m) array of float32
    sizes : (m,) array of float32
    kept : dict
        What was computed from the first four, for other candidates to use again.
    """

    weights: np.ndarray
    low: np.ndarray
    high: np.ndarray
    slack: np.ndarray
    means: np.ndarray
    sizes: np.ndarray
    kept: dict[str, Any]
