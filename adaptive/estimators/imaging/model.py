"""Measurements of an image and a prior as a model, with its posterior, its mode, and the engines that infer it.

The double loop with sampled variances multiplies with operators only, so that it serves any size; its posterior answers
by samples. Expectation propagation keeps the covariance of all pixels as a matrix: images of up to 64 by 64 pixels,
every variance exact.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive import checks, inference
from adaptive.estimators.imaging.left_out import left_out_samples
from adaptive.estimators.imaging.measurements import MeasuredBlocks
from adaptive.estimators.imaging.prior import ImagePrior
from adaptive.estimators.imaging.sensitivity import on_unknown
from adaptive.estimators.imaging.trees import TreeMixture
from adaptive.estimators.imaging.trees.tree_prior import restored_tree, tree_mode_of, tree_posterior
from adaptive.estimators.variance_factor import VarianceFactor, variance_factor
from adaptive.inference import GLM, LargePosterior, Posterior, restored_posterior
from adaptive.inference.kinds import stated
from adaptive.inference.matrix_free.reweighted_least_squares import precision_of
from adaptive.inference.matrix_free.reweighted_map import reweighted_map
from adaptive.inference.posterior import DIAGNOSTICS
from adaptive.linalg import Perturbations

if TYPE_CHECKING:
    from adaptive.estimators.imaging.prior import Scales
    from adaptive.operators import Operator
    from adaptive.types import DType, RandomState, State

__all__ = ["DENSE", "ENGINES", "Engine", "ImageModel"]

DENSE = ("expectation_propagation",)  # engines whose posterior keeps the covariance as a matrix
ENGINES = ("variational_bounds", *DENSE)
FRACTION = 0.9  # of the potentials in an update: a little below one is more robust (Nickisch, section 5.2)
FEW = {"inner_steps": 2, "sample_tol": 5e-2}  # of one step of the double loop: half the products, the same lines
SMALL = 1024  # unknowns: a sweep over all sites takes a fraction of a second
CHANGES = 1e-5, 1e-2  # nats by which a site must be able to change the posterior to be updated: of small images, others
BROAD = 1e2  # standard deviation of a Gaussian prior on every pixel, in units of the largest magnitude: a formality


@dataclass(frozen=True)
class Engine:
    """Engine of the posteriors, with its settings.

    Attributes
    ----------
    inference : str or callable
        A name - "variational_bounds", the double loop with sampled variances, or "expectation_propagation" - or an
        engine of one's own.
    n_samples : int
    random_state : None, int or Generator
    """

    inference: str | Callable[..., Posterior]
    n_samples: int
    random_state: RandomState

    @property
    def dense(self) -> bool:
        """Posteriors keep the covariance as a matrix."""
        return isinstance(self.inference, str) and self.inference in DENSE

    def sampled(self) -> Engine:
        """Itself, or where it is dense the double loop, by which scales are fitted."""
        return replace(self, inference=ENGINES[0]) if self.dense else self

    def __call__(
        self, model: GLM, dtype: DType, max_iter: int, warm_start: Posterior | None, tol: float = 1e-2
    ) -> Posterior:
        """The posterior; of the double loop after so many outer steps, which is no failure to converge."""
        if self.dense:
            return inference.expectation_propagation(
                model, update="selective", fraction=FRACTION, tol=CHANGES[model.n > SMALL], warm_start=warm_start,
                dtype=np.zeros(0, dtype).real.dtype,
            )  # fmt: skip
        settings = {"max_iter": max_iter, "tol": tol, "random_state": self.random_state, "warm_start": warm_start}
        few = FEW if warm_start is not None and max_iter == 1 else {}  # a step among many: the next ones go on
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if callable(self.inference):
                posterior = self.inference(model, **settings)
            else:
                engine = getattr(inference, self.inference)
                posterior = engine(model, variances="sampled", n_samples=self.n_samples, dtype=dtype, **few, **settings)
        if not isinstance(posterior, LargePosterior):
            posterior = self._with_samples(model, posterior, dtype)
        posterior.samples  # noqa: B018  drawn now, so that asking what is believed changes nothing
        return posterior

    def _with_samples(self, model: GLM, posterior: Posterior, dtype: DType) -> LargePosterior:
        """A dense posterior as one that has samples."""
        return LargePosterior(
            precision_of(model).with_sites(posterior.sites[0]),
            mean=posterior.mean,
            perturbations=Perturbations(self.n_samples, checks.generator(self.random_state), dtype),
            sites=posterior.sites,
            group_lengths=posterior.group_lengths,
            **{name: getattr(posterior, name) for name in DIAGNOSTICS},
        )


@dataclass(frozen=True)
class ImageModel:
    """Measurements of an image, and the assumptions about it.

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
        """Factor of the unknown before it is measured: exp(i phase), times the maps of the coils."""
        if self.phase is None and self.maps is None:
            return None
        turned: np.ndarray | float = 1.0
        if self.phase is not None:  # a fifth of the time of a complex exponential
            angle = self.phase.astype(self.precision)
            turned = np.cos(angle) + 1j * np.sin(angle)
        maps = 1.0 if self.maps is None else self.maps
        return np.asarray(turned * maps).astype(np.result_type(self.dtype, np.complex64), copy=False)

    def measurements(self) -> tuple[Operator | None, np.ndarray | None]:
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

    def posterior(self, scales: Scales, engine: Engine, steps: int, warm: Posterior | None = None) -> Posterior:
        """The Gaussian posterior; of the double loop after ``steps`` outer steps."""
        if isinstance(scales, TreeMixture):
            return tree_posterior(self, scales, engine, steps, warm)
        return engine(self.glm(scales), self.precision, steps, warm)

    def left_out(self, posterior: Posterior) -> Callable[[float], np.ndarray] | None:
        """Log scores (m,) of outcomes without themselves, by a factor of the variances; None of k-space."""
        return left_out_samples(self, posterior)

    def variance_factor(self, posterior: Posterior) -> VarianceFactor | None:
        """Factor of the pixels' variances by outcomes that were left out."""
        log_scores = self.left_out(posterior)
        return None if log_scores is None else variance_factor(log_scores)

    def mode(self, scales: Scales, max_iter: int, tol: float) -> np.ndarray:
        """The most probable image."""
        if isinstance(scales, TreeMixture):
            return self.image(tree_mode_of(self, scales, tol).mean)
        return self.image(reweighted_map(self.glm(scales), max_iter=max_iter, tol=tol, dtype=self.precision).mean)

    def image(self, flat: np.ndarray) -> np.ndarray:
        """A flat latent as a real or complex image."""
        parts = flat.reshape(-1, *self.prior.shape)
        return parts[0] + 1j * parts[1] if self.prior.complex else parts[0]

    def restored(self, state: State, scales: Mapping[str, float] | None) -> Posterior:
        """The posterior that `posterior_state` described; a dense one needs the scales of its potentials."""
        state = stated(state)
        if state["kind"] == "tree":
            return restored_tree(self, state)
        if state["kind"] == "large":
            scales = dict.fromkeys(self.prior.names, 1.0)  # they are in the sites
        assert scales is not None
        return restored_posterior(self.glm(scales), state)
