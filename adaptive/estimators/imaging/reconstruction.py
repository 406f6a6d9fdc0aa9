"""Image that a model of measurements gives, with bands whose energy lies where the object is.

    factor^2 = .8 E |F_left u|^2 / sum_inside std^2,      u ~ posterior about its mean

How much energy the samples that no line measured hold is believed rightly, to a fifth; where it lies is not: the prior
spreads over the whole field what belongs to the object. Bands inside it are scaled so that they hold .8 of that energy.
The share .8 was chosen on five slices of four heads (``experiments/kspace/pays/bands.py``).
"""

from __future__ import annotations

import math
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from adaptive.estimators.imaging.prior import PRIORS
from adaptive.estimators.imaging.trees import TreePosterior
from adaptive.estimators.variance_factor import ALARM
from adaptive.inference import LargePosterior
from adaptive.operators import FourierMask

if TYPE_CHECKING:
    from adaptive.estimators.imaging.conventions import Models
    from adaptive.estimators.imaging.model import ImageModel
    from adaptive.estimators.imaging.prior import Scales
    from adaptive.estimators.variance_factor import VarianceFactor
    from adaptive.inference import Posterior

__all__ = ["Reconstruction"]

STEPS = 15  # outer steps of the double loop, where nothing is known and the image itself is wanted
INSIDE = 0.05  # of the largest magnitude: where the object is
FEW_ROWS = 0.5  # rows a pixel: what bands of pictures cover was measured by fewer
SHARE = 0.8  # of the energy of what was not measured, which bands inside the object are to hold


class Reconstruction:
    """The image that a model gives; everything is computed when it is first asked for.

    Parameters
    ----------
    models : Models
    model : ImageModel
        The one that reconstructs.
    learnt_scales : pair of scales and Posterior or None, optional
        What `Models.scales` returned, if it was asked.
    posterior : Posterior, optional
        The model's, where it is known.
    """

    def __init__(
        self,
        models: Models,
        model: ImageModel,
        learnt_scales: tuple[Scales, Posterior | None] | None = None,
        posterior: Posterior | None = None,
    ):
        self.models, self.model = models, model
        if learnt_scales is not None:
            self.__dict__["_learnt"] = learnt_scales
        if posterior is not None:
            self.__dict__["posterior"] = posterior

    @cached_property
    def _learnt(self) -> tuple[Scales, Posterior | None]:
        return self.models.scales(self.model)

    @property
    def scales(self) -> Scales:
        """Scale of each group of the prior, or the parameters of a tree."""
        return self._learnt[0]

    @cached_property
    def posterior(self) -> Posterior:
        """Posterior of the unknown; that with which the scales were fitted, if they were."""
        scales, posterior = self._learnt
        return self.model.posterior(scales, self.models.given.engine, STEPS) if posterior is None else posterior

    @cached_property
    def unknown(self) -> np.ndarray:
        """Mode or mean, signed or complex."""
        if self.models.known.reconstruction == "map":
            return self.model.mode(self.scales, self.models.given.max_iter, self.models.given.tol)
        return self.model.image(self.posterior.mean)

    @property
    def image(self) -> np.ndarray:
        """Image to be shown: photographs as they are, signed; else magnitudes."""
        magnitudes = self.models.known.fourier or self.unknown.dtype.kind == "c"
        return np.array(np.abs(self.unknown) if magnitudes else self.unknown, dtype=float)

    @property
    def std(self) -> np.ndarray:
        """Posterior standard deviation of the pixels times ``band_factor``; of complex images of the magnitudes."""
        return self._own_std * self.band_factor

    @cached_property
    def _own_std(self) -> np.ndarray:
        """Standard deviation by the posterior itself."""
        given = self.models.given
        if given.engine.dense:
            variance = self.posterior.variances()
        else:
            variance = cast("LargePosterior", self.posterior).variances(n_samples=max(32, given.n_samples))
        parts = variance.reshape(-1, *self.model.prior.shape)
        along = np.ones_like(parts)
        if len(parts) == 2:  # a magnitude changes by the share of either part in it
            along = np.stack([self.unknown.real**2, self.unknown.imag**2]) + np.finfo(np.float32).tiny
        return np.sqrt(np.sum(along * parts, axis=0) / np.sum(along, axis=0)).astype(float)

    @cached_property
    def variance_factor(self) -> VarianceFactor | None:
        """Factor of the variances by counts, or samples of pictures, without themselves.

        None of k-space; and where scales were learnt, which have heard the samples: the factor would be 1.
        """
        given = self.models.given
        if given.prior_scales is None and not given.engine.dense and not given.photons:
            return None
        return self.model.variance_factor(self.posterior)

    @cached_property
    def band_factor(self) -> float:
        """Factor of the standard deviations, at least 1: by what is left out, or by where k-space's energy belongs.

        Of trajectories, and of trees of k-space, it is 1.
        """
        if (narrow := self._narrow()) is not None:
            warnings.warn(narrow, UserWarning, stacklevel=2)
        factor = self.variance_factor
        if factor is None:
            return self._energy_factor()
        if factor.value > ALARM:
            warnings.warn(
                "measurements are further off than the others predict, so the pixels' variances are taken "
                f"{factor.value:.3g} times as large (variance_factor_). Larger prior_scales suit the measurements "
                "better.",
                UserWarning,
                stacklevel=2,
            )
        return float(np.sqrt(factor.value))

    def _narrow(self) -> str | None:
        """Say why bands of a picture are too narrow, where that was measured; else None."""
        given, measured = self.models.given, self.model.measured
        if self.models.known.fourier or given.photons or given.engine.dense:
            return None
        seen = sum(len(samples) for _, samples in measured.others) / math.prod(given.shape)
        if seen >= FEW_ROWS:
            return None
        if "tree" in PRIORS[given.prior]:
            return (
                f"image_std_ of a tree by {seen:.0%} as many rows as pixels is too small: fine coefficients that no "
                "row saw are believed too surely, and nominal .90 of pixels holds .75 to .86 "
                '(ours-bands-photographs-tree). prior="tv+wavelet" holds .91 to .97.'
            )
        if given.prior_scales is None:
            return None
        return (
            "image_std_ by given prior_scales is too small: the bounds underestimate variances, and nominal .90 of "
            "pixels holds .80 to .88 (ours-bands-photographs-told). Learnt scales (prior_scales=None) hold .91 to "
            '.97, inference="expectation_propagation" .87 to .95.'
        )

    def _energy_factor(self) -> float:
        """Factor by which the energy believed of samples that were not measured goes to the inside of the object."""
        measured, posterior = self.model.measured, self.posterior
        grid = self.models.known.fourier and not measured.trajectories and not measured.others
        if not grid or not isinstance(posterior, LargePosterior) or isinstance(posterior, TreePosterior):
            return 1.0
        inside = self.image > INSIDE * self.image.max()
        if measured.mask.all() or not inside.any():
            return 1.0
        parts = posterior.samples.reshape(len(posterior.samples), -1, *self.model.prior.shape)
        drawn = parts[:, 0] + 1j * parts[:, 1] if parts.shape[1] == 2 else parts[:, 0]
        if self.model.phase is not None:
            drawn = drawn * np.exp(1j * self.model.phase)
        left = FourierMask(measured.shape, ~measured.mask).forward(drawn)
        energy = float(np.sum(np.abs(left) ** 2, dtype=float)) / len(drawn)
        return max(1.0, float(np.sqrt(SHARE * energy / np.sum(self._own_std[inside] ** 2))))
