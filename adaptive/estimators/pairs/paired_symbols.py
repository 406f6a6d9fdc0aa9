"""Who is paired with whom, from a stream that shows no refusals:  i ~ pi, j ~ psi, kept with sigmoid(u.v + b + c)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.pairs.columns import columns_of
from adaptive.estimators.pairs.factorization.predictive import eta_moments
from adaptive.estimators.pairs.pair_estimator import PairEstimator
from adaptive.estimators.pairs.symbols.belief import PairsBelief, PairsSettings
from adaptive.estimators.pairs.symbols.predictive import moments_of_all, odds
from adaptive.estimators.pairs.symbols.shortlist import searched
from adaptive.estimators.pairs.symbols.stream import PairStream, checked_answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators.pairs.factorization.shortlist import Arguments, Shortened
    from adaptive.estimators.pairs.inference.rounds import Factors
    from adaptive.types import ArrayLike, Id, Pool, RandomState

__all__ = ["PairedSymbols"]

POPULARITY = 0.5  # power of how often an item is about, beside the odds, in what it is ranked by
TOGETHER = 2**21  # pairs whose odds are computed at once


class PairedSymbols(PairEstimator):
    """Bayesian factorisation of a stream of pairs in which refusals are censored.

    A user and an item are drawn, each by how often it is about, and the pair is kept with the odds that the user takes
    the item; pairs that were not kept leave no trace. Costs grow with the pairs that were seen, not with all there are.

    Parameters
    ----------
    n_components : int, default 20
        Between 5 and 50 it hardly matters where precisions are one and ``selection`` is "constant".
    censored_ratio : float, default 4.0
        How many pairs were censored for each one that was kept: give it where it is known. 2 and 4 ranked and predicted
        best on five real sets (chosen by ``ours-default-pairs``).
    selection : {"constant", "full"}, default "constant"
        Whether the odds say who was drawn for the censored pairs, too. "full", of the source, raises the bound at every
        step, and rare items vanish from among the censored pairs, so that their odds come out too high; "constant"
        leaves odds out (chosen by ``ours-default-pairs``).
    fit_bias : bool, default True
        A term per user and per item.
    user_precision, item_precision, bias_precision : float or None, default 1.0
        Of the priors; None: where the bound is largest, from 1 on, fitted after fifteen sweeps. Of few pairs the bound
        is largest without any component, which is said (UserWarning); of many it is higher by far than at 1, and
        held-out pairs are ranked and predicted worse (chosen by ``ours-default-pairs``).
    n_init : int, default 1
        Starts, of which the one with the highest bound is kept. Three predict as well as one; chosen, with
        ``fit_bias``, by ``ours-default-settings-pairs``.
    max_iter : int, default 200
        Sweeps.
    tol : float, default 0.003
        Ends when the second half of all sweeps moved the bound by at most so many nats a pair. Chosen by
        ``ours-default-stops``.
    n_jobs : int, optional
        Threads over rows; the result is the same to the last bit for any number.
    random_state : None, int, Generator or RandomState
        Of the start.

    Attributes
    ----------
    users_, items_ : arrays (n_users,) and (n_items,)
        Ids in the order of the factors' rows.
    posterior_ : Censored
        ``.factors``, ``.selection`` (who the censored pairs are thought to be), ``.dirichlet``, ``.shared``.
    log_evidence_ : float
        The bound, of the ordered stream, after the last sweeps over everything.
    evidence_kind_, objective_trace_, n_iter_ : of the last sweeps over everything
    converged_ : bool
        Whether these met ``tol``; False while pairs wait for the next ones.

    Notes
    -----
    A pair that was *shown* has the outcome 1 or 0 and counts for the odds only, not for who is about. Mean and variance
    of a pair are exact, and its log odds are taken for Gaussian. A long ``designs.pool.Product(users, items)`` is
    searched by bounds where the scorer is information_gain, thompson or upper_confidence_bound.

    With ``selection="constant"`` censored pairs are spread whatever the odds, which flattens these: `predict_proba`,
    `interval` and `log_predictive` of answers take that back, as if ``censored_ratio`` were right; rankings and scorers
    see the odds as they were fitted. Where it was not right but 3 for 2, 90% intervals covered .79 (.62 before). With
    "full" nothing is taken back: that was less likely than the odds as they are, by .05 to .17 nats an answer.

    ``partial_fit`` solves the rows that it touches, new ids from the prior, and goes on with sweeps over everything
    until at rest. With twenty components these follow every pair up to some 9,000 of them; in larger tables they wait
    for further pairs, so that what one costs does not grow with the table, and only then do rows that are not touched
    feel what ``decay`` forgets. Up to some 450 pairs, and at a quarter more, it begins as `fit` does, too, and takes
    what that leads to unless its own bound is more than .1 nat higher.

    Ranks are those of a model that says how probable pairs are. Implicit least squares, tuned, say no probability and
    ranked held-out items higher on two of five real sets, by .03 to .14 (``ours-default-pairs``). So does a regression
    of each item on the others, which `diagnostics.beside_rival` and ``adaptive recommend`` set beside the model.

    References
    ----------
    Paquet, Koenigstein and Winther (2014), Scalable Bayesian modelling of paired symbols.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pairs = np.column_stack([rng.integers(0, 30, 300), rng.integers(0, 20, 300)])
    >>> model = PairedSymbols(2, random_state=0).fit(pairs)
    >>> model.recommend(3, 2).shape, model.predict_proba([(3, 4)]).shape
    ((2,), (1, 2))
    >>> shown = model.select([(3, 4), (3, 5), (7, 4)], scorer="thompson", random_state=0)
    >>> model = model.partial_fit([(3, 4)], [1])
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        censored_ratio: float = 4.0,
        selection: str = "constant",
        fit_bias: bool = True,
        user_precision: float | None = 1.0,
        item_precision: float | None = 1.0,
        bias_precision: float | None = 1.0,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 3e-3,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.censored_ratio = censored_ratio
        self.selection = selection
        self.fit_bias = fit_bias
        self.user_precision = user_precision
        self.item_precision = item_precision
        self.bias_precision = bias_precision
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------------

    _cites = ("paquet2014",)
    _Settings, _Data, _Belief = PairsSettings, PairStream, PairsBelief
    belief_: PairsBelief

    def fit(self, X: Pool, y: ArrayLike | None = None) -> PairedSymbols:
        """Fit anew, and forget all earlier data.

        Parameters
        ----------
        X : (n, 2) array, frame or list of pairs, or sparse matrix (users, items)
            Ids of user and item, whole numbers or text; or how often each pair was in the stream, ids being positions.
        y : (n,) array or list, optional
            1 or 0 where the pair was shown and taken or refused, None where it came by itself; None: all did.
        """
        return self._fit(X, y)

    def partial_fit(self, X: Pool, y: ArrayLike | None = None, *, decay: float = 1.0) -> PairedSymbols:
        """Learn further pairs: the rows they touch, then all, at a pace that pays; what is refused changes nothing.

        Parameters
        ----------
        X, y
            As in `fit`.
        decay : float in (0, 1], default 1
            What all earlier pairs are worth from now on.
        """
        return self._partial_fit(X, y, decay=decay)

    def _measured(
        self, X: Pool, y: ArrayLike | None, earlier: PairStream | None = None, decay: float = 1.0
    ) -> PairStream:
        if not 0.0 < float(checks.positive("decay", decay)) <= 1.0:
            raise ValueError(f"decay must be above 0 and at most 1, got {decay!r}.")
        return PairStream.of(X, y, earlier, float(decay))

    # -- belief --------------------------------------------------------------------------------------------------------

    def predict_proba(self, X: Pool) -> np.ndarray:
        """Return the odds (n, 2) that pairs, were they shown, are refused and taken."""
        taken = self._taken(*self.fitted_belief().located(*self._candidates(X)))
        return np.column_stack([1.0 - taken, taken])

    def _taken(self, factors: Factors, users: np.ndarray, items: np.ndarray) -> np.ndarray:
        """Odds (n,) of being taken, of pairs of rows."""
        moments, kept = eta_moments(factors, users, items), self.belief_.kept_odds
        return odds(*moments) if kept is None else kept.mean(*moments)

    def predict(self, X: Pool) -> np.ndarray:
        """Return 1 (n,) where a pair is taken with odds above one half, else 0."""
        return (self.predict_proba(X)[:, 1] > 0.5).astype(np.int64)

    def interval(self, X: Pool, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the odds (n,) between which each pair's lie with the probability ``level``.

        They are too short: nominal .90 covers .78 to .80 of true odds, whatever was shown
        (``ours-pairs-shown-coverage``).
        """
        from scipy.special import expit, ndtri

        checks.share("level", level)
        belief = self.fitted_belief()
        mean, variance = eta_moments(*belief.located(*self._candidates(X)))
        reach = ndtri(0.5 + 0.5 * level) * np.sqrt(variance)
        low, high = expit(mean - reach), expit(mean + reach)
        return (low, high) if belief.kept_odds is None else (belief.kept_odds.of(low), belief.kept_odds.of(high))

    def log_predictive(self, X: Pool, y: ArrayLike | None = None) -> np.ndarray:
        """Return natural-log predictive probabilities (n,).

        Of a pair that came by itself (``y`` None) log p(item | user), by its odds times how often the item is about; of
        one that was shown, of its answer 1 or 0.
        """
        belief, columns = self.fitted_belief(), self._candidates(X)
        answers = checked_answers(y, len(columns[0]))
        factors, users, items = belief.located(*columns)
        taken = self._taken(factors, users, items)
        found = np.log(np.where(answers == 0.0, 1.0 - taken, taken))
        came = np.flatnonzero(np.isnan(answers))
        if len(came):
            fitted = odds(*eta_moments(factors, users[came], items[came]))  # what ranks items
            found[came] = np.log(fitted)
            chosen = belief.popularity(items[came])
            new = items[came] >= belief.data.lengths[1]  # beside the items known, which share the rest
            who, where = np.unique(users[came], return_inverse=True)
            known = np.arange(belief.data.lengths[1])
            sums = np.concatenate([
                odds(*moments_of_all(factors, part, known)) @ belief.popularity(known) for part in self._parts(who)
            ])  # fmt: skip
            total = sums[where] + np.where(new, chosen * fitted, 0.0)
            found[came] += np.log(chosen) - np.log(total)
        return found

    def score(self, X: Pool, y: ArrayLike | None = None) -> float:
        """Return the mean log predictive probability of pairs."""
        return float(np.mean(self.log_predictive(X, y)))

    def item_scores(
        self, users: Sequence[Id], items: Sequence[Id] | None = None, *, popularity: float = POPULARITY
    ) -> np.ndarray:
        """Return what items are ranked by for users, (n, m).

        Parameters
        ----------
        users, items : lists of ids
            Items None: all of ``items_``.
        popularity : float, default 0.5
            The odds are multiplied by how often the item is about, to this power: 1 ranks by p(item | user), 0 by the
            odds alone, which rank what is personal first, and where there is nothing personal rank at random. Half of
            it was never behind popularity (chosen by ``ours-default-pairs``).
        """
        belief = self.fitted_belief()
        popularity = float(checks.finite("popularity", popularity))
        first = columns_of([(user, 0) for user in users])[0]
        second = belief.data.ids[1] if items is None else columns_of([(0, item) for item in items])[1]
        factors, rows, columns = belief.located(first, second)
        worth = belief.popularity(columns) ** popularity
        parts = [odds(*moments_of_all(factors, part, columns)) * worth for part in self._parts(rows)]
        return np.concatenate(parts) if parts else np.zeros((0, len(columns)))

    def _parts(self, rows: np.ndarray) -> list[np.ndarray]:
        together = max(1, TOGETHER // max(1, self.belief_.data.lengths[1]))
        return [rows[k : k + together] for k in range(0, len(rows), together)]

    def recommend(
        self, user: Id, n: int = 10, *, exclude_seen: bool = True, popularity: float = POPULARITY
    ) -> np.ndarray:
        """Return the ids of the n items that `item_scores` ranks highest for a user, the best first.

        Parameters
        ----------
        user : id
            One that was never seen gets what the prior says.
        n : int, default 10
            Fewer where there are not as many items.
        exclude_seen : bool, default True
            Leave out the items that this user was paired with, or shown.
        popularity : float, default 0.5
            As in `item_scores`.
        """
        n = checks.integer("n", n, minimum=1)
        worth = self.item_scores([user], popularity=popularity)[0]
        data = self.belief_.data
        row = data.positions[0].get(columns_of([(user, 0)])[0].tolist()[0])
        if exclude_seen and row is not None:
            worth[data.seen_by(row)] = -np.inf
        order = np.argsort(-worth, kind="stable")
        return data.ids[1][order[np.isfinite(worth[order])][:n]]

    def factors(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Return (means, variances) of users and of items, as `adaptive.search.best_pairs` takes them.

        Biases are two columns more: a user's row is (u, 1, b), an item's (v, c, 1).
        """
        users, items = self.fitted_belief().posterior.factors.sides
        return (users.mean.copy(), users.spread.copy()), (items.mean.copy(), items.spread.copy())

    def seen(self, user: Id) -> np.ndarray:
        """Return the ids of the items that a user was paired with, or shown; of one never seen none."""
        data = self.fitted_belief().data
        row = data.positions[0].get(columns_of([(user, 0)])[0].tolist()[0])
        return data.ids[1][:0] if row is None else data.ids[1][data.seen_by(row)]

    def _shortened(self, arguments: Arguments) -> Shortened | None:
        return searched(self, arguments)
