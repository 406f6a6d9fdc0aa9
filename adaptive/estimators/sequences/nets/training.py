"""Truncated back-propagation through windows with carried states, RMSprop, early stopping; resumable to the bit.

    epochs:  users in random batches;  h <- 0;  per window: forward, gradients back (cut at its beginning), one step
    until the error of the last events of each history has not improved for ``patience`` epochs; restore the best

Everything the next epoch depends on is in `Training`; its ``state`` is plain data.

References: Ko (2017), algorithms 7 and 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.sequences.nets.batching import batches_of, padded
from adaptive.estimators.sequences.nets.item_softmax import Slopes, exact_losses, sampled_losses
from adaptive.estimators.sequences.nets.rmsprop import clip, descend
from adaptive.estimators.sequences.nets.scoring import held_out_error
from adaptive.estimators.sequences.nets.unrolled import Unrolled, unroll
from adaptive.estimators.sequences.nets.weights import Weights

if TYPE_CHECKING:
    from adaptive.types import State

__all__ = ["Plan", "Training"]

FEWEST_HELD, LONG_ENOUGH = 3, 12  # events that are held out for stopping, of histories of at least so many


@dataclass(frozen=True)
class Plan:
    """Settings of training; the parameters of :class:`~adaptive.CollaborativeRNN` of these names."""

    window: int = 128
    batch_size: int = 8
    learning_rate: float = 0.01
    clip: float = 5.0
    n_sampled: int | None = None
    validation_fraction: float = 0.1
    patience: int = 5
    max_iter: int = 100
    tol: float = 0.0

    def trained_on(self, lengths: np.ndarray) -> np.ndarray:
        """Return how many of so many events are for gradients; the others, at the end, say when to stop."""
        held = np.maximum(FEWEST_HELD, np.floor(self.validation_fraction * lengths)).astype(np.int64)
        return np.where((lengths >= LONG_ENOUGH) & (self.validation_fraction > 0), lengths - held, lengths)

    def holds_out(self, histories: Sequence[np.ndarray]) -> bool:
        """Return True where some history is long enough that events at its end say when to stop."""
        lengths = np.array([len(history) for history in histories], dtype=np.int64)
        return bool((self.trained_on(lengths) < lengths).any())


@dataclass(eq=False)
class Training:
    """A net in training.

    Attributes
    ----------
    weights, squares : Weights
        Parameters, and mean squares of their gradients; changed in place.
    best : Weights
        Of each member those of its lowest error.
    errors : (R,) array
        These errors: mean over users of nats per held-out event; in sample where nothing is held out.
    waiting : (R,) array
        Epochs since then.
    trace : list of float
        Mean error of the members after every epoch.
    rng : Generator
    """

    weights: Weights
    squares: Weights
    best: Weights
    errors: np.ndarray
    waiting: np.ndarray
    rng: np.random.Generator
    trace: list[float] = field(default_factory=list)

    @classmethod
    def begun(cls, weights: Weights, rng: np.random.Generator) -> Training:
        """Before the first epoch."""
        members = np.zeros(weights.n_members)
        return cls(weights, weights.zeros(), weights.copy(), members + np.inf, members.astype(np.int64), rng)

    def finished(self, plan: Plan) -> bool:
        """Test whether no member has improved for long."""
        return bool(len(self.trace) and (self.waiting >= plan.patience).all())

    def epochs(self, histories: Sequence[np.ndarray], plan: Plan) -> Iterator[int]:
        """Train on, one epoch after the other, and yield how many there were."""
        lengths = np.array([len(history) for history in histories], dtype=np.int64)
        n_trained = plan.trained_on(lengths)
        frequencies = np.bincount(np.concatenate(histories), minlength=self.weights.n_items)
        while not self.finished(plan) and len(self.trace) < plan.max_iter:
            losses = np.zeros(self.weights.n_members)
            for users in batches_of(n_trained, plan.batch_size, self.rng):
                losses += self._visit(users, [histories[u][: n_trained[u]] for u in users], plan, frequencies)
            if (n_trained < lengths).any():
                self._judge(held_out_error(self.weights, histories, n_trained), plan.tol)
            else:
                self._judge(losses / lengths.sum(), plan.tol)
            yield len(self.trace)

    def _judge(self, errors: np.ndarray, tol: float) -> None:
        better = errors < self.errors - tol
        self.waiting = np.where(better, 0, self.waiting + 1)
        self.errors = np.where(better, errors, self.errors)
        for name in ("inputs", "outputs", "own"):
            getattr(self.best, name)[better] = getattr(self.weights, name)[better]
        self.trace.append(float(errors.mean()))

    def _visit(self, users: np.ndarray, histories: list[np.ndarray], plan: Plan, counts: np.ndarray) -> np.ndarray:
        """Go through the histories of some users in windows, with a step at each; return the members' losses."""
        weights = self.weights
        inputs, targets, lengths = padded(histories)
        own, squares = weights.own_of(users), self.squares.own_of(users)  # copies, but where all share one
        h = np.zeros((weights.n_members, len(users), weights.n_components), weights.outputs.dtype)
        losses = np.zeros(weights.n_members)
        for begin in range(0, len(inputs), plan.window):
            codes, wanted = inputs[begin : begin + plan.window], targets[begin : begin + plan.window]
            steps = np.clip(lengths - begin, 0, len(codes))
            there = np.arange(len(codes))[:, None] < steps
            run = unroll(weights.cell, own, weights.rows_of(codes), h, steps)
            h = run.after[-1]
            found = self._losses(run, there, wanted[there], plan.n_sampled, counts)
            losses += found.losses
            self._step(own, squares, codes, there, run, found, plan)
        if not weights.pooled:
            weights.own[:, users], self.squares.own[:, users] = own, squares
        return losses

    def _losses(
        self, run: Unrolled, there: np.ndarray, wanted: np.ndarray, n_sampled: int | None, counts: np.ndarray
    ) -> Slopes:
        states = np.ascontiguousarray(np.moveaxis(run.after, 1, 0)[:, there])
        if n_sampled is None:
            return exact_losses(self.weights.outputs, states, wanted)
        share = (counts + 1.0) ** 0.75  # of Mikolov et al. (2013)
        share /= share.sum()
        sample = np.unique(self.rng.choice(len(share), size=n_sampled, p=share))
        return sampled_losses(
            self.weights.outputs, states, wanted, sample, np.log(-np.expm1(n_sampled * np.log1p(-share)))
        )

    def _step(
        self, own: np.ndarray, squares: np.ndarray, codes: np.ndarray, there: np.ndarray, run: Unrolled, found: Slopes,
        plan: Plan,
    ) -> None:  # fmt: skip
        """Move down the gradient of the mean loss of the window's events, a user's own matrix of the user's events."""
        weights = self.weights
        by_after = np.zeros(run.after.shape, run.after.dtype)
        np.moveaxis(by_after, 1, 0)[:, there] = found.by_states
        by_inputs, by_own = run.gradients(by_after)
        n = max(int(there.sum()), 1)
        touched, by_rows = _summed(codes[there] % len(weights.inputs[0]), np.moveaxis(by_inputs, 1, 0)[:, there])
        by_rows /= n
        by_outputs = found.by_rows
        by_outputs /= n
        shared = [by_rows, by_outputs]
        if weights.pooled:
            by_own /= n
            shared.append(by_own)
        else:
            steps = np.maximum(there.sum(axis=0), 1).astype(by_own.dtype)
            by_own /= steps[:, None, None]
            clip(plan.clip, by_own.reshape(-1, *by_own.shape[2:]))
        clip(plan.clip, *shared)
        descend(weights.inputs, self.squares.inputs, by_rows, plan.learning_rate, touched)
        descend(weights.outputs, self.squares.outputs, by_outputs, plan.learning_rate, found.rows)
        active = slice(None) if weights.pooled or there[0].all() else np.flatnonzero(there[0])
        descend(own, squares, by_own[:, active], plan.learning_rate, active)

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data."""
        parts = {name: getattr(self, name).state() for name in ("weights", "squares", "best")}
        return {
            **parts, "errors": [float(e) for e in self.errors] if np.isfinite(self.errors).all() else None,
            "waiting": self.waiting, "trace": self.trace, "generator": self.rng.bit_generator.state,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: State) -> Training:
        """Training from its ``state``."""
        weights, squares, best = (Weights.from_state(state[name]) for name in ("weights", "squares", "best"))
        rng = np.random.default_rng()
        rng.bit_generator.state = state["generator"]
        errors = np.full(weights.n_members, np.inf) if state["errors"] is None else np.array(state["errors"])
        return cls(weights, squares, best, errors, np.array(state["waiting"]), rng, list(state["trace"]))


def _summed(codes: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which codes there are, and of each the sum (R, K, D) of its gradients (R, N, D)."""
    order = np.argsort(codes, kind="stable")
    touched, starts = np.unique(codes[order], return_index=True)
    return touched, np.add.reduceat(gradients[:, order], starts, axis=1)
