"""A potential is a scalar factor T(s) on a projection s = b.u of a latent vector u.

Mandatory for a new one: `log_density`, `derivatives` and `support`. Everything else has a default: quadrature for the
tilted moments and the Gaussian expectation, root finding for the super-Gaussian bound

    T(s) >= exp(tilt x - x^2 / (2 g) - height(g) / 2),   x = s - location,   equality where g = tight_width(s).

A potential with an outcome inside (`observe(y)`) is one factor per row; without one it is a likelihood family p(y | s).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from adaptive.potentials import bounds, quadrature, tilted

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Index, Number, RandomState

__all__ = ["Potential", "join"]

P = TypeVar("P", bound="Potential")


class Potential(ABC):
    """Base of all potentials: parameters, rows, and the defaults built on `log_density` and `derivatives`.

    A subclass calls ``self._set(name=value, ...)`` in its constructor; every value becomes a float or a 1-d array, and
    all arrays share one length. ``s`` of shape (..., q) broadcasts against parameters of shape (q,).

    Attributes
    ----------
    size : int or None
        Number of potentials, None when every parameter is a scalar (one potential that serves any number of rows).
    parameters : dict
        The parameters by name.
    log_concave, super_gaussian, smooth, discrete : bool
        log T concave; the bound above exists; the curvature is finite everywhere; a family of finitely or countably
        many outcomes.
    bound : "width", "contact" or None
        The Gaussian lower bound: of free width at a fixed tilt; of fixed width at a free contact point; none.
    support : tuple of float
        T is zero outside this interval.
    kinks : tuple of float
        Where (relative to `location`) log T or a low derivative of it jumps; quadrature splits there. Plain numbers,
        which hold for all rows: if they move with a parameter that differs between rows, give those of every row.
    singular : bool
        Beside a kink log T is not smooth either but a power or logarithm of the distance; quadrature grades towards it.
    weights : array (size,) or None
        How often each row counts; None: once.

    Examples
    --------
    >>> from adaptive.potentials import Laplace
    >>> pair = Laplace([1.0, 2.0])
    >>> isinstance(pair, Potential), pair.size, pair.super_gaussian, pair.log_density(np.zeros(2)).round(4)
    (True, 2, True, array([-0.6931, -1.3863]))
    """

    log_concave: bool = True
    super_gaussian: bool = False
    smooth: bool = True
    discrete: bool = False
    support: tuple[Number, Number] = (-np.inf, np.inf)
    kinks: tuple[float, ...] = ()
    singular: bool = False
    outcomes: np.ndarray | None = None
    weights: np.ndarray | None = None
    tilt: Number = 0.0
    location: Number = 0.0
    size: int | None = None
    _names: tuple[str, ...] = ()

    # ------------------------------------------------------------------------------------------- parameters and rows
    def _set(self, **parameters: ArrayLike | None) -> None:
        """Store parameters (scalar or 1-d, one length for all arrays); None stands for "not given"."""
        self._names = (*self._names, *(name for name in parameters if name not in self._names))
        self.size = None
        for name in self._names:
            value = parameters.get(name, getattr(self, name, None))
            if value is not None:
                value = np.asarray(value)[()]
                if np.ndim(value) > 1:
                    raise ValueError(f"{name} must be a scalar or a 1-d array, got shape {value.shape}.")
                if np.ndim(value) == 1 and self.size not in (None, len(value)):
                    raise ValueError(f"{name} must have length {self.size} as the other parameters, got {len(value)}.")
                self.size = len(value) if np.ndim(value) == 1 else self.size
            setattr(self, name, value)

    def _with(self, **parameters: ArrayLike | None) -> Self:
        """A copy with some parameters replaced."""
        changed = copy.copy(self)
        changed._set(**parameters)
        return changed

    @property
    def parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._names}

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def bound(self) -> str | None:
        return "width" if self.super_gaussian else None

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.size is None else (self.size,)

    def __getitem__(self, rows: Index) -> Self:
        """The potentials of the given rows (indices, slice or mask); scalar parameters stay scalar."""
        if self.size is None:
            return self
        return self._with(**{name: value[rows] for name, value in self.parameters.items() if np.ndim(value)})

    def expand(self, size: int) -> Self:
        """The same potentials with every parameter an array of length ``size``."""
        if self.size not in (None, size):
            raise ValueError(f"{self.name} of length {self.size} cannot be expanded to {size} rows.")
        given = {name: value for name, value in self.parameters.items() if value is not None}
        return self._with(**{name: np.broadcast_to(value, (size,)).copy() for name, value in given.items()})

    def __repr__(self) -> str:
        given = {name: value for name, value in self.parameters.items() if value is not None}
        shown = [f"{k}=<{len(v)} values>" if np.ndim(v) else f"{k}={v:g}" for k, v in given.items()]
        return f"{self.name}({', '.join(shown + [f'{k}={v!r}' for k, v in self._options().items()])})"

    def _options(self) -> dict[str, str]:
        """Choices that are not numbers, one for all rows."""
        return {}

    # --------------------------------------------------------------------------------------------------- the factor
    @abstractmethod
    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        """Return log T(s), -inf outside the support; ``y`` is the outcome where the potential is a bare family."""

    @abstractmethod
    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and second derivative of log T at s."""

    def third_derivative(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        """Return the third derivative of log T at s (default: central difference of the second)."""
        s = np.asarray(s, dtype=float)
        step = 1e-5 * (1.0 + np.abs(s))
        return (self.derivatives(s + step, y)[1] - self.derivatives(s - step, y)[1]) / (2 * step)

    def log_ratio(self, s: ArrayLike, step: ArrayLike) -> np.ndarray:
        """Return log T(s + step) - log T(s); overridden where the difference of two large numbers loses digits."""
        return self.log_density(np.add(s, step)) - self.log_density(s)

    def gaussian_moments(self) -> tuple[Number, Number] | None:
        """Return mean and variance (scalars, or one per row) of the Gaussian in s that T is; None where it is none.

        Engines and predictives treat it exactly.  Where it has ``weights``, T is a multiple of that density.
        """
        return None

    # ---------------------------------------------------------------------------------------- Gaussian expectations
    def expectation(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return E log T(s) for s ~ N(mean, variance); -inf where T is zero on a set of positive mass.

        Parameters
        ----------
        mean, variance : array-like, broadcastable with the parameters
            Moments of the Gaussian; variance >= 0.
        """
        mean, variance = quadrature.gaussian_arguments(self, mean, variance, allow_zero=True)
        return self._expectation(mean, variance)

    def _expectation(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        return quadrature.gaussian_expectation(self._at_origin(), mean - self.location, variance)

    def expectation_derivatives(
        self, mean: ArrayLike, variance: ArrayLike
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return E log T(s) for s ~ N(mean, variance) and its derivatives in the mean and in the variance.

        They are E (log T)'(s) and E (log T)''(s) / 2; the latter is computed as E x (log T)'(mean + sd x) / (2 sd),
        x ~ N(0, 1), which stays right where log T has kinks. Where the expectation is -inf they are 0.

        Parameters
        ----------
        mean, variance : array-like, broadcastable with the parameters
            Moments of the Gaussian; variance >= 0.

        References
        ----------
        Nickisch (2010), section 4.5; Opper and Archambeau (2009), The variational Gaussian approximation revisited.
        """
        mean, variance = quadrature.gaussian_arguments(self, mean, variance, allow_zero=True)
        return self._expectation_derivatives(mean, variance)

    def _expectation_derivatives(
        self, mean: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        value = self._expectation(mean, variance)
        with np.errstate(invalid="ignore"):  # beyond a hard edge, where the expectation is -inf and has no slope
            slopes = quadrature.gaussian_slopes(self._at_origin(), mean - self.location, variance)
        finite = np.isfinite(value)
        return value, np.where(finite, slopes[0], 0.0), np.where(finite, slopes[1], 0.0)

    def tilted_moments(
        self, mean: ArrayLike, variance: ArrayLike, fraction: float = 1.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return log normaliser, mean and variance of T(s)^fraction N(s | mean, variance).

        Parameters
        ----------
        mean, variance : array-like, broadcastable with the parameters
            Moments of the cavity; variance > 0.
        fraction : float, default 1.0
            Power of the factor, in (0, 1].

        Returns
        -------
        log_normaliser, mean, variance : ndarray
            Accurate to 1e-10 (relative; the mean relative to the tilted standard deviation).
        """
        mean, variance = quadrature.gaussian_arguments(self, mean, variance)
        return self._tilted_moments(mean, variance, quadrature.checked_fraction(fraction))

    def _tilted_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        log_normaliser, centre, spread = tilted.moments(self._at_origin(), mean - self.location, variance, fraction)
        return log_normaliser, centre + self.location, spread

    def tilted_modes(self, c: np.ndarray, v: np.ndarray, fraction: float) -> tuple[np.ndarray, np.ndarray]:
        """Return where T^fraction N(c, v) may have its mass, and the width of each place, (k, m) both.

        Asked only of potentials that are not log-concave, at location 0; the default looks for local maxima on a grid.
        """
        return tilted.scan_modes(self, c, v, fraction)

    def _at_origin(self) -> Self:
        """The potential moved to location 0 so that quadrature works in x = s - location without losing digits."""
        if "location" not in self._names:
            return self
        return self._with(location=0.0)

    # ------------------------------------------------------------------------------------------ super-Gaussian bound
    def tight_width(self, s: ArrayLike) -> np.ndarray:
        """Return the width g at which the Gaussian bound touches T at s."""
        return bounds.tight_width(self._bounded(), s)

    def best_width(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return the width of the Gaussian bound whose integral over N(mean, variance) is largest.

        Parameters
        ----------
        mean, variance : arrays (q,)
            Moments of the projections; variance >= 0.

        References
        ----------
        Nickisch (2010), section 3.7 (inclusion of one potential).
        """
        return bounds.best_width(self._bounded(), np.asarray(mean, dtype=float), np.asarray(variance, dtype=float))

    def height(self, width: ArrayLike) -> np.ndarray:
        """Return the height h(g) of the Gaussian bound of width g."""
        return bounds.height(self._bounded(), width)

    def height_derivatives(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and second derivative of the height."""
        return bounds.height_derivatives(self._bounded(), width)

    def concave_height_slope(self, width: ArrayLike) -> np.ndarray:
        """Return the slope of the concave part of the height (zero for a log-concave potential).

        The double loop replaces that part by its tangent: it adds the slope to ``z1`` of `inner`.
        """
        self._bounded()
        return np.zeros(np.broadcast_shapes(np.shape(width), self.shape))

    def convex_height(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return value, first and second derivative of the convex part of the height."""
        if not self.log_concave:
            raise ValueError(f"{self.name} is not log-concave and does not split its height, which bounds need.")
        first, second = self.height_derivatives(width)
        return self.height(width), first, np.maximum(second, 0.0)  # convex, but for rounding

    def inner(
        self, s: ArrayLike, z1: ArrayLike = 0.0, z2: ArrayLike = 0.0, z3: ArrayLike = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the penalty of the double loop's inner problem, its two derivatives in s, and the minimising width.

        value = 1/2 min_g [ convex height(g) + (x^2 + z2) / g + z1 g - z3 log g ],  x = s - location.

        Parameters
        ----------
        s : array-like (..., q)
        z1, z2, z3 : array-like, default 0
            Coefficients of the bound on the log determinant: (0, marginal variances, 0) for the bound that is linear in
            1/g; (1/g_t - variance/g_t^2, 0, 1) for the one that is linear in g, tight at g_t.

        Returns
        -------
        value, first, second, width : ndarray
            At z1 = z2 = z3 = 0 a log-concave potential gives -log T(s) + tilt x: the MAP penalty.

        References
        ----------
        Nickisch (2010), equations 3.11, 3.12 and appendix E.4, E.5.
        """
        return bounds.inner(self._bounded(), s, z1, z2, z3)

    def inner_minimum(
        self, s: ArrayLike, z1: ArrayLike = 0.0, z2: ArrayLike = 0.0, z3: ArrayLike = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return value and width of `inner`; overridden where these are cheaper than the derivatives."""
        value, _, _, width = self.inner(s, z1, z2, z3)
        return value, width

    def _bounded(self) -> Self:
        if self.bound is None:
            raise ValueError(
                f"{self.name} has no Gaussian lower bound of free width (it is not super-Gaussian); "
                "use expectation_propagation, laplace_approximation or variational_gaussian instead."
            )
        return self

    # ---------------------------------------------------------------------------------------------- likelihood family
    def sample(
        self, s: ArrayLike | None = None, random_state: RandomState = None, *, size: int | tuple[int, ...] | None = None
    ) -> np.ndarray:
        """Draw outcomes at the projections s (or, for a density, ``size`` values of s itself)."""
        raise ValueError(f"{self.name} is neither a density nor a likelihood; there is nothing to draw.")

    def observe(self, y: ArrayLike) -> Potential:
        """Return the potential with the outcomes ``y`` inside, one per row."""
        raise ValueError(f"{self.name} is not a likelihood family; it takes no outcome.")

    def outcome_probabilities(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the outcomes (c,) and their probabilities (m, c) averaged over s ~ N(mean, variance)."""
        raise ValueError(f"{self.name} has no discrete outcomes; use outcome_entropy or sample.")

    def outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return the entropy H(y) in nats of the outcome when s ~ N(mean, variance)."""
        raise ValueError(f"{self.name} is not a likelihood family; its outcomes have no entropy.")

    def expected_outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return E_s H(y | s) in nats for s ~ N(mean, variance)."""
        raise ValueError(f"{self.name} is not a likelihood family; its outcomes have no entropy.")


def join(potentials: Sequence[P]) -> P:
    """Concatenate potentials of one class into one.

    A parameter that is the same scalar everywhere stays a scalar. Potentials that are scalar throughout do not know how
    many rows they serve; unless all are equal, `Potential.expand` them first.

    Parameters
    ----------
    potentials : sequence of Potential
        Of one class.

    Returns
    -------
    Potential
        Of that class.

    Raises
    ------
    ValueError
        If the list is empty, the classes or options differ, or rows cannot be counted.

    Examples
    --------
    >>> from adaptive.potentials import Laplace, join
    >>> join([Laplace([1.0, 2.0]), Laplace([3.0])]).scale
    array([1., 2., 3.])
    """
    potentials = list(potentials)
    if not potentials:
        raise ValueError("join needs at least one potential, got an empty list.")
    first = potentials[0]
    kinds = {(type(p), *p._options().values()) for p in potentials}
    if len(kinds) > 1:
        raise ValueError(f"join needs potentials of one class, got {sorted({repr(p) for p in potentials})}.")
    counted = all(p.size is not None for p in potentials)
    columns = {}
    for name in first._names:
        values = [getattr(p, name) for p in potentials]
        if all(value is None for value in values):
            continue
        if any(value is None for value in values):
            raise ValueError(f"join got potentials with and without {name}.")
        if all(np.ndim(value) == 0 and value == values[0] for value in values):
            continue
        if not counted:
            raise ValueError(f"join cannot count the rows of scalar potentials whose {name} differs; expand(n) them.")
        columns[name] = np.concatenate([np.broadcast_to(v, p.shape) for v, p in zip(values, potentials, strict=True)])
    return first._with(**columns)
