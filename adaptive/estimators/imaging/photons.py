"""Images from counts of photons:  y ~ Poisson(max(0, A u)),  the rate of a pixel or of a pattern never negative.

    p(u | y)  ~  N(u | 0, broad) prod_j Laplace(s_j) prod_i Poisson(y_i; max(0, a_i . u))

An exposure e scales its block, since max(0, e a.u) = e max(0, a.u): ``operators.Scaled(e, block)``. The posterior is by
expectation propagation, whose moments of the rectified rate are closed (Ko 2017, section 2.1); the covariance of all
pixels is kept as a matrix.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from adaptive import inference
from adaptive.checks import finite
from adaptive.estimators.imaging.blocks import RowsOnImages, as_blocks, is_rows
from adaptive.estimators.imaging.model import BROAD, ImageModel
from adaptive.estimators.rows.leave_one_out import without_sites
from adaptive.estimators.rows.linear_predictive import linear_predictive
from adaptive.estimators.variance_factor import ALARM
from adaptive.inference import GLM, Posterior
from adaptive.linalg.matrices import dense
from adaptive.potentials import Poisson

if TYPE_CHECKING:
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.estimators.imaging.model import Engine
    from adaptive.estimators.imaging.prior import Scales
    from adaptive.estimators.imaging.settings import ImageSettings
    from adaptive.potentials import Potential
    from adaptive.predictive import Predictive
    from adaptive.types import Pool

__all__ = ["RATE", "PhotonModel", "check_photon_settings", "checked_photons", "learn_photon_scales", "photon_evidence"]

RATE = "rectified"
TOL = 1e-4  # of a marginal, in its own precision
FACTORS = (0.02, 50.0)  # of the literature's scales, within which the best is looked for
STEPS, CHANGE = 14, 0.05  # evaluations at most, and change of the factor's logarithm
MULTIPLES = tuple(10.0 ** (0.5 * k) for k in range(1, 5))  # of scales that are far too sure


def checked_photons(measured: MeasuredBlocks) -> MeasuredBlocks:
    """The measurements, refused in one sentence where their samples are no counts."""
    samples = finite("y", measured.samples(), dtype=None)
    if np.iscomplexobj(samples) and np.any(samples.imag):
        raise ValueError('y must hold counts (integers >= 0) where likelihood="poisson", got complex samples.')
    Poisson(samples.real, RATE)
    return measured


def check_photon_settings(settings: ImageSettings) -> None:
    """Refuse, in one sentence, parameters that counts of photons do not go with."""
    wrong = {
        "prior": "tree" in settings.prior,
        "reconstruction": settings.reconstruction == "map",
        "coils": settings.coils is not None,
        "dtype": settings.dtype is not None and np.dtype(settings.dtype).kind == "c",
    }
    for name, is_wrong in wrong.items():
        if is_wrong:
            raise ValueError(
                f'likelihood="poisson" is for real images under "tv" and "wavelet" priors, by their posterior mean: it '
                f"does not take {name}={getattr(settings, name)!r}."
            )


@dataclass(frozen=True)
class PhotonModel(ImageModel):
    """An `ImageModel` whose samples are counts; it has no noise variance."""

    def glm(self, scales: Mapping[str, float]) -> GLM:
        """The model at these prior scales, its operators as matrices."""
        groups: list[tuple[np.ndarray, Potential]] = []
        for operator, potential in self.prior.groups(scales):
            groups.append((operator.to_dense(), potential))
        X, y = self.measurements()
        if X is not None and y is not None:
            groups.append((X.to_dense(), Poisson(y, RATE)))
        return GLM(
            B=[rows for rows, _ in groups],
            potentials=[potential for _, potential in groups],
            prior_covariance=(BROAD * self.prior.largest) ** 2,
        )

    def posterior(self, scales: Scales, engine: Engine, steps: int, warm: Posterior | None = None) -> Posterior:
        """The Gaussian posterior by parallel expectation propagation, whatever the engine is for other images."""
        assert isinstance(scales, dict)
        return inference.expectation_propagation(self.glm(scales), tol=TOL, dtype=np.zeros(0, self.dtype).real.dtype)

    def left_out(self, posterior: Posterior) -> Callable[[float], np.ndarray] | None:
        """Log probabilities (m,) of the counts without themselves, by a factor of the variances of their rates."""
        X, y = self.measurements()
        if X is None or y is None:
            return None
        pi, nu = (part[-len(y) :] for part in posterior.sites)  # theirs are the last
        mean, variance = without_sites(*posterior.projection_moments(X.to_dense()), pi, nu)
        counts = Poisson(y, RATE)
        return lambda gamma: counts.tilted_moments(mean, np.maximum(gamma * variance, 1e-300))[0]

    def predictive(self, posterior: Posterior, candidates: Pool) -> Predictive:
        """Predictive of rows (m, pixels), or blocks of one row each: projections, and their counts.

        Raises
        ------
        ValueError
            For blocks of several rows, whose counts are not one outcome.
        """
        if is_rows(candidates):
            rows = dense(RowsOnImages(candidates, self.measured.shape).matrix)
        else:
            blocks = as_blocks(candidates, self.measured.shape)
            longest = max(block.shape[0] for block in blocks)
            if longest > 1:
                raise ValueError(
                    f"candidates must be rows, or blocks of one row each, where counts are measured; got a block of "
                    f"{longest}."
                )
            rows = np.concatenate([block.to_dense() for block in blocks])
        return linear_predictive(posterior, rows, Poisson(rate=RATE))


def photon_evidence(model: PhotonModel, scales: dict[str, float], posterior: Posterior) -> float:
    """Evidence of the counts up to a constant, normalised as a density of the pixels.

        ln P(y; f)  =  ln Z(f) + sum_k (q_k - n q_k / q) ln(2 f scale_k)

    for a common factor f of the scales: a prior of q projections of n unknowns has a normaliser of the power n of all
    scales together, while Z has densities of all q (`adaptive.estimators.imaging.scales` has the same rule).
    """
    rows = {name: model.prior.rows(name) for name in model.prior.names}
    missing = 1.0 - np.prod(model.prior.shape) / sum(rows.values())
    return float(posterior.log_evidence + missing * sum(rows[name] * np.log(2 * scales[name]) for name in rows))


def learn_photon_scales(
    model: PhotonModel, start: dict[str, float], engine: Engine
) -> tuple[dict[str, float], Posterior]:
    """Return the multiple of the scales ``start`` where the evidence is largest, and the posterior there.

    Where that is far too sure of the counts without themselves, of five multiples the one that predicts them best.

    References
    ----------
    Ko (2017), section 2.1.5: a grid over the scale by the evidence of expectation propagation.
    """
    found: dict[float, tuple[float, dict[str, float], Posterior]] = {}

    def objective(log_factor: float) -> float:
        scales = {name: float(np.exp(log_factor)) * scale for name, scale in start.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # far from the best scales
            posterior = model.posterior(scales, engine, 0)
        value = -photon_evidence(model, scales, posterior)
        found[log_factor] = (value, scales, posterior)
        return value

    bounds = tuple(np.log(FACTORS))
    minimize_scalar(objective, bounds=bounds, method="bounded", options={"maxiter": STEPS, "xatol": CHANGE})
    _, scales, posterior = min(found.values(), key=lambda entry: entry[0])
    factor = model.variance_factor(posterior)
    if factor is None or factor.value <= ALARM:
        return scales, posterior
    return _by_left_out_counts(model, scales, posterior, engine, factor.value)


def _by_left_out_counts(
    model: PhotonModel, scales: dict[str, float], posterior: Posterior, engine: Engine, factor: float
) -> tuple[dict[str, float], Posterior]:
    """The multiple of these scales that predicts counts best without themselves; the evidence's are far too sure."""
    tried = [(1.0, scales, posterior)]
    for times in MULTIPLES:
        larger = {name: times * scale for name, scale in scales.items()}
        tried.append((times, larger, model.posterior(larger, engine, 0)))
    totals = [-np.inf if (score := model.left_out(one)) is None else float(np.sum(score(1.0))) for *_, one in tried]
    times, scales, posterior = tried[int(np.argmax(totals))]
    warnings.warn(
        f"at the prior scale of the highest evidence, counts are further off than it says (variances are {factor:.3g} "
        f"times as large). The scale that predicts each count best from the others is taken instead, {times:.3g} "
        "times as large.",
        UserWarning,
        stacklevel=2,
    )
    return scales, posterior
