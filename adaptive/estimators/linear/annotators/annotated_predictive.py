"""Predictive of what people will say about rows. The target are the weights: the rates, independent of them a
posteriori, are integrated out.

    p(y_ia | s) = sum_z p(z_i | s) E R_a[z, y],        p(z_i | s) = p(z_i | s_i) L_i(z) / sum of the same,

with L_i the likelihood of what was said of the row already. A design that counts what is learnt about the people, too,
asks strangers for the sake of it (`ours-skills-crowd`). Of two classes E H(y_ia | s) is an average of
h_a(p) = H(p E R[1, 1] + (1 - p) E R[0, 1]),  a curve for every person that is tabulated, over the values p of
p(z_i = 1 | s): rows are spread over the table's nodes once, and scores of all people are one product.

Several answers together are seen by joint draws, `AnnotatedDraws`:

    p(y_ia | draw k) = sum_z p_k(z_i) E R_a[z, y].

Had somebody's answer been heard, draws are reweighted, p_k(z_i) of that row is conditioned on it (two answers about a
row are dependent though the draw is known), and the person's rates are learnt from what the row's label then is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.linear.annotators.rates import Rates
from adaptive.predictive import Predictive, WeightedDraws
from adaptive.predictive.derivations import Way, entropy

if TYPE_CHECKING:
    from adaptive.potentials.likelihood import Likelihood
    from adaptive.types import RandomState

__all__ = ["AnnotatedDraws", "AnnotatedPredictive"]

_NODES = 96  # of the table of curves, p = sin(angle)^2, which is fine where curves are steep
_POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


class AnnotatedDraws(WeightedDraws):
    """Weighted draws whose candidates are a row and a person.

    Parameters
    ----------
    weights : (k,) array
    truth : (k, n, c) array
        p_k(z), of the different rows.
    rates : Rates
        Of the different people.
    rows, who : (m,) arrays of int
        Which of these a candidate is about, and of.
    outcomes : (c,) labels
    target : Predictive, optional
        True labels at given inputs, by the same draws.

    Examples
    --------
    Two people who are never wrong: once one has answered, there is nothing left to hear from the other.

    >>> truth = np.array([[[0.5, 0.5]], [[0.5, 0.5]]])
    >>> rates = Rates(["Ann", "Bob"], np.zeros((2, 2, 2)), {"Ann": 1.0, "Bob": 1.0})
    >>> both = AnnotatedDraws([0.5, 0.5], truth, rates, np.array([0, 0]), np.array([0, 1]), ["no", "yes"])
    >>> both.probabilities[1], both.given(0, "yes").probabilities[1].round(9)
    (array([0.5, 0.5]), array([0., 1.]))
    """

    sampled = True

    def __init__(
        self,
        weights: Any,
        truth: np.ndarray,
        rates: Rates,
        rows: np.ndarray,
        who: np.ndarray,
        outcomes: np.ndarray | Sequence[Any],
        *,
        target: Predictive | None = None,
        random_state: RandomState = None,
        **fields: Any,
    ) -> None:
        self._truth, self._rates, self._rows, self._who = truth, rates, rows, who
        super().__init__(
            weights,
            lambda: self._said(np.arange(len(rows))),
            outcomes,
            target=target,
            n_candidates=len(rows),
            random_state=random_state,
            **fields,
        )

    def _said(self, candidates: np.ndarray) -> np.ndarray:
        """(k, m, c) p(answer | draw) of these candidates."""
        truth = self._truth[:, self._rows[candidates]]
        k, m, c = truth.shape
        planes = np.empty((c, k, m))  # outcomes first, as `WeightedDraws` keeps them
        who = self._who[candidates]
        for person in np.unique(who):
            own = np.flatnonzero(who == person)
            planes[:, :, own] = np.moveaxis(truth[:, own] @ self._rates.mean[person], 2, 0)
        return np.moveaxis(np.maximum(planes, 0.0, out=planes), 0, 2)

    def given(self, i: int, outcome: Any = None) -> Predictive:
        """Return what is believed had candidate ``i`` been answered so: of its row the truth, too, is known better."""
        i = range(len(self))[i]
        after = super().given(i, outcome)
        assert isinstance(after, AnnotatedDraws)
        row, person, code = int(self._rows[i]), int(self._who[i]), self._code(outcome)
        heard = self._truth[:, row] * self._rates.mean[person, :, code]
        heard = heard / np.maximum(heard.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        counts = self._rates.counts.copy()
        counts[person, :, code] += after.weights @ heard
        after._truth = self._truth.copy()
        after._truth[:, row] = heard
        after._rates, after._rows, after._who = replace(self._rates, counts=counts), self._rows, self._who
        beside = np.flatnonzero((self._rows == row) | (self._who == person))
        after._table = self._table.replaced(beside, after._said(beside))
        return after


class AnnotatedPredictive(Predictive):
    """Candidates that are a row and a person, by what is believed about the rows and about the people.

    Parameters
    ----------
    of_rows : Predictive
        Of the true labels of n different rows.
    said : (n, c) array
        Log likelihoods of every true label by what was said of each row.
    rates : Rates
        Of the different people.
    rows, who : (m,) arrays of int
        Which of these a candidate is about, and of.
    outcomes : (c,) labels
    link : Likelihood
        Family of the true label, of two classes.
    n_draws : int
        Of the joint ones.
    """

    sampled = True

    def __init__(
        self,
        of_rows: Predictive,
        said: np.ndarray,
        rates: Rates,
        rows: np.ndarray,
        who: np.ndarray,
        outcomes: np.ndarray,
        link: Likelihood,
        n_draws: int,
    ) -> None:
        self._of_rows, self._said, self._rates, self._rows, self._who = of_rows, said, rates, rows, who
        self._link, self._n_draws = link, n_draws
        target = {"target": self._target} if of_rows.provides("target") else {}
        super().__init__(len(rows), random_state=of_rows.seed, outcomes=np.asarray(outcomes), **target)

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return weights (k,) and p(answer | draw) (k, m, c), joint."""
        return self._joint.draws(n)

    def given(self, i: int, outcome: Any = None) -> Predictive:
        """Return what is believed had candidate ``i`` been answered so."""
        return self._joint.given(i, outcome)

    def likely_outcomes(self, i: int) -> list[tuple[Any, float]] | None:
        """Return [(answer, probability)] of candidate ``i``."""
        return self._joint.likely_outcomes(i)

    @property
    def _joint(self) -> AnnotatedDraws:
        return self.kept("_joint_draws", self._drawn)

    def _drawn(self) -> AnnotatedDraws:
        weights, truth = self._of_rows.draws(self._n_draws)
        truth = truth * np.exp(self._said - self._said.max(axis=1, keepdims=True))
        truth /= np.maximum(truth.sum(axis=2, keepdims=True), np.finfo(float).tiny)
        target = self.target if self.provides("target") else None
        return AnnotatedDraws(
            weights, truth, self._rates, self._rows, self._who, self.outcomes, target=target, random_state=self.seed
        )

    def _target(self) -> Predictive:
        weights, table = self._of_rows.target.draws(self._n_draws)
        return WeightedDraws(weights, table, self.outcomes, random_state=self.seed)

    @property
    def _by_table(self) -> bool:
        """True of two classes whose latents have moments."""
        return len(self.outcomes) == 2 and all(part.provides("mean") for _, part in self._of_rows.components)

    def _spread(self) -> np.ndarray:
        """(n, nodes) distribution of p(z_i = 1 | s) of every row, spread over the nodes of the table."""
        n = len(self._said)
        found = np.zeros((n, _NODES + 1))
        prior = (self._said[:, 1] - self._said[:, 0])[None]
        start = np.arange(n) * (_NODES + 1)
        for share, part in self._of_rows.components:
            latents = part.mean + np.multiply.outer(_POINTS, np.sqrt(np.maximum(part.variance, 0.0)))
            odds = self._link.log_density(latents, 1.0) - self._link.log_density(latents, -1.0) + prior
            place = np.arctan(np.exp(np.clip(0.5 * odds, -40.0, 40.0))) * (2.0 * _NODES / np.pi)  # of p = sin^2
            below = np.minimum(place.astype(np.intp), _NODES - 1)
            beyond = place - below
            weights = share * np.broadcast_to(_WEIGHTS[:, None], place.shape)
            flat = (start + below).ravel()
            found += np.bincount(flat, (weights * (1.0 - beyond)).ravel(), found.size).reshape(found.shape)
            found += np.bincount(flat + 1, (weights * beyond).ravel(), found.size).reshape(found.shape)
        return found

    def _curves(self) -> tuple[np.ndarray, np.ndarray]:
        """(people, nodes) probabilities that outcome 1 is said, and expected entropies, at every node."""
        p = np.sin(np.arange(_NODES + 1) * (0.5 * np.pi / _NODES)) ** 2
        rates = self._rates.mean
        said = rates[:, 0, 1, None] * (1.0 - p) + rates[:, 1, 1, None] * p
        return said, entropy(np.stack([1.0 - said, said], axis=-1))


def _probabilities(predictive: AnnotatedPredictive) -> np.ndarray:
    said, _ = predictive.kept("_people", predictive._curves)
    one = (predictive.kept("_nodes", predictive._spread) @ said.T)[predictive._rows, predictive._who]
    return np.stack([1.0 - one, one], axis=-1)


def _expected_entropy(predictive: AnnotatedPredictive) -> np.ndarray:
    _, left = predictive.kept("_people", predictive._curves)
    table = predictive.kept("_nodes", predictive._spread) @ left.T
    return np.minimum(table[predictive._rows, predictive._who], predictive.outcome_entropy)


def _by_table(predictive: AnnotatedPredictive) -> bool:
    return predictive._by_table


AnnotatedPredictive.ways = Predictive.ways | {
    "probabilities": (
        Way((), _probabilities, _by_table),
        Way((), lambda predictive: predictive._joint.probabilities),
    ),
    "expected_entropy": (
        Way((), _expected_entropy, _by_table),
        Way((), lambda predictive: predictive._joint.expected_entropy),
    ),
}
