"""Labels that somebody says, who may be wrong:  p(y | s) = sum_z p(y | z) p(z | s),  z the true label.

With a and b the larger and the smaller of p(y | z = +1) and p(y | z = -1), and t the sign of the larger,

    T(s) = b + (a - b) sigma(t s)

is a constant beside the plain label's factor: its tilted distribution is a mixture of the cavity and of that factor's
own, so that moments are closed wherever the plain label's are. It is not log-concave unless b = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite
from adaptive.potentials.likelihood import Likelihood

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["Flipped"]


class Flipped(Likelihood):
    """T(s) = sum over z = -1, +1 of p(y | z) p(z | s): a label through somebody's rates.

    Parameters
    ----------
    likelihood : BernoulliLogit or BernoulliProbit
        The family p(z | s) of the true label.
    rates : two numbers, or two arrays (q,), in [0, 1]
        p(y = +1 | z = -1) and p(y = +1 | z = +1).
    y : array (q,) of -1 and +1, or None
        What was said; None for the likelihood family.

    Raises
    ------
    ValueError
        If a rate is outside [0, 1].

    References
    ----------
    Raykar et al. (2010), Learning from crowds, equations 3 and 4.

    Examples
    --------
    A person who says +1 of nine in ten true ones, and of two in ten false ones:

    >>> from adaptive.potentials import BernoulliLogit
    >>> family = Flipped(BernoulliLogit(), (0.2, 0.9))
    >>> family.outcome_probabilities([0.0], [1.0])[1].round(3)
    array([[0.45, 0.55]])
    >>> never_wrong = Flipped(BernoulliLogit(), (0.0, 1.0), [1.0])
    >>> bool(never_wrong.log_density(0.7) == BernoulliLogit(1.0).log_density(0.7))
    True
    """

    outcomes = np.array([-1.0, 1.0])
    minus: Number
    plus: Number

    def __init__(self, likelihood: Likelihood, rates: tuple[ArrayLike, ArrayLike], y: ArrayLike | None = None) -> None:
        minus, plus = (finite("rates", rate) for rate in rates)
        for rate in (minus, plus):
            outside = np.extract((rate < 0) | (rate > 1), rate)
            if outside.size:
                raise ValueError(f"rates must be probabilities in [0, 1], got {float(outside[0]):g}.")
        self.likelihood = likelihood
        self._set(minus=minus, plus=plus)
        super().__init__(y)

    @property
    def log_concave(self) -> bool:  # type: ignore[override]
        """True where nobody errs."""
        return self.y is not None and bool(np.all(np.minimum(*self._weights()) == 0.0))

    def _weights(self, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """p(y | z) of z = -1 and +1."""
        said = np.asarray(self._outcome(y)) > 0
        return np.where(said, self.minus, 1.0 - self.minus), np.where(said, self.plus, 1.0 - self.plus)

    def _parts(self, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The larger weight, the share of it that the smaller is, and the sign of the larger."""
        minus, plus = self._weights(y)
        larger = np.maximum(minus, plus)
        share = np.minimum(minus, plus) / np.where(larger > 0, larger, 1.0)
        return larger, share, np.where(plus >= minus, 1.0, -1.0)

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        larger, share, sign = self._parts(y)
        plain = self.likelihood.log_density(s, sign)
        with np.errstate(divide="ignore"):
            mixed = np.logaddexp(np.log1p(-share) + plain, np.log(share))
            return np.log(larger) + np.where(share > 0, mixed, plain)

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        _, share, sign = self._parts(y)
        first, second = self.likelihood.derivatives(s, sign)
        weight = self._weight(self.likelihood.log_density(s, sign), share)
        return weight * first, weight * (second + first * first * (1.0 - weight))

    @staticmethod
    def _weight(log_plain: np.ndarray, share: np.ndarray) -> np.ndarray:
        """(1 - b) p / (b + (1 - b) p): how much of T the plain label's factor is."""
        plain = (1.0 - share) * np.exp(log_plain)
        return np.where(share > 0, plain / np.maximum(share + plain, np.finfo(float).tiny), 1.0)

    def _tilted_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if fraction != 1.0:
            return super()._tilted_moments(mean, variance, fraction)
        larger, share, sign = (np.broadcast_to(part, mean.shape) for part in self._parts())
        log_plain, centre, spread = self.likelihood._with(y=sign).tilted_moments(mean, variance)
        weight = self._weight(log_plain, share)
        with np.errstate(divide="ignore"):
            mixed = np.logaddexp(np.log1p(-share) + log_plain, np.log(share))
            log_normaliser = np.log(larger) + np.where(share > 0, mixed, log_plain)
        step = centre - mean
        return (
            log_normaliser,
            mean + weight * step,
            weight * spread + (1.0 - weight) * variance + weight * (1.0 - weight) * step * step,
        )

    def outcome_probabilities(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        truth = self.likelihood.outcome_probabilities(mean, variance)[1]
        said = truth[..., 0] * self.minus + truth[..., 1] * self.plus
        return np.array(self.outcomes), np.stack([1.0 - said, said], axis=-1)
