"""Measurements of an image and a prior as a model, with its posterior and its mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaptive.estimators.imaging.engine import Engine
from adaptive.estimators.imaging.measurements import MeasuredBlocks
from adaptive.estimators.imaging.prior import ImagePrior
from adaptive.estimators.imaging.sensitivity import on_unknown
from adaptive.estimators.imaging.tree_prior import restored_tree, tree_mode_of, tree_posterior
from adaptive.inference import GLM, Posterior, restored_posterior
from adaptive.inference.kinds import stated
from adaptive.inference.matrix_free.reweighted_map import reweighted_map
from adaptive.inference.trees import TreeMixture

__all__ = ["Engine", "ImageModel"]

BROAD = 1e2  # standard deviation of a Gaussian prior on every pixel, in units of the largest magnitude: a formality
STEPS = 15  # outer steps of the double loop where nothing is known


@dataclass(frozen=True)
class ImageModel:
    """What was measured of an image, and what is assumed about it.

    Attributes
    ----------
    measured : MeasuredBlocks
    phase : array or None
        Radians by which the unknown is turned before it is measured.
    noise_variance : float
        Per real component.
    prior : ImagePrior
    dtype : str
        Of the unknown.
    maps : array (coils, *shape) or None
        Sensitivities of the coils, their noise white; None: one coil that sees everything alike.
    """

    measured: MeasuredBlocks
    phase: np.ndarray | None
    noise_variance: float
    prior: ImagePrior
    dtype: str
    maps: np.ndarray | None = None

    @property
    def precision(self) -> np.dtype:
        """Dtype of the real numbers."""
        return np.dtype(self.dtype).type(0).real.dtype

    @property
    def sensitivity(self) -> np.ndarray | None:
        """What the unknown is multiplied with before it is measured: exp(i phase), times the maps of the coils."""
        if self.phase is None and self.maps is None:
            return None
        turned: Any = 1.0 if self.phase is None else np.exp(1j * self.phase)
        maps: Any = 1.0 if self.maps is None else self.maps
        return np.asarray(turned * maps).astype(np.result_type(self.dtype, np.complex64))

    def measurements(self) -> tuple[Any, np.ndarray | None]:
        """Everything measured as an operator on the unknown, and its outcomes; None where there is nothing."""
        if self.measured.empty:
            return None, None
        X = on_unknown(self.measured.operator(), self.sensitivity, self.prior.complex)
        y = self.measured.samples()
        if self.prior.complex:
            y = np.concatenate([y.real, y.imag])
        elif X.dtype.kind != "c":
            y = y.real
        return X, y

    def glm(self, scales: Mapping[str, float]) -> GLM:
        """The model at these prior scales."""
        groups = self.prior.groups(scales)
        X, y = self.measurements()
        return GLM(
            X,
            y,
            self.noise_variance,
            B=[b for b, _ in groups],
            potentials=[p for _, p in groups],
            prior_covariance=(BROAD * self.prior.largest) ** 2,
        )

    def posterior(self, scales: Any, engine: Engine, steps: int, warm: Any = None) -> Posterior:
        """The Gaussian posterior; of the double loop after ``steps`` outer steps."""
        if isinstance(scales, TreeMixture):
            return tree_posterior(self, scales, engine, steps, warm)
        return engine(self.glm(scales), self.precision, steps, warm)

    def mode(self, scales: Any, max_iter: int, tol: float) -> np.ndarray:
        """The most probable image."""
        if isinstance(scales, TreeMixture):
            return self.image(tree_mode_of(self, scales, tol).mean)
        return self.image(reweighted_map(self.glm(scales), max_iter=max_iter, tol=tol, dtype=self.precision).mean)

    def image(self, flat: np.ndarray) -> np.ndarray:
        """A flat latent as a real or complex image."""
        parts = flat.reshape(-1, *self.prior.shape)
        return parts[0] + 1j * parts[1] if self.prior.complex else parts[0]

    def restored(self, state: dict[str, Any], scales: Any) -> Posterior:
        """The posterior that `posterior_state` described; a dense one needs the scales of its potentials."""
        state = stated(state)
        if state["kind"] == "tree":
            return restored_tree(self, state)
        if state["kind"] == "large":
            scales = dict.fromkeys(self.prior.names, 1.0)  # they are in the sites
        assert scales is not None
        return restored_posterior(self.glm(scales), state)
