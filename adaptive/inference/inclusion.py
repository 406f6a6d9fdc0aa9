"""One potential more without a new fit: its site is found alone, and the Gaussian follows by a rank-one update.

With m, v the moments of the new projection s = b.u and pi, nu its site (k = 1 + pi v, d = V b),

    V <- V - (pi / k) d d',    mean <- mean + ((nu - pi m) / k) d,

so that any other projection needs one product with d.  The site is the best Gaussian bound of the potential (of width
1 / pi = `Potential.best_width`), or has the moments of the potential times N(m, v); other sites stay as they are until
the next step of an engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator

from adaptive.checks import choice, finite, generator
from adaptive.inference.model import GLM, matrix_of
from adaptive.inference.posterior import Posterior
from adaptive.linalg.matrices import dense, is_sparse

if TYPE_CHECKING:
    from adaptive.gaussians import Gaussian
    from adaptive.potentials import Potential
    from adaptive.types import ArrayLike, Matrix, RandomState, Rows

__all__ = ["IncludedPosterior", "include", "include_site", "include_together"]

SITES = ("bound", "moments")


def include(
    posterior: Posterior, row: Matrix | ArrayLike, potential: Potential, *, site: str = "bound", group: int = 0
) -> IncludedPosterior:
    """Return the posterior with one more potential on the projection ``row . u``.

    Parameters
    ----------
    posterior : Posterior
        Stays as it is.
    row : array (n,), or (1, n), dense or sparse
    potential : Potential of one row
    site : {"bound", "moments"}, default "bound"
        How the Gaussian that stands for the potential is found; "moments" where there is no bound of free width.
    group : int, default 0
        The group of the model whose last row this is.

    Returns
    -------
    IncludedPosterior
        ``log_evidence`` grows by the logarithm of the site's integral over N(m, v): a bound stays one.

    References
    ----------
    Nickisch (2010), section 3.7 and its algorithm; the sign of the update of the mean is corrected. Minka (2001).

    Examples
    --------
    >>> from adaptive.inference import GLM, variational_bounds
    >>> from adaptive.potentials import BernoulliLogit
    >>> first = variational_bounds(GLM(B=[[1.0, 0.0]], potentials=BernoulliLogit([1.0]), prior_covariance=1.0))
    >>> second = include(first, [0.5, 2.0], BernoulliLogit([-1.0]))
    >>> second.mean.round(3), second.group_lengths
    (array([ 0.286, -0.59 ]), [2])
    """
    return include_together([posterior], row, potential, site=site, group=group)[0]


def include_together(
    posteriors: Sequence[Posterior],
    row: Matrix | ArrayLike,
    potential: Potential,
    *,
    site: str = "bound",
    group: int = 0,
) -> list[IncludedPosterior]:
    """Return several posteriors over the same unknowns, each with the same potential more: its moments at once.

    Parameters
    ----------
    posteriors : sequence of Posterior
    row, potential, site, group
        As of `include`.

    Examples
    --------
    >>> from adaptive.inference import GLM, laplace_approximation
    >>> from adaptive.potentials import BernoulliLogit
    >>> yes = BernoulliLogit([1.0])
    >>> wide, narrow = (
    ...     laplace_approximation(GLM(B=[[1.0]], potentials=yes, prior_covariance=v)) for v in (9.0, 1.0)
    ... )
    >>> [after.mean.round(3).tolist() for after in include_together([wide, narrow], [1.0], yes)]
    [[2.144], [0.679]]
    """
    choice("site", site, SITES)
    row = _row(row, posteriors[0].n)
    directions = [_direction(posterior, row) for posterior in posteriors]
    mean = np.array([float(row @ posterior.mean) for posterior in posteriors])
    variance = np.array([max(float(row @ direction), 0.0) for direction in directions])
    if site == "moments" or potential.bound != "width":
        sites = _by_moments(potential, mean, variance)
    else:
        sites = [_by_bound(potential, float(m), float(v)) for m, v in zip(mean, variance, strict=True)]
    return [
        IncludedPosterior(posterior, row, direction, (pi, nu), gain, group)
        for posterior, direction, (gain, pi, nu) in zip(posteriors, directions, sites, strict=True)
    ]


def include_site(
    posterior: Posterior, row: Matrix | ArrayLike, precision: float, shift: float, gain: float = 0.0, *, group: int = 0
) -> IncludedPosterior:
    """Return the posterior with the Gaussian site exp(shift s - precision s^2 / 2) on ``row . u``.

    Parameters
    ----------
    posterior, row, group
        As of `include`.
    precision, shift : float
    gain : float, default 0.0
        What the evidence gains.

    Returns
    -------
    IncludedPosterior

    References
    ----------
    Nickisch (2010), section 3.7; the sign of the update of the mean is corrected.

    Examples
    --------
    >>> from adaptive.inference import GLM, laplace_approximation
    >>> from adaptive.potentials import Gaussian
    >>> before = laplace_approximation(GLM(B=[[1.0, 0.0]], potentials=Gaussian(1.0), prior_covariance=1.0))
    >>> after = include_site(before, [0.0, 1.0], precision=1.0, shift=2.0)
    >>> after.mean, after.variances()
    (array([0., 1.]), array([0.5, 0.5]))
    """
    row = _row(row, posterior.n)
    site = (float(precision), float(shift))
    return IncludedPosterior(posterior, row, _direction(posterior, row), site, float(gain), group)


def _by_bound(potential: Potential, mean: float, variance: float) -> tuple[float, float, float]:
    """ln of the best bound's integral over N(mean, variance), its precision and precision-mean."""
    width = float(potential.best_width(np.array([mean]), np.array([variance]))[0])
    location, tilt = (float(np.ravel(a)[0]) for a in (potential.location, potential.tilt))
    pi, shrink, m = 1.0 / width, 1.0 + variance / width, mean - location
    gain = tilt * m - 0.5 * pi * m**2 + 0.5 * variance * (tilt - pi * m) ** 2 / shrink - 0.5 * np.log(shrink)
    return float(gain - 0.5 * potential.height(np.array([width]))[0]), pi, tilt + pi * location


