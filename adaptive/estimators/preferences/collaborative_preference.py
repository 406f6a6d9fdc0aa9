"""Preferences of many people, from comparisons of two items:  P(first wins) = Phi(f_first - f_second),  f by person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import BeliefEstimator, of_belief
from adaptive.estimators.ids import alike, ids_of, located
from adaptive.estimators.preferences.belief import PreferenceBelief
from adaptive.estimators.preferences.comparisons import PreferenceData, checked_winners, triple_columns
from adaptive.estimators.preferences.inference.people import Comparisons
from adaptive.estimators.preferences.person import PreferencePerson
from adaptive.estimators.preferences.settings import PreferenceSettings
from adaptive.estimators.preferences.utilities import Utilities

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.estimators.preferences.belief import Triples
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Id, Pool, RandomState, Table

__all__ = ["CollaborativePreference"]


class CollaborativePreference(BeliefEstimator):
    """Everybody's utilities of items from comparisons, sharing strength across people and across items alike.

    f_u ~ N(b, V V' + s K) for every user u;  P(i beats j) = Phi(f_i - f_j). The shared b, V and s are fitted by EM; of
    a user few answers teach much, since V says what else somebody likes who likes this.

    Parameters
    ----------
    n_components : int or "auto", default "auto"
        Columns of V; 0: items' features only (one Gaussian process per user). "auto": of 0, 1, 2 and 4 the number by
        which comparisons that are held out are certainly predicted better; ``dimension_`` says what it was chosen by.
        Chosen by `ours-default-preferences`.
    kernel : kernel of scikit-learn, (n, n) matrix or frame, optional
        K: how alike items are by ``item_features``, or a matrix over items 0, 1, ... (a frame: over its index). None:
        the identity, so that all that items share comes from users.
    item_features : (n, d) array, frame or mapping id -> row, optional
        Of all items, also of those that were never compared; ids are 0, 1, ..., the frame's index, or the keys.
    alpha : float, default 0.1
        Added to the diagonal of a kernel of features: what is an item's own.
    covariance : {"low_rank", "full"}
        "full" learns an unconstrained covariance of all items instead of V V' + s K, cubic in items. Chosen by
        ``ours-default-settings-comparisons``.
    inference : {"expectation_propagation", "laplace_approximation", "variational_bounds"}
        Of each user's answers; the last with the logistic function in place of Phi, bounded after Jaakkola and Jordan.
    prior_people : float, default 1
        As how many more people the belief before any answer, N(0, s K), counts where b, V and s are learnt. Of s it
        tells what one item with s = 1 does, so that people who agree may be found to. 0: maximum likelihood, by which
        few people seem to be known exactly. Chosen by ``ours-default-preferences``.
    max_pairs : int, optional
        Every iteration looks at a fresh sample of at most so many comparisons of each user: the time of one grows with
        their cube (up to as many as there are items).
    init : (n_items, n_components) array, optional
        Loadings that the search begins with; None: small ones, drawn.
    max_iter : int, default 200
        Iterations of EM.
    tol : float, default 0.0003
        Ends when the second half of all iterations moved the log evidence by at most so many nats a comparison. Chosen
        by ``ours-default-preferences``.
    n_jobs : int, optional
        Workers over users; the result is the same to the last bit for any number.
    random_state : None, int, Generator or RandomState
        Of the start and of samples.

    Attributes
    ----------
    users_, items_ : arrays of ids, (n_users,) and (n_items,)
    posterior_ : UtilityPrior
        Prior that all share: ``mean`` b, ``loadings`` V, ``scale`` s, ``kernel`` K.
    dimension_ : what the number of components was chosen by: ``n_components``, ``log_scores`` of the numbers tried,
        ``alike`` of one ranking of everybody (nats per comparison held out), ``gain`` over it and ``gain_std``; None
        where the number was given. Where the gain is not above 0, ``fit`` says so
    leave_one_out_ : what would have been said of each comparison without it, at the fitted b, V and s:
        ``probabilities`` (n, 2) of -1 and +1, ``log_score`` (n,); None but by expectation propagation
    log_evidence_, evidence_kind_, objective_trace_, n_iter_, converged_ : of the last full fit

    Notes
    -----
    EM is slow where users' components and items' features explain the same, though it starts where its last steps point
    to. Loadings at their top fit few
    comparisons too closely. Comparisons tell differences: the level of utilities is the prior's. The evidence of
    expectation propagation is no bound, and may fall a little.

    ``partial_fit`` solves again for the users concerned, new ones, too. EM then goes on from where it was once there
    are a hundredth more comparisons, so that one of them costs the same however many there are; with a quarter more, or
    a surprise, it starts where ``fit`` does, too. One by one comparisons lead to the evidence of ``fit`` on all. `user`
    is one person for the loop, with b, V and s as they are.

    References
    ----------
    Ko (2017), section 3.2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.array([(u, *rng.choice(6, 2, replace=False)) for u in range(40) for _ in range(6)])
    >>> apart = rows[:, 1] - rows[:, 2]                                  # most prefer the later item
    >>> y = np.where(apart + rng.normal(size=240) > 0, 1, -1)
    >>> model = CollaborativePreference(1, tol=1e-3, random_state=0).fit(rows, y)
    >>> model.recommend(0, 3).tolist()
    [5, 4, 3]
    >>> person = model.user("somebody new")
    >>> pairs = [(i, j) for i in range(6) for j in range(i)]
    >>> pairs[person.select(pairs)[0]] in pairs
    True
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        kernel: Kernel | Table | None = None,
        *,
        item_features: Table | Mapping[Id, ArrayLike] | None = None,
        alpha: float = 0.1,
        covariance: str = "low_rank",
        inference: str = "expectation_propagation",
        prior_people: float = 1.0,
        max_pairs: int | None = None,
        init: ArrayLike | None = None,
        max_iter: int = 200,
        tol: float = 3e-4,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.item_features = item_features
        self.alpha = alpha
        self.covariance = covariance
        self.inference = inference
        self.prior_people = prior_people
        self.max_pairs = max_pairs
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------------

    _cites = ("ko2017",)
    _Settings, _Data, _Belief = PreferenceSettings, PreferenceData, PreferenceBelief
    belief_: PreferenceBelief

    def fit(self, X: Pool, y: ArrayLike) -> CollaborativePreference:
        """Fit anew, and forget all earlier data.

        Parameters
        ----------
        X : (n, 3) array, frame or list of tuples
            Ids of a user and of the first and the second item, whole numbers or text; contradictions are welcome.
        y : (n,) array
            +1 where the first item won, -1 where the second did.
        """
        return self._fit(X, y)

    def partial_fit(self, X: Pool, y: ArrayLike) -> CollaborativePreference:
        """Learn further comparisons, starting from what is believed; what is refused changes nothing."""
        return self._partial_fit(X, y)

    def _measured(self, X: Pool, y: ArrayLike, earlier: PreferenceData | None = None) -> PreferenceData:
        if earlier is None:
            earlier = PreferenceData.about(PreferenceSettings.of(self).catalogue[0])
        return PreferenceData.of(X, y, earlier)

    def _candidates(self, X: Pool | str) -> Triples | str:
        if isinstance(X, str):
            return checks.choice("target", X, ("best",))
        return triple_columns(X)

    # -- belief --------------------------------------------------------------------------------------------------------

    def predictive(
        self, candidates: Pool, *, target: Pool | str | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the predictive of comparisons (user, first, second); before any fit the prior answers.

        Parameters
        ----------
        candidates : (m, 3) array, frame or list of tuples
        target : None, "best" or rows like the candidates
            What is to be learnt: all utilities, which item is best (of one user), or the outcomes of given comparisons.
        random_state : None, int, Generator or RandomState
        """
        return super().predictive(candidates, target=target, random_state=random_state)

    def predict_proba(self, X: Pool) -> np.ndarray:
        """Return the probabilities (n, 2) of -1 and of +1: that the second item, and that the first, wins."""
        return np.asarray(self.fitted_belief().predictive(triple_columns(X)).probabilities)

    def predict(self, X: Pool) -> np.ndarray:
        """Return +1 where the first item is the more probable winner, else -1; (n,)."""
        return np.where(self.predict_proba(X)[:, 1] >= 0.5, 1, -1)

    def log_predictive(self, X: Pool, y: ArrayLike) -> np.ndarray:
        """Return the natural-log predictive probabilities (n,) of outcomes."""
        probabilities = self.predict_proba(X)
        winners = checked_winners(y, len(probabilities))
        return np.log(np.where(winners > 0, probabilities[:, 1], probabilities[:, 0]))

    def score(self, X: Pool, y: ArrayLike) -> float:
        """Return the share of comparisons whose winner is predicted."""
        return float(np.mean(self.predict(X) == checked_winners(y, len(triple_columns(X)[0]))))

    def _place(self, user: Id) -> tuple[int, Id]:
        """Position of a user (behind all others if never seen), and the id."""
        column = ids_of("users", np.array([user]))
        return int(located(column, self.fitted_belief().data.users)[0][0]), column[0].item()

    def utilities(self, user: Id) -> tuple[np.ndarray, np.ndarray]:
        """Return mean (n,) and covariance (n, n) of a user's utilities, in the order of ``items_``.

        One that was never seen has the prior's; so has an item known by features alone, but for what these say. Nominal
        .90 of differences covers .92 to .96 of drawn ones, a little more than it says (``ours-bands-preferences``).
        """
        person: Utilities = self.fitted_belief().person(*self._place(user))
        return person.moments(np.arange(len(self.items_)))

    def recommend(self, user: Id, n: int = 10, *, exclude: Sequence[Id] = ()) -> np.ndarray:
        """Return the ids of the n items of the highest mean utility for a user, the best first.

        Parameters
        ----------
        user : id
        n : int, default 10
            Fewer where there are not as many items.
        exclude : sequence of ids
            Items to leave out.
        """
        belief: PreferenceBelief = self.fitted_belief()
        person, every = belief.person(*self._place(user)), np.arange(len(belief.data.items))
        mean = person.prior.mean + person.prior.block(every, person.items) @ person.slope
        order = np.argsort(-mean, kind="stable")
        listed = ids_of("exclude", np.array(list(exclude)))
        left_out = located(listed, alike("exclude", listed, belief.data.items))[0]
        return belief.data.items[order[~np.isin(order, left_out)][:n]]

    def user(self, user: Id) -> PreferencePerson:
        """Return a view of one person for the loop: candidates are pairs (first, second); b, V and s stand still.

        Parameters
        ----------
        user : id
            One that was never seen begins at the prior.
        """
        belief: PreferenceBelief = self.fitted_belief()
        place, label = self._place(user)
        rows = belief.rows_of(place)
        own = belief.data.known.take(rows)
        known = Comparisons(np.zeros(len(rows), dtype=np.int64), own.first, own.second, own.y)
        sites = belief.pi[rows], belief.nu[rows]
        return PreferencePerson(belief.settings, belief.posterior, belief.data.items, label, known, sites)

    @property
    def users_(self) -> np.ndarray:
        """Ids of users."""
        return self.fitted_belief().data.users

    @property
    def items_(self) -> np.ndarray:
        """Ids of items: those with features first, then as they came."""
        return self.fitted_belief().data.items

    dimension_ = of_belief(
        "dimension", "What the number of components was chosen by, a `Dimension`; None: it was given."
    )
    leave_one_out_ = of_belief("left_out", "Probabilities (n, 2) and log_score (n,) of the comparisons; or None.")
