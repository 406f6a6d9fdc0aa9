"""Members: joint draws of class scores that are made once and then moved by what is learnt.

A what-if of a softmax replaces the Gaussian of one candidate's scores by another, and the scores of all others follow
by regression (:mod:`adaptive.predictive.joint_scores`).  Draws follow in the same way: each is moved as far as takes
the candidate's scores from the old moments to the new ones.  So the members of the belief after twenty answers are
those of the belief now, moved twenty times, and never drawn anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.predictive.answers.learning import learn, moves
from adaptive.predictive.answers.scores import AnsweredBlock, AnsweredScores
from adaptive.predictive.base import Predictive
from adaptive.predictive.derivations import likely
from adaptive.predictive.joint_gaussian import CANDIDATES
from adaptive.predictive.softmax import SoftmaxProjections, tilted
from adaptive.predictive.weighted_draws import WeightedDraws

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["N_MEMBERS", "Members", "as_members", "have_members"]

N_MEMBERS = 1024  # of all futures together
FEWEST = 2
_NODES = 1024  # of an integral for one of several answers learnt at once


class Drawn(NamedTuple):
    """Members and where they come from.

    Attributes
    ----------
    weights : (n,) array
    component : (n,) array of int
        Which of the components each was drawn from.
    scores : list of (n, m, k) arrays
        Contrasts of the scores of the candidates and, if there is one, the target; single precision.
    """

    weights: np.ndarray
    component: np.ndarray
    scores: list[np.ndarray]

    def taken(self, which: np.ndarray) -> Drawn:
        """Return some of them."""
        return Drawn(self.weights[which], self.component[which], [scores[which] for scores in self.scores])


class Members(WeightedDraws):
    """Predictive of m candidates among c classes by members that ``given`` moves.

    Parameters
    ----------
    components : sequence of SoftmaxProjections
        Of a mixture, or one.
    drawn : Drawn
        From these.
    random_state, **fields
        As in :class:`adaptive.predictive.Predictive`.
    """

    sampled = True

    def __init__(
        self,
        components: Sequence[SoftmaxProjections],
        drawn: Drawn,
        *,
        random_state: RandomState = None,
        **fields: Any,
    ) -> None:
        self._components, self._drawn = tuple(components), drawn
        first = self._components[0]
        family, basis = first.likelihood, first._basis.astype(drawn.scores[0].dtype)
        tables = [lambda scores=scores: family.probabilities(scores @ basis.T) for scores in drawn.scores]
        sizes = [scores.shape[1] for scores in drawn.scores]
        outcomes = family.outcomes
        if len(tables) > 1:
            fields["target"] = WeightedDraws(drawn.weights, tables[1], outcomes, n_candidates=sizes[1])
        super().__init__(drawn.weights, tables[0], outcomes, n_candidates=sizes[0], random_state=random_state, **fields)

    def _of_candidate(self, i: int) -> np.ndarray:
        """Return p(outcome | member) (n, c) of one candidate."""
        first = self._components[0]
        return first.likelihood.probabilities(self._drawn.scores[CANDIDATES][:, i] @ first._basis.T)

    def likely_outcomes(self, i: int) -> list[tuple[Any, float]]:
        """Return [(outcome, probability)] of candidate ``i``, by all members."""
        return likely(self.outcomes, self.weights @ self._of_candidate(i))

    def given(self, i: int, outcome: Any = None) -> Predictive:
        """Return all members moved by what they learn from ``outcome`` at candidate ``i``."""
        if outcome is None:
            raise self._unknown(i)
        return self.futures(i, [(outcome, 1.0)])[0]

    def futures(self, i: int, outcomes: list[tuple[Any, float]]) -> list[Predictive]:
        """Return ``given(i, outcome)`` for each of some outcomes, among which the members are shared out."""
        i, n = range(len(self))[i], len(self.weights)
        ends = n * np.cumsum([weight for _, weight in outcomes]) / sum(weight for _, weight in outcomes)
        starts = 0.0
        after: list[Predictive] = []
        for (outcome, _), end in zip(outcomes, ends.tolist(), strict=True):
            first, last = round(starts), round(end)
            which = np.arange(first, max(last, first + FEWEST)) % n
            after.append(self._moved(i, outcome, self._drawn.taken(which)))
            starts = end
        return after

    def answered(self, answers: Sequence[Sequence[Any]]) -> list[Predictive]:
        """Return the beliefs had the first n candidates been given each of S sets of answers, sharing the members out.

        What n calls of ``given`` say, by integrals of fewer nodes, and with one product for each component.
        """
        S, n, first = len(answers), len(answers[0]), self._components[0]
        ends = np.round(np.arange(S + 1) * len(self.weights) / S).astype(int)
        world = np.repeat(np.arange(S), np.diff(ends))
        pairs = np.unique(np.column_stack([world, self._drawn.component]), axis=0)
        blocks = {k: AnsweredBlock(self._components[k]._source, n) for k in np.unique(pairs[:, 1]).tolist()}
        codes = np.array([[first.likelihood.code(outcome) for outcome in one] for one in answers])

        def tilt(i: int, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            return tilted(first._basis, mean, variance, codes[pairs[:, 0], i], _NODES)

        learnt = learn(
            np.stack([blocks[k].mean for k in pairs[:, 1]]), np.stack([blocks[k].covariance for k in pairs[:, 1]]), tilt
        )
        scores, places = [part.copy() for part in self._drawn.scores], np.arange(len(pairs))
        for k, block in blocks.items():
            of_it = np.flatnonzero(self._drawn.component == k)
            mine = self._drawn.scores[CANDIDATES][of_it, :n].astype(float)
            moved = np.concatenate([
                moves(learnt, place, mine[world[of_it] == pairs[place, 0]], block.mean, block.covariance)
                for place in places[pairs[:, 1] == k]
            ])  # fmt: skip
            for part, of_part in enumerate(scores):
                block.move(of_part, of_it, moved, part)
        after: list[Predictive] = []
        for s in range(S):
            which = np.arange(ends[s], ends[s + 1])
            weights, components = self._drawn.weights[which].copy(), list(self._components)
            here = places[pairs[:, 0] == s]
            logs = learnt.log[here]
            for place, log in zip(here, logs, strict=True):
                k = int(pairs[place, 1])
                weights[self._drawn.component[which] == k] *= np.exp(log - logs.max())
                source = AnsweredScores(components[k]._source, blocks[k], learnt, int(place))
                components[k] = components[k]._on(source)
            drawn = Drawn(weights / weights.sum(), self._drawn.component[which], [part[which] for part in scores])
            after.append(self._with(components, drawn))
        return after

    def _with(self, components: Sequence[SoftmaxProjections], drawn: Drawn) -> Members:
        kept = {name: value for name, value in self._fields.items() if name not in ("outcomes", "target")}
        made = Members(components, drawn, random_state=self.seed, **kept)
        made.asked = self.asked
        return made

    def _moved(self, i: int, outcome: Any, drawn: Drawn) -> Members:
        first = self._components[0]
        scores = list(drawn.scores)  # arrays of its own: `futures` took them
        code = first.likelihood.code(outcome)
        told = first.likelihood.probabilities(scores[CANDIDATES][:, i] @ first._basis.T)[:, code]
        weights, components = drawn.weights.copy(), list(self._components)
        for k in np.unique(drawn.component).tolist():
            of_it = np.flatnonzero(drawn.component == k)
            # the members say how likely the component found the outcome; moved, they are weighed by it together
            share = drawn.weights[of_it]
            weights[of_it] *= float(share @ told[of_it] / share.sum())
            after = components[k].given(i, outcome)
            if after is components[k]:
                continue  # nothing is uncertain there
            components[k] = after
            source = after._source
            move = source.moves(scores[CANDIDATES][of_it, i]).astype(scores[CANDIDATES].dtype)
            for part in range(len(scores)):
                moved = source.spread(move, part)
                if len(self._components) > 1:
                    scores[part][of_it] += moved
                else:
                    scores[part] = scores[part] + moved
        return self._with(components, Drawn(weights / weights.sum(), drawn.component, scores))


def have_members(predictive: Predictive) -> bool:
    """Return whether draws of the predictive can be moved: it is a softmax of Gaussian scores, or a mixture of such."""
    return all(isinstance(part, SoftmaxProjections) for _, part in predictive.components)


def as_members(predictive: Predictive, n: int = N_MEMBERS) -> Members:
    """Return the same belief by ``n`` members, in an order in which any of them are a sample of all.

    Examples
    --------
    >>> basis = np.array([[1.0], [-1.0]]) / np.sqrt(2)
    >>> belief = SoftmaxProjections.from_rows(
    ...     np.eye(2), np.zeros((1, 2)), np.eye(2)[None, :, None], contrasts=basis, outcomes=["no", "yes"])
    >>> after = as_members(belief).given(0, "no")
    >>> np.abs(after.probabilities - belief.given(0, "no").probabilities).max() < 0.02
    np.True_
    """
    parts: list[Any] = [part for _, part in predictive.components]
    weights = np.array([weight for weight, _ in predictive.components])
    counts = np.maximum(np.round(n * weights / weights.sum()).astype(int), FEWEST)
    order = np.random.default_rng([predictive.seed, n]).permutation(counts.sum())
    drawn = [
        part._source.draw(count, np.random.default_rng([part.seed, k]))
        for k, (part, count) in enumerate(zip(parts, counts.tolist(), strict=True))
    ]
    scores = [np.concatenate(part).astype(np.float32)[order] for part in zip(*drawn, strict=True)]
    component = np.repeat(np.arange(len(parts)), counts)[order]
    each = np.repeat(weights / weights.sum() / counts, counts)[order]
    fields = {name: getattr(predictive, name) for name in ("features", "measured") if predictive.provides(name)}
    made = Members(parts, Drawn(each, component, scores), random_state=predictive.seed, **fields)
    made.asked = predictive.asked
    return made
