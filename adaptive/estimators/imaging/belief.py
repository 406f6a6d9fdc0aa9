"""Belief about an image: the posterior that designs, and what follows from it and from the measurements.

    settings, measurements, what was received    ->  the model that reconstructs, and the one that designs
    the first, when it is asked for              ->  `Reconstruction`: scales, posterior, image, bands
    the second, always                           ->  posterior and scales, by which candidates are judged

What is computed when it is first asked for is kept, but left out of pickles and copies.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from adaptive.checks import integer
from adaptive.estimators.belief import Inferred
from adaptive.estimators.imaging.held_out import band_factor, held_out_lines
from adaptive.estimators.imaging.photons.model import RATE, PhotonModel
from adaptive.estimators.imaging.predictive import block_predictive
from adaptive.estimators.imaging.receiver import Received
from adaptive.estimators.imaging.tree_prior import plain_scales
from adaptive.estimators.imaging.trees import TreePosterior
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, without_sites
from adaptive.gaussians.sequential_form import SequentialForm
from adaptive.inference import LargePosterior, posterior_state
from adaptive.linalg.matrices import dense
from adaptive.operators import as_operator
from adaptive.potentials import Gaussian, Poisson

if TYPE_CHECKING:
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.estimators.imaging.model import ImageModel
    from adaptive.estimators.imaging.prior import Scales
    from adaptive.estimators.imaging.settings import Conventions, ImageSettings
    from adaptive.inference import Posterior
    from adaptive.potentials import Potential
    from adaptive.predictive import Predictive
    from adaptive.types import Matrix, Pool, RandomState, Rows, State

__all__ = ["ImageBelief", "Reconstruction"]

START_STEPS, WARM_STEPS = 5, 1  # outer steps of the double loop: the first time, and after further measurements
STEPS = 15  # where nothing is known, and the image itself is wanted
TOL = 1e-2  # residual of a leading direction, as a share of the largest variance
ALONG = 0.5  # share of the length of measured rows that lies along the directions, from where they are followed


@dataclass(frozen=True, eq=False)
class ImageBelief(Inferred):
    """Belief about an image after its measurements.

    Attributes
    ----------
    settings : Conventions
    data : MeasuredBlocks
    received : Received
        Phase and coil maps, told or estimated.
    noise_variance : float
        Told or estimated.
    posterior : Posterior
        Of the model that designs.
    scales : dict of str to float, or TreeMixture
        Of its prior.
    followed : bool or None
        Whether rows measured so far lay along the leading directions (see `FollowedDirections`); None: not known yet.
    n_products : int
        Products with the system matrix that the posteriors that design have cost so far.
    learnt_scales : pair of scales and Posterior or None, optional
        Of the model that reconstructs, where they were learnt on the way; copies do without.
    """

    settings: Conventions
    data: MeasuredBlocks
    received: Received
    noise_variance: float
    posterior: Posterior
    scales: Scales
    followed: bool | None = None
    n_products: int = 0
    learnt_scales: tuple[Scales, Posterior | None] | None = field(default=None, repr=False)

    @classmethod
    def learnt(cls, settings: ImageSettings, data: MeasuredBlocks, earlier: ImageBelief | None = None) -> Self:
        """The belief after ``data``; posterior, phase and maps start from those of an ``earlier`` one."""
        known = settings.conventions(data.fourier)
        if settings.receiver.waits_for_maps(data):
            return cls.waiting(settings, data, earlier)
        if earlier is not None and earlier.waits:
            earlier = None  # it has learnt nothing
        received = settings.receiver.received(data, None if earlier is None else earlier.received)
        model = known.model(data, received, known.noise_variance(data))
        warm = None if earlier is None else earlier.posterior
        learnt, scales, posterior = None, known.design_scales(model.noise_variance), None
        if scales is None:
            learnt = known.scales(model, warm)
            scales, posterior = learnt
        followed = None if earlier is None else earlier.directions.followed_after(data.newest_rows())
        if posterior is None or not known.one_model:
            steps = START_STEPS if earlier is None else WARM_STEPS
            posterior = known.design_model(model).posterior(scales, settings.engine, steps, warm)
        n_products = posterior.n_products + (0 if earlier is None else earlier.n_products)
        return cls(
            known, data, received, model.noise_variance, posterior, scales, followed, n_products, learnt_scales=learnt
        )

    @classmethod
    def before_fit(cls, settings: ImageSettings, known: Conventions) -> Self:
        """The prior: what is believed where nothing was measured."""
        known.check()
        scales, nothing = known.scales_before_fit(), settings.nothing_measured()
        unseen = Received(None, settings.receiver.maps, 0)
        model = known.model(nothing, unseen, float(settings.noise_variance or 1.0))
        posterior = known.design_model(model).posterior(scales, settings.engine, 0)
        return cls(known, nothing, unseen, model.noise_variance, posterior, scales)

    @classmethod
    def waiting(cls, settings: ImageSettings, data: MeasuredBlocks, earlier: ImageBelief | None = None) -> Self:
        """The prior beside measurements that are kept until the centre shows the coil maps that explain them."""
        if earlier is None:
            return replace(cls.before_fit(settings, settings.conventions(data.fourier)), data=data)
        return replace(cast("Self", earlier), data=data)

    @property
    def waits(self) -> bool:
        """Waiting for coil maps that are to be estimated and could not be yet: the belief is then the prior."""
        return isinstance(self.settings.given.coils, str) and self.received.maps is None

    @cached_property
    def design(self) -> ImageModel:
        """The model that designs."""
        return self.settings.design_model(self.model)

    @cached_property
    def model(self) -> ImageModel:
        """The model that reconstructs; of nothing measured while it waits for the coil maps."""
        return self.settings.model(self._explained(self.settings, self.data), self.received, self.noise_variance)

    @staticmethod
    def _explained(known: Conventions, data: MeasuredBlocks) -> MeasuredBlocks:
        """Measurements that a model can explain: all of them, unless it waits for coil maps."""
        receiver = known.given.receiver
        return known.given.nothing_measured() if receiver.waits_for_maps(data) else data

    # -- asked of the model that designs -------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(
        cls,
        settings: ImageSettings,
        candidates: Pool,
        *,
        target: None = None,
        random_state: RandomState = None,
        refine: bool = False,
    ) -> Predictive:
        """Predictive of candidates before anything was measured."""
        return cls.before_fit(settings, settings.conventions_for(candidates)).predictive(candidates, refine=refine)

    def predictive(
        self, candidates: Pool, *, target: None = None, random_state: RandomState = None, refine: bool = False
    ) -> Predictive:
        """Predictive of blocks of measurements: their log-determinants, about the whole image.

        Parameters
        ----------
        candidates : pool of operator blocks, or rows (m, pixels)
        target, random_state : ignored
            The samples are the posterior's.
        refine : bool
            Whether selection is to compute the best candidates exactly.
        """
        if isinstance(self.design, PhotonModel):
            return self.design.predictive(self.posterior, candidates)
        return block_predictive(self.posterior, candidates, self.design, refine=refine)

    @property
    def left_out(self) -> LeaveOneOut | None:  # type: ignore[override]
        """Log scores of the samples without themselves, real parts first, by expectation propagation."""
        X, y = self.design.measurements()
        counts = isinstance(self.design, PhotonModel)
        if X is None or y is None or X.dtype.kind == "c" or not (counts or self.settings.given.engine.dense):
            return None
        mean, variance = self.posterior.projection_moments(X.to_dense())
        if counts:  # their sites are the last
            potential: Potential = Poisson(y, RATE)
            pi, nu = (part[-len(y) :] for part in self.posterior.sites)
        else:
            potential = Gaussian(self.noise_variance, y)
            pi, nu = np.full(len(y), 1.0 / self.noise_variance), y / self.noise_variance
        left, spread = without_sites(mean, variance, pi, nu)
        return LeaveOneOut(None, potential.tilted_moments(left, np.maximum(spread, 1e-300))[0])

    def leading_directions(self, n: int) -> np.ndarray:
        """The ``n`` unit images along which least is known, (n, pixels)."""
        self._require_real("leading_directions")
        return self.directions.leading(integer("n", n, minimum=1))

    @cached_property
    def directions(self) -> FollowedDirections:
        """The leading directions of the posterior."""
        return FollowedDirections(self.posterior, self.followed)

    def variances_along(self, operator: Rows) -> np.ndarray:
        """Posterior variances of the projections of the image by an operator, or by rows (m, pixels)."""
        self._require_real("variances_along")
        rows = as_operator(operator, "operator")
        return self.posterior.variances(rows).reshape(rows.output_shape)

    def _require_real(self, name: str) -> None:
        if self.design.prior.complex:
            raise ValueError(f'{name} are those of real images; give design_dtype="float64".')

    # -- asked of the model that reconstructs --------------------------------------------------------------------------

    @cached_property
    def reconstruction(self) -> Reconstruction:
        """The image; there is none before the centre of k-space was measured."""
        self.data.require_centre()
        self.settings.given.receiver.require_maps(self.data)
        shared = self.settings.one_model and self.settings.given.engine.dense
        return Reconstruction(self.settings, self.model, self.learnt_scales, self.posterior if shared else None)

    # -- as plain data -------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data, without what was measured."""
        return {
            "phase": self.received.phase,
            "coil_maps": self.received.maps,
            "n_central": self.received.n_central,
            "imaginary": self.received.imaginary,
            "noise_variance": self.noise_variance,
            "design_scales": plain_scales(self.scales),
            "design_posterior": posterior_state(self.posterior),
            "followed": self.followed,
            "n_products": self.n_products,
        }

    @classmethod
    def from_state(cls, settings: ImageSettings, data: MeasuredBlocks, state: State) -> Self:
        """The belief that ``state`` described."""
        known = settings.conventions(data.fourier)
        received = Received(state["phase"], state.get("coil_maps"), state["n_central"], state.get("imaginary"))
        design = known.design_model(known.model(cls._explained(known, data), received, state["noise_variance"]))
        posterior = design.restored(state["design_posterior"], state["design_scales"])
        scales = posterior.prior if isinstance(posterior, TreePosterior) else state["design_scales"]
        told = state["noise_variance"], posterior, scales, state.get("followed"), state["n_products"]
        return cls(known, data, received, *told)

    def __getstate__(self) -> State:
        """Without what is computed when it is first asked for."""
        return {**{one.name: getattr(self, one.name) for one in fields(self)}, "learnt_scales": None}


