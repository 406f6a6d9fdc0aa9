"""Images from blocks of measurements, with a sparse prior and a posterior that says what to measure next.

    y = X u + noise,    p(u) = exp(-|W u|_1 / scale_W - |D u|_1 / scale_D),    q(u) Gaussian, by the double loop

Two models of the same measurements: one to reconstruct with, whose noise and scales are what the data say, and one to
design with, less noisy and stiffer, which chooses better measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from adaptive.estimators.belief import BeliefEstimator, of_belief
from adaptive.estimators.imaging.belief import ImageBelief
from adaptive.estimators.imaging.blocks import require_candidates, with_rows_written_out
from adaptive.estimators.imaging.conventions import Conventions, Models, measured
from adaptive.estimators.imaging.reconstruction import Reconstruction
from adaptive.estimators.imaging.settings import AUTO, ImageSettings, image_shape
from adaptive.estimators.intervals import log_probabilities

if TYPE_CHECKING:
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.estimators.imaging.prior import StatedScales
    from adaptive.inference import Posterior
    from adaptive.operators import Operator
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, DType, Outcomes, Pool, RandomState, Rows, State

__all__ = ["ImageReconstructor"]


class ImageReconstructor(BeliefEstimator):
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
    likelihood : {"gaussian", "poisson"}, default "gaussian"
        Noise, or counts of photons whose rate is max(0, A u). Of counts expectation propagation infers, whatever
        ``inference`` says, images of up to 64 by 64 pixels; an exposure is a factor of its block or row
        (`operators.Scaled`), so that candidates say what to count and for how long; and candidates are rows.
    noise_variance : float, optional
        Of the real and of the imaginary part of every sample. None: estimated from the samples farthest from DC, from
        the finest details of a picture (noisy or blurred), or from more rows than pixels. Of several coils it is the
        mean. Exact samples need a small one, such as 1e-8. How near it comes: ``ours-image-noise``.
    prior : {"tv+wavelet", "tv", "wavelet", "tree", "student_t_tree"}, default "tv+wavelet"
        Laplace potentials on differences of neighbours, wavelet coefficients, or both; or, for real images with even
        sides, a tree of wavelet coefficients, each narrow or wide as its parent suggests (`inference.trees`): two
        Laplace densities, or a Gaussian and a Student t. Chosen by ``ours-default-settings-lines``, with ``wavelet``,
        ``level`` and ``imaginary_prior``: of k-space differences alone are as good, wavelets alone are worse; of
        photographs differences alone may err less, with bands further off (``ours-default-settings-photographs``).
    prior_scales : float, dict or TreeMixture, optional
        Scale of each group, {"wavelet": ..., "tv": ...}. None: fitted by evidence (see Notes); with expectation
        propagation of photographs those of the literature, .943 and .141 times ``largest``. Of a tree all parameters,
        or the scale of wide coefficients at the finest level; None: fitted on the bound. Chosen by
        ``ours-image-scales``, of photons by ``ours-default-photons``.
    wavelet : str, optional
        Orthonormal wavelet of PyWavelets; None: "db4" for k-space, "db2" for photographs.
    level : int, optional
        Its depth; None: as deep as the shape allows.
    dtype : {"complex64", "complex128", "float32", "float64"}, optional
        Of the image that is reconstructed: a complex one has the prior on real and imaginary part. None: "complex64"
        for k-space, "float64" for photographs. By expectation propagation, and of photons, "float32" takes three fifths
        of the time, to the same image but for 1e-4 of its bands.
    phase : "smooth", "estimate", array of ``shape`` or None, default "smooth"
        Radians that are taken out, so that the unknown is nearly real. "smooth": `adaptive.images.smooth_phase` of
        the image that up to 32 central lines show, a central block of that side or a disc that trajectories cover,
        where there are four; how uncertain it is both models know. "estimate": the angle of that image as it is. A
        phase from a prescan is given as an array. Photographs have none.
    coils : array (coils, *shape), "estimate" or None, default None
        Sensitivities of the receiver coils; "estimate": from the centre of k-space as soon as four central lines (or
        a block or disc of that side) were measured, again when it has doubled, up to 32. `fit` needs them;
        `partial_fit`, and so a loop, keeps what comes before, and until then what is believed is the prior. Blocks stay
        those of one coil, and the samples of each are (coils, *block.output_shape). None: one coil, samples without
        that axis.
    coil_covariance : array (coils, coils), optional
        Covariance of the noise between coils, up to a factor; it is made white.
    imaginary_prior : {"auto", "transform", "pixel", "none"}, default "auto"
        Of the imaginary part of a complex image: as on the real part; on its pixels, at a fifth of the smallest scale
        (or ``prior_scales["imaginary"]``), times what the uncertainty of a smooth phase leaves at each; or nothing,
        which ruins designs that measure half of k-space. "auto": pixels where the phase is read from the
        measurements, else transforms.
    reconstruction : {"map", "mean"}, optional
        The mode or the mean of the posterior; None: the mean with a tree and of expectation propagation, else the mode.
    design_noise_variance, design_prior_scales : float (or dict), None or "auto", default "auto"
        What the model that chooses measurements assumes, for ``largest`` = 1. None: as the reconstruction. "auto": for
        k-space a noise of 1e-6, whatever that of the data (of more noise designs are no better), and scales of 1/300,
        or in proportion to another noise; None for photographs. Chosen by ``ours-kspace-pays-design-noise`` and
        ``ours-kspace-unseen-whole-head-snr-50``.
    design_dtype : str or None, default "auto"
        Of the unknown of that model. None: "float32" for k-space, ``dtype`` for photographs. "auto": the same, but
        "complex64" with a prior on the pixels of the imaginary part where the phase is read from the measurements
        (and the prior is no tree): mirrors are then worth what that leaves. Judged by
        ``ours-kspace-unseen-default-snr-50``.
    inference : str or callable, default "variational_bounds"
        The double loop with sampled variances; "expectation_propagation" (fraction 0.9, sites updated while any can
        change the posterior by .01 nats), which keeps the covariance as a matrix, in the precision of the unknown, and
        is exact about candidates, for images of up to 64 by 64 pixels; or a callable
        ``(model, *, max_iter, tol, random_state, warm_start) -> Posterior`` such as
        ``functools.partial(inference.variational_bounds, variances="lanczos")``.
    n_samples : int, default 4
        Posterior samples behind variances and scores of the double loop; of a tree at least 30.
    reference : array of ``shape``, optional
        An earlier image of the same object, magnitudes or complex, in any contrast, registered to within a pixel: where
        it has edges the prior expects some, in the model that reconstructs and in the one that designs.
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
        Posterior standard deviation of the pixels (of a complex image: of the magnitudes). From samples on the grid of
        k-space it is scaled so that bands inside the object hold .8 of the energy believed of the samples that were
        not measured: bands of 90% cover .87 to .96, by head (``ours-bands-kspace-heads``), .81 to .99 by design
        (``ours-kspace-pays-bands``). Of photons it is the posterior's times sqrt(``variance_factor_.value``), and
        covers .82 to .96 (``ours-counts-exposures-coverage``). Of photographs measured by rows .91 to .97 by learnt
        scales (``ours-bands-photographs``); with the factor .87 to .95 by expectation propagation and .80 to .88 by
        given scales under the double loop, whose bounds are too narrow; and .75 to .95 of a tree, the least where
        little was measured (``ours-bands-photographs-ep``, ``-told``, ``-tree``). The last two say so in a warning,
        by fewer rows than half the pixels.
    variance_factor_ : VarianceFactor or None
        By how much the pixels' variances are too small, by counts of photons, or samples of a picture, without
        themselves (`adaptive.diagnostics.variance_factor`), its standard error and the nats it gains; None of k-space,
        and of pictures whose scales were learnt, where it would be 1. Of photons, above 4 at fitted scales, the fit
        warns, and takes the scale that predicts those counts best.
    unknown_ : array of ``shape``
        The reconstruction itself, signed or complex, without the phase.
    noise_variance_, prior_scales_ : what was given, estimated or fitted
    design_scales_ : dict
        Scale of each group in the model that designs.
    measurements_ : pair of arrays (m, pixels) and (m,)
        All measurements as rows, and their outcomes.
    phase_ : array (*shape), in radians, or None
    coil_maps_ : array (coils, *shape) or None
        As given or estimated, where the noise is white.
    posterior_ : Posterior of the model that reconstructs
    design_posterior_ : Posterior of the model that designs
        Both are `LargePosterior` for the double loop.
    leave_one_out_ : LeaveOneOut or None
        By ``inference="expectation_propagation"`` and of photons: ``log_score`` (m,), nats, of the samples (real parts
        first) without themselves, as the model that designs has them; None of other engines.
    n_products_ : int
        Products with the system matrix that the design has cost so far.
    n_iter_, converged_, objective_trace_ : of its last inference

    Notes
    -----
    ``image_``, ``posterior_`` and what depends on them are computed when they are first asked for, so that choosing
    measurements does not pay for pictures. For photographs one model does both.

    Answers one by one do not lead to the posterior of ``fit`` on all by the double loop, which after a block takes a
    few steps from where it was. By expectation propagation of up to 1,024 unknowns they do.

    Scales of counted images are those of the literature times the factor of the highest evidence of expectation
    propagation, normalised by the number of unknowns as below.

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

    Photons of a blurred picture, ten at the brightest pixel, and which of all pixels to count again for as long:

    >>> from adaptive.operators import Convolution, Scaled
    >>> rng, picture = np.random.default_rng(0), np.tri(8)
    >>> camera = Scaled(10.0, Convolution((8, 8), np.full((3, 3), 1 / 9)))
    >>> photons = rng.poisson(np.maximum(camera.forward(picture), 0.0))
    >>> counted = ImageReconstructor((8, 8), likelihood="poisson", prior="tv").fit(camera, photons)
    >>> print(abs(counted.image_ - picture).mean() < 0.3, counted.select(10.0 * np.eye(64)).shape)
    True (1,)

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
        likelihood: str = "gaussian",
        noise_variance: float | None = None,
        prior: str = "tv+wavelet",
        prior_scales: StatedScales | None = None,
        wavelet: str | None = None,
        level: int | None = None,
        dtype: DType | None = None,
        phase: ArrayLike | None = "smooth",
        coils: ArrayLike | None = None,
        coil_covariance: ArrayLike | None = None,
        imaginary_prior: str = AUTO,
        reconstruction: str | None = None,
        design_noise_variance: float | str | None = AUTO,
        design_prior_scales: StatedScales | str | None = AUTO,
        design_dtype: DType | None = AUTO,
        inference: str | Callable[..., Posterior] = "variational_bounds",
        n_samples: int = 4,
        reference: ArrayLike | None = None,
        refine: bool = False,
        largest: float = 1.0,
        check: bool = True,
        max_iter: int = 20,
        tol: float = 1e-3,
        random_state: RandomState = 0,
    ) -> None:
        self.shape = shape
        self.likelihood = likelihood
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
        self.reference = reference
        self.refine = refine
        self.largest = largest
        self.check = check
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------------

    _Settings, _Belief = ImageSettings, ImageBelief
    _cites = ("seeger2010", "seeger2011", "nickisch2010")
    belief_: ImageBelief

    def fit(self, X: Pool | Operator, y: Outcomes) -> Self:
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
        return self._fit(X, y, whole=True)

    def partial_fit(self, X: Pool | Operator, y: Outcomes) -> Self:
        """Learn from further measurements, starting from what is believed; what is refused changes nothing.

        The centre of k-space may come later than other lines; there is no image before it. With ``coils="estimate"``
        samples are kept until the coil maps can be read from the centre: candidates are judged by the prior until then,
        as one coil would see them, and the image is refused in one sentence.
        """
        return self._partial_fit(X, y)

    def _measured(
        self, X: Pool | Operator, y: Outcomes, earlier: MeasuredBlocks | None = None, whole: bool = False
    ) -> MeasuredBlocks:
        settings = ImageSettings.of(self)
        blocks = measured(settings, X, y, earlier, check=self.check)
        if whole:
            blocks.require_centre()
            settings.receiver.require_maps(blocks)
        return blocks

    def _candidates(self, X: Pool) -> Pool:
        candidates = with_rows_written_out(X)
        require_candidates(candidates, image_shape(self.shape))
        if self.likelihood == "poisson" and getattr(getattr(candidates, "dtype", None), "kind", "") == "c":
            raise ValueError('candidates must be real rows where likelihood="poisson", got complex ones.')
        return candidates

    def _measured_before(self, settings: ImageSettings, state: State) -> MeasuredBlocks:
        return settings.nothing_measured(self.check).restored(state)

    # -- the image -----------------------------------------------------------------------------------------------------

    def predict(self, X: object = None, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The reconstructed image.

        Parameters
        ----------
        X : ignored
        return_std : bool, default False
            Also return the standard deviation of every pixel: of nominal .90 k-space covers .87 to .96, by head
            (``ours-bands-kspace-heads``), photographs .91 to .97 (``ours-bands-photographs``; .75 to .95 by scales or
            engines of your own, see ``image_std_``), photons .82 to .96 (``ours-counts-exposures-coverage``).

        Returns
        -------
        array of ``shape``, or a pair of them
            ``image_`` and ``image_std_``.
        """
        return (self.image_, self.image_std_) if return_std else self.image_

    def reconstruct(self, X: Pool | Operator, y: Outcomes, *, with_phase: bool = False) -> np.ndarray:
        """The image from other measurements with the settings of this estimator, which is not changed.

        Noise variance and prior scales are those fitted by ``fit``, if it was called and they were not given.

        Parameters
        ----------
        X, y
            As of ``fit``.
        with_phase : bool, default False
            The unknown itself, turned by the phase that was taken out, in the place of what is shown of it.
        """
        settings = ImageSettings.of(self)
        if self.__sklearn_is_fitted__():
            settings = replace(settings, noise_variance=self.noise_variance_, prior_scales=self.prior_scales_)
        blocks = measured(settings, X, y, check=self.check)
        blocks.require_centre()
        settings.receiver.require_maps(blocks)
        received, models = settings.receiver.received(blocks), Models(Conventions.of(settings, blocks.fourier))
        assert received is not None
        model = models.model(blocks, received, models.noise_variance(blocks))
        found = Reconstruction(models, model)
        if not with_phase:
            return found.image
        return found.unknown if model.phase is None else found.unknown * np.exp(1j * model.phase)

    # -- what to measure next ------------------------------------------------------------------------------------------

    def predictive(self, candidates: Pool, *, target: None = None, random_state: RandomState = None) -> Predictive:
        """Return the predictive of blocks of measurements: log-determinants under the posterior that designs.

        Parameters
        ----------
        candidates : pool of operator blocks, or rows (m, pixels)
        target : None
            The information is about the image.
        random_state : ignored
            The samples are the posterior's.
        """
        if target is not None:
            raise ValueError("target must be None: the information of a measurement is about the whole image.")
        candidates = self._candidates(candidates)
        if self.__sklearn_is_fitted__():
            return self.belief_.predictive(candidates, refine=self.refine)
        return ImageBelief.prior_predictive(ImageSettings.of(self), candidates, refine=self.refine)

    @available_if(lambda self: self.likelihood == "poisson")
    def log_predictive(self, X: Pool, y: ArrayLike) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities of counts of photons, of ``likelihood="poisson"`` alone.

        Parameters
        ----------
        X : rows (m, pixels), or blocks of one row each
            With their exposures as factors.
        y : (m,) array of counts
        """
        self.fitted_belief()
        believed = self.predictive(X)
        return log_probabilities(believed.likelihood.observe, believed.mean, believed.variance, y)

    def leading_directions(self, n: int = 1) -> np.ndarray:
        """The unit images along which least is known: eigenvectors of the posterior covariance, largest first.

        Parameters
        ----------
        n : int, default 1

        Returns
        -------
        array (n, pixels)
            Measuring them is the most informative of all designs with n rows of length one. The sign is arbitrary.
        """
        return self._belief_or_prior().leading_directions(n)

    def variances_along(self, operator: Rows) -> np.ndarray:
        """Posterior variances of the projections of the image by an operator, or by rows (m, pixels).

        Parameters
        ----------
        operator : Operator on images, or array (m, pixels)

        Returns
        -------
        array of the operator's output shape
        """
        return self._belief_or_prior().variances_along(operator)

    def _belief_or_prior(self) -> ImageBelief:
        """Belief as it is, before any fit the prior of a photograph."""
        if self.__sklearn_is_fitted__():
            return self.belief_
        settings = ImageSettings.of(self)
        return ImageBelief.before_fit(settings, Conventions.of(settings, fourier=False))

    # -- fitted attributes ---------------------------------------------------------------------------------------------

    image_ = of_belief("reconstruction.image", "The reconstruction, of k-space and of complex images its magnitudes.")
    image_std_ = of_belief("reconstruction.std", "Posterior standard deviation of the pixels.")
    unknown_ = of_belief("reconstruction.unknown", "The reconstruction, signed or complex, without the phase.")
    posterior_ = of_belief("reconstruction.posterior", "Of the model that reconstructs.")
    prior_scales_ = of_belief("reconstruction.scales", "Scale of each group of the prior.")
    noise_variance_ = of_belief("noise_variance", "As it was given, or estimated.")
    design_posterior_ = of_belief("posterior", "Of the model that designs.")
    design_scales_ = of_belief("scales", "Scale of each group in the model that designs.")
    variance_factor_ = of_belief(
        "reconstruction.variance_factor", "Factor of the pixels' variances by what was left out; or None."
    )
    leave_one_out_ = of_belief("left_out", "Log score (m,) of the samples without themselves, by EP; or None.")
    n_products_ = of_belief("n_products", "Products with the system matrix that the design has cost so far.")
    measured_ = of_belief("data", "All that was measured.")
    phase_ = of_belief("received.phase", "Radians that are taken out; None: none are.")
    coil_maps_ = of_belief("received.maps", "As given or estimated, where the noise is white; None: one coil.")
    n_central_ = of_belief("received.n_central", "How much of the centre an estimate was read from; 0 for none.")

    @property
    def measurements_(self) -> tuple[np.ndarray, np.ndarray]:
        """All that was measured as rows (m, pixels) and outcomes (m,), in order; before any fit m = 0."""
        known = self.__sklearn_is_fitted__()
        return (self.measured_ if known else ImageSettings.of(self).nothing_measured()).rows()
