"""A model as matrices: Gaussian potentials become data rows like those of X, the rows of the others are to carry sites.

The latter are called active.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adaptive.gaussians.gaussian_part import GaussianPart
from adaptive.inference.compatibility import as_gaussian
from adaptive.inference.model import GLM, matrix_of
from adaptive.linalg.matrices import stacked
from adaptive.potentials.grouped import grouped

if TYPE_CHECKING:
    from adaptive.gaussians.projection_rows import ProjectionRows
    from adaptive.potentials import Potential
    from adaptive.types import Matrix

__all__ = ["ModelMatrices"]


class ModelMatrices:
    """Matrices that dense engines work with, made when they are first asked for.

    Parameters
    ----------
    model : GLM

    Attributes
    ----------
    operators : list of Operator
        The active rows by group.
    positions : integer array (q,)
        Of the active rows among all projection rows.
    potential : Potential or None
        Of the active rows; None where there are none.
    """

    def __init__(self, model: GLM):
        self.model = model
        self._moments = [as_gaussian(p) for _, p in model.groups]
        active = np.array([moment is None for moment in self._moments], dtype=bool)
        self.positions = np.flatnonzero(np.repeat(active, np.array(model.group_lengths, dtype=int)))
        self._active = [group for group, moment in zip(model.groups, self._moments, strict=True) if moment is None]
        self.operators = [operator for operator, _ in self._active]
        self.potential: Potential | None = None
        if self._active:
            self.potential = grouped([p for p, _ in self.active_groups()], [k for _, k in self.active_groups()])

    def active_groups(self) -> list[tuple[Potential, int]]:
        """The potentials that are not Gaussian, with their numbers of rows."""
        return [(potential, operator.shape[0]) for operator, potential in self._active]

    @property
    def all_active(self) -> bool:
        """Return whether no group is Gaussian."""
        return len(self._active) == len(self._moments)

    @cached_property
    def rows(self) -> Matrix:
        """The active rows (q, n)."""
        parts = [matrix_of(operator) for operator in self.operators]
        return stacked(parts) if parts else np.empty((0, self.model.n))

    def part(self, rows: Matrix | ProjectionRows) -> GaussianPart:
        """The Gaussian part of the model, with active rows that are to carry sites."""
        model = self.model
        found: list[tuple[Matrix, np.ndarray, np.ndarray]] = []
        if model.X is not None:
            matrix, y = model.measurement_rows()
            found.append((matrix, y, np.full(len(y), model.noise_variance)))
        for (operator, _), moment, length in zip(model.groups, self._moments, model.group_lengths, strict=True):
            if moment is not None:
                variance, mean = (np.broadcast_to(value, (length,)).astype(float) for value in moment)
                found.append((matrix_of(operator), mean, variance))
        if not found:
            return GaussianPart(rows, prior_mean=model.prior_mean, prior_covariance=model.prior_covariance)
        data_rows, data, data_variance = zip(*found, strict=True)
        return GaussianPart(
            rows,
            stacked(data_rows),
            np.concatenate(data),
            np.concatenate(data_variance),
            model.prior_mean,
            model.prior_covariance,
        )

    def all_sites(self, pi: np.ndarray, nu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sites of all projection rows, given those of the active ones."""
        if self.all_active:
            return pi.copy(), nu.copy()
        parts, at = [], 0
        for moment, length in zip(self._moments, self.model.group_lengths, strict=True):
            if moment is None:
                parts.append((pi[at : at + length], nu[at : at + length]))
                at += length
            else:
                precision = np.broadcast_to(1.0 / np.asarray(moment[0], dtype=float), (length,))
                parts.append((precision, precision * moment[1]))
        return np.concatenate([p for p, _ in parts]), np.concatenate([n for _, n in parts])
