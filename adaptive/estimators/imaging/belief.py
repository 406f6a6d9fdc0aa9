"""Belief about an image: the posterior that designs, and what follows from it and from the measurements.

    settings, measurements, what was received    ->  `Models`: the one that reconstructs, and the one that designs
    the first, when it is asked for              ->  `Reconstruction`: scales, posterior, image, bands
    the second, always                           ->  posterior and scales, by which candidates are judged

What is computed when it is first asked for is kept, but left out of pickles and copies.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from adaptive.checks import integer
from adaptive.estimators.belief import Inferred
from adaptive.estimators.imaging.conventions import Conventions, Models
from adaptive.estimators.imaging.photons import PhotonModel
from adaptive.estimators.imaging.predictive import block_predictive
from adaptive.estimators.imaging.receiver import Received
from adaptive.estimators.imaging.reconstruction import Reconstruction
from adaptive.estimators.imaging.trees import TreePosterior
from adaptive.estimators.imaging.trees.tree_prior import plain_scales
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, without_sites
from adaptive.gaussians.sequential_form import SequentialForm
from adaptive.inference import posterior_state
from adaptive.linalg.matrices import dense
from adaptive.operators import as_operator
from adaptive.potentials import Gaussian

if TYPE_CHECKING:
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.estimators.imaging.model import ImageModel
    from adaptive.estimators.imaging.prior import Scales
    from adaptive.estimators.imaging.settings import ImageSettings
    from adaptive.inference import Posterior
    from adaptive.predictive import Predictive
    from adaptive.types import Matrix, Pool, RandomState, Rows, State

__all__ = ["FollowedDirections", "ImageBelief"]

START_STEPS, WARM_STEPS = 5, 1  # outer steps of the double loop: the first time, and after further measurements
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
        Phase and coil maps, given or estimated.
    noise_variance : float
        Given or estimated.
    posterior : Posterior
        Of the model that designs.
    scales : dict of str to float, or TreeMixture
        Of its prior.
    followed : bool or None
        Whether rows measured so far lay along the leading directions (see `FollowedDirections`); None: not known yet.
    n_products : int
        Products with the system matrix that the posteriors that design have cost so far.
    learnt_scales : pair of scales and Posterior or None, optional
        Of the model that reconstructs, where they were fitted on the way; copies do without.
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
        """Belief after ``data``; posterior, phase and maps start from those of an ``earlier`` one."""
        before = None if earlier is None or earlier.waits else earlier  # one that waits knows nothing
        received = settings.receiver.received(data, None if before is None else before.received)
        if received is None:
            return cls.waiting(settings, data, earlier)
        models = Models(Conventions.of(settings, data.fourier))
        model = models.model(data, received, models.noise_variance(data))
        warm = None if before is None else before.posterior
        found, scales, posterior = None, models.design_scales(model.noise_variance), None
        if scales is None:
            found = models.scales(model, warm)
            scales, posterior = found
        followed = None if before is None else before.directions.followed_after(data.newest_rows())
        if posterior is None or not models.one_model:
            steps = START_STEPS if before is None else WARM_STEPS
            posterior = models.design_model(model).posterior(scales, settings.engine, steps, warm)
        n_products = posterior.n_products + (0 if before is None else before.n_products)
        return cls(models.known, data, received, model.noise_variance, posterior, scales, followed, n_products, found)

    @classmethod
    def before_fit(cls, settings: ImageSettings, known: Conventions) -> Self:
        """Prior, where nothing was measured."""
        known.check()
        models = Models(known)
        scales, nothing = models.scales_before_fit(), settings.nothing_measured()
        unseen = Received(None, settings.receiver.maps, 0)
        model = models.model(nothing, unseen, float(settings.noise_variance or 1.0))
        posterior = models.design_model(model).posterior(scales, settings.engine, 0)
        return cls(known, nothing, unseen, model.noise_variance, posterior, scales)

    @classmethod
    def waiting(cls, settings: ImageSettings, data: MeasuredBlocks, earlier: ImageBelief | None = None) -> Self:
        """Prior beside measurements that are kept until the centre shows the coil maps that explain them."""
        if earlier is None:
            return replace(cls.before_fit(settings, Conventions.of(settings, data.fourier)), data=data)
        return replace(cast("Self", earlier), data=data)

    @property
    def waits(self) -> bool:
        """Waiting for coil maps that are to be estimated and could not be yet: the belief is then the prior."""
        return self.models.wait(self.received)

    @property
    def models(self) -> Models:
        """Models that reconstruct and design."""
        return Models(self.settings)

    @cached_property
    def design(self) -> ImageModel:
        """Model that designs."""
        return self.models.design_model(self.model)

    @cached_property
    def model(self) -> ImageModel:
        """Model that reconstructs; of nothing measured while it waits for the coil maps."""
        return self.models.model(self.data, self.received, self.noise_variance)

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
        return cls.before_fit(settings, Conventions.of_first(settings, candidates)).predictive(
            candidates, refine=refine
        )

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
        dense = isinstance(self.design, PhotonModel) or self.settings.given.engine.dense
        if X is None or y is None or X.dtype.kind == "c" or not dense:
            return None
        if isinstance(self.design, PhotonModel):
            log_score = self.design.left_out(self.posterior)
            return None if log_score is None else LeaveOneOut(None, log_score(1.0))
        mean, variance = self.posterior.projection_moments(X.to_dense())
        pi, nu = np.full(len(y), 1.0 / self.noise_variance), y / self.noise_variance
        left, spread = without_sites(mean, variance, pi, nu)
        outcomes = Gaussian(self.noise_variance, y)
        return LeaveOneOut(None, outcomes.tilted_moments(left, np.maximum(spread, 1e-300))[0])

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
            raise ValueError(f'{name} are for real images; give design_dtype="float64".')

    # -- asked of the model that reconstructs --------------------------------------------------------------------------

    @cached_property
    def reconstruction(self) -> Reconstruction:
        """The image; there is none before the centre of k-space was measured."""
        self.data.require_centre()
        self.settings.given.receiver.require_maps(self.data)
        shared = self.models.one_model and self.settings.given.engine.dense
        return Reconstruction(self.models, self.model, self.learnt_scales, self.posterior if shared else None)

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
        """Belief from its ``state``."""
        known = Conventions.of(settings, data.fourier)
        received = Received(state["phase"], state.get("coil_maps"), state["n_central"], state.get("imaginary"))
        models = Models(known)
        design = models.design_model(models.model(data, received, state["noise_variance"]))
        posterior = design.restored(state["design_posterior"], state["design_scales"])
        scales = posterior.prior if isinstance(posterior, TreePosterior) else state["design_scales"]
        rest = posterior, scales, state.get("followed"), state["n_products"]
        return cls(known, data, received, state["noise_variance"], *rest)

    def __getstate__(self) -> State:
        """Without what is computed when it is first asked for."""
        return {**{one.name: getattr(self, one.name) for one in fields(self)}, "learnt_scales": None}


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
