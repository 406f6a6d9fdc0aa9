"""Tree-structured priors of images: the posterior, the mode and the parameters of an `ImageModel` whose prior is one.

The prior is a `TreeMixture`; it stands where other priors have their scales.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.imaging.trees import TreeMixture, TreePosterior, tree_bounds, tree_mode
from adaptive.inference import Posterior
from adaptive.linalg import PrecisionOperator

if TYPE_CHECKING:
    from adaptive.estimators.imaging.model import Engine, ImageModel
    from adaptive.estimators.imaging.prior import Scales
    from adaptive.types import State

__all__ = ["learnt_tree", "plain_scales", "restored_tree", "tree_mode_of", "tree_posterior"]

LEAST_SAMPLES = 30  # behind variances, whose errors the tree amplifies: no circulant matrix takes most of them away
WARM_LEARNING_STEPS = 2


def tree_posterior(
    model: ImageModel, prior: TreeMixture, engine: Engine, steps: int, warm: Posterior | None = None
) -> TreePosterior:
    """The posterior after ``steps`` outer steps of the double loop, at these parameters."""
    return _posterior(model, prior, engine, warm, learn=False, start="prior", max_iter=steps)


def learnt_tree(model: ImageModel, engine: Engine, warm: Posterior | None = None) -> TreePosterior:
    """The posterior with the parameters that the bound says; from those of ``warm`` on, where there is one."""
    prior = model.prior.tree(0.05 * model.prior.largest)
    return _posterior(model, prior, engine, warm, learn=True, max_iter=None if warm is None else WARM_LEARNING_STEPS)


def tree_mode_of(model: ImageModel, prior: TreeMixture, tol: float) -> Posterior:
    """The mode at these parameters."""
    X, y = model.measurements()
    with warnings.catch_warnings():  # so many steps are the algorithm and no failure to converge
        warnings.simplefilter("ignore", ConvergenceWarning)
        return tree_mode(X, y, model.noise_variance, prior, start="prior", tol=tol, dtype=model.precision)


def plain_scales(scales: Scales) -> dict[str, float] | None:
    """Scales as plain numbers; None for a tree, whose posterior holds its parameters."""
    return None if isinstance(scales, TreeMixture) else scales


def restored_tree(model: ImageModel, state: State) -> TreePosterior:
    """The posterior that `TreePosterior.state` described."""
    X, _ = model.measurements()
    prior = model.prior.tree(1.0)
    system = PrecisionOperator(X, model.noise_variance, B=prior.wavelet, shape=prior.wavelet.input_shape)
    return TreePosterior.from_state(state, system, prior)


def _posterior(
    model: ImageModel, prior: TreeMixture, engine: Engine, warm: Posterior | None, **settings: Any
) -> TreePosterior:
    X, y = model.measurements()
    with warnings.catch_warnings():  # so many steps are the algorithm and no failure to converge
        warnings.simplefilter("ignore", ConvergenceWarning)
        posterior = tree_bounds(
            X,
            y,
            model.noise_variance,
            prior,
            random_state=engine.random_state,
            warm_start=warm if isinstance(warm, TreePosterior) else None,
            n_samples=max(engine.n_samples, LEAST_SAMPLES),
            dtype=np.dtype(model.precision),
            **settings,
        )
    posterior.samples  # noqa: B018  drawn now, so that asking what is believed changes nothing
    return posterior
