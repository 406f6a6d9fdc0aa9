"""Information of trajectories: all points of all candidates in one non-uniform transform of the posterior's samples.

Three batched transforms serve any number of candidates: of the samples, of their control variates, and of what both
have in common (`coil_images`). Then every trajectory is a chain along its readout (`chain_rule`). Where the unknown
is real and a trajectory passes k and -k, as a spoke through the centre does, both are channels of one node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from adaptive.estimators.imaging.scores.chain_rule import chained_log_determinant, folded
from adaptive.estimators.imaging.scores.coil_images import SeenImages
from adaptive.linalg import controlled_variance
from adaptive.operators import NonuniformFourier

__all__ = ["TrajectoryScores"]

_NEAR = 0.5  # steps of the grid within which a sample is taken for the mirror image of another
_MANY = 0.25  # share of samples with a mirror image from which a trajectory is folded
_BYTES = 2**30  # of transformed samples at once
_SMALLEST = 1e-3  # of the plain estimate: the least that a controlled variance may be


class TrajectoryScores:
    """Log-determinants log|I + Cov / noise|, real-stacked, of trajectories.

    Parameters
    ----------
    images : SeenImages
    noise_variance : float
        Per real component.

    Attributes
    ----------
    n_transforms : int
        Batched non-uniform transforms so far, each over the points of all candidates (of some, where memory asks it).
    """

    def __init__(self, images: SeenImages, noise_variance: float):
        self.images, self.noise_variance = images, noise_variance
        self.n_transforms = 0

    def __call__(self, trajectories: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Values and standard errors of trajectories (points (m_k, d), radians per pixel)."""
        lengths = np.array([len(points) for points in trajectories])
        values, errors = np.empty(len(lengths)), np.empty(len(lengths))
        each = self.images.n_coils * self.images.n_samples * 2 * 8
        room = max(int(_BYTES // each), int(lengths.max()))
        first = 0
        while first < len(lengths):
            last = first + max(1, int(np.searchsorted(np.cumsum(lengths[first:]), room, side="right")))
            values[first:last], errors[first:last] = self._together(trajectories[first:last])
            first = last
        return values, errors

    def _together(self, trajectories: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        points = np.concatenate(trajectories)
        samples, variance, error = self._at(points)
        stops = np.cumsum([0, *map(len, trajectories)])
        layouts = [self._layout(one) for one in trajectories]
        values, errors = np.empty(len(trajectories)), np.empty(len(trajectories))
        groups: dict[tuple[bool, int], list[int]] = {}
        for k, (nodes, partners) in enumerate(layouts):
            groups.setdefault((partners is not None, len(nodes)), []).append(k)
        for (fold, _), members in groups.items():  # trajectories of one length are scored together
            parts = []
            for k in members:
                own = slice(stops[k], stops[k + 1])
                # (samples, 1 block, coils, nodes) and (1 block, coils, nodes)
                part = samples[:, None, :, own], variance[None, :, own], error[None, :, own]
                nodes, partners = layouts[k]
                parts.append(folded(*part, nodes, partners) if fold and partners is not None else part)
            joined = [np.concatenate([part[i] for part in parts], axis=1 if i == 0 else 0) for i in range(3)]
            values[members], errors[members] = chained_log_determinant(
                joined[0], joined[1], joined[2], self.noise_variance
            )
        return values, errors

    def _at(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Samples (n_samples, coils, m), variances and errors (coils, m)."""
        images, F = self.images, NonuniformFourier(self.images.shape, points)
        coils = range(images.n_coils)
        samples = F.forward(np.stack([images.samples(c) for c in coils], axis=1))
        self.n_transforms += 1
        flat = samples.reshape(len(samples), -1)
        if not images.controlled:
            variance, error = controlled_variance(flat)
        else:
            controls: list[Any] = [images.control(c) for c in coils]
            control = F.forward(np.stack(controls, axis=1))
            known = images.power_at(points)
            self.n_transforms += 2
            variance, error = controlled_variance(flat, control.reshape(flat.shape), known.ravel())
            variance = np.maximum(variance, _SMALLEST * np.mean(np.abs(flat) ** 2, axis=0))
        shape = (images.n_coils, len(points))
        return samples, variance.reshape(shape), error.reshape(shape)

    def _layout(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Which samples are nodes, in the order of the readout, and their mirror images; None where there are few."""
        every = np.arange(len(points))
        if self.images.complex:
            return every, None
        steps = points * np.array(self.images.shape) / (2 * np.pi)
        distance, partners = cKDTree(steps).query(-steps, distance_upper_bound=_NEAR)
        paired = np.isfinite(distance) & (partners != every)
        paired &= partners[np.where(paired, partners, 0)] == every  # each other's
        if np.count_nonzero(paired) < _MANY * len(points):
            return every, None
        nodes = every[~paired | (every > np.where(paired, partners, -1))]
        return nodes, np.where(paired[nodes], partners[nodes], -1)
