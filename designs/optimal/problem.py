"""Common ground of the exchange algorithms: the criterion by its name, the model with prior and blocks, the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite, integer, shape
from designs.optimal.criteria import Criterion, Determinant, Eigenvalues, MeanVariance

if TYPE_CHECKING:
    from adaptive.selection import Certificate
    from adaptive.types import ArrayLike
    from designs.optimal.certified import Efficiency

__all__ = ["Model", "OptimalDesign"]

NAMES = ("D", "A", "E", "I", "V")


@dataclass(frozen=True)
class OptimalDesign:
    """A design and what it is worth.

    Attributes
    ----------
    positions : array of int (n_runs,), or None
        Which candidates, repeated as often as they are run; None after a coordinate exchange.
    points : array (n_runs, k), or None
        Factor settings after a coordinate exchange.
    blocks : array of int (n_runs,)
        The block of every run; all zero without blocks.
    criterion : str or float
        Its name, or the power p of Kiefer's phi_p.
    value : float
        The criterion of the covariance (X^T X + P)^-1, per unit of noise variance; smaller is better.
    efficiency : float or None
        At least this good: the value of a lower bound on all designs of this size (with fractional runs; of D with the
        limits of replicates, else without constraints), divided by ``value``. Between 0 and 1; None where no bound is
        known.
    information : array (d, d)
        X^T X + P, after the block effects are taken out.
    n_exchanges : int
        Exchanges of the best start.
    converged : bool
        Whether the best start ended because no exchange improves it.
    certificate : Certificate, Efficiency or None
        Of Bayesian designs: what the runs tell of the unknowns, in nats, block effects taken out, and how much any as
        many could at most, whatever constraints there were.  Of others the efficiency, in words.

    Examples
    --------
    >>> from designs.optimal import optimal_design
    >>> found = optimal_design([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]], 4, random_state=0)
    >>> sorted(found.positions.tolist()), found.converged
    ([0, 0, 2, 2], True)
    """

    positions: np.ndarray | None
    points: np.ndarray | None
    blocks: np.ndarray
    criterion: str | float
    value: float
    efficiency: float | None
    information: np.ndarray
    n_exchanges: int
    converged: bool
    certificate: Certificate | Efficiency | None = None


class Model:
    """Rows, prior and block effects: the information M of a design, block effects first where there are any.

    Parameters
    ----------
    d : int
        Number of unknowns that count.
    n_runs : int
        Number of runs.
    prior_precision : None, float, (d,) or (d, d)
        P in units of the noise variance.
    blocks : None or list of int
        Sizes of the blocks.
    constant : bool
        Whether the rows already span a constant, so that the effect of the first block is the intercept.
    """

    def __init__(
        self, d: int, n_runs: int, prior_precision: ArrayLike | None, blocks: Sequence[int] | None, constant: bool
    ):
        self.d, self.n_runs = d, integer("n_runs", n_runs, minimum=1)
        self.has_prior = prior_precision is not None
        sizes = [n_runs] if blocks is None else [integer("blocks", size, minimum=1) for size in blocks]
        if sum(sizes) != n_runs:
            raise ValueError(f"blocks must be sizes that add up to n_runs = {n_runs}, got {list(sizes)}.")
        self.labels = np.repeat(np.arange(len(sizes)), sizes)
        # Effect coding: one column per block; where the intercept is in the model, none for the first.
        self.effects = np.zeros((len(sizes), 0)) if blocks is None else np.eye(len(sizes))[:, 1 if constant else 0 :]
        self.nuisance = self.effects.shape[1]
        coded = sizes[len(sizes) - self.nuisance :]
        self.effects_log_determinant = float(np.log(coded).sum())  # of their own block in the information
        self.prior = np.zeros((self.nuisance + d,) * 2)
        self.prior[self.nuisance :, self.nuisance :] = _precision(prior_precision, d)
        if not self.has_prior and n_runs < d + self.nuisance:
            unknowns = f"{d} unknowns" + (f" and {self.nuisance} block effects" if self.nuisance else "")
            raise ValueError(
                f"n_runs must be at least the number of unknowns, got {n_runs} runs for {unknowns}: the design would "
                "be singular. Add runs, or give prior_precision for a Bayesian design."
            )

    @property
    def part(self) -> slice:
        return slice(self.nuisance, None)

    def rows(self, rows: np.ndarray, block: int) -> np.ndarray:
        """Model rows of candidates that run in a block."""
        if not self.nuisance:
            return rows
        return np.hstack([np.broadcast_to(self.effects[block], (len(rows), self.nuisance)), rows])

    def design(self, rows: np.ndarray) -> np.ndarray:
        """Model rows of a whole design, in the order of the runs."""
        return np.hstack([self.effects[self.labels], rows]) if self.nuisance else rows

    def information(self, rows: np.ndarray) -> np.ndarray:
        """X^T X + P about the unknowns that count, block effects taken out."""
        design = self.design(rows)
        whole = design.T @ design + self.prior
        if not self.nuisance:
            return whole
        k = self.nuisance
        return whole[k:, k:] - whole[k:, :k] @ np.linalg.solve(whole[:k, :k], whole[:k, k:])

    def criterion(
        self, name: str | float, region: np.ndarray, points: ArrayLike | None
    ) -> tuple[Criterion, str | float]:
        """The criterion by its name, for informations with block effects in front, and that name."""
        if isinstance(name, str) and name in NAMES:
            if (name == "V") != (points is not None):
                raise ValueError(
                    "points must be given with criterion 'V' (rows whose predictions count) and with no other, "
                    f"got criterion {name!r} {'without' if points is None else 'with'} points."
                )
        elif isinstance(name, bool) or not isinstance(name, (int, float, np.number)) or not name >= 0:
            raise ValueError(f"criterion must be one of {', '.join(map(repr, NAMES))} or a power p >= 0, got {name!r}.")
        if name in ("D", 0):
            return Determinant(self.d, self.effects_log_determinant), name
        if name in ("A", 1):
            moments = np.eye(self.d) / self.d
        elif name in ("I", "V"):
            where = region if name == "I" else finite("points", points)
            shape("points", where, (None, self.d))
            moments = where.T @ where / len(where)
        else:
            power = np.inf if name == "E" else float(name)
            return Eigenvalues(power, self.part if self.nuisance else None), name
        weight = np.zeros_like(self.prior)
        weight[self.part, self.part] = moments
        return MeanVariance(weight), name

    def check_rank(self, information: np.ndarray) -> None:
        """One sentence for a design that leaves unknowns undetermined."""
        scale = np.sqrt(np.diag(information))
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.linalg.eigvalsh(np.nan_to_num(information / np.outer(scale, scale)))
        if values[0] < 1e-10:
            rank = int((values > 1e-10).sum())
            raise ValueError(
                f"singular design: the best design found determines {rank} of {self.d} unknowns. Add candidates or "
                "runs, drop columns that depend on one another, relax the constraints, or give prior_precision."
            )


def _precision(prior: ArrayLike | None, d: int) -> np.ndarray:
    if prior is None:
        return np.zeros((d, d))
    matrix = finite("prior_precision", prior)
    if matrix.ndim == 0:
        matrix = np.eye(d) * matrix
    elif matrix.ndim == 1:
        shape("prior_precision", matrix, (d,))
        matrix = np.diag(matrix)
    shape("prior_precision", matrix, (d, d))
    if not np.allclose(matrix, matrix.T) or np.linalg.eigvalsh(matrix)[0] < -1e-10 * np.abs(matrix).max():
        raise ValueError("prior_precision must be symmetric and have no negative eigenvalue.")
    return matrix
