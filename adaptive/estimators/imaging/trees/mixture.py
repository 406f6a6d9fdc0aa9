"""Scale mixtures on a forest of wavelet coefficients s = W u: two states for each, narrow and wide.

    P(s, d) = P(d) prod_j T_narrow(s_j)^(1 - d_j) T_wide(s_j)^d_j,     P(d) a forest (`WaveletForest`)

One scale for each state and level, one pair of transition probabilities for each level: O(log n) numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import choice, generator, positive
from adaptive.estimators.imaging.trees.forest import ForestBeliefs, WaveletForest
from adaptive.operators import Wavelet
from adaptive.potentials import Gaussian, Laplace, StudentT

if TYPE_CHECKING:
    from adaptive.potentials import Potential
    from adaptive.types import Number, RandomState

__all__ = ["COMPONENTS", "TreeMixture"]

COMPONENTS = ("laplace", "student_t")
_GROWTH = 2.0  # of the scales from a level to the next coarser one: photographs have spectra that fall like 1/f
_NARROW = 0.15  # scale of the narrow state, in units of the wide one's
_SCALING = 4.0  # scale of the scaling coefficients, which hold the mean, in units of the roots'
_CHANCES = (0.1, 0.6)  # of the wide state, below a narrow and a wide parent


@dataclass(frozen=True)
class TreeMixture:
    """A prior of images whose large wavelet coefficients persist from scale to scale.

    Parameters
    ----------
    wavelet : Wavelet
    components : {"laplace", "student_t"}
        Two Laplace densities, or a narrow Gaussian and a wide Student t.
    narrow, wide : array (depth + 1,)
        Scales (standard deviations of the Gaussian) of the states: of the scaling coefficients, then of the levels
        from fine to coarse.
    chances : array (depth + 1, 2)
        Probability of the wide state below a narrow and a wide parent, rows as above; of scaling coefficients and
        roots, which have no parents, twice the same.
    factorial : bool, default False
        All coefficients wide: one density for each level, and no forest.
    df : float, default 2.1
        Degrees of freedom of the Student t.
    unit : float, default 1.0
        Largest magnitude that the image may have; scales are fitted within 1e-4 and 1e3 of it.

    Raises
    ------
    ValueError
        If a parameter has another shape than the levels ask, or a chance is not below 1.

    Examples
    --------
    >>> prior = TreeMixture.generic(Wavelet((8, 8), "haar"), scale=0.05)
    >>> prior.wide
    array([0.8 , 0.05, 0.1 , 0.2 ])
    >>> prior.sample(random_state=0).shape
    (8, 8)

    References
    ----------
    Ko (2017), Applications of approximate learning and inference for probabilistic models, section 2.2.
    """

    wavelet: Wavelet
    components: str
    narrow: np.ndarray
    wide: np.ndarray
    chances: np.ndarray
    factorial: bool = False
    df: float = 2.1
    unit: float = 1.0

    def __post_init__(self) -> None:
        choice("components", self.components, COMPONENTS)
        rows = self.wavelet.level + 1
        for name, shape in (("narrow", (rows,)), ("wide", (rows,)), ("chances", (rows, 2))):
            value = positive(name, getattr(self, name))
            if value.shape != shape:
                raise ValueError(f"{name} must have shape {shape} for {rows - 1} levels, got {value.shape}.")
            object.__setattr__(self, name, value)
        if self.chances.max() >= 1 or np.any(self.chances[[0, -1], 0] != self.chances[[0, -1], 1]):
            raise ValueError("chances must lie below 1 and, of scaling coefficients and roots, twice be the same.")

    @classmethod
    def generic(
        cls, wavelet: Wavelet, scale: float, components: str = "laplace", factorial: bool = False, **rest: float
    ) -> TreeMixture:
        """Mixture as photographs have it: scales that double with every level.

        Parameters
        ----------
        wavelet : Wavelet
        scale : float
            Of the wide state at the finest level.
        components, factorial, df, unit
            As of the class.
        """
        wide = float(positive("scale", scale)) * _GROWTH ** np.arange(-1.0, wavelet.level)
        wide[0] = _SCALING * wide[-1]
        chances = np.tile(_CHANCES, (wavelet.level + 1, 1))
        chances[[0, -1]] = 0.5
        return cls(wavelet, components, _NARROW * wide, wide, chances, factorial, **rest)

    def with_parameters(self, **parameters: np.ndarray) -> TreeMixture:
        """The same prior with other ``narrow``, ``wide`` or ``chances``."""
        other = replace(self, **parameters)  # type: ignore[arg-type]
        other.__dict__["forest"] = self.forest
        return other

    @cached_property
    def forest(self) -> WaveletForest:
        return WaveletForest(self.wavelet)

    @cached_property
    def potentials(self) -> tuple[Potential, Potential]:
        """The densities of both states, one parameter for each coefficient."""
        return self.densities(self.narrow[self.forest.levels], self.wide[self.forest.levels])

    def densities(self, narrow: Number, wide: Number) -> tuple[Potential, Potential]:
        """The densities of the two states at these scales."""
        if self.components == "laplace":
            return Laplace(narrow), Laplace(wide)
        return Gaussian(np.square(narrow)), StudentT(self.df, wide)

    def typical_squares(self) -> np.ndarray:
        """Squares of the scales that coefficients have before anything is known of them, (n,)."""
        wide = 1.0 if self.factorial else self.chances.mean(axis=1)
        return (wide * self.wide**2 + (1 - wide) * self.narrow**2)[self.forest.levels]

    def log_potentials(self, r: np.ndarray) -> np.ndarray:
        """ln T of both states, (2, n), at coefficients (n,)."""
        return np.stack([potential.log_density(r) for potential in self.potentials])

    def beliefs(self, log_potentials: np.ndarray) -> ForestBeliefs:
        """The states, given what their potentials are worth; of a factorial prior all wide."""
        if not self.factorial:
            return self.forest.sum_product(log_potentials, self.chances)
        ones = np.ones(self.forest.n)
        return ForestBeliefs(ones, np.stack([ones, ones]), float(log_potentials[1].sum()))

    def divergence(self, beliefs: ForestBeliefs) -> float:
        """Divergence of the beliefs in states from the prior."""
        return 0.0 if self.factorial else self.forest.divergence(beliefs, self.chances)

    def precisions(self, r: np.ndarray, wide: np.ndarray) -> np.ndarray:
        """Expected precisions of the Gaussian bounds that touch the densities at r, (n,)."""
        high = 1.0 / self.potentials[1].tight_width(r)
        if self.factorial:
            return high
        return (1 - wide) / self.potentials[0].tight_width(r) + wide * high

    def expected_log_density(self, r: np.ndarray, wide: np.ndarray) -> float:
        """sum_j E ln T_j(r_j) over the states."""
        high = self.potentials[1].log_density(r)
        if self.factorial:
            return float(high.sum())
        return float(np.sum(high * wide + self.potentials[0].log_density(r) * (1 - wide)))

    def sample(self, random_state: RandomState = None) -> np.ndarray:
        """An image drawn from the prior."""
        rng = generator(random_state)
        state = np.ones(self.forest.n, int) if self.factorial else self.forest.draw(self.chances, rng)
        both = [potential.sample(None, rng) for potential in self.potentials]
        return self.wavelet.adjoint(np.where(state == 1, both[1], both[0]).reshape(self.wavelet.output_shape))

    def state(self) -> dict[str, np.ndarray]:
        """The parameters as plain arrays, for `with_parameters`."""
        return {"narrow": self.narrow, "wide": self.wide, "chances": self.chances}
