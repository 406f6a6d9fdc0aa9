"""Counts of an image and a prior as a model:

    p(u | y)  ~  N(u | 0, broad) prod_j Laplace(s_j) prod_i Poisson(y_i; max(0, a_i . u))

An exposure e scales its block, since max(0, e a.u) = e max(0, a.u): ``operators.Scaled(e, block)``. The posterior is by
expectation propagation, whose moments of the rectified rate are closed (Ko 2017, section 2.1); the covariance of all
pixels is kept as a matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import inference
from adaptive.checks import finite
from adaptive.estimators.imaging.blocks import RowsOnImages, as_blocks, is_rows
from adaptive.estimators.imaging.model import BROAD, ImageModel
from adaptive.estimators.rows.linear_predictive import linear_predictive
from adaptive.inference import GLM, Posterior
from adaptive.linalg.matrices import dense
from adaptive.potentials import Poisson

if TYPE_CHECKING:
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.estimators.imaging.model import Engine
    from adaptive.estimators.imaging.prior import Scales
    from adaptive.estimators.imaging.settings import ImageSettings
    from adaptive.potentials import Potential
    from adaptive.predictive import Predictive
    from adaptive.types import Pool

__all__ = ["RATE", "PhotonModel", "check_photon_settings", "checked_photons"]

RATE = "rectified"
TOL = 1e-4  # of a marginal, in its own precision


def checked_photons(measured: MeasuredBlocks) -> MeasuredBlocks:
    """The measurements, refused in one sentence where their samples are no counts."""
    samples = finite("y", measured.samples(), dtype=None)
    if np.iscomplexobj(samples) and np.any(samples.imag):
        raise ValueError('y must hold counts (integers >= 0) where likelihood="poisson", got complex samples.')
    Poisson(samples.real, RATE)
    return measured


def check_photon_settings(settings: ImageSettings) -> None:
    """Refuse, in one sentence, parameters that counts of photons do not go with."""
    wrong = {
        "prior": "tree" in settings.prior,
        "reconstruction": settings.reconstruction == "map",
        "coils": settings.coils is not None,
        "dtype": settings.dtype is not None and np.dtype(settings.dtype).kind == "c",
    }
    for name, is_wrong in wrong.items():
        if is_wrong:
            raise ValueError(
                f'likelihood="poisson" is of real images under "tv" and "wavelet" priors, by their posterior mean: it '
                f"does not take {name}={getattr(settings, name)!r}."
            )


@dataclass(frozen=True)
class PhotonModel(ImageModel):
    """An `ImageModel` whose samples are counts; it has no noise variance."""

    def glm(self, scales: Mapping[str, float]) -> GLM:
        """The model at these prior scales, its operators as matrices."""
        groups: list[tuple[np.ndarray, Potential]] = []
        for operator, potential in self.prior.groups(scales):
            groups.append((operator.to_dense(), potential))
        X, y = self.measurements()
        if X is not None and y is not None:
            groups.append((X.to_dense(), Poisson(y, RATE)))
        return GLM(
            B=[rows for rows, _ in groups],
            potentials=[potential for _, potential in groups],
            prior_covariance=(BROAD * self.prior.largest) ** 2,
        )

    def posterior(self, scales: Scales, engine: Engine, steps: int, warm: Posterior | None = None) -> Posterior:
        """The Gaussian posterior by parallel expectation propagation, whatever the engine is for other images."""
        assert isinstance(scales, dict)
        return inference.expectation_propagation(self.glm(scales), tol=TOL)

    def predictive(self, posterior: Posterior, candidates: Pool) -> Predictive:
        """Predictive of rows (m, pixels), or blocks of one row each: projections, and their counts.

        Raises
        ------
        ValueError
            For blocks of several rows, whose counts are not one outcome.
        """
        if is_rows(candidates):
            rows: Any = RowsOnImages(candidates, self.measured.shape).matrix
        else:
            blocks = as_blocks(candidates, self.measured.shape)
            longest = max(block.shape[0] for block in blocks)
            if longest > 1:
                raise ValueError(
                    f"candidates must be rows, or blocks of one row each, where counts are measured; got a block of "
                    f"{longest}."
                )
            rows = np.concatenate([block.to_dense() for block in blocks])
        return linear_predictive(posterior, dense(rows), Poisson(rate=RATE))