class Reconstruction:
    """The image that a model gives; everything is computed when it is first asked for.

    Parameters
    ----------
    settings : Conventions
    model : ImageModel
        The one that reconstructs.
    learnt_scales : pair of scales and Posterior or None, optional
        What `Conventions.scales` returned, if it was asked.
    posterior : Posterior, optional
        The model's, where it is known.
    """

    def __init__(
        self,
        settings: Conventions,
        model: ImageModel,
        learnt_scales: tuple[Scales, Posterior | None] | None = None,
        posterior: Posterior | None = None,
    ):
        self.settings, self.model = settings, model
        if learnt_scales is not None:
            self.__dict__["_learnt"] = learnt_scales
        if posterior is not None:
            self.__dict__["posterior"] = posterior

    @cached_property
    def _learnt(self) -> tuple[Scales, Posterior | None]:
        return self.settings.scales(self.model)

    @property
    def scales(self) -> Scales:
        """Scale of each group of the prior, or the parameters of a tree."""
        return self._learnt[0]

    @cached_property
    def posterior(self) -> Posterior:
        """Posterior of the unknown; that with which the scales were fitted, if they were."""
        scales, posterior = self._learnt
        return self.model.posterior(scales, self.settings.given.engine, STEPS) if posterior is None else posterior

    @cached_property
    def unknown(self) -> np.ndarray:
        """Mode or mean, signed or complex."""
        if self.settings.reconstruction == "map":
            return self.model.mode(self.scales, self.settings.given.max_iter, self.settings.given.tol)
        return self.model.image(self.posterior.mean)

    @property
    def image(self) -> np.ndarray:
        """Image to be shown: photographs as they are, signed; else magnitudes."""
        magnitudes = self.settings.fourier or self.unknown.dtype.kind == "c"
        return np.array(np.abs(self.unknown) if magnitudes else self.unknown, dtype=float)

    @cached_property
    def std(self) -> np.ndarray:
        """Posterior standard deviation of the pixels, scaled by held-out lines; of complex images of the magnitudes."""
        given = self.settings.given
        more: dict[str, Any] = {} if given.engine.dense else {"n_samples": max(32, given.n_samples)}
        variance = self.posterior.variances(**more)
        parts = variance.reshape(-1, *self.model.prior.shape)
        along = np.ones_like(parts)
        if len(parts) == 2:  # a magnitude changes by the share of either part in it
            along = np.stack([self.unknown.real**2, self.unknown.imag**2]) + np.finfo(np.float32).tiny
        own = np.sqrt(np.sum(along * parts, axis=0) / np.sum(along, axis=0)).astype(float)
        return own * self.band_factor

    @cached_property
    def band_factor(self) -> float:
        """Factor of the standard deviations by lines that are held out; 1 where none are to spare, and never less.

        They lie among lines that were measured, and could not vouch for narrower bands of what lies beyond.
        """
        measured, posterior = self.model.measured, self.posterior
        lines = held_out_lines(measured)
        if (
            not len(lines)
            or not self.settings.fourier
            or not isinstance(posterior, LargePosterior)
            or isinstance(posterior, TreePosterior)
        ):
            return 1.0
        others = replace(self.model, measured=measured.of_lines(lines, but=True))
        without = others.posterior(self.scales, self.settings.given.engine.sampled(), START_STEPS, posterior)
        if not isinstance(without, LargePosterior):
            return 1.0
        found = Reconstruction(self.settings, others, (self.scales, None), without).unknown
        return max(1.0, band_factor(self.model, lines, found, without))