def _by_moments(potential: Potential, mean: np.ndarray, variance: np.ndarray) -> list[tuple[float, float, float]]:
    """ln of the potential's integral over each N(mean, variance), and the site that gives the product its moments."""
    known = ~(variance > 0)
    safe = np.where(known, 1.0, variance)
    if potential.size is not None:
        potential = potential[np.zeros(len(mean), dtype=np.intp)]  # one row for each
    gain, after_mean, after_variance = potential.tilted_moments(mean, safe)
    pi = np.where(known, 0.0, np.maximum(1.0 / after_variance - 1.0 / safe, 0.0))
    nu = np.where(known, 0.0, pi * after_mean + (after_mean - mean) / safe)
    if known.any():
        gain = np.where(known, potential.log_density(mean), gain)
    return list(zip(gain.tolist(), pi.tolist(), nu.tolist(), strict=True))


def _direction(posterior: Posterior, row: np.ndarray) -> np.ndarray:
    """V row."""
    if isinstance(posterior, IncludedPosterior):
        return posterior.less_included(_direction(posterior.base, row), row)
    return np.asarray(posterior.covariance_operator() @ row).ravel()


def _inserted(values: np.ndarray, place: int, value: float) -> np.ndarray:
    return np.concatenate([values[:place], [value], values[place:]])


def _row(row: Matrix | ArrayLike, n: int) -> np.ndarray:
    entries = finite("row", dense(row) if is_sparse(row) else row).ravel()
    if entries.shape != (n,):
        raise ValueError(f"row must have {n} entries, one per unknown, got {entries.size}.")
    return entries


class _Update(NamedTuple):
    """One inclusion: V <- V - factor d d', mean <- mean + step d, R <- R (I - root_step z z') with z = R' b."""

    row: np.ndarray
    direction: np.ndarray
    factor: float
    step: float
    root_step: float
    pi: float
    nu: float
    gain: float
    group: int


