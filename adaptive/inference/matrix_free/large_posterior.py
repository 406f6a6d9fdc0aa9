"""A Gaussian posterior too large for matrices: a precision known by its products, and a few samples of the Gaussian.

    u ~ N(mean, A^-1),   samples u_k = A^-1 g_k of N(0, A^-1),   variances by samples with a circulant control variate

What is asked of the covariance is answered by conjugate gradients, or by the samples with a standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.sparse.linalg import LinearOperator

from adaptive.checks import generator, integer, positive
from adaptive.inference.matrix_free.reweighted_least_squares import precision_of
from adaptive.inference.matrix_free.sampled_variances import chi_square_limits, sampled_variances
from adaptive.inference.model import GLM
from adaptive.inference.posterior import DIAGNOSTICS, LARGEST_COVARIANCE, Posterior
from adaptive.linalg import (
    Circulant,
    Perturbations,
    PrecisionOperator,
    circulant_preconditioner,
    conjugate_gradients,
    stochastic_log_determinant,
)
from adaptive.operators import Operator, RealStacked, Reshaped, as_operator

if TYPE_CHECKING:
    from adaptive.gaussians import Gaussian
    from adaptive.types import ArrayLike, RandomState, Rows

__all__ = ["LargePosterior"]

T = TypeVar("T")

SOLVE_TOL = 1e-6
LARGEST_BLOCK = 2048  # real rows of a block whose determinant is taken of a matrix
N_PROBES, N_STEPS = 16, 30  # of the stochastic log-determinants of larger ones
_STATED = (
    "mean",
    "variance_estimates",
    "share_clipped",
    "sample_tol",
    "lanczos_run",
    *DIAGNOSTICS,
)


class LargePosterior(Posterior):
    """Posterior of the matrix-free double loop.

    Parameters
    ----------
    system : PrecisionOperator
        The precision of the Gaussian.
    mean : array (n,)
    perturbations : Perturbations
        The random numbers behind the samples.
    samples : array (n_samples, *latent shape), optional
        Draws of N(0, A^-1); drawn when they are needed otherwise.
    variance_estimates : array (q,), optional
        Marginal variances of the projections as the double loop left them, for a warm start.
    share_clipped : float
        Share of these that had to be clipped to what the bound allows.
    sample_tol : float, default 0.02
        Relative residual of further samples.
    lanczos_run : (int, int), optional
        Steps and seed of the Lanczos runs that the double loop took its variances from.
    **diagnostics
        As in `Posterior`.

    Attributes
    ----------
    system : PrecisionOperator
    samples : array (n_samples, *latent shape)

    References
    ----------
    Papandreou and Yuille (2010), Gaussian sampling by local perturbations; Nickisch (2010), chapter 3.

    Examples
    --------
    >>> from adaptive.inference import GLM, variational_bounds
    >>> from adaptive.operators import FiniteDifference
    >>> from adaptive.potentials import Laplace
    >>> model = GLM(np.eye(4), [0.0, 0.1, 1.0, 1.1], 0.01, B=FiniteDifference(4), potentials=Laplace(0.1))
    >>> posterior = variational_bounds(model, variances="sampled", random_state=0)
    >>> posterior.variances().shape, posterior.samples.shape
    ((4,), (16, 4))
    """

    kind = "large"

    def __init__(
        self,
        system: PrecisionOperator,
        *,
        mean: np.ndarray,
        perturbations: Perturbations,
        samples: np.ndarray | None = None,
        variance_estimates: np.ndarray | None = None,
        share_clipped: float = np.nan,
        sample_tol: float = 2e-2,
        lanczos_run: tuple[int, int] | None = None,
        **diagnostics: Any,
    ):
        super().__init__(None, mean=mean, **diagnostics)
        self.system, self.perturbations, self.sample_tol = system, perturbations, sample_tol
        self.variance_estimates, self.share_clipped = variance_estimates, share_clipped
        self.lanczos_run = lanczos_run
        if samples is not None:
            self.__dict__["samples"] = samples

    @cached_property
    def samples(self) -> np.ndarray:
        """Draws of N(0, A^-1), (n_samples, *latent shape); the mean is not in them."""
        return self._solve(self.perturbations.right_hand_sides(self.system), self.sample_tol)

    @cached_property
    def circulant(self) -> Circulant | None:
        """The circulant matrix closest to the precision, None where an operator does not know its spectrum."""
        return circulant_preconditioner(self.system)

    @cached_property
    def inverse_circulant(self) -> Circulant | None:
        return None if self.circulant is None else self.circulant.inverse()

    @cached_property
    def control(self) -> np.ndarray | None:
        """M^-1 g of every sample, which varies with it and whose covariance is known; None without a circulant M."""
        inverse = self.inverse_circulant
        return None if inverse is None else inverse(self.perturbations.right_hand_sides(self.system))

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """``make()``, once: what is computed of this posterior and asked for again and again."""
        kept = self.__dict__.setdefault("_remembered", {})
        if key not in kept:
            kept[key] = make()
        return kept[key]

    def given_measurements(self, X: Operator, noise_variance: float | None = None) -> LargePosterior:
        """The Gaussian after the measurements ``X`` (all of them, the old ones first), whatever their values.

        Sites and mean stay. The samples are solved again; where they start is Matheron's rule with the circulant in the
        place of the precision, which costs no product and saves one for every sample.

        References
        ----------
        Wilson, Borovitskiy, Terenin, Mostowsky and Deisenroth (2021), Pathwise conditioning of Gaussian processes.
        """
        system = self.system.with_measurements(X, noise_variance)
        after = self._with_system(system)
        right, start = self.perturbations.right_hand_sides(system), self.samples
        if after.inverse_circulant is not None:
            change = right - self.perturbations.right_hand_sides(self.system)
            change -= _measured(system, start) - _measured(self.system, start)
            start = start + after.inverse_circulant(change)
        after.__dict__["samples"] = after._solve(right, self.sample_tol, start=start)
        return after

    def _with_system(self, system: PrecisionOperator) -> LargePosterior:
        """The same sites and mean with another system."""
        return LargePosterior(system, mean=self.mean, engine=self.engine, **self._kept())

    def _kept(self) -> dict[str, Any]:
        """Parts that further measurements leave as they are."""
        names = ("perturbations", "sample_tol", "sites", "group_lengths")
        return {name: getattr(self, name) for name in names}

    # ------------------------------------------------------------------------------------------ moments by the samples
    def variances(
        self, B: Rows | ArrayLike | None = None, return_error: bool = False, n_samples: int | None = None
    ) -> Any:
        """Marginal variances of the projections ``B u`` (default: of the unknowns), by samples.

        Parameters
        ----------
        B : array, sparse matrix, Operator or list of them, optional
            Default the identity.
        return_error : bool, default False
            Also return the standard errors.
        n_samples : int, optional
            Draw so many samples afresh instead of taking those there are.

        Returns
        -------
        array (m,), or a pair of them
        """
        samples, control = self.samples, self.control
        if n_samples is not None:
            numbers = Perturbations(n_samples, [len(samples), n_samples], samples.dtype)
            right = numbers.right_hand_sides(self.system)
            samples = self._solve(right, self.sample_tol)
            control = None if self.inverse_circulant is None else self.inverse_circulant(right)
        groups = None if B is None else [self._operator(b) for b in (B if isinstance(B, list) else [B])]
        value, error = sampled_variances(samples, control, self.inverse_circulant, groups)
        return (value, error) if return_error else value

    def variance_interval(self, B: Any = None, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Limits of the marginal variances of the projections ``B u`` (default: of the unknowns).

        Parameters
        ----------
        B : array, sparse matrix, Operator or list of them, optional
            Those of one operator are estimated about equally well, which their limits take from all of them.
        level : float in (0, 1), default .95
            How often the variance is between the limits: of .95, .93 to .97
            (``ours-kspace-pays-coverage-variances``).

        Returns
        -------
        low, high : array (m,)
        """
        operators = None if B is None else [self._operator(b) for b in (B if isinstance(B, list) else [B])]
        sizes = [self.n] if operators is None else [operator.shape[0] for operator in operators]
        value, error = self.variances(operators, return_error=True)
        return chi_square_limits(value, error, sizes, level)

    def sample(self, n: int = 1, random_state: RandomState = None) -> np.ndarray:
        """Draws of the latent, (n, unknowns): perturb-and-MAP."""
        n = integer("n", n, minimum=0)
        if n == 0:
            return np.empty((0, self.n))
        numbers = Perturbations(max(n, 2), generator(random_state))
        draws = self._solve(numbers.right_hand_sides(self.system), min(self.sample_tol, 1e-4))
        return self.mean + draws.reshape(len(draws), -1)[:n]

    # -------------------------------------------------------------------------------- the covariance, by solves
    def covariance(self) -> np.ndarray:
        """The covariance matrix (n, n); refused above 8,000 unknowns."""
        if self.n > LARGEST_COVARIANCE:
            raise ValueError(
                f"covariance() of {self.n} unknowns would be a matrix of {8e-9 * self.n**2:.1f} GB; above "
                f"{LARGEST_COVARIANCE} use covariance_operator(), variances() or projection_covariance()."
            )
        return np.linalg.inv(self.system.to_dense())

    def covariance_operator(self) -> LinearOperator:
        """The covariance as a SciPy linear operator: a product is a solve, to a relative residual of 1e-6."""

        def times(vectors: np.ndarray) -> np.ndarray:
            columns = np.asarray(vectors, dtype=float).reshape(self.n, -1).T
            solved = self._solve(columns.reshape(-1, *self.system.input_shape), SOLVE_TOL)
            return solved.reshape(len(columns), -1).T.reshape(np.shape(vectors))

        return LinearOperator((self.n, self.n), matvec=times, rmatvec=times, matmat=times, rmatmat=times, dtype=float)

    def projection_covariance(self, B1: Rows | ArrayLike, B2: Rows | ArrayLike | None = None) -> np.ndarray:
        """Covariance (m1, m2) of the projections ``B1 u`` and ``B2 u`` (default: ``B1 u`` itself), by solves."""
        first = self._operator(B1)
        second = first if B2 is None or B2 is B1 else self._operator(B2)
        solved, step = np.empty((first.shape[0], second.shape[0])), 64
        for start in range(0, second.shape[0], step):
            unit = np.zeros((min(step, second.shape[0] - start), second.shape[0]))
            unit[np.arange(len(unit)), start + np.arange(len(unit))] = 1.0
            rows = second.adjoint(unit.reshape(-1, *second.output_shape))
            columns = first.forward(self._solve(rows, SOLVE_TOL)).reshape(len(unit), -1)
            solved[:, start : start + len(unit)] = columns.T
        return (solved + solved.T) / 2 if second is first else solved

    def projection_moments(self, B_new: Rows | ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Means, and variances by samples, of the projections ``B_new u``, (m,) each."""
        operator = self._operator(B_new)
        mean = operator.forward(self.mean.reshape(self.system.input_shape)).ravel()
        return mean, self.variances(operator)

    def projection_root(self, B_new: Rows | ArrayLike) -> np.ndarray | None:
        """None: no root of the covariance is known."""
        return None

    def information_gain(self, X_new: Rows | ArrayLike, noise_variance: float = 1.0, return_error: bool = False) -> Any:
        """1/2 log|I + X V X' / noise_variance| of the rows ``X_new`` together, in nats.

        Up to 2,048 real rows by one solve for each; beyond by stochastic log-determinants of the precision with and
        without the rows, on the same probes.

        Parameters
        ----------
        X_new : array, sparse matrix or Operator (d, n), or one row (n,)
            Complex rows count their real and imaginary parts.
        noise_variance : float, default 1.0
            Per real component.
        return_error : bool, default False
            Also return the standard error.
        """
        noise = float(positive("noise_variance", noise_variance))
        rows = X_new if isinstance(X_new, Operator) else np.atleast_2d(X_new)
        operator = self._operator(rows)
        if operator.shape[0] <= LARGEST_BLOCK:
            block = self.projection_covariance(operator)
            gain, error = 0.5 * float(np.linalg.slogdet(np.eye(len(block)) + block / noise)[1]), 0.0
        else:
            gain, error = self._stochastic_gain(operator, noise)
        return (gain, error) if return_error else gain

    def _stochastic_gain(self, rows: Operator, noise: float) -> tuple[float, float]:
        """1/2 log|A + X' X / noise| - 1/2 log|A| on the same probes, and its standard error."""
        (after, error_after), (before, error_before) = (
            stochastic_log_determinant(
                system, n_probes=N_PROBES, n_steps=N_STEPS, circulant=self.circulant, random_state=0
            )
            for system in (_WithRows(self.system, rows, noise), self.system)
        )
        return 0.5 * (after - before), 0.5 * float(np.hypot(error_after, error_before))

    # ------------------------------------------------------------------------------------------------------ inside
    def _solve(self, right: np.ndarray, tol: float, start: np.ndarray | None = None) -> np.ndarray:
        return conjugate_gradients(
            self.system.apply,
            right,
            start=start,
            preconditioner=self.inverse_circulant,
            norm="preconditioned",
            tol=tol,
        ).x

    def _operator(self, B: Rows | ArrayLike) -> Operator:
        """Rows as a real operator on the latent; complex ones count real and imaginary parts."""
        operator = as_operator(B, "rows")
        if operator.dtype.kind == "c":
            operator = RealStacked(operator)
        if operator.input_shape != self.system.input_shape:
            if operator.shape[1] != self.n:
                raise ValueError(f"rows must act on unknowns of shape {self.system.input_shape}, got {operator}.")
            operator = Reshaped(operator, self.system.input_shape)
        return operator

    @property
    def _dense(self) -> Gaussian:
        raise ValueError(
            f"this posterior over {self.n} unknowns is matrix-free; its covariance is answered by samples and solves."
        )

    # ------------------------------------------------------------------------------------------------- as plain data
    def __getstate__(self) -> dict[str, Any]:
        """Without what can be computed again."""
        again = ("circulant", "inverse_circulant", "control", "_remembered")
        return {k: v for k, v in self.__dict__.items() if k not in again}

    def state(self) -> dict[str, Any]:
        """Plain data, its ``kind`` among them, from which `from_state` rebuilds this posterior, given its operators."""
        return {
            "kind": self.kind,
            **{name: getattr(self, name) for name in _STATED},
            "samples": self.__dict__.get("samples"),
            "site_precision": self.sites[0],
            "site_shift": self.sites[1],
            "group_lengths": self.group_lengths,
            "perturbations": self.perturbations.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], model: GLM) -> LargePosterior:
        """The posterior over ``model`` that `state` described; of its potentials nothing is needed."""
        return LargePosterior(precision_of(model).with_sites(state["site_precision"]), **cls._arguments(state))

    @staticmethod
    def _arguments(state: dict[str, Any]) -> dict[str, Any]:
        """Arguments of the constructor that a state holds."""
        return {
            **{name: state[name] for name in _STATED},
            "samples": state["samples"],
            "sites": (state["site_precision"], state["site_shift"]),
            "group_lengths": state["group_lengths"],
            "perturbations": Perturbations.restored(state["perturbations"]),
        }


class _WithRows(PrecisionOperator):
    """A + X' X / noise."""

    def __init__(self, system: PrecisionOperator, rows: Operator, noise: float):
        self.__dict__.update(system.__dict__)
        self._system, self._rows, self._noise = system, rows, noise

    def apply(self, u: ArrayLike) -> np.ndarray:
        return self._system.apply(u) + self._rows.normal(np.asarray(u)) / self._noise


def _measured(system: PrecisionOperator, u: np.ndarray) -> np.ndarray | float:
    """Re(X^H X) u / noise variance."""
    return 0.0 if system.X is None else (system.X.normal(u) / system.noise_variance).astype(u.dtype)
