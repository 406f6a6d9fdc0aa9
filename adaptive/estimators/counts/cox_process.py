"""Rates over time or space with bands:  y(x) ~ Poisson(exposure rate(f(x))),    f ~ GP(m, k)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin

from adaptive import checks
from adaptive.estimators.belief import of_belief
from adaptive.estimators.counts.cox_settings import CoxSettings
from adaptive.estimators.counts.exposure import CountRows, Exposed, column_of, exposed
from adaptive.estimators.counts.process_belief import CoxBelief
from adaptive.estimators.gaussian_process.estimator import (  # house: a Cox process is one
    ProcessEstimator,
)
from adaptive.estimators.intervals import count_interval, log_probabilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.gaussian_process.kernels import Kernel
    from sklearn.utils import Tags

    from adaptive.inference import Posterior
    from adaptive.means import Mean
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Pool, RandomState, Table

__all__ = ["CoxProcess", "binned"]

BINS_OF_TIME, BINS_OF_AN_AXIS = 100, 16


class CoxProcess(RegressorMixin, ProcessEstimator):
    """Counts whose rate is a function of time or place, learnt as a Gaussian process behind a link.

    Parameters
    ----------
    kernel : kernel, optional
        Of scikit-learn or :mod:`adaptive.kernels`. None: a squared exponential whose height and length (one per axis)
        are learnt from three starts, lengths of a thirtieth, a tenth and a third of the range. Where a place is counted
        at more than once (trials, years), white noise is learnt beside it: counts of one place may vary more than one
        rate explains (chosen by ``ours-default-cox``). Such counts are rows of their own; do not add them up.
    rate : {"auto", "rectified", "exp", "softplus"}, default "auto"
        max(0, f), exp(f) or log(1 + exp(f)); equally good on seven real sets (``ours-default-settings-rates``). "auto":
        rectified for Poisson counts, exponential for negative binomial ones.
    mean : mean function of :mod:`adaptive.means`, float or None
        Its parameters are fitted with those of the kernel. None: a constant that starts at the rate of all counts, and
        whose uncertainty is part of what is predicted, as an intercept's is.
    overdispersion : float, "learnt", "auto" or None, default "auto"
        Counts are negative binomial: their variance is mean + overdispersion x mean^2, whatever the exposure; a number
        >= 0, or learnt with the kernel by evidence. It asks for an exponential rate. None: counts are Poisson's about a
        rate that may differ between counts of one place (see ``kernel``). "auto" fits both, and takes the one that
        predicts each count better while it is left out, where each learnt parameter costs a nat. It is None where there
        are fewer than twenty counts, where nothing is learnt, by any inference but expectation propagation, with a
        kernel or a mean that was given beside ``rate="auto"`` (these are in units of one rate), or with a ``rate`` that
        is told and is not "exp". Certainly behind either on none of 17 real sets, in 2.5 times the time of Poisson's
        alone, at most 3.8. Chosen by ``ours-default-cox-overdispersion``.
    exposure : int or str, optional
        The column of X that says for how long, or over how large an area, was counted; it is no place then.
    inference : str or callable, default "expectation_propagation"
        Any of :mod:`adaptive.inference` that takes the rate ("variational_gaussian" refuses "rectified").
    optimizer : "fmin_l_bfgs_b", callable or None, default "fmin_l_bfgs_b"
        Climbs the log evidence (nats); None keeps the parameters.
    n_restarts_optimizer : int, default 0
        Further starts, at random within the kernel's bounds; needs finite bounds of all parameters.
    max_iter : int, default 100
        Iterations of the inference.
    tol : float, default 1e-6
        Its tolerance.
    rank, low_rank : as in `GaussianProcessClassifier`
    random_state : None, int, Generator or RandomState

    Attributes
    ----------
    kernel_, mean_, rate_ : as fitted, or chosen
    overdispersion_ : float
        Of negative binomial counts their own. Else the variance of the function from one count of a place to the next;
        0 where none was found.
    overdispersion_gain_ : float or None
        Nats a count without itself by which negative binomial counts are ahead of Poisson's, where ``overdispersion``
        is "auto" and both were tried.
    variance_factor_ : VarianceFactor or None
        By how much the function's variances are too small, by counts without themselves, with the standard error of its
        logarithm: the likeliest. None of fewer than five counts, or where no count can be left out.
    constant_rate_ : ConstantRate or None
        What a user would take instead: ``rate``, ``rate_std``; how much better the process predicts each count while it
        is left out (``gain``, ``gain_std``, nats); the log of how many times as probable all counts are under the
        process (``log_bayes_factor``); ``suffices``: True where the process is not certainly ahead.
    posterior_ : Posterior over the function at the bins
    log_evidence_, evidence_kind_, objective_trace_, n_iter_, converged_ : of the inference
    X_train_, y_train_ : training rows and answers

    Notes
    -----
    ``partial_fit`` adds bins and re-converges from the sites it had. Hyper-parameters are learnt from the first event
    on: they follow their top at every row and, when there are a quarter more rows or a count is a surprise, are sought
    from where ``fit`` starts, too. Before any fit the prior is about one event per unit of exposure.

    Bands (`interval`, `intensity`, ``log_predictive``) mix what the counts leave possible: heights and lengths of the
    kernel about the most probable ones, weighted by evidence and prior, and factors of the function's variances, by
    counts without themselves. It costs about as much as a fit, once, when the first band is asked for. Means, what is
    chosen, and deviations of ``predict`` take the kernel as found. A kernel that is told (``optimizer=None``) is
    believed.

    References
    ----------
    Ko (2017), section 2.1 and 2.1.5; Moller, Syversveen and Waagepetersen (1998), Log Gaussian Cox processes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> times = np.sort(np.concatenate([rng.uniform(0, 10, 15), rng.uniform(4, 6, 25)]))
    >>> X, y = CoxProcess.binned(times, (0, 10), 40)
    >>> model = CoxProcess().fit(X, y)
    >>> rate, low, high = model.intensity(np.array([[1.0], [5.0]]))
    >>> bool(rate[1] > rate[0]), bool(np.all((low <= rate) & (rate <= high)))
    (True, True)
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        rate: str = "auto",
        mean: Mean | float | None = None,
        overdispersion: float | str | None = "auto",
        exposure: int | str | None = None,
        inference: str | Callable[..., Posterior] = "expectation_propagation",
        optimizer: str | Callable[..., Any] | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        max_iter: int = 100,
        tol: float = 1e-6,
        rank: int | None = None,
        low_rank: str = "incomplete_cholesky",
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.rate = rate
        self.mean = mean
        self.overdispersion = overdispersion
        self.exposure = exposure
        self.inference = inference
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.max_iter = max_iter
        self.tol = tol
        self.rank = rank
        self.low_rank = low_rank
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------------

    _cites = ("ko2017",)
    _Settings, _Data, _Belief = CoxSettings, CountRows, CoxBelief
    copy_X_train = True
    compares_columns = False  # times and places come in units of their own
    belief_: CoxBelief

    @staticmethod
    def binned(
        events: ArrayLike, window: ArrayLike, n_bins: int | tuple[int, ...] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return events as counts in bins of equal size.

        Parameters
        ----------
        events : (k,) times or (k, d) places
        window : (start, end), or one such pair per axis
            Where events were looked for.
        n_bins : int, or one per axis, optional
            None: 100 of time, 16 per axis of places.

        Returns
        -------
        X : (n, d) array
            Centres of the bins.
        y : (n,) array
            How many events each holds. The rate of a fit to these is one per bin.
        """
        return binned(events, window, n_bins)

    def fit(self, X: Table, y: ArrayLike) -> CoxProcess:
        """Forget the earlier fit, and fit.

        Parameters
        ----------
        X : (n, d) array
            Centres of bins; one column may be their exposure.
        y : (n,) array of counts
        """
        return self._fit(X, y)

    def partial_fit(self, X: Table, y: ArrayLike) -> CoxProcess:
        """Learn from further bins, starting from the sites there are; what is refused changes nothing."""
        return self._partial_fit(X, y)

    def _measured(self, X: Table, y: ArrayLike, earlier: CountRows | None = None) -> CountRows:
        rows, counts = self._inputs(X, y, reset=earlier is None, y_numeric=True)
        rows, counts = np.asarray(rows, dtype=float), checks.finite("y", counts)
        column = column_of(self, rows, self.exposure) if earlier is None else earlier.column
        new = CountRows(rows, counts, column)
        CoxSettings.of(self).resolved().potential(counts, new.exposed.exposure)  # what is refused is refused here
        return new if earlier is None else earlier.followed_by(rows, counts)

    def _candidates(self, X: Table) -> Exposed:
        rows = np.asarray(super()._candidates(X), dtype=float)
        if self.__sklearn_is_fitted__():
            return exposed(rows, self.fitted_belief().data.column)
        return exposed(rows, column_of(self, X if isinstance(self.exposure, str) else rows, self.exposure))

    # -- belief --------------------------------------------------------------------------------------------------------

    def predict(self, X: Table, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the mean counts (m,) over the bins' exposures.

        With ``return_std`` also the standard deviations of these means, without the noise of counting, which `interval`
        includes: it says what its .90 covers (``ours-bands-cox``).
        """
        belief, given = self.fitted_belief(), self._candidates(X)
        family, moments = belief.family(given.exposure), belief.process.moments(given.rows)
        mean = family.expected_rate(*moments)
        if not return_std:
            return mean
        return mean, np.sqrt(np.maximum(family.expected_square(*moments) - mean**2, 0.0))

    def intensity(self, X: Table, level: float = 0.9) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mean, lower and upper end (m,) of the rate at X, per unit of exposure.

        Parameters
        ----------
        X : (m, d) array, as in ``fit``
        level : float, default 0.9
            Probability of the band at each place; it mixes kernels as `interval` does (``ours-bands-cox``).
        """
        belief = self.fitted_belief()
        belief.tell_alarm()
        return belief.intensity(self._candidates(X).rows, level)

    def intensity_draws(self, X: Table, n: int = 1000, random_state: RandomState = None) -> np.ndarray:
        """Return joint draws (n, m) of the rate at X, per unit of exposure, from what the bands of `intensity` mix.

        They answer questions about several places at once: has the rate risen, and by how much; where is it highest?

        Parameters
        ----------
        X : (m, d) array, as in ``fit``
        n : int, default 1000
        random_state : None, int, Generator or RandomState

        Examples
        --------
        >>> X, y = np.arange(40.0)[:, None], np.repeat([1.0, 4.0], 20)
        >>> rates = CoxProcess(random_state=0).fit(X, y).intensity_draws(X, random_state=0)
        >>> ratio = rates[:, 32:].mean(axis=1) / rates[:, :8].mean(axis=1)  # the last fifth beside the first
        >>> bool(np.quantile(ratio, 0.05) > 1.5), bool(np.mean(ratio > 1) > 0.99)
        (True, True)
        """
        belief = self.fitted_belief()
        belief.tell_alarm()
        n = checks.integer("n", n, minimum=1)
        return belief.intensity_draws(self._candidates(X).rows, n, checks.generator(random_state))

    def interval(self, X: Table, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts (m,) between which each bin's lies with at least the probability ``level``.

        Nominal .90 covers .89 to .92 of real counts and .93 to .94 of drawn ones, by ten bins as by 40, random or
        chosen: kernels that these leave possible are mixed (``ours-bands-cox``). Where ``variance_factor_`` is above 4
        it warns. Of 68 fits to real counts and labels none was above 2.
        """
        belief, given = self.fitted_belief(), self._candidates(X)
        belief.tell_alarm()
        weights, means, variances = belief.parts(given.rows)
        return count_interval(belief.plain(given.exposure), means, variances, level, weights)

    def log_predictive(self, X: Table, y: ArrayLike) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities of the counts ``y``."""
        belief, given = self.fitted_belief(), self._candidates(X)
        weights, means, variances = belief.parts(given.rows)
        return log_probabilities(belief.plain(given.exposure).observe, means, variances, y, weights)

    def predictive(
        self, candidates: Pool, *, target: Table | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the belief about bins: jointly Gaussian values of the function, and counts over the exposures.

        Parameters
        ----------
        candidates : (m, d) array
        target : (t, d) array, optional
            Places that the information is to be about; None: the whole function.
        random_state : None, int, Generator or RandomState
        """
        return super().predictive(candidates, target=target, random_state=random_state)

    leave_one_out_ = of_belief(
        "left_out", "Log score (m,) of the training rows without themselves, where there is one."
    )
    constant_rate_ = of_belief("constant_rate", "One rate for all counts, and what the process gains over it; or None.")
    rate_ = of_belief("settings.rate", "The link of the rate, given or chosen.")
    overdispersion_gain_ = of_belief("overdispersion_gain", "Nats a count by which overdispersed ones are ahead.")
    variance_factor_ = of_belief("variance_factor", "Of the function's variances, by counts left out; or None.")
    kernel_ = of_belief("process.kernel", "The kernel as fitted.")
    mean_ = of_belief("process.mean", "The mean function as fitted.")
    overdispersion_ = of_belief("overdispersion", "Of the counts, or of the function between counts of one place.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


def binned(
    events: ArrayLike, window: ArrayLike, n_bins: int | tuple[int, ...] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres (n, d) of bins of equal size, and how many of the events (k,) or (k, d) lie in each (n,)."""
    places = checks.finite("events", events)
    places = places[:, None] if places.ndim == 1 else places
    if places.ndim != 2:
        raise ValueError(f"events must be times (k,) or places (k, d), got shape {np.shape(events)}.")
    d = places.shape[1]
    ends = np.atleast_2d(checks.finite("window", window))
    checks.shape("window", ends, (d, 2))
    if not (ends[:, 0] < ends[:, 1]).all():
        raise ValueError(f"window must hold a start below an end for every axis, got {ends.tolist()}.")
    default = BINS_OF_TIME if d == 1 else BINS_OF_AN_AXIS
    wanted = np.broadcast_to(default if n_bins is None else n_bins, (d,))
    sizes = [checks.integer("n_bins", int(size), minimum=1) for size in wanted]
    outside = (places < ends[:, 0]) | (places > ends[:, 1])
    if outside.any():
        k = int(np.flatnonzero(outside.any(axis=1))[0])
        raise ValueError(f"events must lie in the window {ends.tolist()}, but number {k} is {places[k].tolist()}.")
    edges = [np.linspace(low, high, size + 1) for (low, high), size in zip(ends, sizes, strict=True)]
    counts, _ = np.histogramdd(places, edges)
    centres = np.meshgrid(*(0.5 * (edge[1:] + edge[:-1]) for edge in edges), indexing="ij")
    return np.stack([axis.ravel() for axis in centres], axis=1), counts.ravel()
