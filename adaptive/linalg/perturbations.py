"""Random numbers that stay the same: the right-hand sides of perturb-and-MAP samples.

    u = A^-1 g,   g = Re(X^H a) / sigma + B^T (sqrt(pi) b) + sqrt(prior precision) c,   a, b, c ~ N(0, I)

is an exact draw from N(0, A^-1). With the same a, b, c in every outer iteration of an algorithm, estimates at two site
precisions pi differ only as far as the precisions do, and the iteration converges; with fresh ones it stalls at the
noise of sampling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import generator, integer
from adaptive.linalg.linear_system import PrecisionOperator
from adaptive.operators import (
    Coils,
    FourierLines,
    FourierMask,
    NonuniformFourier,
    Operator,
    Product,
    RealStacked,
    Repeated,
    Stacked,
)

if TYPE_CHECKING:
    from adaptive.types import DType, RandomState

__all__ = ["Perturbations"]

LARGEST_STORE = 2**28  # numbers kept; beyond, they are drawn again each time
LARGEST_WHITE = 2**24  # the same for noise of lines, which is asked for once in a round


class Perturbations:
    """A fixed set of perturbations for systems with the same operators.

    Parameters
    ----------
    n_samples : int
        Number of samples, at least 2.
    random_state : None, int or Generator
        Decides all numbers, once.
    dtype : dtype, default float64
        Precision of the right-hand sides.

    Notes
    -----
    Every operator draws its own numbers, in the order of its outputs, so that a system with further blocks of
    measurements (`Stacked`, the old ones first), lines of the grid or further samples of a trajectory (the old ones
    first) keeps the numbers of the old ones. Numbers beyond 2^28 are drawn again instead of being stored.

    References
    ----------
    Papandreou and Yuille (2010), Gaussian sampling by local perturbations.

    Examples
    --------
    >>> A = PrecisionOperator(np.eye(2), B=np.eye(2))
    >>> fixed = Perturbations(3, random_state=0)
    >>> bool(np.array_equal(fixed.right_hand_sides(A), fixed.right_hand_sides(A)))
    True
    """

    def __init__(self, n_samples: int, random_state: RandomState | Sequence[int] = None, dtype: DType = float):
        self.n_samples = integer("n_samples", n_samples, minimum=2)
        self.dtype = np.dtype(dtype)
        self._seed = [int(word) for word in generator(random_state).integers(0, 2**32, 4)]
        self._kept: dict[Any, tuple[Any, np.ndarray]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Without the numbers, which the seed gives again."""
        return {**self.__dict__, "_kept": {}}

    def state(self) -> dict[str, Any]:
        """Plain data from which `restored` makes the same numbers."""
        return {"n_samples": self.n_samples, "seed": list(self._seed), "dtype": self.dtype.name}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Perturbations:
        """Restore the perturbations that `state` described."""
        self = cls(state["n_samples"], 0, state["dtype"])
        self._seed = [int(word) for word in state["seed"]]
        return self

    def right_hand_sides(self, system: PrecisionOperator) -> np.ndarray:
        """g of every sample, shape (n_samples, *input_shape); A^-1 g are draws from N(0, A^-1)."""
        total = np.zeros((self.n_samples, *system.input_shape), self.dtype)
        if system.X is not None:
            total += self._measured(system.X) * self.dtype.type(1 / np.sqrt(system.noise_variance))
        roots = np.sqrt(system.site_precision).astype(self.dtype)
        for g, (group, rows) in enumerate(zip(system.groups, system.slices, strict=True)):
            noise = self._draw(("site", g), (group.shape[0],))
            total += group.adjoint((noise * roots[rows]).reshape(self.n_samples, *group.output_shape))
        if system.prior_precision is not None:
            noise_prior = self._draw(("prior",), system.input_shape)
            total += system.prior_root(noise_prior)
        return total

    def _measured(self, X: Operator) -> np.ndarray:
        """Re(X^H a), kept as long as X is the same object."""
        if "measured" not in self._kept or self._kept["measured"][0] is not X:
            noise = self._back_projected(X, ("measured",), X.dtype.kind == "c")
            noise = np.ascontiguousarray(noise.real, dtype=self.dtype)
            self._kept["measured"] = (X, noise)
        return self._kept["measured"][1]

    def _back_projected(self, X: Operator, key: tuple[str | int, ...], complex_: bool) -> np.ndarray:
        """X^H a, with numbers that do not change when X gains a block or a line."""
        if isinstance(X, RealStacked):
            back = self._back_projected(X.operator, key, True)
            return back.real if X.unknown == "real" else np.stack([back.real, back.imag], axis=1)
        if isinstance(X, Stacked):
            parts = [self._back_projected(part, (*key, j), complex_) for j, part in enumerate(X.operators)]
            return np.sum(parts, axis=0)
        if isinstance(X, Product) and isinstance(X.first, Repeated) and isinstance(X.second, Coils):
            total, complex_ = np.zeros((), self.dtype), complex_ or X.second.dtype.kind == "c"
            for c, one in enumerate(X.second.maps):  # one coil after the other: what all receive is not kept
                noise = self._back_projected(X.first.operator, (*key, "coil", c), complex_)
                total = total + one.conj().astype(noise.dtype, copy=False) * noise
            return total
        if isinstance(X, Product):
            return X.second.adjoint(self._back_projected(X.first, key, complex_ or X.second.dtype.kind == "c"))
        if isinstance(X, (FourierLines, FourierMask)):
            # Orthonormal rows: X^H a is distributed as X^H X w with w white over the image, whatever the lines are.
            store = "coil" not in key  # of many coils they would be more than all the rest
            return X.normal(self._draw((*key, "white"), X.input_shape, complex_=True, store=store))
        if isinstance(X, Repeated):  # every coil has noise of its own
            each = [self._back_projected(X.operator, (*key, "coil", c), complex_) for c in range(X.n)]
            return np.stack(each, axis=1)
        if isinstance(X, NonuniformFourier):  # sample by sample, so that further ones leave the first as they are
            noise = self._draw((*key, "path"), X.output_shape, complex_=True, store=False, samples_last=True)
            return X.adjoint(noise)
        complex_ = complex_ or X.dtype.kind == "c"
        return X.adjoint(self._draw((*key, "rows"), X.output_shape, complex_=complex_, store=False))

    def _draw(
        self,
        key: tuple[str | int, ...],
        shape: tuple[int, ...],
        complex_: bool = False,
        store: bool = True,
        samples_last: bool = False,
    ) -> np.ndarray:
        """Standard normal numbers, the same for the same key and shape; unit variance of real and imaginary part.

        With ``samples_last`` they are drawn entry by entry: a longer first axis begins with the same numbers.
        """
        kept = self._kept.get(key)
        if kept is not None and kept[0] == shape:
            return kept[1]
        words = [sum(ord(c) << (8 * i) for i, c in enumerate(str(part)[:8])) for part in key]
        rng = np.random.default_rng([*self._seed, *words])
        size = (*shape, self.n_samples) if samples_last else (self.n_samples, *shape)
        numbers = rng.standard_normal((*size, 2) if complex_ else size, dtype=self.dtype.type)  # type: ignore[arg-type]
        if complex_:
            numbers = numbers.view(np.result_type(self.dtype, np.complex64))[..., 0]
        if samples_last:
            numbers = np.ascontiguousarray(np.moveaxis(numbers, -1, 0))
        if store and numbers.size <= (LARGEST_WHITE if "white" in key else LARGEST_STORE):
            self._kept[key] = (shape, numbers)
        return numbers
