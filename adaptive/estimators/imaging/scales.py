"""Prior scales, and the noise variance, that maximise the evidence of an image's model.

    ln P(y)  >=  - |y - X u|^2 / (2 noise) - 1/2 ln|A| - m/2 ln(noise)
                 - sum_k [ sum_j t_j / scale_k + n_k ln(scale_k) ] + const,           t_j = sqrt(variance_j + s_j^2)

is the bound that the double loop maximises, as a function of what it does not vary itself: A depends on the scales and
the noise, the variances are what its derivative shows. Setting the derivatives to zero gives, step by step,

    scale_k = sum_j t_j / n_k            noise = (|y - X u|^2 + tr X A^-1 X^H) / m

with m real components of samples. A prior with more projections than unknowns is no product of densities: its
normaliser is a power n of all scales together, which is shared out over the groups by their numbers q_k of projections,
n_k = n q_k / q (`ImagePrior.learnt`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adaptive.estimators.imaging.trees.tree_prior import learnt_tree
from adaptive.inference import LargePosterior

if TYPE_CHECKING:
    from adaptive.estimators.imaging.model import Engine, ImageModel
    from adaptive.estimators.imaging.prior import Scales
    from adaptive.inference import Posterior

__all__ = ["LearntScales", "learn_scales", "scale_evidence"]

STEPS = 40  # at most; ten are enough as a rule
TOL = 5e-3  # relative change of every scale, and of the noise, in one step


class LearntScales(NamedTuple):
    """Result of `learn_scales`.

    Attributes
    ----------
    scales : dict of str to float, or TreeMixture
        One scale for each group of the prior; the parameters of a tree.
    noise_variance : float
        Per real component: fitted, or as it was.
    posterior : LargePosterior
        At these, up to the last step's change.
    """

    scales: Scales
    noise_variance: float
    posterior: LargePosterior


def learn_scales(
    model: ImageModel,
    engine: Engine,
    *,
    noise: bool = False,
    max_iter: int = STEPS,
    tol: float = TOL,
    warm_start: Posterior | None = None,
) -> LearntScales:
    """The evidence's fixed point, one update per outer step of the double loop.

    Parameters
    ----------
    model : ImageModel
        With measurements; its noise variance is where the noise starts.
    engine : Engine
        How posteriors are inferred.
    noise : bool, default False
        Whether the noise variance is fitted as well.
    max_iter : int, default 40
    tol : float, default 5e-3
        Ends the iteration, as the largest relative change in one step.
    warm_start : Posterior, optional
        Of fewer measurements, from whose parameters those of a tree go on.

    Returns
    -------
    LearntScales

    Raises
    ------
    ValueError
        If nothing was measured.

    Notes
    -----
    The noise that maximises the bound is as good as the prior is: what the prior calls plausible is no noise. That of a
    real image drawn from the model is found, since its samples repeat each other (k and -k); of a photograph or a head,
    whose fine details are sparser than its coarse ones, it comes out too small. Samples of a complex image do not
    repeat each other: the bound is highest without any noise, and the fixed point ends near its start, where it stops
    moving. The noise of the highest frequencies (`adaptive.images.estimate_noise`), a little too large, is closer.

    References
    ----------
    Seeger and Nickisch (2011), Large scale Bayesian inference and experimental design for sparse linear models,
    section 3.4 (learning of hyper-parameters on the bound).
    """
    if model.measured.empty:
        raise ValueError("nothing was measured: scales are fitted to measurements.")
    prior = model.prior
    if prior.components:
        tree = learnt_tree(model, engine, warm_start)
        return LearntScales(tree.prior, model.noise_variance, tree)
    unknowns = _unknowns(model)
    scales = dict.fromkeys(prior.names, 0.1 * prior.largest)
    posterior: LargePosterior | None = None
    for _ in range(max_iter):
        posterior = _outer_step(model, scales, engine, posterior)
        before = [*scales.values(), model.noise_variance]
        scales = prior.learnt(_sums(model, posterior), unknowns)
        if noise:
            model = replace(model, noise_variance=_noise(model, scales, posterior))
        after = [*scales.values(), model.noise_variance]
        if np.abs(np.log(np.divide(after, before))).max() < tol:
            break
    assert posterior is not None
    return LearntScales(scales, model.noise_variance, posterior)


def scale_evidence(model: ImageModel, scales: dict[str, float], posterior: LargePosterior) -> float:
    """The bound on ln P(y) up to a constant, normalised as `learn_scales` assumes.

    Parameters
    ----------
    model : ImageModel
    scales : dict
        Where the posterior was computed.
    posterior : LargePosterior
        With a ``log_evidence``: of an engine that was asked for it.

    Returns
    -------
    float
    """
    rows = {name: model.prior.rows(name) for name in model.prior.names}
    missing = 1.0 - _unknowns(model) / sum(rows.values())  # share of the projections that are no unknowns
    return posterior.log_evidence + missing * sum(count * np.log(2 * scales[name]) for name, count in rows.items())


def _outer_step(
    model: ImageModel, scales: dict[str, float], engine: Engine, warm: LargePosterior | None
) -> LargePosterior:
    """One outer step of the double loop."""
    posterior = model.posterior(scales, engine, 1, warm)
    assert isinstance(posterior, LargePosterior)
    return posterior


def _unknowns(model: ImageModel) -> int:
    return int(np.prod(model.prior.shape)) * model.prior.parts


def _sums(model: ImageModel, posterior: LargePosterior) -> dict[str, float]:
    """sum_j sqrt(variance_j + s_j^2) of every group."""
    system, z = posterior.system, posterior.variance_estimates
    z = posterior.variances(system.groups) if z is None else z
    total = np.sqrt(z + system.project(posterior.mean.reshape(1, *system.input_shape))[0] ** 2)
    named = zip(model.prior.names, system.slices, strict=False)
    return {
        name: float((total[rows][: model.prior.rows(name)] / model.prior.place(name)).sum()) for name, rows in named
    }


def _noise(model: ImageModel, scales: dict[str, float], posterior: LargePosterior) -> float:
    """(|y - X u|^2 + tr X A^-1 X^H) / m, the trace by the posterior's samples."""
    glm = model.glm(scales)
    X, y = glm.X, glm.y
    assert X is not None and y is not None
    u = posterior.mean.reshape(1, *posterior.system.input_shape)
    left = np.sum(np.abs(y.ravel() - X.forward(u).ravel()) ** 2)
    seen = X.forward(posterior.samples)
    spread = np.sum(np.abs(seen) ** 2, dtype=float) / len(seen)
    return max(float(left + spread) / glm.measurements, 1e-12 * model.prior.largest**2)