class IncludedPosterior(Posterior):
    """A posterior and what was included since: the answers of the former, less rank-one terms.

    Parameters
    ----------
    before : Posterior
        Without the last potential; may itself have included some.
    row, direction : arrays (n,)
        b, and V b.
    site : (float, float)
        Precision and precision-mean of the new site.
    gain : float
        What the evidence gains.
    group : int
        Of the new row.

    Attributes
    ----------
    base : Posterior
        What nothing was included into.
    updates : tuple
        One entry per included row, in order: ``row`` b, ``direction`` d = V b, ``factor`` and ``step`` of V <- V -
        factor d d' and mean <- mean + step d, the site ``pi``, ``nu``, its ``gain`` and the ``group`` of the row.
    n_included : int

    References
    ----------
    Nickisch (2010), section 3.7; the sign of the update of the mean is corrected.

    Examples
    --------
    >>> from adaptive.inference import GLM, include_site, laplace_approximation
    >>> from adaptive.potentials import Gaussian
    >>> before = laplace_approximation(GLM(B=[[1.0, 0.0]], potentials=Gaussian(1.0), prior_covariance=1.0))
    >>> after = include_site(before, [0.0, 1.0], precision=1.0, shift=2.0)
    >>> isinstance(after, IncludedPosterior), after.n_included, after.base is before
    (True, 1, True)
    """

    kind = "included"

    def __init__(
        self,
        before: Posterior,
        row: np.ndarray,
        direction: np.ndarray,
        site: tuple[float, float],
        gain: float,
        group: int = 0,
    ):
        pi, nu = site
        m, v = float(row @ before.mean), max(float(row @ direction), 0.0)
        shrink = 1.0 + pi * v
        root_step = (1.0 - shrink**-0.5) / v if v > 0 else 0.0
        update = _Update(row, direction, pi / shrink, (nu - pi * m) / shrink, root_step, pi, nu, gain, group)
        earlier = before if isinstance(before, IncludedPosterior) else None
        self.base: Posterior = before if earlier is None else earlier.base
        self.updates: tuple[_Update, ...] = (update,) if earlier is None else (*earlier.updates, update)
        end = sum(before.group_lengths[: group + 1])
        lengths = list(before.group_lengths)
        lengths[group] += 1
        super().__init__(
            None,
            mean=before.mean + update.step * direction,
            sites=(_inserted(before.sites[0], end, pi), _inserted(before.sites[1], end, nu)),
            group_lengths=lengths,
            log_evidence=before.log_evidence + gain,
            log_evidence_std=before.log_evidence_std,
            evidence_kind=before.evidence_kind,
            objective_trace=list(before.objective_trace),
            n_iter=before.n_iter,
            n_products=before.n_products,
            converged=before.converged,
            engine=before.engine,
        )

    @property
    def n_included(self) -> int:
        return len(self.updates)

    @cached_property
    def _directions(self) -> np.ndarray:
        return np.stack([update.direction for update in self.updates])

    @cached_property
    def _factors(self) -> np.ndarray:
        return np.array([update.factor for update in self.updates])

    @cached_property
    def jensen_evidence(self) -> float:
        """nan: not followed by rank-one updates."""
        return np.nan

    # ------------------------------------------------------------------ moments: the former's, less rank-one terms
    def _along(self, rows: Matrix | None) -> np.ndarray:
        """The rows' products with all directions, (m, n_included)."""
        return np.asarray(self._directions.T if rows is None else rows @ self._directions.T)

    def variances(self, B: Rows | ArrayLike | None = None, return_error: bool = False) -> Any:
        rows = None if B is None else self._rows(B)
        value, error = self.base.variances(rows, return_error=True)
        value = np.maximum(value - np.square(self._along(rows)) @ self._factors, 0.0)
        return (value, error) if return_error else value

    def covariance(self) -> np.ndarray:
        return self.base.covariance() - (self._directions.T * self._factors) @ self._directions

    def covariance_operator(self) -> LinearOperator:
        base = self.base.covariance_operator()

        def times(vectors: np.ndarray) -> np.ndarray:
            return self.less_included(base @ vectors, vectors)

        return LinearOperator((self.n, self.n), matvec=times, rmatvec=times, matmat=times, rmatmat=times, dtype=float)

    def less_included(self, product: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """The covariance times vectors (n,) or (n, k), from the product of the base's."""
        along = (self._directions @ vectors).T * self._factors
        return product - (along @ self._directions).T.reshape(np.shape(vectors))

    def projection_moments(self, B_new: Rows | ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        rows = self._rows(B_new)
        return np.asarray(rows @ self.mean), self.variances(rows)

    def projection_covariance(self, B1: Rows | ArrayLike, B2: Rows | ArrayLike | None = None) -> np.ndarray:
        first = self._rows(B1)
        second = first if B2 is None or B2 is B1 else self._rows(B2)
        return (
            self.base.projection_covariance(first, second)
            - (self._along(first) * self._factors) @ self._along(second).T
        )

    def projection_root(self, B_new: Rows | ArrayLike) -> np.ndarray | None:
        root = self.base.projection_root(B_new)
        if root is None:
            return None
        for update, along in zip(self.updates, self._root_rows, strict=True):
            root = root - update.root_step * (root @ along)[:, None] * along
        return root

    @cached_property
    def _root_rows(self) -> list[np.ndarray]:
        """z = R' b of every row at its turn, R the root then."""
        found: list[np.ndarray] = []
        for update in self.updates:
            along = self.base.projection_root(update.row[None])
            assert along is not None
            along = along[0]
            for earlier, z in zip(self.updates, found, strict=False):
                along = along - earlier.root_step * (along @ z) * z
            found.append(along)
        return found

    def information_gain(self, X_new: Rows | ArrayLike, noise_variance: float = 1.0) -> float:
        block = self.projection_covariance(self._rows(X_new, one_row=True)) / noise_variance
        return 0.5 * float(np.linalg.slogdet(np.eye(len(block)) + block)[1])

    def sample(self, n: int = 1, random_state: RandomState = None) -> np.ndarray:
        """Draws of the base, conditioned on a pseudo-measurement of every new projection (Matheron's rule)."""
        rng = generator(random_state)
        draws = self.base.sample(n, rng)
        for update in self.updates:
            if update.pi > 0:
                noise = rng.standard_normal(len(draws)) / np.sqrt(update.pi)
                surprise = update.nu / update.pi - draws @ update.row - noise
                draws = draws + (update.factor * surprise)[:, None] * update.direction
            else:
                draws = draws + update.step * update.direction
        return draws

    @property
    def _dense(self) -> Gaussian:
        raise ValueError("this posterior has included potentials since its last fit; it has no matrix of its own.")

    # ------------------------------------------------------------------ as plain data
    def state(self) -> dict[str, Any]:
        """The base and the sites of the included rows, which the model has."""
        return {
            "kind": self.kind,
            "base": self.base.state(),
            "sites": np.array([[update.pi, update.nu, update.gain] for update in self.updates]),
            "groups": [update.group for update in self.updates],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], model: GLM) -> Posterior:
        """The posterior over ``model`` that ``state`` described; included rows are the last ones of their groups."""
        from adaptive.inference.kinds import restored_posterior  # house: the base may be of any kind

        groups = [int(group) for group in state["groups"]]
        lengths = [length - groups.count(k) for k, length in enumerate(model.group_lengths)]
        posterior = restored_posterior(model.beginning(lengths), state["base"])
        for (pi, nu, gain), group in zip(state["sites"], groups, strict=True):
            row = matrix_of(model.groups[group][0])[[lengths[group]]]
            posterior = include_site(posterior, row, pi, nu, gain, group=group)
            lengths[group] += 1
        return posterior
