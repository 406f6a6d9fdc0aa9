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

from adaptive.estimators.imaging.answers import ImageAnswers, as_image
from adaptive.estimators.imaging.blocks import is_fourier, is_rows, with_rows_written_out
from adaptive.estimators.imaging.design import ImageDesign
from adaptive.estimators.imaging.followed_directions import FollowedDirections
from adaptive.estimators.imaging.measurements import MeasuredBlocks
from adaptive.estimators.imaging.receiver import Received
from adaptive.estimators.imaging.settings import AUTO, ImageSettings
from adaptive.estimators.imaging.tree_prior import plain_scales
from adaptive.inference import Posterior, posterior_state
from adaptive.inference.trees import TreePosterior

__all__ = ["ImageReconstructor"]

START_STEPS, WARM_STEPS = 5, 1  # outer steps of the double loop: the first time, and after further measurements


class ImageReconstructor(ImageAnswers, ImageDesign, BaseEstimator):
    """Reconstruct an image from few measurements, and choose the next ones.

    Measurements are samples of k-space (lines, masks, trajectories) or anything that is linear in the pixels: rows of a
    matrix (random projections, patterns of a single-pixel detector, selected pixels), `Identity` (a noisy picture),
    `Convolution` (a blurred one), `Dense`, `Sparse`, or any other operator. What is measured first decides which
    defaults hold: those of k-space where it is complex, else those of photographs.

    Parameters
    ----------
    shape : tuple of two or three int
        Of the image or volume. Sides that are odd are padded for the wavelet prior, by repeating the last row or
        column, which is said in a warning.
    noise_variance : float, optional
        Of the real and of the imaginary part of every sample. None: estimated from the samples farthest from DC, from
        the finest details of a picture (noisy or blurred), or from more rows than pixels. Of several coils it is the
        mean. Exact samples need a small one, such as 1e-8.
    prior : {"tv+wavelet", "tv", "wavelet", "tree", "student_t_tree"}, default "tv+wavelet"
        Laplace potentials on differences of neighbours, wavelet coefficients, or both; or, for real images with even
        sides, a tree of wavelet coefficients, each narrow or wide as its parent suggests (`inference.trees`): two
        Laplace densities, or a Gaussian and a Student t.
    prior_scales : float, dict or TreeMixture, optional
        Scale of each group, {"wavelet": ..., "tv": ...}. None: learnt by evidence (see Notes); with expectation
        propagation of photographs those of the literature, .943 and .141 times ``largest``. Of a tree all parameters,
        or the scale of wide coefficients at the finest level; None: learnt on the bound.
    wavelet : str, optional
        Orthonormal wavelet of PyWavelets; None: "db4" for k-space, "db2" for photographs.
    level : int, optional
        Its depth; None: as deep as the shape allows.
    dtype : {"complex64", "complex128", "float32", "float64"}, optional
        Of the image that is reconstructed: a complex one has the prior on real and imaginary part. None: "complex64"
        for k-space, "float64" for photographs.
    phase : "estimate", array of ``shape`` or None, default "estimate"
        Radians that are taken out, so that the unknown is nearly real. "estimate": from up to 32 central lines, a
        central block of that side or a disc that trajectories cover, where there are four; photographs have none.
    coils : array (coils, *shape), "estimate" or None, default None
        Sensitivities of the receiver coils; "estimate": from the centre of k-space, which then has to be measured
        first. Blocks stay those of one coil, and the samples of each are (coils, *block.output_shape). None: one coil,
        samples without that axis.
    coil_covariance : array (coils, coils), optional
        Covariance of the noise between coils, up to a factor; it is made white.
    imaginary_prior : {"transform", "pixel", "none"}, default "transform"
        Of the imaginary part of a complex image: as on the real part; on its pixels, at a fifth of the smallest scale
        (or ``prior_scales["imaginary"]``); or nothing, which ruins designs that measure half of k-space.
    reconstruction : {"map", "mean"}, optional
        The mode or the mean of the posterior; None: the mean with a tree and of expectation propagation, else the mode.
    design_noise_variance, design_prior_scales : float (or dict), None or "auto", default "auto"
        What the model that chooses measurements assumes, for ``largest`` = 1. None: as the reconstruction. "auto": 1e-6
        and 1/300 for k-space, None for photographs.
    design_dtype : str, optional
        Of the unknown of that model; None: "float32" for k-space, ``dtype`` for photographs.
    inference : str or callable, default "variational_bounds"
        The double loop with sampled variances; "expectation_propagation" (fraction 0.9, sites updated while any can
        change the posterior by .01 nats), which keeps the covariance as a matrix and is exact about candidates, for
        images of up to 64 by 64 pixels; or a callable
        ``(model, *, max_iter, tol, random_state, warm_start) -> Posterior`` such as
        ``functools.partial(inference.variational_bounds, variances="lanczos")``.
    n_samples : int, default 8
        Posterior samples behind variances and scores of the double loop; of a tree at least 30.
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
        The reconstruction; of k-space and of complex images its magnitudes.
    image_std_ : array of ``shape``
        Posterior standard deviation of the pixels (of a complex image: root mean square over both parts).
    unknown_ : array of ``shape``
        The reconstruction itself, signed or complex, without the phase.
    noise_variance_, prior_scales_ : what was given, estimated or learnt
    design_scales_ : dict
        Scale of each group in the model that designs.
    measurements_ : pair of arrays (m, pixels) and (m,)
        All measurements as rows, and their outcomes.
    phase_ : array or None
    coil_maps_ : array (coils, *shape) or None
        As given or estimated, where the noise is white.
    posterior_ : Posterior of the model that reconstructs
    design_posterior_ : Posterior of the model that designs
        Both are `LargePosterior` for the double loop.
    n_products_ : int
        Products with the system matrix that the design has cost so far.
    n_iter_, converged_, objective_trace_ : of its last inference

    Notes
    -----
    ``image_``, ``posterior_`` and what depends on them are computed when they are first asked for, so that choosing
    measurements does not pay for pictures. For photographs one model does both.

    Learnt scales are the fixed point scale_k = S_k q / (q_k n), S_k = sum_j sqrt(variance_j + s_j^2) over the q_k
    projections of group k, iterated with the double loop: the normaliser of a prior with more projections than
    unknowns (q > n) scales with n. Bands of two standard deviations are then about right; with q in the place of n they
    are far too narrow.

    References
    ----------
    Nickisch (2010), chapters 5 and 6; Seeger, Nickisch, Pohmann and Schoelkopf (2010), Optimization of k-space
    trajectories.

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

    Random patterns of a photograph, and the next one out of a hundred others:

    >>> rng = np.random.default_rng(0)
    >>> picture, patterns = np.tri(16), rng.standard_normal((200, 256)) / 16
    >>> outcomes = patterns @ picture.ravel() + 0.02 * rng.standard_normal(200)
    >>> model = ImageReconstructor((16, 16), inference="expectation_propagation", noise_variance=4e-4)
    >>> model = model.fit(patterns[:100], outcomes[:100])
    >>> image, std = model.predict(return_std=True)
    >>> print(abs(image - picture).mean() < 0.1, model.select(patterns[100:]).shape)
    True (1,)
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        *,
        noise_variance: float | None = None,
        prior: str = "tv+wavelet",
        prior_scales: Any = None,
        wavelet: str | None = None,
        level: int | None = None,
        dtype: str | None = None,
        phase: Any = "estimate",
        coils: Any = None,
        coil_covariance: Any = None,
        imaginary_prior: str = "transform",
        reconstruction: str | None = None,
        design_noise_variance: Any = AUTO,
        design_prior_scales: Any = AUTO,
        design_dtype: str | None = None,
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
        return ImageSettings(self, hasattr(self, "measured_") and self.measured_.fourier)

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
            the wrong shape or number of coils, rows of zeros, lines measured twice, no centre, k-space of wrong
            orientation or scale, coil maps of another shape, too little memory.
        """
        settings, measured = self._measured_anew(X, y)
        measured.require_centre()
        return self._learn(settings, measured, None)

    def partial_fit(self, X: Any, y: Any) -> ImageReconstructor:
        """Learn from further measurements, starting from what is believed; what is refused changes nothing.

        The centre of k-space may come later than other lines; there is no image before it.
        """
        if hasattr(self, "measured_"):
            measured = self.measured_.with_blocks(X := with_rows_written_out(X), y)
            followed = self._directions.before(X) if is_rows(X) else self._directions.followed
            return self._learn(self._settings, measured, self.design_posterior_, followed)
        return self._learn(*self._measured_anew(X, y), None)

    def _measured_anew(self, X: Any, y: Any) -> tuple[ImageSettings, MeasuredBlocks]:
        X = with_rows_written_out(X)
        settings = ImageSettings(self, self.coils is not None or is_fourier(X))
        settings.check()
        settings.warn_where_padded()
        return settings, settings.nothing_measured().with_blocks(X, y)

    def _learn(
        self, settings: ImageSettings, measured: MeasuredBlocks, warm: Posterior | None, followed: bool | None = None
    ) -> ImageReconstructor:
        received = settings.receiver.received(measured, None if warm is None else self._received)
        model = settings.model(measured, received)
        computed = settings.scales(model, warm) if settings.design_follows else {}
        design, scales = settings.design_model(model, computed.get("scales"))
        if settings.one_model and "posterior" in computed:
            posterior = computed["posterior"]
        else:
            posterior = design.posterior(scales, settings.engine, START_STEPS if warm is None else WARM_STEPS, warm)
        self.measured_, self.noise_variance_, self.design_posterior_ = measured, model.noise_variance, posterior
        self.design_scales_: Any = scales
        self._directions = FollowedDirections(posterior, followed)
        self.phase_: np.ndarray | None = received.phase
        self.coil_maps_: np.ndarray | None = received.maps
        self.n_central_: int = received.n_central
        self.n_products_: int = posterior.n_products + (0 if warm is None else self.n_products_)
        self._computed = computed
        return self

    @property
    def _received(self) -> Received:
        return Received(self.phase_, self.coil_maps_, self.n_central_)

    def reconstruct(self, X: Any, y: Any) -> np.ndarray:
        """The image from other measurements with the settings of this estimator, which is not changed.

        Noise variance and prior scales are those learnt by ``fit``, if it was called and they were not given.
        """
        other = type(self)(**self.get_params(deep=False))
        if hasattr(self, "measured_"):
            other.noise_variance, other.prior_scales = self.noise_variance_, self.prior_scales_
        settings, measured = other._measured_anew(X, y)
        measured.require_centre()
        model = settings.model(measured, settings.receiver.received(measured))
        return as_image(other._unknown(settings, model, settings.scales(model)), measured.fourier)

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
            "design_scales": plain_scales(self.design_scales_),
            "design_posterior": posterior_state(self.design_posterior_),
            "followed": self._directions.followed,
            "n_products": self.n_products_,
        }

    def restore(self, state: dict[str, Any]) -> ImageReconstructor:
        """Become what `state` described; the parameters are those of this estimator."""
        settings = ImageSettings(self, state["measured"].get("fourier", True))
        nothing = settings.nothing_measured()
        measured = MeasuredBlocks.restored(nothing.shape, nothing.largest, nothing.check, state["measured"])
        received = Received(state["phase"], state.get("coil_maps"), state["n_central"])
        model = settings.model(measured, received, state["noise_variance"])
        scales = state["design_scales"]
        posterior = settings.design_model(model)[0].restored(state["design_posterior"], scales)
        self.measured_, self.design_posterior_, self._computed = measured, posterior, {}
        self.design_scales_ = posterior.prior if isinstance(posterior, TreePosterior) else scales
        self._directions = FollowedDirections(posterior, state.get("followed"))
        self.phase_, self.coil_maps_, self.n_central_ = received
        self.noise_variance_, self.n_products_ = state["noise_variance"], state["n_products"]
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Without what is computed when it is asked for."""
        state = super().__getstate__()
        return {**state, "_computed": {}} if "_computed" in state else state
