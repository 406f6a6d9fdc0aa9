"""Parameters of Cox processes as values, and what they leave open: which counts, and where searches start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from adaptive import checks
from adaptive.estimators.counts.exposure import CountRows, check_column
from adaptive.estimators.counts.regression_belief import RATES, inverse_rate, typical_change
from adaptive.estimators.gaussian_process.evidence import Evidence  # house: a Cox process is one
from adaptive.estimators.gaussian_process.low_rank import white_noise  # house: a Cox process is one
from adaptive.estimators.gaussian_process.settings import (  # house: a Cox process is one
    ProcessSettings,
)
from adaptive.inference.compatibility import refusal
from adaptive.means import as_mean
from adaptive.potentials import Poisson
from adaptive.potentials.negative_binomial import NegativeBinomial

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.inference import Posterior
    from adaptive.means import Mean
    from adaptive.types import ArrayLike, Number

__all__ = ["CoxSettings"]

SHARES = (1 / 10, 1 / 30, 1 / 3)  # of the range of the inputs: where the search for the length scale starts
BOUNDS = (1e-3, 1e2)  # of the length scale, in ranges
HEIGHTS = (1e-4, 1e4)  # bounds of the kernel's height, in typical variances
NOISE, NOISES = 0.05, (1e-6, 10.0)  # variance between counts of one place where searches start, bounds; in these, too
FEWEST = 20  # counts of which those left out choose anything
OVERDISPERSION = 0.1  # of counts, before any, and where searches start

TINY = 1e-100  # a column that changes by less does not: squares of it would vanish


@dataclass(frozen=True, eq=False)
class CoxSettings(ProcessSettings):
    """Parameters of :class:`~adaptive.CoxProcess`, under the same names."""

    rate: str = "auto"
    overdispersion: float | str | None = "auto"
    exposure: int | str | None = None
    inference: str | Callable[..., Posterior] | None = "expectation_propagation"
    max_iter: int = 100

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        super().check()
        checks.choice("rate", self.rate, ("auto", *RATES))
        checks.integer("max_iter", self.max_iter, minimum=1)
        check_column(self.exposure)
        self.check_engine()
        self._check_overdispersion()
        if isinstance(self.inference, str):
            sentence = refusal(Poisson([1.0], self.resolved().rate), self.inference)
            if sentence is not None:
                raise ValueError(sentence)

    def _check_overdispersion(self) -> None:
        given = self.overdispersion
        allowed = 'a number >= 0, "learnt", "auto" or None'
        if given is None or (isinstance(given, str) and given == "auto"):
            return
        if isinstance(given, str):
            if given != "learnt":
                raise ValueError(f"overdispersion must be {allowed}, got {given!r}.")
        elif np.ndim(checks.positive("overdispersion", given, or_zero=True)):
            raise ValueError(f"overdispersion must be {allowed}, got shape {np.shape(given)}.")
        if self.rate not in ("auto", "exp"):
            raise ValueError(
                'overdispersion goes with rate="exp", under which negative binomial counts are log-concave, '
                f"got rate={self.rate!r}."
            )

    # -- what is left open ---------------------------------------------------------------------------------------------

    @property
    def overdispersed(self) -> bool:
        """True where counts are negative binomial, whose overdispersion is given or learnt."""
        return self.overdispersion is not None and self.overdispersion != "auto"

    def resolved(self, overdispersed: bool = False) -> Self:
        """The same without "auto": of Poisson counts, or of negative binomial ones, as far as that was left open."""
        spread = self.overdispersion
        if isinstance(spread, str) and spread == "auto":
            spread = "learnt" if overdispersed else None
        rate = self.rate if self.rate != "auto" else "rectified" if spread is None else "exp"
        return replace(self, rate=rate, overdispersion=spread)

    def alternatives(self, data: CountRows) -> list[CoxSettings]:
        """Settings to be chosen among by counts that are left out: Poisson counts and, where it may be, negative
        binomial ones. A kernel or a mean that was given has the units of its rate.
        """
        learnt = self.optimizer is not None and bool(data.y.any()) and self.inference == "expectation_propagation"
        if len(data) < FEWEST:
            return [self.resolved()]
        if self.overdispersion != "auto" or not learnt or self.rate not in ("auto", "exp"):
            return [self.resolved()]
        if self.rate == "auto" and (self.kernel is not None or self.mean is not None):
            return [self.resolved()]
        if self.kernel is not None and white_noise(self.kernel, data.exposed.rows):
            return [self.resolved()]
        return [self.resolved(), _Alternative(**vars(self.resolved(overdispersed=True)))]

    # -- counts --------------------------------------------------------------------------------------------------------

    @property
    def learns_overdispersion(self) -> bool:
        """True where it is a parameter of the evidence."""
        return self.overdispersion == "learnt"

    def spread(self, scale: float = OVERDISPERSION) -> float:
        """The counts' overdispersion, which ``scale`` is where it is learnt; 0 of Poisson's."""
        return scale if isinstance(self.overdispersion, str) else float(self.overdispersion or 0.0)

    def family(self, exposure: Number, spread: float) -> Poisson | NegativeBinomial:
        """Counts of one mean each."""
        if not spread:
            return Poisson(rate=self.rate, exposure=exposure)
        return NegativeBinomial(overdispersion=spread, exposure=exposure)

    def prior_mean(self, rate: float) -> Mean:
        """The mean function before any fit: the place of the typical rate, unless one is given."""
        return as_mean(inverse_rate(self.rate, rate) if self.mean is None else self.mean)

    @property
    def tells_bounds(self) -> bool:
        """True: a rate that is flat is worth a word, whoever chose the bounds."""
        return True

    def kernels(
        self, X: np.ndarray, rate: float, repeated: bool = False, near: ArrayLike | None = None
    ) -> list[Kernel]:
        """Kernels at which searches start: the given kernel, or one of every share of the range.

        Where places are ``repeated`` counts may tell that their rate differs from one time to the next. ``near``: start
        once, at these lengths, as far as they are between the shares.
        """
        if self.kernel is not None:
            if self.overdispersion is not None and len(X) and white_noise(self.kernel, X) > 0:
                raise ValueError(
                    "overdispersion and white noise in the kernel both say that counts of one place vary more than "
                    "Poisson's; leave one of the two out."
                )
            return [clone(self.kernel)]
        ranges = np.ptp(X, axis=0) if len(X) else np.ones(X.shape[1])
        ranges = np.where(ranges > TINY, ranges, 1.0)
        ranges = ranges if len(ranges) > 1 else float(ranges[0])
        variance = typical_change(self.rate, rate) ** 2
        bounds = np.multiply.outer(ranges, BOUNDS)
        height = ConstantKernel(0.5 * variance, (HEIGHTS[0] * variance, HEIGHTS[1] * variance))
        lengths = [share * ranges for share in SHARES]
        if near is not None:
            lengths = [np.clip(near, min(SHARES) * ranges, max(SHARES) * ranges)]
        kernels = [height * RBF(length, bounds) for length in lengths]
        if not repeated or self.rank is not None or self.overdispersion is not None:  # white noise has no low rank
            return kernels
        low, high = NOISES
        return [kernel + WhiteKernel(NOISE * variance, (low * variance, high * variance)) for kernel in kernels]

    def potential(self, y: np.ndarray, exposure: Number, scale: float = OVERDISPERSION) -> Poisson | NegativeBinomial:
        """The potentials of counts; where their overdispersion is learnt it is ``scale``."""
        return self.family(exposure, self.spread(scale)).observe(y)

    def problems(self, data: CountRows, near: ArrayLike | None = None) -> list[Evidence]:
        """The evidence of the counts at every start, or at one ``near`` these lengths."""
        given, rate = data.exposed, data.mean_rate
        repeated = _repeated(given.rows)
        observed = partial(self.potential, data.y, given.exposure)
        return [
            Evidence(
                kernel,
                self.prior_mean(rate).prepared(given.rows),
                given.rows,
                [observed],
                self.engine(self.inference, self.max_iter),
                log_scale=float(np.log(OVERDISPERSION)) if self.learns_overdispersion else None,
                low_rank=self.approximation(),
            )
            for kernel in self.kernels(given.rows, rate, repeated, near)
        ]


class _Alternative(CoxSettings):
    """Settings that nobody asked for: of the ends of their search nobody is told."""

    @property
    def tells_bounds(self) -> bool:
        """False."""
        return False


def _repeated(X: np.ndarray) -> bool:
    """True where a place was counted at more than once."""
    return len(np.unique(X, axis=0)) < len(X)
