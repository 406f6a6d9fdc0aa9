"""Next items, user by user:  h_t = cell(W_u h_{t-1}, event_{t-1}),  P(event_t = i) = softmax(V h_t)_i."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.belief import BeliefEstimator
from adaptive.estimators.ids import located
from adaptive.estimators.sequences.belief import SequenceBelief
from adaptive.estimators.sequences.histories import Histories, events_of, ids
from adaptive.estimators.sequences.settings import SequenceSettings

if TYPE_CHECKING:
    from adaptive.estimators.sequences.histories import Sequences
    from adaptive.estimators.sequences.nets.training import Training
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Id, Pool, RandomState, State

__all__ = ["CollaborativeRNN"]


class CollaborativeRNN(BeliefEstimator):
    """The next event of each of many users, by a recurrent net whose memory is each user's own.

    Items' rows are shared by all users; the matrix that carries a state from event to event is a user's own. Trained by
    truncated back-propagation with closed gradients, RMSprop and early stopping, all users and members in one batch.

    Parameters
    ----------
    n_components : int, default 32
        Size D of the state. No other value of this or of what says how nets are trained was certainly ahead on two real
        sets and on two more (``ours-default-settings-sequences``, three splits).
    cell : {"gru", "tanh"}
        "gru" has three own matrices (D, D) per user, "tanh" one.
    pooled : bool or "auto", default "auto"
        True: one memory for everybody. "auto": both are trained, and the one is taken that tells events held out at the
        end of histories better; ``posterior_.pooled`` says which. By Laplace's approximation, a memory for each; where
        no history has twelve events, one for all. Chosen by ``ours-default-sequences``.
    n_members : int, default 1
        Nets that are trained side by side from different starts. With two or more, what they disagree about is what can
        be learnt: see Notes.
    uncertainty : {"ensemble", "laplace"}
        "laplace": not members but draws of each user's own matrix, from a Gaussian about its mode (the shared ones
        fixed), beside a matrix normal prior of each gate, fitted to all users. Needs ``n_members=1``. Chosen by
        ``ours-sequences-asked-random``.
    n_draws : int, default 64
        How many of them; a mixture of few is surer than it should be.
    window : int, default 128
        Events that a gradient goes back; states are carried on from window to window.
    batch_size : int, default 8
        Users side by side, each from the first event to the last. Fewer: more steps per epoch, each dearer by event.
        Where histories are long, few users at a time teach what all share for long: try all together (by held-out
        events, which ``objective_trace_`` has).
    learning_rate, clip : float, default 0.01 and 5
        Of RMSprop; largest norm of a gradient (nats per event).
    n_sampled : int, optional
        Train on so many items drawn at each step beside those that came, where there are very many. Predictions are
        always over all items.
    validation_fraction : float, default 0.1
        Events at the end of each history of twelve or more, at least three, that say when to stop. Chosen by
        ``ours-default-nets``, with ``window``: a fortieth was certainly behind on five of eight, by .04 to .2 nats.
    patience : int, default 5
        Epochs without improvement after which a member stops; its best parameters are restored.
    max_iter : int, default 100
        Epochs.
    tol : float, default 0
        Nats that count as an improvement.
    items : sequence of ids, optional
        All items; None: those of ``fit``. With it, the prior answers before any fit, and others are refused.
    random_state : None, int, Generator or RandomState

    Attributes
    ----------
    users_, items_ : arrays of ids, (n_users,) and (n_items,)
    posterior_ : Weights
        ``inputs``, ``outputs``, ``own``.
    objective_trace_ : (n_iter_,) array
        Mean over users and members of nats per held-out event, after every epoch.
    log_evidence_, evidence_kind_, n_iter_, converged_ : of the training; nan and "none"

    Notes
    -----
    No prediction has seen its event: the state that predicts event t knows the events before t. A row of its own stands
    before the first event, so that a first event, and somebody never seen, have an answer.

    Members differ by their starts alone. They are no posterior: where all agree by what they have in common, they are
    sure and may be wrong, and what they disagree about is partly how they were optimised. ``partial_fit`` reweights
    them by what they said of an event; their matrices stand still, as do those of users. With "laplace" the user's own
    matrix is settled again on all of the user's history, which takes some passes of Gauss-Newton over it.

    ``partial_fit`` trains the nets anew, as ``fit`` does, once there are twice as many events as they were trained on.
    Answers one by one do not lead to the posterior of ``fit`` on all in between: nets are those of fewer events then.
    From one training to the next they lead where all of them at once do.

    Where histories have very different lengths, asking those of whom "laplace" says that most can be learnt was ahead
    of asking at random; what members disagree about was not. A first event says nothing of a memory.

    References
    ----------
    Ko (2017), section 3.3; Ko, Maystre and Grossglauser (2016), Collaborative recurrent neural networks for dynamic
    recommender systems.

    Examples
    --------
    >>> rounds = [[(step * way) % 4 for step in range(40)] for way in (1, 3, 1, 3)]  # round a circle, either way
    >>> model = CollaborativeRNN(8, batch_size=2, learning_rate=0.03, patience=30, max_iter=30, random_state=0)
    >>> import warnings; warnings.simplefilter("ignore")                             # 30 epochs are enough here
    >>> model = model.fit(rounds)
    >>> model.predict([0, 1]).tolist()
    [0, 0]
    >>> model.log_predictive({0: [0, 1], 1: [0, 3]})[1].shape
    (2,)
    """

    def __init__(
        self,
        n_components: int = 32,
        *,
        cell: str = "gru",
        pooled: bool | str = "auto",
        n_members: int = 1,
        uncertainty: str = "ensemble",
        n_draws: int = 64,
        window: int = 128,
        batch_size: int = 8,
        learning_rate: float = 0.01,
        clip: float = 5.0,
        n_sampled: int | None = None,
        validation_fraction: float = 0.1,
        patience: int = 5,
        max_iter: int = 100,
        tol: float = 0.0,
        items: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.cell = cell
        self.pooled = pooled
        self.n_members = n_members
        self.uncertainty = uncertainty
        self.n_draws = n_draws
        self.window = window
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.clip = clip
        self.n_sampled = n_sampled
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.max_iter = max_iter
        self.tol = tol
        self.items = items
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------------

    _cites = ("ko2017",)
    _Settings, _Data, _Belief = SequenceSettings, Histories, SequenceBelief
    belief_: SequenceBelief

    def fit(
        self,
        sequences: Sequences,
        y: ArrayLike | None = None,
        *,
        callback: Callable[[Training], None] | None = None,
        resume: State | None = None,
    ) -> CollaborativeRNN:
        """Train anew, and forget all earlier data.

        Parameters
        ----------
        sequences : list of sequences, mapping user -> items, or events
            Of a list, users are 0, 1, ...; events are an array, a frame or a list of tuples (user, item), in order, or
            (user, item, time), which are sorted if need be, with a warning. Ids are whole numbers or text.
        y : (n,) array, optional
            Items, where ``sequences`` are the users of events.
        callback : callable, optional
            Called after every epoch with the training; ``callback.state()`` of it is what ``resume`` takes.
        resume : dict, optional
            ``training.state()`` of a training on the same sequences with the same parameters, that was stopped: the
            result is the same, to the bit.
        """
        settings = SequenceSettings.of(self)
        return self._learn(settings, self._measured(sequences, y), None, callback=callback, resume=resume)

    def partial_fit(self, sequences: Sequences, y: ArrayLike | None = None) -> CollaborativeRNN:
        """Learn further events of users, new ones, too (items must be known); what is refused changes nothing.

        Parameters
        ----------
        sequences, y
            As for ``fit``; most simply users and their next items.
        """
        return self._partial_fit(sequences, y)

    def _measured(self, X: Sequences, y: ArrayLike | None, earlier: Histories | None = None) -> Histories:
        events = events_of(X, y)
        if earlier is not None:
            return earlier.followed_by(events)
        items = SequenceSettings.of(self).catalogue
        return Histories.of(events, items, closed=len(items) > 0)

    def _candidates(self, X: Pool) -> np.ndarray:
        users = ids("users", X.to_numpy().ravel() if hasattr(X, "to_numpy") else X)
        known = self.belief_.data.users if self.__sklearn_is_fitted__() else users
        if len(users) and len(known) and users.dtype.kind != known.dtype.kind:
            raise ValueError(f"users must be of one kind, numbers or text: got {users.dtype} after {known.dtype}.")
        return users

    # -- belief --------------------------------------------------------------------------------------------------------

    def predictive(
        self, candidates: Pool, *, target: Pool | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the predictive of users' next items; before any fit the prior answers.

        Parameters
        ----------
        candidates : (m,) array, list or series of users
        target : None or users
            What is to be learnt: which member (whose draw) is right, or the next items of given users.
        random_state : None, int, Generator or RandomState
        """
        return super().predictive(candidates, target=target, random_state=random_state)

    def predict_proba(self, users: Pool) -> np.ndarray:
        """Return probabilities (m, n_items) of users' next items, in the order of ``items_``.

        Smallest sets of nominal .90 hold .90 to .91 of what speakers and .87 to .88 of what neurons do next, by four
        members, after random and chosen answers (``ours-bands-sequences``).
        """
        return np.asarray(self.fitted_belief().predictive(self._candidates(users)).probabilities)

    def predict(self, users: Pool) -> np.ndarray:
        """Return users' most probable next items, (m,)."""
        return self.items_[self.predict_proba(users).argmax(axis=1)]

    def log_predictive(
        self, sequences: Sequences, y: ArrayLike | None = None, *, anew: bool = False
    ) -> np.ndarray | list[np.ndarray]:
        """Return natural-log probabilities of events, each given those before it.

        Parameters
        ----------
        sequences, y
            As for ``fit``: what came after that which was fitted. Items must be known.
        anew : bool, default False
            Of whole histories that begin with these events, by what is known of the users.

        Returns
        -------
        list of (n_u,) arrays
            One per user, as given (of events: in the order in which users appear). Each adds up to the log probability
            of the sequence. With ``y``: one array (n,).
        """
        belief, events = self.fitted_belief(), events_of(sequences, y)
        new = Histories.of(events, belief.data.items, closed=True)
        if y is None:
            return belief.log_predictive(new.users, new.codes, anew=anew)
        found = np.empty(len(events.who))
        found[np.argsort(events.who, kind="stable")] = np.concatenate(
            [*belief.log_predictive(new.users, new.codes, anew=anew), np.zeros(0)]
        )
        return found

    def score(self, sequences: Sequences, y: ArrayLike | None = None) -> float:
        """Return the mean over users of their mean log probability per event; users without events do not count."""
        events = events_of(sequences, y)
        belief = self.fitted_belief()
        new = Histories.of(events, belief.data.items, closed=True)
        if not len(new):
            raise ValueError("sequences must hold at least one event to be scored, got none.")
        return float(np.mean([one.mean() for one in belief.log_predictive(new.users, new.codes) if len(one)]))

    def history(self, user: Id) -> np.ndarray:
        """Return the items of a user so far, in order; none of one who was never seen."""
        data = self.fitted_belief().data
        place = int(located(ids("users", [user]), data.users)[0][0])
        return data.items[data.codes[place]] if place < len(data.users) else data.items[:0]

    @property
    def users_(self) -> np.ndarray:
        """Ids of users, as they came."""
        return self.fitted_belief().data.users

    @property
    def items_(self) -> np.ndarray:
        """Ids of items: those of the parameter first, then as they came."""
        return self.fitted_belief().data.items
