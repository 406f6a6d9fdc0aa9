"""Ranking by comparisons:  P(first wins) = sigma(u_first - u_second + beta - t),  ties between."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri
from sklearn.exceptions import ConvergenceWarning

from adaptive import checks
from adaptive.estimators.belief import BeliefEstimator, of_belief
from adaptive.estimators.preferences.strengths.belief import StrengthBelief
from adaptive.estimators.preferences.strengths.comparisons import ComparisonData, asked_of, checked_outcomes
from adaptive.estimators.preferences.strengths.places import TopSet
from adaptive.estimators.preferences.strengths.settings import StrengthSettings

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.estimators.preferences.strengths.belief import Target
    from adaptive.estimators.preferences.strengths.comparisons import Asked
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Id, Pool, RandomState, Table

__all__ = ["BradleyTerry"]

TOP = re.compile("top-([1-9][0-9]*)")


class BradleyTerry(BeliefEstimator):
    """Strengths of items, and so their order, from comparisons by judges who tie, lean to one side, or err.

    u ~ N(0, scale^2 K);  d = u_i - u_j + beta;  P(i wins) = sigma(d - t), P(j wins) = sigma(-d - t), else a tie. The
    position bias beta (of i, which is shown first), the width t of ties and each judge's skill are learnt beside the
    strengths; the scale is integrated over a grid. Systems, prompts, pictures, players: what is to be ranked.

    Parameters
    ----------
    items : sequence of ids, optional
        Whole numbers or text: those known before any comparison. Others join when they are first compared.
    kernel : kernel of scikit-learn, (n, n) matrix or frame, optional
        K: how alike items are by ``item_features``, or a matrix over items 0, 1, ... (a frame: over its index). None:
        the identity.
    item_features : (n, d) array, frame or mapping id -> row, optional
        Of all items, also of those that were never compared.
    alpha : float, default 0.1
        Added to the diagonal of a kernel of features: what is an item's own.
    ties : bool, default True
        Whether a comparison may come out even (0).
    position_bias : bool, default True
        Whether the item that is shown first may be ahead, or behind, for that.
    judges : bool or mapping from judges to probabilities, default False
        True: comparisons are (first, second, judge). A judge says the winner with probability q and else the loser,
        q ~ Beta(7, 1.5) as where labels are asked for, and leans to one side in a way of their own. Those in a mapping
        have known skills.
    scale : float, optional
        Standard deviation of strengths, in logits. None: integrated over .25 to 5.7.
    max_iter : int, default 200
        Sweeps of expectation propagation.
    tol : float, default 1e-4
        Ends when no marginal moves by more than this, in its standard deviations.

    Attributes
    ----------
    items_ : (n,) array of ids
    judges_ : dict from judges to their skill and bias, with 90% intervals and how many comparisons are theirs
    position_bias_ : (mean, low, high) of beta, in logits, with its 90% interval
    tie_probability_ : float
        That equals tie.
    scale_ : float
        Mean of the scale.
    posterior_ : Gaussian over strengths, biases and ln(e^t - 1), at the likeliest scale: ``mean``, ``covariance``
    log_evidence_, evidence_kind_, objective_trace_, n_iter_, converged_ : of all scales; the trace is that of the first

    Notes
    -----
    Comparisons tell differences: the level of strengths is the prior's. The Gaussian matches moments of strengths, bias
    and tie width within 4% of their deviations (``ours-rank-posterior``). Nominal .90 of differences covers .90 to .93
    of drawn ones, whether pairs are chosen or not (``ours-bands-strengths``). A judge's skill is taken as independent
    of the strengths, given the answers: with few judges who err a lot, strengths are known less well than it says.

    A posterior depends on what was answered, not on the order of the answers: one by one they lead to that of ``fit``.

    References
    ----------
    Bradley and Terry (1952); Rao and Kupper (1967) for ties.

    Examples
    --------
    >>> model = BradleyTerry(["a", "b", "c"]).fit([("a", "b"), ("b", "a"), ("b", "c"), ("a", "b")], [1, -1, 1, 0])
    >>> order, probability = model.order(1)
    >>> order.tolist(), 0.5 < probability < 1.0
    (['a'], True)
    >>> pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    >>> pairs[model.select(pairs, target=1, random_state=0)[0]] in pairs
    True
    """

    def __init__(
        self,
        items: Sequence[Id] | np.ndarray | None = None,
        kernel: Kernel | Table | None = None,
        *,
        item_features: Table | Mapping[Id, ArrayLike] | None = None,
        alpha: float = 0.1,
        ties: bool = True,
        position_bias: bool = True,
        judges: bool | Mapping[Id, float] = False,
        scale: float | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
    ) -> None:
        self.items = items
        self.kernel = kernel
        self.item_features = item_features
        self.alpha = alpha
        self.ties = ties
        self.position_bias = position_bias
        self.judges = judges
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol

    # -- learning ------------------------------------------------------------------------------------------------------

    _cites = ("bradley1952", "rao1967", "minka2001")
    _Settings, _Data, _Belief = StrengthSettings, ComparisonData, StrengthBelief
    belief_: StrengthBelief

    def fit(self, X: Pool, y: ArrayLike) -> BradleyTerry:
        """Fit anew, and forget all earlier data.

        Parameters
        ----------
        X : (n, 2) array, frame or list of pairs; with ``judges`` (n, 3)
            Ids of the item shown first, the one shown second, and the judge.
        y : (n,) array
            +1 where the first item won, -1 where the second did, 0 at a tie.
        """
        return self._fit(X, y)

    def partial_fit(self, X: Pool, y: ArrayLike) -> BradleyTerry:
        """Learn further comparisons, starting from what is believed; what is refused changes nothing."""
        return self._partial_fit(X, y)

    def _learn(self, settings: Any, data: Any, earlier: Any, **how: Any) -> BradleyTerry:
        super()._learn(settings, data, earlier, **how)
        if not self.belief_.converged:
            warnings.warn(
                f"BradleyTerry has not converged after {self.belief_.n_iter} sweeps; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return self

    def _measured(self, X: Pool, y: ArrayLike, earlier: ComparisonData | None = None) -> ComparisonData:
        settings = StrengthSettings.of(self)
        if earlier is None:
            earlier = ComparisonData.about(settings.catalogue[0])
        asked = asked_of(X, settings.judged)
        return ComparisonData.of(asked, checked_outcomes(y, len(asked), bool(settings.ties)), earlier)

    def _candidates(self, X: Pool) -> Asked:
        return asked_of(X, StrengthSettings.of(self).judged)

    def _given_inputs(self, target: Pool | str | int) -> Target:
        if isinstance(target, str):
            if (top := TOP.fullmatch(target)) is not None:
                return TopSet(int(top[1])) if int(top[1]) > 1 else 1  # the best one is the same either way
            if target not in ("best", "order"):
                raise ValueError(f'target must be "best", "order", "top-2" (or any number), got {target!r:.60}.')
            return 1 if target == "best" else 0
        if isinstance(target, (int, np.integer)) and not isinstance(target, bool):
            return checks.integer("target", target, minimum=1)
        return self._candidates(target)

    # -- belief --------------------------------------------------------------------------------------------------------

    def predictive(
        self, candidates: Pool, *, target: Pool | str | int | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the predictive of comparisons, by 1,024 joint draws; before any fit the prior answers.

        Parameters
        ----------
        candidates : (m, 2) array, frame or list of pairs; with ``judges`` (m, 3)
        target : None, "best", "order", int, "top-3" (any number) or rows like the candidates
            What is to be learnt: strengths, bias and ties; which item is best; the whole order; the order of the best
            so many (who holds each of these places, on average over them); which items are the best three, in any
            order (if each is one of them, on average over those in doubt); or the outcomes of given comparisons.
        random_state : None, int, Generator or RandomState
        """
        return super().predictive(candidates, target=target, random_state=random_state)

    def predict_proba(self, X: Pool) -> np.ndarray:
        """Return the probabilities (n, 3) of -1, 0 and +1, or (n, 2) of -1 and +1 without ties."""
        return self.fitted_belief().probabilities(self._candidates(X))

    def predict(self, X: Pool) -> np.ndarray:
        """Return the most probable outcomes (n,)."""
        return StrengthSettings.of(self).outcomes[np.argmax(self.predict_proba(X), axis=1)]

    def log_predictive(self, X: Pool, y: ArrayLike) -> np.ndarray:
        """Return the natural-log predictive probabilities (n,) of outcomes."""
        probabilities = self.predict_proba(X)
        outcomes = checked_outcomes(y, len(probabilities), bool(self.ties))
        places = np.searchsorted(StrengthSettings.of(self).outcomes, outcomes)
        return np.log(np.maximum(probabilities[np.arange(len(outcomes)), places], np.finfo(float).tiny))

    def score(self, X: Pool, y: ArrayLike) -> float:
        """Return the share of comparisons whose outcome is predicted."""
        predicted = self.predict(X)
        return float(np.mean(predicted == checked_outcomes(y, len(predicted), bool(self.ties))))

    # -- ranks ---------------------------------------------------------------------------------------------------------

    def strengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean (n,) and covariance (n, n) of the strengths, in logits, in the order of ``items_``."""
        return self.fitted_belief().strengths()

    def order(self, k: int | str = "order") -> tuple[np.ndarray, float]:
        """Return the ids of the likeliest order of the best k (default: of all), and its probability, by 4,096 draws.

        Parameters
        ----------
        k : int, "best", "order" or "top-3" (any number)
            With "top-3" the three are a set, as of ``top_set(3)``.
        """
        belief: StrengthBelief = self.fitted_belief()
        n = len(belief.data.items)
        number = self._given_inputs(k)
        if isinstance(number, TopSet):
            return self.top_set(number.k)
        places, probability = belief.first(min(number, n) if isinstance(number, int) and number else n)
        return belief.data.items[places], probability

    def top_set(self, k: int) -> tuple[np.ndarray, float]:
        """Return the ids of the likeliest set of the best k, and its probability, by 4,096 draws.

        Their order among themselves does not count, so that the set is at least as probable as any order of it. The
        ids are listed by their mean strengths, the best first.

        Parameters
        ----------
        k : int
            At least 1. As many as there are items are the best for sure.

        Returns
        -------
        ids : (min(k, n),) array
        probability : float

        Raises
        ------
        ValueError
            If ``k`` is no whole number of at least 1.

        Examples
        --------
        >>> pairs = [("a", "c"), ("b", "c"), ("a", "c"), ("b", "c"), ("a", "b"), ("b", "a")]
        >>> model = BradleyTerry(["a", "b", "c"]).fit(pairs, [1] * 6)
        >>> ids, probability = model.top_set(2)
        >>> sorted(ids.tolist()), probability > model.order(2)[1]
        (['a', 'b'], True)
        """
        belief: StrengthBelief = self.fitted_belief()
        k = checks.integer("k", k, minimum=1)
        places, probability = belief.first(min(k, len(belief.data.items)), ordered=False)
        places = places[np.argsort(-belief.strengths()[0][places], kind="stable")]
        return belief.data.items[places], probability

    def rank_probabilities(self) -> np.ndarray:
        """Return (n, n): the probability that an item (row, by ``items_``) has a rank (column, the best first)."""
        ranked = self.fitted_belief().ranked
        found = np.zeros((ranked.shape[1],) * 2)
        for place in range(ranked.shape[1]):
            found[:, place] = np.bincount(ranked[:, place], minlength=ranked.shape[1])
        return found / len(ranked)

    def ranking(self, k: int = 1, level: float = 0.9) -> dict[str, list[Any]]:
        """Return columns over items, the best first: strengths, ranks, and the probability to be among the best k.

        ``strength``, ``lower``, ``upper``: against the mean of all items, in logits, with intervals of probability
        ``level``; ``rank``, ``rank_low``, ``rank_high``: the place in this list, and an interval of at least this
        probability; ``best`` and ``among_best``: probabilities to be the first, and among the first k.
        """
        checks.share("level", level)
        mean, covariance = self.strengths()
        mean = mean - mean.mean()
        row = covariance.mean(axis=1)
        deviation = np.sqrt(np.maximum(np.diag(covariance) - 2.0 * row + row.mean(), 0.0))
        width = float(ndtri(0.5 * (1.0 + level))) * deviation
        ranks = self.rank_probabilities()
        below = np.cumsum(ranks, axis=1)
        tail = 0.5 * (1.0 - level)
        order = np.argsort(-mean, kind="stable")
        columns = {
            "strength": mean, "lower": mean - width, "upper": mean + width,
            "rank_low": 1 + np.argmax(below > tail, axis=1), "rank_high": 1 + np.argmax(below >= 1.0 - tail, axis=1),
            "best": ranks[:, 0], "among_best": below[:, min(k, len(mean)) - 1],
        }  # fmt: skip
        listed = {name: column[order].tolist() for name, column in columns.items()}
        return {"item": self.items_[order].tolist(), "rank": list(range(1, len(mean) + 1)), **listed}

    items_ = of_belief("data.items", "Ids of items: those known before any comparison first, then as they came.")
    scale_ = of_belief("scale", "Mean standard deviation of strengths, in logits.")
    position_bias_ = of_belief("position_bias", "Mean of the position bias, in logits, and its 90% interval.")
    tie_probability_ = of_belief("tie_probability", "Probability that equals tie.")

    @property
    def judges_(self) -> dict[Id, Any]:
        """Skill and bias of each judge, with 90% intervals, and how many comparisons there are of theirs."""
        return self.fitted_belief().judges()
