"""Counts of pairs from two uncertain factors:  y ~ Poisson(exp(z_user . w_item + b_item + c_user + o))."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks, scorers
from adaptive.estimators.belief import of_belief
from adaptive.estimators.pairs.columns import PairCounts, checked_counts, columns_of
from adaptive.estimators.pairs.factorization import forecasts
from adaptive.estimators.pairs.factorization.belief import FactorizationBelief, FactorizationSettings
from adaptive.estimators.pairs.factorization.predictive import eta_moments
from adaptive.estimators.pairs.factorization.shortlist import of_single_gains, of_target
from adaptive.estimators.pairs.factorization.user_view import FactorizationUser
from adaptive.estimators.pairs.inference.expectations import log_rates
from adaptive.estimators.pairs.inference.rounds import Entries
from adaptive.estimators.pairs.pair_estimator import PairEstimator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators.pairs.factorization.predictive import Chosen
    from adaptive.estimators.pairs.factorization.shortlist import Arguments, Shortened
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Id, Pool, RandomState

__all__ = ["PoissonFactorization"]


class PoissonFactorization(PairEstimator):
    """Factorisation of counts with a Gaussian posterior over every user and item.

    Parameters
    ----------
    n_components : int, default 5
        Chosen by ``ours-default-settings-pairs-of-counts``, with ``inference`` and the variances.
    inference : {"mean_field", "full", "em", "map"}, default "mean_field"
        Variances of every entry; covariances of every row; covariances of users and point items; points.
    zeros : {"missing", "observed"}, default "missing"
        Whether pairs that are not listed were not observed, or are zeros. A listed 0 is an observed 0.
    user_variance : float, default 1.0
        Prior variance of users' entries.
    item_variance : float, optional
        Of items' entries; None: one per component, fitted by the bound (.2 of points), and so are the variances of
        biases: what is said of a user or an item seen little depends on them.
    dispersion : float or "auto", default "auto"
        How many times Poisson's variance counts have about their rates: each says as much less. "auto": by those that
        were fitted with 1, then fitted again; 1 with ``zeros="observed"``, of points, and where counts scatter less.
        Chosen by ``ours-default-pair-counts``.
    fit_bias : bool, default True
        A term per user and per item, about the mean log count; of variance 1 where ``item_variance`` is given.
    n_init : int, default 1
        Starts, of which the one with the highest bound is kept.
    max_iter : int, default 200
        Rounds over both factors.
    tol : float, default 0.003
        Ends when the second half of all rounds gained at most so many nats a pair (with ``zeros="observed"``: a half of
        one that is not 0). Chosen by ``ours-default-stops``.
    n_jobs : int, optional
        Threads over rows; the result is the same to the last bit for any number.
    random_state : None, int, Generator or RandomState
        Of the start.

    Attributes
    ----------
    users_, items_ : arrays (n_users,) and (n_items,)
        Ids in the order of the factors' rows.
    posterior_ : Factors
        ``.sides``: means and variances of users and of items.
    log_evidence_ : float
        The bound after the last rounds over everything, of counts and exposures divided by ``dispersion_``; nan of
        points.
    dispersion_ : float
        Given or learnt, at least 1 where it was learnt.
    evidence_kind_, objective_trace_, n_iter_ : of the last rounds over everything
    scatter_ : float
        Variance of log rates that the factors do not explain, by entries without themselves; in `interval` and
        ``log_predictive``, nowhere else. 0 with ``zeros="observed"``, and of points.
    poisson_share_ : float
        At most 1, the share of Poisson's variance that counts have where they scatter less (ratings, logarithms), by
        the same entries; in ``log_predictive`` alone, where rates lose as much of their variance.
    variance_factor_ : VarianceFactor or None
        The same as a factor of the log rates' typical variance, with the standard error of its logarithm.
    converged_ : bool
        Whether these met ``tol``; False while answers wait for the next ones.

    Notes
    -----
    A rate's expectation is finite where the product of covariances has its eigenvalues below one, and `predict` is
    infinite elsewhere. Duplicated pairs add their counts and exposures. Information gains take the log rate for
    Gaussian (see :mod:`adaptive.estimators.pairs.factorization.predictive`); ``predictive(...).refined`` does not.

    ``partial_fit`` solves the rows that it touches, new ids from the prior, and goes on with rounds over everything
    until at rest. With five components these follow every answer up to some 28,000 entries (580 with covariances); in
    larger tables they wait for further answers, so that what one costs does not grow with the table. Up to some 1,400
    entries, and at a quarter more, it begins as `fit` does, too, and takes what that leads to unless its own bound is
    more than .1 nat higher.

    References
    ----------
    Ko and Khan (2014), Variational Gaussian inference for bilinear models of count data; Ko (2017), section 3.1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> users, items = rng.normal(size=(30, 2)), rng.normal(size=(20, 2))
    >>> pairs = np.column_stack([rng.integers(0, 30, 300), rng.integers(0, 20, 300)])
    >>> y = rng.poisson(np.exp(np.sum(users[pairs[:, 0]] * items[pairs[:, 1]], axis=1)))
    >>> model = PoissonFactorization(2, random_state=0).fit(pairs, y)
    >>> model.recommend(3, 2).shape
    (2,)
    >>> design = model.user(3).select([0, 1, 2])
    """

    def __init__(
        self,
        n_components: int = 5,
        *,
        inference: str = "mean_field",
        zeros: str = "missing",
        user_variance: float = 1.0,
        item_variance: float | None = None,
        dispersion: float | str = "auto",
        fit_bias: bool = True,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 3e-3,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.inference = inference
        self.zeros = zeros
        self.user_variance = user_variance
        self.item_variance = item_variance
        self.dispersion = dispersion
        self.fit_bias = fit_bias
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------------

    _cites = ("ko2014", "ko2017")
    _Settings, _Data, _Belief = FactorizationSettings, PairCounts, FactorizationBelief
    belief_: FactorizationBelief

    def fit(self, X: Pool, y: ArrayLike) -> PoissonFactorization:
        """Fit anew, and forget all earlier data.

        Parameters
        ----------
        X : (n, 2) array, frame or list of pairs
            Ids of user and item, whole numbers or text.
        y : (n,) array of counts
        """
        return self._fit(X, y)

    def partial_fit(self, X: Pool, y: ArrayLike) -> PoissonFactorization:
        """Learn further pairs: the rows they touch, then all, at a pace that pays; what is refused changes nothing."""
        return self._partial_fit(X, y)

    def _measured(self, X: Pool, y: ArrayLike, earlier: PairCounts | None = None) -> PairCounts:
        return PairCounts.of(X, y, earlier)

    # -- belief --------------------------------------------------------------------------------------------------------

    def predict(self, X: Pool) -> np.ndarray:
        """Return the mean counts (n,) of pairs, infinite where the posterior's is."""
        factors, users, items = self.fitted_belief().located(*self._candidates(X))
        own, other = factors.sides
        with np.errstate(over="ignore"):
            logs = log_rates(users, items, own.mean, own.spread, other.mean, other.spread, 1.0)
            return np.exp(factors.offset + logs)

    def log_predictive(self, X: Pool, y: ArrayLike) -> np.ndarray:
        """Return the (n,) natural-log predictive probabilities of counts: draws of the item, quadrature over the rest.

        256 draws of low discrepancy per pair; where the variances are zero the value is exact. Counts scatter more or
        less than Poisson's by ``scatter_`` and ``poisson_share_``: chosen by ``ours-default-pair-counts``.
        """
        factors, users, items = self.fitted_belief().located(*self._candidates(X))
        return forecasts.log_probabilities(factors, users, items, checked_counts(y, len(users)), self.belief_.scatter)

    def interval(self, X: Pool, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts (n,) between which each pair's lies with about the probability ``level``, by draws.

        Nominal .90 covers .86 to .88 of drawn counts, those at its ends in parts (``ours-bands-factorization``): log
        rates have the variance ``scatter_`` beside that of the factors.
        """
        checks.share("level", level)
        factors, users, items = self.fitted_belief().located(*self._candidates(X))
        return forecasts.intervals(factors, users, items, level, self.belief_.scatter_variance)

    def score(self, X: Pool, y: ArrayLike) -> float:
        """Return the mean log predictive probability of the counts ``y`` of pairs."""
        return float(np.mean(self.log_predictive(X, y)))

    def item_scores(self, users: Sequence[Id], items: Sequence[Id] | None = None) -> np.ndarray:
        """Return what items are ranked by for users, (n, m): log mean counts, of the mode where a mean is infinite.

        Parameters
        ----------
        users, items : lists of ids
            Items None: all of ``items_``. Ids that were never seen get what the prior says.
        """
        belief = self.fitted_belief()
        second = belief.data.ids[1] if items is None else columns_of([(0, item) for item in items])[1]
        scores = np.empty((len(users), len(second)))
        for k, user in enumerate(users):
            factors, rows, columns = belief.located(columns_of([(user, 0)])[0].repeat(len(second)), second)
            own, other = factors.sides
            logs = log_rates(rows, columns, own.mean, own.spread, other.mean, other.spread, 1.0)
            mean, variance = eta_moments(factors, rows, columns)
            scores[k] = np.where(np.isfinite(logs), factors.offset + logs, mean + 0.5 * variance)
        return scores

    def seen(self, user: Id) -> np.ndarray:
        """Return the ids of the items that were counted for a user; of one never seen none."""
        return self.fitted_belief().data.ids[1][self._counted(user)]

    def _counted(self, user: Id) -> np.ndarray:
        """Rows of these items."""
        data = self.belief_.data
        row = data.positions[0].get(columns_of([(user, 0)])[0].tolist()[0], -1)
        return data.rows[1][data.rows[0] == row]

    def recommend(self, user: Id, n: int = 10, *, exclude_seen: bool = True) -> np.ndarray:
        """Return the ids of the n items with the highest mean counts for a user, the best first.

        Parameters
        ----------
        user : id
            One that was never seen gets what the prior says.
        n : int, default 10
            Fewer where there are not as many items.
        exclude_seen : bool, default True
            Leave out the items that were counted for this user.
        """
        belief = self.fitted_belief()
        worth = self.item_scores([user])[0]
        if exclude_seen:
            worth[self._counted(user)] = -np.inf
        order = np.argsort(-worth, kind="stable")
        return belief.data.ids[1][order[np.isfinite(worth[order])][:n]]

    def user(self, user: Id) -> FactorizationUser:
        """Return a view of one user for the loop: candidates are item ids, that user's row learns, items stand still.

        Parameters
        ----------
        user : id
            One that was never seen begins at the prior.
        """
        belief = self.fitted_belief()
        first = columns_of([(user, 0)])[0]
        factors, users, _ = belief.located(first, belief.data.ids[1][:0])
        row, entries = int(users[0]), belief.entries
        known = np.flatnonzero(entries.rows[0] == row)
        rows = (np.zeros(len(known), dtype=np.int64), entries.rows[1][known])
        own = factors.sides[0]
        one = replace(own, mean=own.mean[[row]], spread=own.spread[[row]])
        return FactorizationUser(
            replace(factors, sides=(one, factors.sides[1])),
            Entries(rows, entries.y[known], entries.exposure[known], (1, entries.lengths[1]), entries.dispersion),
            belief.data.positions[1],
            belief.settings.kind,
            belief.scatter,
        )

    def predictive(self, candidates: Pool, *, target: Chosen = None, random_state: RandomState = None) -> Predictive:
        """Return the predictive of pairs: exact moments of log rates, whose shape is taken for Gaussian.

        Parameters
        ----------
        candidates : (m, 2) array, frame or list of pairs
        target : {"users": ids} or {"items": ids} or both, optional
            Whose rows are to be learnt about; the others are integrated out. None: all.
        random_state : None, int, Generator or RandomState
        """
        given = self._candidates(candidates)
        if self.__sklearn_is_fitted__():
            return self.belief_.predictive(given, target=target, random_state=random_state)
        settings = FactorizationSettings.of(self)
        return FactorizationBelief.prior_predictive(settings, given, target=target, random_state=random_state)

    dispersion_ = of_belief("entries.dispersion", "How many times Poisson's variance counts are fitted with.")
    scatter_ = of_belief("scatter_variance", "Variance of log rates beyond what the factors explain; 0: none.")
    poisson_share_ = of_belief("poisson_share", "Share of Poisson's variance that counts have, at most 1.")
    variance_factor_ = of_belief("variance_factor", "The scatter as a factor of log rates' variances; or None.")

    def _shortened(self, arguments: Arguments) -> Shortened | None:
        if scorers.get(arguments["scorer"], self) is not scorers.information_gain:
            return None
        arguments["n_select"] = checks.integer("n_select", arguments["n_select"], minimum=1)
        shortened = of_single_gains if arguments["target"] is None else of_target
        return shortened(self.belief_, arguments)
