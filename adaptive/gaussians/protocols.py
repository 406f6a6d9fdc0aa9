"""Protocols of a Gaussian over a latent vector: of any, and of one with sites."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np

from adaptive.operators import Operator

if TYPE_CHECKING:
    from adaptive.gaussians.gaussian_part import GaussianPart
    from adaptive.types import Matrix

__all__ = ["Gaussian", "SiteGaussian"]

Search = Callable[[int, "np.ndarray | None", float], tuple[np.ndarray, np.ndarray]]


class Gaussian(Protocol):
    """N(mean, V) over a latent u of n unknowns: what a posterior asks of the form that represents it.

    ``rows`` M are an array or sparse matrix (m, n); None stands for all unknowns.

    Attributes
    ----------
    kind : str
        Name of the form, in its state.
    n : int
    mean : (n,)
    operator_variance : callable or None
        Maps a real operator to the variances (m,) of its rows; None where it is their matrix that is asked for.
    leading : callable or None
        Maps (k, start, tol) to the k largest eigenvalues of V and their eigenvectors (k, n), searched from where the
        last search ended; None where nothing is kept from one search to the next.

    Examples
    --------
    >>> from adaptive.gaussians import SquareRootForm
    >>> believed: Gaussian = SquareRootForm(np.zeros(2), np.array([[2.0], [0.0]]))
    >>> believed.kind, believed.n, believed.project_variance(None)
    ('square_root', 2, array([4., 0.]))
    """

    kind: str
    n: int

    @property
    @abstractmethod
    def mean(self) -> np.ndarray: ...

    @property
    @abstractmethod
    def operator_variance(self) -> Callable[[Operator], np.ndarray] | None: ...

    @property
    @abstractmethod
    def leading(self) -> Search | None: ...

    @abstractmethod
    def project_variance(self, rows: Matrix | None) -> np.ndarray:
        """diag(M V M'), (m,)."""

    @abstractmethod
    def project_covariance(self, first: Matrix | None, second: Matrix | None) -> np.ndarray:
        """M1 V M2', (m1, m2)."""

    @abstractmethod
    def covariance_times(self, matrix: np.ndarray) -> np.ndarray:
        """V M for M (n,) or (n, k)."""

    @abstractmethod
    def root_times(self, rows: Matrix) -> np.ndarray | None:
        """R (m, r) with R R' = M V M'; None where that is not cheap."""

    @abstractmethod
    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of u, (size, n)."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Plain data, its ``kind`` among them, from which ``from_state`` makes the form again, to the last bit."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: dict[str, Any], part: GaussianPart) -> Gaussian:
        """The form that ``state`` described, of the model whose Gaussian part and rows these are."""


@runtime_checkable
class SiteGaussian(Gaussian, Protocol):
    """base(u) times prod_j exp(nu_j s_j - pi_j s_j^2 / 2), s = B u: what an approximation by sites asks besides.

    Attributes
    ----------
    pi, nu : (q,)
        Precisions and precision-means of the sites, after ``refit``.
    projections : (q,)
        B mean.
    log_volume : float
        log base(mean) + 1/2 log|2 pi V|: every engine's log evidence (nats) is this plus one term per row.

    Examples
    --------
    >>> from adaptive.gaussians import gaussian_with_sites
    >>> believed: SiteGaussian = gaussian_with_sites(np.eye(1), prior_covariance=np.eye(1))
    >>> believed.refit(np.array([1.0]), np.array([2.0])).projections
    array([1.])
    """

    pi: np.ndarray
    nu: np.ndarray
    projections: np.ndarray

    @property
    @abstractmethod
    def log_volume(self) -> float: ...

    @abstractmethod
    def refit(self, pi: np.ndarray, nu: np.ndarray) -> Self:
        """Set all sites; raises ``numpy.linalg.LinAlgError`` where the result is not a Gaussian."""

    @abstractmethod
    def marginals(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the q projections."""
