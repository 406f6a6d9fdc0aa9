"""Candidates whose outcome is decided by a projection s with a joint Gaussian belief:  y ~ p(y | s),  s ~ N(mean, Cov).

Measuring candidate i replaces its marginal N(m, v) by the Gaussian with the moments of p(y_i | s) N(s | m, v), and the
others follow by regression.  That is exact for a Gaussian likelihood and one step of expectation propagation otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from adaptive.predictive import target_information as about_target
from adaptive.predictive.base import Predictive
from adaptive.predictive.conditional_variance import is_gaussian, noise_variance, representatives
from adaptive.predictive.derivations import Way, likely
from adaptive.predictive.joint_gaussian import (
    CANDIDATES,
    TARGET,
    Blocks,
    Column,
    Conditioned,
    Draws,
    LinearSource,
    Moment,
    StatedSource,
)
from adaptive.predictive.joint_predictive import JointPredictive

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential
    from adaptive.types import ArrayLike, Covariance, Index, Matrix, RandomState

__all__ = ["GaussianProjections", "GaussianTarget"]


class GaussianTarget(NamedTuple):
    """Target of what is to be learnt, jointly Gaussian with the candidates' projections.

    Attributes
    ----------
    mean, variance : (t,) arrays, or functions that return them
    covariance : function (i, j) -> (len i, len j), of target components
    cross : function (i, j) -> (len i, len j), of candidates i and target components j
    inputs : bool
        The components are projections of given inputs, which have outcomes.
    likelihood : likelihood family, optional
        Theirs, where it is not that of the candidates.
    everything : bool
        The components decide every projection, as the weights of a linear model do.

    Examples
    --------
    >>> from adaptive.potentials import Gaussian
    >>> from adaptive.predictive import GaussianProjections
    >>> V = np.diag([4.0, 1.0])
    >>> of_first = GaussianTarget(np.zeros(1), np.array([4.0]), lambda i, j: V[:1, :1], lambda i, j: V[np.ix_(i, [0])])
    >>> believed = GaussianProjections(
    ...     np.zeros(2), np.diag(V), likelihood=Gaussian(1.0), covariance=lambda i, j: V[np.ix_(i, j)], target=of_first
    ... )
    >>> believed.target_covariance
    array([[4.],
           [0.]])
    """

    mean: Moment
    variance: Moment
    covariance: Callable[[np.ndarray, np.ndarray], np.ndarray]
    cross: Callable[[np.ndarray, np.ndarray], np.ndarray]
    inputs: bool = True
    likelihood: Potential | None = None
    everything: bool = False


class GaussianProjections(JointPredictive):
    """Predictive of m candidates by the joint Gaussian of their projections.

    Parameters
    ----------
    mean, variance : (m,) arrays, or functions without arguments that return them
        Moments of the projections.
    covariance : function (i, j) -> (len i, len j)
        Covariance of the projections of candidates ``i`` and ``j`` (index arrays).
    likelihood : likelihood family
        p(y | s); see :mod:`adaptive.potentials`.
    target : GaussianTarget, optional
        What is to be learnt; default all that decides the projections.
    projection_draws : function (n, generator) -> (n, m) array or [(n, m), (n, t)], optional
        Joint draws of the projections (and the target's) which are the same latent in every chunk of a pool.  Without
        it draws come from the dense covariance of the candidates at hand, and each chunk has its own.
    n_candidates : int, optional
        Needed if ``mean`` is a function.
    random_state : None, int, Generator or RandomState
        Seed of draws.
    **fields
        Others that are stated, such as ``features`` and ``measured``.

    Raises
    ------
    ValueError
        If ``mean`` is a function and ``n_candidates`` is not given.

    References
    ----------
    H. Nickisch (2010), section 2.6, and T. Minka (2001) for the moment matching.

    Examples
    --------
    >>> import numpy as np
    >>> from adaptive.potentials import Gaussian
    >>> rows, covariance = np.eye(2), np.ones((2, 2))
    >>> belief = GaussianProjections.from_rows(rows, np.zeros(2), covariance=covariance, likelihood=Gaussian(1.0))
    >>> belief.given(0, 2.0).mean, belief.given(0, 2.0).variance
    (array([1., 1.]), array([0.5, 0.5]))
    """

    _kept: ClassVar[tuple[str, ...]] = ("_about", "_target_likelihood")

    def __init__(
        self,
        mean: Moment,
        variance: Moment,
        covariance: Callable[[np.ndarray, np.ndarray], np.ndarray],
        likelihood: Potential,
        *,
        target: GaussianTarget | None = None,
        projection_draws: Draws | None = None,
        n_candidates: int | None = None,
        random_state: RandomState = None,
        **fields: Any,
    ) -> None:
        if n_candidates is None:
            if callable(mean):
                raise ValueError("n_candidates is needed where mean is a function.")
            n_candidates = np.shape(mean)[0]
        moments: list[tuple[Moment, Moment]] = [(mean, variance)]
        blocks: Blocks = {(CANDIDATES, CANDIDATES): covariance}
        if target is not None:
            moments.append((target.mean, target.variance))
            blocks |= {(CANDIDATES, TARGET): target.cross, (TARGET, TARGET): target.covariance}
        source = StatedSource(moments, blocks, projection_draws)
        super().__init__(source, n_candidates, likelihood, random_state=random_state, **fields)
        # what is to be learnt: all, all "latents" (of which there is a list), "some", or "inputs"
        self._about = "all"
        if target is not None:
            self._about = "latents" if target.everything else "inputs" if target.inputs else "some"
        self._target_likelihood = None if target is None else target.likelihood

    @classmethod
    def from_rows(
        cls,
        rows: ArrayLike | Matrix,
        mean: ArrayLike,
        *,
        likelihood: Potential,
        root: np.ndarray | None = None,
        covariance: Covariance | None = None,
        target: ArrayLike | Matrix | None = None,
        target_likelihood: Potential | None = None,
        intercept: bool = False,
        random_state: RandomState = None,
        moments: tuple[Moment, Moment] | None = None,
        **fields: Any,
    ) -> GaussianProjections:
        """Return the predictive of a linear model: projections ``rows @ u`` with u ~ N(mean, covariance).

        Parameters
        ----------
        rows : (m, n) array or sparse matrix
        mean : (n,) array
        likelihood : likelihood family
        root : (n, r) array, optional
            ``covariance = root @ root.T``; the cheaper way where it is known.
        covariance : (n, n) array, or (n,) its diagonal, or a scalar, optional
            One of ``root`` and ``covariance`` must be given.
        target : (t, n) array or sparse matrix, optional
            Given inputs; default all of u.
        target_likelihood : likelihood family, optional
            Of the outcomes at these; default ``likelihood``.
        intercept : bool, default False
            The last entry of u is added to every projection, without a column in ``rows`` (m, n - 1) and ``target``.
        random_state : None, int, Generator or RandomState
        moments : (mean, variance), optional
            Of the projections, (m,) arrays or functions that return them, where they are known already.
        **fields
            Others that are stated, such as ``measured``; ``features`` are ``rows`` unless stated.

        Raises
        ------
        ValueError
            If shapes disagree, or not exactly one of ``root`` and ``covariance`` is given.
        """
        mean = np.asarray(mean, dtype=float)
        n = len(mean)
        if (root is None) == (covariance is None):
            raise ValueError("from_rows needs exactly one of root and covariance.")
        if covariance is not None:
            covariance = np.asarray(covariance, dtype=float)
            covariance = np.full(n, float(covariance)) if covariance.ndim == 0 else covariance
        if len(root if root is not None else covariance) != n:  # type: ignore[arg-type]
            raise ValueError(f"root or covariance must have as many rows as mean has entries, {n}.")
        rows, given_inputs = _as_rows("rows", rows, n - intercept), target is not None
        if given_inputs:
            target = _as_rows("target", target, n - intercept)
            if target.shape[0] == 0:
                raise ValueError("target must hold at least one input, got none.")
        source = LinearSource([rows, target], mean, root, covariance, intercept, moments)
        kept = {"_about": "inputs" if given_inputs else "latents", "_target_likelihood": target_likelihood}
        fields = {"features": rows, **fields}
        return cls._of(source, rows.shape[0], likelihood, random_state=random_state, kept=kept, **fields)

    def _provides(self, name: str) -> bool:
        return bool(self.likelihood.discrete) if name == "draws" else super()._provides(name)

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Return the covariance (len i, len j) of the projections of candidates ``i`` and ``j``."""
        return self._source.block(self._part, np.atleast_1d(i), self._part, np.atleast_1d(j))

    def target_block(self, i: Index) -> np.ndarray:
        """Return the covariance of the projections of candidates ``i`` with every target component."""
        return self._source.block(CANDIDATES, i, TARGET, slice(None))

    def steepness(self) -> tuple[float, float] | None:
        return self._source.steepness() if isinstance(self._source, LinearSource) else None

    def whitened(self) -> np.ndarray | None:
        if self._part != CANDIDATES or self._about not in ("all", "latents") or not is_gaussian(self.likelihood):
            return None
        root = self._source.rooted()
        return (
            None if root is None else (root / np.sqrt(np.atleast_1d(noise_variance(self.likelihood)))[:, None])[:, None]
        )

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return equal weights (n,) and p(outcome | projection) (n, m, c) at ``n`` joint draws (default 1024)."""
        n = 1024 if n is None else n
        projections = self._source.draw(n, np.random.default_rng(self.seed))[self._part]
        table = np.stack([np.exp(self.likelihood.log_density(projections, y)) for y in self.outcomes], axis=-1)
        if self.likelihood.outcomes is None:  # counts: each candidate has its own cut, whatever stands beside it
            table *= self.probabilities > 0
        return np.full(n, 1.0 / n), table

    def likely_outcomes(self, i: int) -> list[tuple[Any, float]] | None:
        """Return at most 64 outcomes that stand for what candidate ``i`` may answer; None where it does not matter."""
        family = self._family(i)
        if is_gaussian(family):
            return None
        outcomes, probabilities = representatives(family, self.mean[i : i + 1], self.variance[i : i + 1], self.seed)
        return likely(outcomes[0], probabilities[0])

    def outcome_probability(self, i: int, outcome: Any) -> float:
        """Return the probability (density) of ``outcome`` at candidate ``i``."""
        mean, variance = self.mean[i : i + 1], self.variance[i : i + 1]
        potential = self._family(i).observe(np.array([outcome]))
        known = not variance[0] > 0
        return float(np.exp((potential.log_density(mean) if known else potential.tilted_moments(mean, variance)[0])[0]))

    def _family(self, i: int) -> Potential:
        return self.likelihood if self.likelihood.size is None else self.likelihood[i : i + 1]

    def given(self, i: int, outcome: Any = None) -> Predictive:
        """Return the belief had candidate ``i`` been measured, with this ``outcome`` or one that is not known yet."""
        i = range(len(self))[i]
        mean, variance = self.mean[i : i + 1], self.variance[i : i + 1]
        if not variance[0] > 0:
            return self  # there is nothing to learn about it
        family = self._family(i)
        if outcome is not None:
            _, mean, variance = family.observe(np.array([outcome])).tilted_moments(mean, variance)
        elif is_gaussian(family):  # the variance after it does not depend on the outcome
            noise = noise_variance(family)
            variance = variance * noise / (variance + noise)
        else:
            raise self._unknown(i)
        column = self._regressions.get(i)
        if column is None:
            column = self._regressions[i] = Column(self._source, i)
        return self._on(Conditioned(self._source, column, float(np.ravel(mean)[0]), float(np.ravel(variance)[0])))


def _as_rows(name: str, rows: ArrayLike | Matrix, width: int) -> Matrix:
    table: Any = rows if sparse.issparse(rows) else np.asarray(rows)
    if sparse.issparse(table) and table.format != "csr":
        table = table.tocsr()
    if table.ndim != 2 or table.shape[1] != width:
        raise ValueError(f"{name} must have {width} columns, got shape {table.shape}.")
    return table


def _target(predictive: GaussianProjections) -> GaussianProjections:
    t = len(predictive._source.mean(TARGET))
    target = predictive._other_part(TARGET, t)
    target._about = "all"
    if predictive._target_likelihood is not None:
        target.likelihood = predictive._target_likelihood
    if target.likelihood.size not in (None, t):
        raise ValueError(
            f"the likelihood has {target.likelihood.size} parameters, one per candidate; the {t} inputs of the target "
            "need their own (target_likelihood)."
        )
    return target


def _target_variance(predictive: GaussianProjections) -> np.ndarray:
    about_target.check_size(predictive.target_block(slice(0, 1)).shape[1])
    return predictive._source.block(TARGET, slice(None), TARGET, slice(None))


def _explained_variance(predictive: GaussianProjections) -> np.ndarray:
    everything = predictive._about in ("all", "latents")
    return predictive.variance if everything else about_target.explained_variance(predictive)


GaussianProjections.ways = Predictive.ways | {
    "mean": (Way((), lambda p: p._source.mean(p._part)),),
    "variance": (Way((), lambda p: p._source.variance(p._part)),),
    "target": (Way((), _target, lambda p: p._about == "inputs"),),
    "target_mean": (Way((), lambda p: p._source.mean(TARGET), JointPredictive._has_target),),
    "target_covariance": (Way((), lambda p: p.target_block(slice(None)), JointPredictive._has_target),),
    "target_variance": (Way((), _target_variance, JointPredictive._has_target),),
    "target_entropy": (Way((), about_target.target_entropy, JointPredictive._has_target),),
    "expected_target_entropy": (Way((), about_target.expected_target_entropy, JointPredictive._has_target),),
    "explained_variance": (Way((), _explained_variance),),
    "expected_entropy": (Way((), about_target.expected_entropy),),
    "log_determinant": (Way((), about_target.log_determinant, lambda p: is_gaussian(p.likelihood)),),
}
