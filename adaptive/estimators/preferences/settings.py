"""Parameters of `CollaborativePreference` as values; the items known before any comparison, and their kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import Settings
from adaptive.estimators.preferences.catalogue import catalogue_of, refuse_half_a_kernel
from adaptive.estimators.preferences.inference.site_rules import LIKELIHOODS, RULES, SiteRule
from adaptive.estimators.preferences.inference.utility_prior import UtilityPrior

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.potentials import BernoulliLogit, BernoulliProbit
    from adaptive.types import ArrayLike, Id, RandomState, Table

__all__ = ["PreferenceSettings"]

START_LOADING = 0.1  # deviation of the loadings that the search begins with, as in Ko (2017)


@dataclass(frozen=True, eq=False)
class PreferenceSettings(Settings):
    """Parameters of :class:`~adaptive.CollaborativePreference`, under the same names."""

    n_components: int | str = "auto"
    kernel: Kernel | Table | None = None
    item_features: Table | Mapping[Id, ArrayLike] | None = None
    alpha: float = 0.1
    covariance: str = "low_rank"
    inference: str = "expectation_propagation"
    prior_people: float = 1.0
    max_pairs: int | None = None
    init: ArrayLike | None = None
    max_iter: int = 200
    tol: float = 3e-4
    n_jobs: int | None = None
    random_state: RandomState = None

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        if self.n_components != "auto":
            checks.integer("n_components", self.n_components, minimum=0)
        checks.choice("covariance", self.covariance, ("low_rank", "full"))
        checks.choice("inference", self.inference, tuple(RULES))
        checks.positive("alpha", self.alpha, or_zero=True)
        checks.positive("prior_people", self.prior_people, or_zero=True)
        if self.max_pairs is not None:
            checks.integer("max_pairs", self.max_pairs, minimum=1)
        checks.integer("max_iter", self.max_iter, minimum=1)
        checks.positive("tol", self.tol, or_zero=True)
        refuse_half_a_kernel(self.kernel, self.item_features)

    @property
    def rule(self) -> SiteRule:
        """Rule that makes a site of a comparison."""
        return RULES[self.inference]

    @property
    def likelihood(self) -> BernoulliProbit | BernoulliLogit:
        """The family of outcomes: probit, of bounds logistic."""
        return LIKELIHOODS[self.inference]()

    @cached_property
    def catalogue(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Ids (n,) of the items that are known by features or a matrix, and K (n, n)."""
        return catalogue_of(self.kernel, self.item_features, self.alpha)

    def prior(self, n_items: int) -> UtilityPrior:
        """Prior before anything was fitted: no loadings, scale 1."""
        ids, matrix = self.catalogue
        if matrix is None:
            return UtilityPrior(np.zeros(n_items), np.zeros((n_items, 0)), 1.0)
        return UtilityPrior(np.zeros(len(ids)), np.zeros((len(ids), 0)), 1.0, matrix).extended(n_items)

    def columns(self, n_items: int) -> int:
        """Columns of the loadings; none until their number is chosen."""
        if self.covariance == "full" or self.n_components == "auto":
            return 0
        return min(int(self.n_components), max(n_items - 1, 0))

    def start(self, n_items: int, rng: np.random.Generator) -> UtilityPrior:
        """Start of the search."""
        prior, d = self.prior(n_items), self.columns(n_items)
        if self.init is None:
            loadings = START_LOADING * rng.standard_normal((n_items, d))
            loadings = loadings if prior.root is None else prior.root @ loadings
        else:
            loadings = checks.finite("init", self.init)
            if loadings.shape != (n_items, d):
                raise ValueError(f"init must be loadings of shape ({n_items}, {d}), got shape {loadings.shape}.")
        return UtilityPrior(prior.mean, loadings, prior.scale, prior.kernel)

    def onwards(self, found: UtilityPrior) -> UtilityPrior:
        """Start of a search that goes on from a prior, whose items may be more by now than were learnt."""
        if self.covariance == "full":
            return UtilityPrior(found.mean, found.loadings[:, :0], 1.0, found.dense())
        loadings, d = np.zeros((len(found), self.columns(len(found)))), found.loadings.shape[1]
        loadings[:, :d] = found.loadings
        return UtilityPrior(found.mean, loadings, found.scale, self.prior(len(found)).kernel)
