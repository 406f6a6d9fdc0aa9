"""Target of learning from particles: all parameters, some, a function of them, or predictions at settings.

Of a target of numbers every particle has a value of its own, and what else differs between particles is integrated out:
particles fall into cells of neighbouring values, of about as much weight each, and

    E H(y | target)  ~  sum_cells P(cell) H(y | cell)

of what is left of the means in a cell when their slope in the target's values is taken off (`within`). Of outcomes from
a list no slope is taken off: there I(y; cell) <= I(y; target).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.estimators.particles.inference.cloud import Cloud
    from adaptive.estimators.particles.settings import CloudSettings
    from adaptive.types import ArrayLike

    #: Names of parameters, a function of them, settings where predictions are the target; None: all parameters.
    Named: TypeAlias = str | Sequence[str] | Callable[[np.ndarray], ArrayLike] | np.ndarray | None

__all__ = ["Target", "cells", "within"]

N_CELLS = 32
PER_CELL = 40  # particles, at least
MOST_AXES = 8  # of the target that cells are told apart by


@dataclass(frozen=True, eq=False)
class Target:
    """Quantity that is to be learnt.

    Attributes
    ----------
    cells : (k,) array of int, or None: the particles themselves
    places : (k, s) array, or None
        The values along the axes of their cloud, in deviations.
    values : (k, t) array, or None
        Whose deviations are reported; None where predictions of labels are the target.
    settings : (t, f) array or None
        Where predictions are the target.
    """

    cells: np.ndarray | None
    places: np.ndarray | None
    values: np.ndarray | None
    settings: np.ndarray | None = None

    @classmethod
    def of(cls, settings: CloudSettings, cloud: Cloud, given: Named) -> Target:
        """Target as a user named it, by the particles of ``cloud``."""
        if given is None:
            return cls(None, None, cloud.values)
        if isinstance(given, str) or (isinstance(given, (list, tuple)) and all(isinstance(g, str) for g in given)):
            names = [given] if isinstance(given, str) else list(given)
            columns = [cloud.names.index(checks.choice("target", name, cloud.names)) for name in names]
            if sorted(columns) == list(range(len(cloud.names))):
                return cls(None, None, cloud.values[:, columns])
            return cls._of_values(cloud, cloud.values[:, columns])
        if callable(given):
            return cls._of_values(cloud, _evaluated(given, cloud))
        predicted = predictions(settings, cloud, np.asarray(given))
        found = cls._of_values(cloud, predicted)
        values = predicted if settings.model is not None else None
        return cls(found.cells, found.places, values, np.asarray(given))

    def of_some(self, cloud: Cloud, chosen: np.ndarray) -> Target:
        """The same of some particles, which are the ``cloud`` now."""
        if self.cells is None or self.values is None:
            return Target(None, None, cloud.values)
        return self._of_values(cloud, self.values[chosen])

    @classmethod
    def _of_values(cls, cloud: Cloud, values: np.ndarray) -> Target:
        return cls(cells(values, cloud.weights), places(values, cloud.weights), values)


def _evaluated(function: Callable[[np.ndarray], ArrayLike], cloud: Cloud) -> np.ndarray:
    values = checks.finite("target(parameters)", function(cloud.values))
    if values.ndim not in (1, 2) or len(values) != len(cloud):
        raise ValueError(
            f"target(parameters) must return ({len(cloud)},) or ({len(cloud)}, t) numbers, one row per parameter row, "
            f"got shape {values.shape}."
        )
    return values.reshape(len(cloud), -1)


def predictions(settings: CloudSettings, cloud: Cloud, X: np.ndarray) -> np.ndarray:
    """Return what each particle predicts at settings X, (k, ...): means, or probabilities of the outcomes."""
    if settings.model is not None:
        return settings.likelihood.moments(cloud.values, X)[0].reshape(len(cloud), -1)
    from adaptive.estimators.particles.discrete import outcome_table

    return outcome_table(settings, cloud, X)[:, :, :-1].reshape(len(cloud), -1)


def places(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return values (k, t) along the axes of their cloud that matter, (k, s), the longest first, at most 8."""
    apart = values - weights @ values
    scale = np.sqrt(weights @ np.square(apart))
    apart = apart[:, scale > 0] / scale[scale > 0]
    if apart.shape[1] < 2:
        return apart
    _, sizes, axes = np.linalg.svd(apart * np.sqrt(weights)[:, None], full_matrices=False)
    return apart @ axes[: min(MOST_AXES, int((sizes > 1e-6 * sizes[0]).sum()))].T


def within(means: np.ndarray, place: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return means (k, ...) of a cell less their slope in the target's place (k, s), what is left widened for the fit.

    Parameters
    ----------
    means : (k, ...) array
    place : (k, s) array
    weights : (k,) array, adding up to 1
    """
    flat = means.reshape(len(means), -1)
    free = 1.0 / np.square(weights).sum() - 1.0 - place.shape[1]
    if place.shape[1] == 0 or free < place.shape[1]:
        return means
    root = np.sqrt(weights)[:, None]
    centre = weights @ flat
    apart = place - weights @ place
    slope = np.linalg.lstsq(apart * root, (flat - centre) * root, rcond=1e-9)[0]
    left = (flat - centre - apart @ slope) * np.sqrt((free + place.shape[1]) / free)
    return (centre + left).reshape(means.shape)


def cells(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return a number (k,) for each particle: the cell of neighbouring values, halved at medians of what varies most.

    Parameters
    ----------
    values : (k, t) array
    weights : (k,) array, adding up to 1

    Examples
    --------
    >>> cells(np.arange(160.0)[:, None], np.full(160, 1 / 160))[[0, 39, 40, 159]].tolist()
    [0, 0, 1, 3]
    """
    alike = values[:, 0] if values.shape[1] == 1 else values
    if len(np.unique(alike, axis=0)) <= N_CELLS:
        return np.unique(alike, axis=0, return_inverse=True)[1].ravel()
    apart = places(values, weights)
    parts = [np.flatnonzero(weights > 0)]
    most = min(N_CELLS, int(1.0 / np.square(weights).sum() / PER_CELL + 1e-9))
    while len(parts) * 2 <= most:
        parts = [half for part in parts for half in _halves(part, apart, weights)]
    found = np.zeros(len(values), dtype=np.intp)
    for number, part in enumerate(parts):
        found[part] = number
    return found


def _halves(part: np.ndarray, values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    own, share = values[part], weights[part] / weights[part].sum()
    spread = share @ np.square(own - share @ own)
    order = part[np.argsort(own[:, int(np.argmax(spread))], kind="stable")]
    middle = int(np.searchsorted(np.cumsum(weights[order]), 0.5 * weights[order].sum() * (1 + 1e-12)))
    middle = min(max(middle, 1), len(order) - 1)
    return order[:middle], order[middle:]
