"""Images from blocks of measurements, with a sparse prior and a posterior that says what to measure next.

    y = X u + noise,    p(u) = exp(-|W u|_1 / scale_W - |D u|_1 / scale_D),    q(u) Gaussian, by the double loop

Two models of the same measurements: one to reconstruct with, whose noise and scales are what the data say, and one to
design with, less noisy and stiffer, which chooses better measurements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from adaptive.estimators.base import DesignMixin
from adaptive.estimators.block_kinds import require_candidates
from adaptive.estimators.block_predictive import BlockPredictive
from adaptive.estimators.image_model import STEPS, ImageModel
from adaptive.estimators.image_receiver import Received
from adaptive.estimators.image_settings import ImageSettings
from adaptive.estimators.measured_blocks import MeasuredBlocks
from adaptive.inference import LargePosterior

__all__ = ["ImageReconstructor"]

START_STEPS, WARM_STEPS = 5, 1  # outer steps of the double loop: the first time, and after further measurements


class ImageReconstructor(DesignMixin, BaseEstimator):
    """Reconstruct an image from few measurements, and choose the next ones.

    Parameters
    ----------
    shape : tuple of two or three int
        Of the image or volume.
    noise_variance : float, optional
        Of the real and of the imaginary part of every sample. None: estimated from the samples farthest from DC. Of
        several coils it is the mean.
    prior : {"tv+wavelet", "tv", "wavelet"}, default "tv+wavelet"
        Laplace potentials on differences of neighbours, wavelet coefficients, or both.
    prior_scales : float or dict, optional
        Scale of each group, {"wavelet": ..., "tv": ...}. None: learnt by evidence (see Notes).
    wavelet : str, default "db4"
        Orthonormal wavelet of PyWavelets, and ...
    level : int, optional
        ... its depth; None: as deep as the shape allows.
    dtype : {"complex64", "complex128", "float32", "float64"}, default "complex64"
        Of the image that is reconstructed: a complex one has the prior on real and imaginary part.
    phase : "estimate", array of ``shape`` or None, default "estimate"
        Radians that are taken out, so that the unknown is nearly real. "estimate": from up to 32 central lines, a
        central block of that side or a disc that trajectories cover, where there are four.
    coils : array (coils, *shape), "estimate" or None, default None
        Sensitivities of the receiver coils; "estimate": from the centre of k-space, which then has to be measured
        first. Blocks stay those of one coil, and the samples of each are (coils, *block.output_shape). None: one coil,
        samples without that axis.
    coil_covariance : array (coils, coils), optional
        Covariance of the noise between coils, up to a factor; it is made white.
    imaginary_prior : {"transform", "pixel", "none"}, default "transform"
        Of the imaginary part of a complex image: as on the real part; on its pixels, at a fifth of the smallest scale
        (or ``prior_scales["imaginary"]``); or nothing, which ruins designs that measure half of k-space.
    reconstruction : {"map", "mean"}, default "map"
        The mode or the mean of the posterior.
    design_noise_variance, design_prior_scales : float (or dict), default 1e-6 and 1/300
        What the model that chooses measurements assumes, for ``largest`` = 1. None: as the reconstruction.
    design_dtype : str, default "float32"
        Of the unknown of that model.
    inference : str or callable, default "variational_bounds"
        The double loop with sampled variances, or a callable ``(model, *, max_iter, tol, random_state, warm_start) ->
        Posterior`` such as ``functools.partial(inference.variational_bounds, variances="lanczos")``.
    n_samples : int, default 8
        Posterior samples behind variances and scores.
    refine : bool, default False
        Compute the best candidates exactly before choosing; pointless for lines.
    largest : float, default 1.0
        Largest magnitude that the image may be expected to have; design settings and checks are in its units.
    check : bool, default True
        Refuse k-space that is not centred, orthonormal and of that scale.
    max_iter : int, default 20
        Least-squares problems of the mode at each smoothing.
    tol : float, default 1e-3
        Relative length of the step at which it stops.
    random_state : None, int or Generator, default 0
        Draws the samples; kept over ``partial_fit``.

    Attributes
    ----------
    image_ : array of ``shape``
        Magnitudes of the reconstruction.
    image_std_ : array of ``shape``
        Posterior standard deviation of the pixels (of a complex image: root mean square over both parts).
    unknown_ : array of ``shape``
        The reconstruction itself, signed or complex, without the phase.
    noise_variance_, prior_scales_ : what was given, estimated or learnt
    phase_ : array or None
    coil_maps_ : array (coils, *shape) or None
        As given or estimated, where the noise is white.
    posterior_ : LargePosterior of the model that reconstructs
    design_posterior_ : LargePosterior of the model that designs
    n_products_ : int
        Products with the system matrix that the design has cost so far.
    n_iter_, converged_, objective_trace_ : of its last inference

    Notes
    -----
    ``image_``, ``posterior_`` and what depends on them are computed when they are first asked for, so that choosing
    measurements does not pay for pictures.

    Learnt scales are the fixed point scale_k = S_k q / (q_k n), S_k = sum_j sqrt(variance_j + s_j^2) over the q_k
    projections of group k, iterated with the double loop: the normaliser of a prior with more projections than
    unknowns (q > n) scales with n. Bands of two standard deviations are then about right; with q in the place of n they
    are far too narrow.

    References
    ----------
    Nickisch (2010), chapter 6; Seeger, Nickisch, Pohmann and Schoelkopf (2010), Optimization of k-space trajectories.

    Examples
    --------
    >>> from adaptive.images import head_scan, simulate_scan
    >>> from designs.kspace import central, lines
    >>> scan = simulate_scan(head_scan()[12].image, snr=50, random_state=0)
    >>> pool = lines(scan.image.shape)
    >>> first = pool.take(central(128, 16))
    >>> model = ImageReconstructor(scan.image.shape).fit(first, scan.measure(first))
    >>> further = model.select(pool, mask=~np.isin(pool.lines, first.lines))
    >>> model = model.partial_fit(pool.take(further), scan.measure(pool.take(further)))
    >>> model.predict().shape
    (128, 96)
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        *,
        noise_variance: float | None = None,
        prior: str = "tv+wavelet",
        prior_scales: Any = None,
        wavelet: str = "db4",
        level: int | None = None,
        dtype: str = "complex64",
        phase: Any = "estimate",
        coils: Any = None,
        coil_covariance: Any = None,
        imaginary_prior: str = "transform",
        reconstruction: str = "map",
        design_noise_variance: float | None = 1e-6,
        design_prior_scales: Any = 1 / 300,
        design_dtype: str = "float32",
        inference: Any = "variational_bounds",
        n_samples: int = 8,
        refine: bool = False,
        largest: float = 1.0,
        check: bool = True,
        max_iter: int = 20,
        tol: float = 1e-3,
        random_state: Any = 0,
    ) -> None:
        self.shape = shape
        self.noise_variance = noise_variance
        self.prior = prior
        self.prior_scales = prior_scales
        self.wavelet = wavelet
        self.level = level
        self.dtype = dtype
        self.phase = phase
        self.coils = coils
        self.coil_covariance = coil_covariance
        self.imaginary_prior = imaginary_prior
        self.reconstruction = reconstruction
        self.design_noise_variance = design_noise_variance
        self.design_prior_scales = design_prior_scales
        self.design_dtype = design_dtype
        self.inference = inference
        self.n_samples = n_samples
        self.refine = refine
        self.largest = largest
        self.check = check
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------------

    @property
    def _settings(self) -> ImageSettings:
        return ImageSettings(self)

    def fit(self, X: Any, y: Any) -> ImageReconstructor:
        """Forget what was measured and fit.

        Parameters
        ----------
        X : array (m, pixels), operator, or list (pool) of operator blocks
        y : array (m,) or of the operator's output shape, or list of such arrays
            Samples; of blocks one array each.

        Raises
        ------
        ValueError
            In one sentence: an image that is not 2-D or 3-D or has no wavelet depth, samples that are not finite or of
            the wrong shape or number of coils, lines measured twice, no centre, k-space of wrong orientation or scale,
            coil maps of another shape, too little memory.
        """
        measured = self._measured_anew(X, y)
        measured.require_centre()
        return self._learn(measured, None)

    def partial_fit(self, X: Any, y: Any) -> ImageReconstructor:
        """Learn from further measurements, starting from what is believed; what is refused changes nothing.

        The centre may come later than other lines; there is no image before it.
        """
        if hasattr(self, "measured_"):
            return self._learn(self.measured_.with_blocks(X, y), self.design_posterior_)
        return self._learn(self._measured_anew(X, y), None)

    def _measured_anew(self, X: Any, y: Any) -> MeasuredBlocks:
        self._settings.check()
        return self._settings.nothing_measured().with_blocks(X, y)

    def _learn(self, measured: MeasuredBlocks, warm: LargePosterior | None) -> ImageReconstructor:
        settings = self._settings
        received = settings.receiver.received(measured, None if warm is None else self._received)
        model = settings.model(measured, received)
        computed: dict[str, Any] = {}
        if self.design_prior_scales is None:
            computed = settings.scales(model)
        design, scales = settings.design_model(model, computed.get("scales"))
        posterior = design.posterior(scales, settings.engine, START_STEPS if warm is None else WARM_STEPS, warm)
        self.measured_, self.noise_variance_, self.design_posterior_ = measured, model.noise_variance, posterior
        self.phase_: np.ndarray | None = received.phase
        self.coil_maps_: np.ndarray | None = received.maps
        self.n_central_: int = received.n_central
        self.n_products_: int = posterior.n_products + (0 if warm is None else self.n_products_)
        self._computed = computed
        return self

    @property
    def _received(self) -> Received:
        return Received(self.phase_, self.coil_maps_, self.n_central_)

    # -- what is believed about the image ------------------------------------------------------------------------------

    def predict(self, X: Any = None) -> np.ndarray:
        """Magnitudes of the reconstructed image; ``X`` is ignored."""
        return self.image_

    def reconstruct(self, X: Any, y: Any) -> np.ndarray:
        """The image from other measurements with the settings of this estimator, which is not changed.

        Noise variance and prior scales are those learnt by ``fit``, if it was called and they were not given.
        """
        measured = self._measured_anew(X, y)
        measured.require_centre()
        other = type(self)(**self.get_params(deep=False))
        if hasattr(self, "measured_"):
            other.noise_variance, other.prior_scales = self.noise_variance_, self.prior_scales_
        settings = other._settings
        model = settings.model(measured, settings.receiver.received(measured))
        return np.abs(other._unknown(model, settings.scales(model))).astype(float)

    def _unknown(self, model: ImageModel, known: dict[str, Any]) -> np.ndarray:
        """Mode or mean, signed or complex."""
        if self.reconstruction == "map":
            return model.mode(known["scales"], self.max_iter, self.tol)
        if "posterior" not in known:
            known["posterior"] = model.posterior(known["scales"], self._settings.engine, STEPS)
        return model.image(known["posterior"].mean)

    def _compute(self, name: str) -> Any:
        """A quantity that is computed when it is asked for."""
        check_is_fitted(self, "measured_")
        self.measured_.require_centre()
        known, settings = self._computed, self._settings
        if name not in known:
            model = settings.model(self.measured_, self._received)
            if "scales" not in known:
                known.update(settings.scales(model))
            if name == "unknown":
                known[name] = self._unknown(model, known)
            elif name in ("posterior", "std") and "posterior" not in known:
                known["posterior"] = model.posterior(known["scales"], settings.engine, STEPS)
            if name == "std":
                variance = known["posterior"].variances(n_samples=max(32, self.n_samples))
                known[name] = np.sqrt(variance.reshape(-1, *self.measured_.shape).mean(axis=0))
        return known[name]

    @property
    def unknown_(self) -> np.ndarray:
        """The reconstruction, signed or complex, without the phase."""
        return self._compute("unknown")

    @property
    def image_(self) -> np.ndarray:
        """Magnitudes of the reconstruction."""
        return np.abs(self.unknown_).astype(float)

    @property
    def image_std_(self) -> np.ndarray:
        """Posterior standard deviation of the pixels."""
        return self._compute("std")

    posterior_ = property(lambda self: self._compute("posterior"), doc="Of the model that reconstructs.")
    prior_scales_ = property(lambda self: self._compute("scales"), doc="Scale of each group of the prior.")
    n_iter_ = property(lambda self: self.design_posterior_.n_iter, doc="Outer steps of the last inference.")
    converged_ = property(lambda self: self.design_posterior_.converged, doc="Whether its widths settled.")
    objective_trace_ = property(lambda self: self.design_posterior_.objective_trace, doc="One value per outer step.")
    log_evidence_ = property(lambda self: self.design_posterior_.log_evidence, doc="nan unless inference gives it.")
    evidence_kind_ = property(lambda self: self.design_posterior_.evidence_kind, doc='"none" as a rule.')

    # -- design --------------------------------------------------------------------------------------------------------

    def predictive(self, candidates: Any, *, target: Any = None, random_state: Any = None) -> BlockPredictive:
        """What is believed about blocks of measurements: log-determinants, from the samples of the design's posterior.

        Parameters
        ----------
        candidates : pool of operator blocks, or rows (m, pixels)
        target : None
            The information is about the image.
        random_state : ignored
            The samples are the posterior's.
        """
        settings = self._settings
        settings.check()
        if target is not None:
            raise ValueError("target must be None: the information of a measurement is about the whole image.")
        require_candidates(candidates, settings.shape)
        if hasattr(self, "measured_"):
            learnt = settings.model(self.measured_, self._received, self.noise_variance_)
            model, posterior = settings.design_model(learnt)[0], self.design_posterior_
        else:
            model, scales = settings.design_model_before_fit()
            posterior = model.posterior(scales, settings.engine, 0)
        return BlockPredictive(
            posterior,
            candidates,
            model.measured,
            model.noise_variance,
            sensitivity=model.sensitivity,
            refine=self.refine,
            random_state=0,
        )

    # -- state ---------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What was learnt, as plain arrays and numbers."""
        check_is_fitted(self, "measured_")
        return {
            "measured": self.measured_.state(),
            "phase": self.phase_,
            "coil_maps": self.coil_maps_,
            "n_central": self.n_central_,
            "noise_variance": self.noise_variance_,
            "design_noise_variance": self.design_posterior_.system.noise_variance,
            "design_posterior": self.design_posterior_.state(),
            "n_products": self.n_products_,
        }

    def restore(self, state: dict[str, Any]) -> ImageReconstructor:
        """Become what `state` described; the parameters are those of this estimator."""
        settings = self._settings
        nothing = settings.nothing_measured()
        measured = MeasuredBlocks.restored(nothing.shape, nothing.largest, nothing.check, state["measured"])
        received = Received(state["phase"], state.get("coil_maps"), state["n_central"])
        model = settings.model(measured, received, state["design_noise_variance"], self.design_dtype)
        posterior = model.restored(state["design_posterior"])
        self.measured_, self.design_posterior_, self._computed = measured, posterior, {}
        self.phase_, self.coil_maps_, self.n_central_ = received
        self.noise_variance_, self.n_products_ = state["noise_variance"], state["n_products"]
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Without what is computed when it is asked for."""
        state = super().__getstate__()
        return {**state, "_computed": {}} if "_computed" in state else state
