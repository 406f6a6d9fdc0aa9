"""The Gaussian posterior of an image under a `TreeMixture`, its solves in the domain of the coefficients."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.imaging.trees.coefficients import Coefficients, DirectCoefficients, direct_gain
from adaptive.estimators.imaging.trees.forest import ForestBeliefs
from adaptive.estimators.imaging.trees.mixture import TreeMixture
from adaptive.inference.matrix_free.large_posterior import LargePosterior
from adaptive.linalg import PrecisionOperator
from adaptive.operators import Wavelet

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Rows, State

__all__ = ["TreePosterior"]


class TreePosterior(LargePosterior):
    """Posterior of `tree_bounds`: a Gaussian, the states of its coefficients, and the fitted prior.

    Parameters
    ----------
    system : PrecisionOperator
        Of images; the wavelet is its one group of projections.
    prior : TreeMixture
        As it was fitted.
    beliefs : ForestBeliefs
        About the states of the coefficients.
    coefficient_samples : array (n_samples, *shape), optional
        Draws of the coefficients about their mean, as the double loop left them.
    **rest
        As in `LargePosterior`; ``variance_estimates`` are those of the coefficients.

    Attributes
    ----------
    wide : array of the image's shape
        Probability of every coefficient to be in the wide state.

    Examples
    --------
    >>> from adaptive.estimators.imaging.trees import TreeMixture, tree_bounds
    >>> from adaptive.operators import Identity, Wavelet
    >>> prior = TreeMixture.generic(Wavelet((8, 8), "haar"), scale=0.05)
    >>> posterior = tree_bounds(Identity((8, 8)), np.eye(8), 0.01, prior, tol=1e-2)
    >>> posterior.wide.shape, posterior.evidence_kind
    ((8, 8), 'lower_bound')
    """

    kind = "tree"

    def __init__(
        self,
        system: PrecisionOperator,
        *,
        prior: TreeMixture,
        beliefs: ForestBeliefs,
        coefficient_samples: np.ndarray | None = None,
        **rest: Any,
    ):
        super().__init__(system, **rest)
        self.prior, self.beliefs, self.coefficient_samples = prior, beliefs, coefficient_samples
        if coefficient_samples is not None:
            self.__dict__["samples"] = prior.wavelet.adjoint(coefficient_samples)

    @property
    def wide(self) -> np.ndarray:
        return self.beliefs.wide.reshape(self.prior.wavelet.output_shape)

    @cached_property
    def circulant(self) -> None:
        """None: it is the coefficients that have a preconditioner."""
        return None

    @cached_property
    def _coefficients(self) -> DirectCoefficients | Coefficients:
        system, wavelet = self.system, self.prior.wavelet
        gain = 0.0 if system.X is None else direct_gain(system.X)
        nothing = np.zeros(system.n)
        coefficients: DirectCoefficients | Coefficients
        if gain is not None:
            coefficients = DirectCoefficients(nothing, gain / system.noise_variance)
        else:
            assert system.X is not None
            coefficients = Coefficients(system.X, system.noise_variance, wavelet, nothing, self.perturbations)
        coefficients.weigh(system.site_precision)
        return coefficients

    def _solve(self, right: np.ndarray, tol: float, start: np.ndarray | None = None) -> np.ndarray:
        forward = self.prior.wavelet.forward
        begin = None if start is None else forward(start)
        return self.prior.wavelet.adjoint(self._coefficients.solved(forward(right), tol, begin))

    def _with_system(self, system: PrecisionOperator) -> TreePosterior:
        return TreePosterior(
            system, mean=self.mean, prior=self.prior, beliefs=self.beliefs, **self._kept(), engine=self.engine
        )

    def variances(
        self, B: Rows | ArrayLike | None = None, return_error: bool = False, n_samples: int | None = None
    ) -> Any:
        """As of `LargePosterior`; those of the coefficients themselves are exact where all pixels were measured."""
        if isinstance(B, Wavelet) and self._coefficients.direct and _same(B, self.prior.wavelet):
            value = self._coefficients.variances()
            return (value, np.zeros_like(value)) if return_error else value
        return super().variances(B, return_error, n_samples)

    # ------------------------------------------------------------------------------------------------- as plain data
    def __getstate__(self) -> State:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_coefficients"}

    def state(self) -> State:
        return {
            **super().state(),
            "tree": {**self.prior.state(), "states_wide": self.beliefs.wide, "states_given": self.beliefs.given},
            "coefficient_samples": self.coefficient_samples,
        }

    @classmethod
    def from_state(  # type: ignore[override]  # its prior is no product of potentials
        cls, state: State, system: PrecisionOperator, prior: TreeMixture
    ) -> TreePosterior:
        """The posterior that `state` described, given its operators and the kind of its prior."""
        tree = {name: np.asarray(value) for name, value in state["tree"].items()}
        beliefs = ForestBeliefs(tree.pop("states_wide"), tree.pop("states_given"), np.nan)
        return TreePosterior(
            system.with_sites(state["site_precision"]),
            prior=prior.with_parameters(**tree),
            beliefs=beliefs,
            coefficient_samples=state["coefficient_samples"],
            **cls._arguments(state),
        )


def _same(first: Wavelet, second: Wavelet) -> bool:
    return (first.name, first.level, first.input_shape) == (second.name, second.level, second.input_shape)
