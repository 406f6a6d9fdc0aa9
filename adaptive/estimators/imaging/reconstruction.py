"""Image that a model of measurements gives, with bands that measured lines confirm.

Some lines are held out, and what is believed of them is compared with what they are:

    factor^2 = sum |X^H (y - X u)|^2 / sum E |X^H (y - X u)|^2,      u, E from the other lines, sums inside the object

The double loop's variances are conditional on the widths it found, and samples that no line measured are believed to be
small: bands are too narrow where few lines were measured, too wide where many were. Central lines are never held out:
the phase, and most of the image, are read from them.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from adaptive.estimators.imaging.trees import TreePosterior
from adaptive.estimators.variance_factor import ALARM
from adaptive.inference import LargePosterior

if TYPE_CHECKING:
    from adaptive.estimators.imaging.conventions import Models
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.estimators.imaging.model import ImageModel
    from adaptive.estimators.imaging.prior import Scales
    from adaptive.estimators.variance_factor import VarianceFactor
    from adaptive.inference import Posterior
    from adaptive.operators import Operator

__all__ = ["Reconstruction", "band_factor", "held_out_lines"]

STEPS = 15  # outer steps of the double loop, where nothing is known and the image itself is wanted
STEPS_WITHOUT = 5  # where lines are held out
INSIDE = 0.05  # of the largest magnitude: where the object is
EVERY, LEAST = 4, 2  # one frequency in so many is held out, and so many lines at least


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

    @cached_property
    def std(self) -> np.ndarray:
        """Posterior standard deviation of the pixels, scaled by held-out lines; of complex images of the magnitudes."""
        given = self.models.given
        if given.engine.dense:
            variance = self.posterior.variances()
        else:
            variance = cast("LargePosterior", self.posterior).variances(n_samples=max(32, given.n_samples))
        parts = variance.reshape(-1, *self.model.prior.shape)
        along = np.ones_like(parts)
        if len(parts) == 2:  # a magnitude changes by the share of either part in it
            along = np.stack([self.unknown.real**2, self.unknown.imag**2]) + np.finfo(np.float32).tiny
        own = np.sqrt(np.sum(along * parts, axis=0) / np.sum(along, axis=0)).astype(float)
        return own * self.band_factor

    @cached_property
    def variance_factor(self) -> VarianceFactor | None:
        """Factor of the variances by counts without themselves; None of other measurements."""
        return self.model.variance_factor(self.posterior)

    @cached_property
    def band_factor(self) -> float:
        """Factor of the standard deviations by what is left out: counts, or lines; never below 1.

        Lines that are held out lie among those that were measured, and could not vouch for narrower bands of what lies
        beyond; where none are to spare the factor is 1.
        """
        factor = self.variance_factor
        if factor is not None:
            if factor.value > ALARM:
                warnings.warn(
                    "counts are further off than is believed without them: the pixels' variances are taken "
                    f"{factor.value:.3g} times as large (variance_factor_). Larger prior_scales suit them better.",
                    UserWarning,
                    stacklevel=2,
                )
            return float(np.sqrt(factor.value))
        measured, posterior = self.model.measured, self.posterior
        lines = held_out_lines(measured)
        if (
            not len(lines)
            or not self.models.known.fourier
            or not isinstance(posterior, LargePosterior)
            or isinstance(posterior, TreePosterior)
        ):
            return 1.0
        others = replace(self.model, measured=measured.of_lines(lines, but=True))
        without = others.posterior(self.scales, self.models.given.engine.sampled(), STEPS_WITHOUT, posterior)
        if not isinstance(without, LargePosterior):
            return 1.0
        found = Reconstruction(self.models, others, (self.scales, None), without).unknown
        return max(1.0, band_factor(self.model, lines, found, without))


def held_out_lines(measured: MeasuredBlocks) -> np.ndarray:
    """Lines of every fourth frequency outside the centre, from the second largest on; none where there are too few.

    A line and its mirror go together: of an image that is nearly real one shows what the other is.
    """
    if measured.axis is None or measured.trajectories or measured.others:
        return np.empty(0, int)
    n, inner = measured.shape[measured.axis], measured.n_central()
    lines = measured.lines
    frequencies = np.abs(lines - n // 2)
    outside = np.unique(frequencies[frequencies > (inner + 1) // 2])[::-1]
    chosen = lines[np.isin(frequencies, outside[1::EVERY])]
    return chosen if len(chosen) >= LEAST else np.empty(0, int)


def band_factor(model: ImageModel, lines: np.ndarray, mode: np.ndarray, posterior: LargePosterior) -> float:
    """Factor of the standard deviations.

    Parameters
    ----------
    model : ImageModel
        With all measurements.
    lines : array of int
        That are held out.
    mode : array (*shape)
        The image from the other lines.
    posterior : LargePosterior
        Its posterior.
    """
    axis, shape = model.measured.axis, model.measured.shape
    assert axis is not None
    X, y = replace(model, measured=model.measured.of_lines(lines)).measurements()
    assert X is not None and y is not None
    parts = np.stack([mode.real, mode.imag]) if model.prior.complex else mode.real
    apart = y.reshape(1, *X.output_shape) - X.forward(parts[None].astype(model.precision))
    found, spread = (np.square(_seen(X, one, shape)) for one in (apart, X.forward(posterior.samples)))
    share = len(lines) / shape[axis] * (1 if model.maps is None else np.sum(np.abs(model.maps) ** 2, axis=0))
    believed = spread.mean(axis=0) + model.noise_variance * share * (2 if model.prior.complex else 1)
    inside = np.abs(mode) > INSIDE * model.prior.largest
    if not inside.any():
        return 1.0
    return float(np.sqrt(found[0][inside].sum() / believed[inside].sum()))


def _seen(X: Operator, samples: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Magnitudes of the images (b, *shape) that samples show."""
    images = X.adjoint(samples).real
    return np.sqrt(np.sum(np.square(images.reshape(len(samples), -1, *shape)), axis=1))