class FollowedDirections:
    """Leading directions of a posterior that is updated, so that what is asked never changes what comes next.

    A search for them is quick where it begins near them: with what the last search ended with, moved along as further
    measurements came. Were every search to leave its end behind, a design that was resumed from its log, whose
    questions are not asked again, would part from one that went on. So a search here leaves nothing; only when
    measurements come that lie along the directions, the search that shows it (the one that was asked for, as a rule) is
    kept.

    Parameters
    ----------
    posterior : Posterior
    followed : bool or None
        Whether the measurements so far lay along them; None: not known yet.
    """

    def __init__(self, posterior: Posterior, followed: bool | None = None):
        self.posterior, self.followed = posterior, followed
        self._found: dict[int, tuple[np.ndarray, SequentialForm | None]] = {}

    def leading(self, n: int) -> np.ndarray:
        """The ``n`` unit directions of largest variance, (n, unknowns)."""
        return self._search(n)[0]

    def followed_after(self, rows: Matrix | None) -> bool | None:
        """Decide whether to follow on after ``rows`` (m, unknowns) were measured; if so the next search starts here."""
        form = self.posterior.gaussian
        if rows is None or self.followed is False or not isinstance(form, SequentialForm):
            return self.followed
        m, n = rows.shape
        if n != self.posterior.n or m > n // 16:
            return self.followed
        rows = dense(rows)
        directions, searched = self._search(m)
        if np.sum(np.abs(rows @ directions.T) ** 2) < ALONG * np.sum(np.abs(rows) ** 2):
            return False
        assert searched is not None
        form.subspace, form.work = searched.subspace, searched.work
        return True

    def _search(self, n: int) -> tuple[np.ndarray, SequentialForm | None]:
        """The directions, and a form with what the search for them left behind, which the posterior's does not see."""
        if n not in self._found:
            posterior, form = self.posterior, None
            if isinstance(posterior.gaussian, SequentialForm):
                form = copy.copy(posterior.gaussian)
                form.subspace, form.work = copy.deepcopy((form.subspace, form.work))
                posterior = copy.copy(posterior)
                posterior.gaussian = form
            self._found[n] = posterior.leading_directions(n, tol=TOL)[1], form
        return self._found[n]
