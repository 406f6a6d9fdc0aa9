"""One person as somebody to learn about: candidates are pairs of items, what people share stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import ndtri

from adaptive import checks
from adaptive.estimators.base import DesignMixin
from adaptive.estimators.ids import alike, ids_of, located
from adaptive.estimators.preferences.comparison_predictive import N_DRAWS, Differences, about_all, about_the_best
from adaptive.estimators.preferences.comparisons import checked_winners, pair_columns
from adaptive.estimators.preferences.inference.people import Comparisons, settle
from adaptive.estimators.preferences.inference.spaces import Space, space_of
from adaptive.estimators.preferences.inference.utility_prior import UtilityPrior
from adaptive.estimators.preferences.settings import PreferenceSettings
from adaptive.estimators.preferences.utilities import Utilities

if TYPE_CHECKING:
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Id, Pool, RandomState, State

__all__ = ["PreferencePerson"]


QUICK = 1e-8  # what a site may still want to move, in units of its marginal: an answer is to take a millisecond


class PreferencePerson(DesignMixin):
    """One person's utilities, fitted with the prior of a fit as it is; `CollaborativePreference.user` makes it.

    Parameters
    ----------
    settings : PreferenceSettings
    prior : UtilityPrior
    items : (n,) array of ids
    label : id
    known : Comparisons
        The person's.
    sites : (pi (p,), nu (p,))
    """

    def __init__(
        self,
        settings: PreferenceSettings,
        prior: UtilityPrior,
        items: np.ndarray,
        label: Id,
        known: Comparisons,
        sites: tuple[np.ndarray, np.ndarray],
    ) -> None:
        self.settings, self.prior, self.items_, self.label = settings, prior, items, label
        self._take(known, *sites)

    def _take(self, known: Comparisons, pi: np.ndarray, nu: np.ndarray, space: Space | None = None) -> None:
        self.known, self.pi, self.nu = known, pi, nu
        self._utilities = Utilities.of(self.prior, self.label, known, pi, nu, space)

    # -- learning ------------------------------------------------------------------------------------------------------

    def partial_fit(self, X: Pool, y: ArrayLike) -> Self:
        """Learn which of two items won (+1: the first); what is refused changes nothing."""
        first, second = pair_columns(X)
        winners = checked_winners(y, len(first))
        ends, items = located(np.concatenate([first, second]), alike("items", first, self.items_))
        if len(items) > len(self.items_):
            raise ValueError(f"item {items[-1]!r} was not in the fit: partial_fit the estimator with it first.")
        n, old = len(first), self.known
        if not n:
            return self
        known = Comparisons(
            np.zeros(len(old) + n, dtype=np.int64), np.concatenate([old.first, ends[:n]]),
            np.concatenate([old.second, ends[n:]]), np.concatenate([old.y, winners]),
        )  # fmt: skip
        space = space_of(self.prior, known.first[None], known.second[None])
        pi, nu = (np.concatenate([sites, np.zeros(n)])[None] for sites in (self.pi, self.nu))
        pi, nu, *_ = settle(space, known.y[None], self.settings.rule, pi, nu, QUICK)
        self._take(known, pi[0], nu[0], space)
        return self

    def fit(self, X: Pool, y: ArrayLike) -> Self:
        """The same as ``partial_fit``: what is known of the person stays."""
        return self.partial_fit(X, y)

    # -- what is believed ----------------------------------------------------------------------------------------------

    def _differences(self, *pairs: tuple[np.ndarray, np.ndarray]) -> Differences:
        first, second = (np.concatenate([pair[k] for pair in pairs]) for k in (0, 1))
        ends, items = located(np.concatenate([first, second]), alike("items", first, self.items_))
        person = self._utilities.beside(self.prior.extended(len(items)))
        who, new = np.zeros(len(first), dtype=np.int64), items[len(self.items_) :].tolist()
        return Differences([person], who, ends[: len(first)], ends[len(first) :], new)

    def predictive(
        self, candidates: Pool, *, target: Pool | str | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Predictive of pairs of items.

        Parameters
        ----------
        candidates : (m, 2) array, frame or list of pairs
            The first won where the outcome is +1.
        target : None, "best" or pairs
            What is to be learnt: all utilities, which item is best, or the outcomes of given comparisons.
        random_state : None, int, Generator or RandomState
        """
        pairs, likelihood = pair_columns(candidates), self.settings.likelihood
        if isinstance(target, str):
            checks.choice("target", target, ("best",))
            return about_the_best(self._differences(pairs), likelihood, random_state=random_state)
        wanted = [] if target is None else [pair_columns(target)]
        if wanted and not len(wanted[0][0]):
            raise ValueError("target must hold at least one comparison, got none.")
        return about_all(self._differences(pairs, *wanted), len(pairs[0]), likelihood, random_state=random_state)

    def predict_proba(self, X: Pool) -> np.ndarray:
        """Return the probabilities (m, 2) that the second, and the first, item of a pair wins."""
        return np.asarray(self.predictive(X).probabilities)

    def utilities(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean (n,) and covariance (n, n) of all items' utilities."""
        return self._utilities.moments(np.arange(len(self.items_)))

    def recommend(self, n: int = 10) -> np.ndarray:
        """Return the ids of the n items of the highest mean utility, the best first."""
        return self.items_[np.argsort(-self.utilities()[0], kind="stable")[:n]]

    def ranking(self, level: float = 0.9, random_state: RandomState = 0) -> dict[str, list[Any]]:
        """Return columns item, utility, lower, upper, best: all items, the best first.

        Utilities are against the mean of all items (comparisons say nothing of their level), with intervals of
        probability ``level``; ``best`` is the probability that no item is liked better, by 1,024 draws.
        """
        checks.share("level", level)
        mean, covariance = self.utilities()
        mean = mean - mean.mean()
        row = covariance.mean(axis=1)
        deviation = np.sqrt(np.maximum(np.diag(covariance) - 2.0 * row + row.mean(), 0.0))
        width = float(ndtri(0.5 * (1.0 + level))) * deviation
        seed = int(checks.generator(random_state).integers(2**62))
        winners = self._utilities.draws(N_DRAWS, seed).argmax(axis=1)
        best = np.bincount(winners, minlength=len(mean)) / N_DRAWS
        order = np.argsort(-mean, kind="stable")
        columns = {"utility": mean, "lower": mean - width, "upper": mean + width, "best": best}
        return {
            "item": self.items_[order].tolist(),
            **{name: column[order].tolist() for name, column in columns.items()},
        }

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data: the person's comparisons and their sites; the prior is that of the fit."""
        known = self.known
        return {"first": self.items_[known.first], "second": self.items_[known.second], "y": known.y,
                "pi": self.pi, "nu": self.nu}  # fmt: skip

    def restore(self, state: State) -> Self:
        """Take over what ``state`` returned, beside the same prior."""
        first, second = (
            located(ids_of("items", np.asarray(state[name])), self.items_)[0] for name in ("first", "second")
        )
        y, pi, nu = (np.asarray(state[name], dtype=float) for name in ("y", "pi", "nu"))
        self._take(Comparisons(np.zeros(len(y), dtype=np.int64), first, second, y), pi, nu)
        return self
