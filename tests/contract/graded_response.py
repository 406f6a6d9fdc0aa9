"""A toy of answers on an ordinal scale: one person's trait on a grid, an unknown answering style beside it.

    P(y >= j | x, b) = 1 / (1 + exp(-slope (x + b - threshold_j)))        trait x ~ N(0, 1), style b in {-1/2, 0, 1/2}

Candidates are items (rows: slope, thresholds in increasing order), outcomes are categories 0, 1, ...; what is to be
learnt is the trait, and the style is integrated out.
"""

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from adaptive.estimators import DesignMixin
from adaptive.predictive import WeightedDraws


class GradedResponse(DesignMixin):
    """The belief about one person: weights over a grid of traits and styles (or over random draws of them)."""

    def __init__(self, n_traits=41, draws=False):
        self.n_traits, self.draws = n_traits, draws
        if draws:
            rng = np.random.default_rng(0)
            self.trait, self.style = rng.standard_normal(200), rng.choice([-0.5, 0.0, 0.5], 200)
            self.weights = np.full(200, 1 / 200)
        else:
            grid = np.linspace(-4, 4, n_traits)
            self.trait, self.style = (a.ravel() for a in np.meshgrid(grid, [-0.5, 0.0, 0.5]))
            self.weights = norm.pdf(self.trait) / norm.pdf(self.trait).sum()

    def get_params(self, deep=True):
        return {"n_traits": self.n_traits, "draws": self.draws}

    def fit(self, items, answers):
        self.__init__(**self.get_params())
        return self.partial_fit(items, answers)

    def partial_fit(self, items, answers):
        table = self._probabilities(items)
        if not np.isin(answers, np.arange(table.shape[2])).all():
            raise ValueError(f"answers must be categories 0 to {table.shape[2] - 1}, got {answers}.")
        likelihood = table[:, np.arange(len(answers)), np.asarray(answers, dtype=int)].prod(axis=1)
        self.weights = self.weights * likelihood / (self.weights @ likelihood)
        return self

    def _probabilities(self, items):
        """Return (draws, items, categories)."""
        items = np.atleast_2d(items)
        latent = (self.trait + self.style)[:, None, None]
        at_least = expit(items[:, :1] * (latent - items[:, 1:]))
        edges = np.concatenate([np.ones_like(at_least[:, :, :1]), at_least, np.zeros_like(at_least[:, :, :1])], axis=2)
        return edges[:, :, :-1] - edges[:, :, 1:]

    def predictive(self, candidates, *, target=None, random_state=None):
        outcomes = np.arange(np.shape(candidates)[1])
        # items as the target are inputs; by default the trait is what is to be learnt
        about = self.trait if target is None else self.predictive(target, random_state=random_state)
        return WeightedDraws(
            self.weights,
            lambda: self._probabilities(candidates),
            outcomes,
            target=about,
            n_candidates=len(candidates),
            random_state=random_state,
        )
