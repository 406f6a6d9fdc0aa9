"""Any model with a likelihood: weighted particles learn its parameters and say which setting teaches most."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from adaptive import checks
from adaptive import pool as pools
from adaptive.estimators.belief import BeliefEstimator, of_belief
from adaptive.estimators.particles import predictions
from adaptive.estimators.particles.belief import ParticleBelief
from adaptive.estimators.particles.bounds import Bounds, information_bounds
from adaptive.estimators.particles.count_noise import check_counts
from adaptive.estimators.particles.inference.prior import checked_draws
from adaptive.estimators.particles.likelihood import stacked
from adaptive.estimators.particles.predictive import ParticlePredictive
from adaptive.estimators.particles.settings import CloudSettings, ParticleSettings
from adaptive.estimators.rows.tables import checked_table, refuse_extremes
from adaptive.estimators.rows.training import Rows

if TYPE_CHECKING:
    from pandas import DataFrame

    from adaptive.estimators.particles.inference.prior import PriorLike
    from adaptive.estimators.particles.likelihood import Function
    from adaptive.estimators.particles.target import Named
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Pool, RandomState, State, Table

__all__ = ["ParticleEstimator"]


class ParticleEstimator(RegressorMixin, BeliefEstimator):
    """A model of yours, its parameters fitted by weighted particles, its next setting chosen by information.

    Parameters
    ----------
    log_likelihood : callable(parameters, X, y) -> (n, m), optional
        log p(y_j | parameters_i, X_j) for parameters (n, d), settings X (m, f) and outcomes y (m,) or (m, channels);
        minus infinity where an outcome is impossible. ``a, b = parameters.T[:, :, None]`` broadcasts against X[:, 0].
    model : callable(parameters, X) -> (n, m) or (n, m, channels), optional
        The mean of a measurement, in the place of ``log_likelihood``; its noise is Gaussian unless it is said to be of
        counts. Where it is complex the outcomes are, too, and their real and imaginary parts count as channels.
    prior : callable(n, random_state) -> (n, d), or frozen SciPy distributions
        One distribution, a list, or a dict that names the parameters. ``random_state`` is a Generator. Moves ask for
        the density: of a callable its ``logpdf(parameters) -> (n,)`` where it has one, else a density is fitted to
        draws (quantiles and a Gaussian copula).
    noise : "poisson", "binomial", float, complex, str or callable(parameters, X), optional
        "poisson": counts of which ``model`` is the mean for each unit of exposure. "binomial": successes of which it is
        the chance. Else the standard deviation of the noise around ``model``: a number, the name of the parameter that
        holds it, or a function, (n, m) or what broadcasts to it. Of complex numbers that of each real component: a real
        one belongs to both parts (|noise|^2 is twice its square in the mean), ``a + 1j * b`` says a of real and b of
        imaginary parts.
    exposure, trials : int or str, optional
        The column of X, by number or by name, that holds for how long was counted ("poisson"), or out of how many
        ("binomial"); 1 without. The model gets X with all its columns.
    overdispersion : float or str, optional
        Of "poisson": the variance is mean + overdispersion x mean^2, of a negative binomial; a number >= 0, or the name
        of the parameter that holds it.
    n_particles : int, default 2000
        Four times as many bring means at most .02 deviations nearer to exact ones, and hardly a nat: chosen by
        ``ours-default-settings-instruments``, with ``resample`` and ``move``.
    resample : float in [0, 1], default 0.5
        Particles are resampled and moved where the effective sample size is below this share of them; 0: never.
    move : {"random_walk", "liu_west"}, default "random_walk"
        Metropolis steps with all answers, which leave the posterior as it is; or particles shrunk towards their mean
        and scattered, which asks no likelihood and is approximate.
    screening : int, default 256
        Particles by which `select` ranks settings (twice as many about a target), before the best eight are
        scored by all of them; 0: all settings by all particles (``ours-bridge-screening``).
    outcomes : list of values, or tuple (low, high), optional
        What ``log_likelihood`` may be asked about: the values of a discrete outcome, or the interval in which a
        continuous one lies. Only choosing and predicting need it.
    random_state : None, int, Generator or RandomState
        Seed of the particles; None is 0, so that a log can be continued.

    Attributes
    ----------
    parameters_, posterior_ : weighted draws of the parameters
        ``values`` (k, d), ``weights`` (k,), ``names``, ``mean``, ``std``, ``covariance()``, ``quantiles(q)``,
        ``sample(n)``, ``to_frame()``.
    effective_sample_size_ : float
        How many draws of equal weight say as much.
    log_evidence_, log_evidence_std_ : float
        Natural log of the probability (density) of all answers, and its standard error.
    objective_trace_ : (n,) array
        The effective sample size after each learning.
    n_iter_ : int
        How often the particles were resampled and moved.

    Notes
    -----
    An answer costs one call of the likelihood with its own row; a move costs as many with all rows as it takes steps.
    An answer that would leave fewer than a tenth of the particles is fitted in tempered steps. Random numbers follow
    from the seed and the number of answers, so that a run that was stopped and continued gives the same bits.

    ``target`` of `predictive`, `select` and `SequentialDesign`: names of parameters, a function of them, or settings
    whose predictions count; what else is unknown is integrated out over at most 32 cells of particles, which says too
    little where an outcome would tell more than the cell, and too much by about one share in the particles of a cell.

    ``fit`` learns one answer after the other, so that answers one by one lead to the same particles but for rounding;
    other orders differ by the error of so many draws.

    References
    ----------
    N. Chopin (2002), A sequential particle filter method for static models.  P. Del Moral, A. Doucet, A. Jasra (2006),
    Sequential Monte Carlo samplers.  J. Liu, M. West (2001), Combined parameter and state estimation in
    simulation-based filtering.

    Examples
    --------
    Where does a resonance lie, and where to measure next?

    >>> from scipy import stats
    >>> def line(parameters, X):
    ...     centre, width = parameters.T[:, :, None]
    ...     return 1.0 / (1.0 + ((X[:, 0] - centre) / width) ** 2)
    >>> prior = {"centre": stats.uniform(2.0, 2.0), "width": stats.uniform(0.1, 0.4)}
    >>> model = ParticleEstimator(model=line, prior=prior, noise=0.1, random_state=0)
    >>> model = model.fit([[2.5], [3.0], [3.5]], [0.05, 0.9, 0.2])
    >>> bool(2.9 < model.parameters_.mean[0] < 3.15)
    True
    >>> settings = np.linspace(2, 4, 101)[:, None]
    >>> bool(2.5 < settings[model.select(settings)[0], 0] < 3.5)
    True
    """

    _Settings: ClassVar[type[CloudSettings]] = ParticleSettings
    _Belief: ClassVar[type[ParticleBelief]] = ParticleBelief
    _cites: ClassVar[tuple[str, ...]] = ("chopin2002", "delmoral2006")
    _complex: ClassVar[bool] = True  # whether outcomes may be
    belief_: ParticleBelief

    def __init__(
        self,
        log_likelihood: Function | None = None,
        model: Function | None = None,
        prior: PriorLike = None,
        *,
        noise: complex | str | Function | None = None,
        exposure: int | str | None = None,
        trials: int | str | None = None,
        overdispersion: float | str | None = None,
        n_particles: int = 2000,
        resample: float = 0.5,
        move: str = "random_walk",
        screening: int = 256,
        outcomes: ArrayLike | tuple[float, float] | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.log_likelihood = log_likelihood
        self.model = model
        self.prior = prior
        self.noise = noise
        self.exposure = exposure
        self.trials = trials
        self.overdispersion = overdispersion
        self.n_particles = n_particles
        self.resample = resample
        self.move = move
        self.screening = screening
        self.outcomes = outcomes
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------------

    def fit(self, X: Table, y: ArrayLike) -> ParticleEstimator:
        """Fit anew, and forget all earlier data.

        Parameters
        ----------
        X : (m, f) array or frame of settings
        y : (m,) outcomes, or (m, channels)
        """
        return self._fit(X, y)

    def partial_fit(self, X: Table, y: ArrayLike) -> ParticleEstimator:
        """Learn from further measurements, starting from what is believed; what is refused changes nothing."""
        return self._partial_fit(X, y)

    def _learn(self, settings: Any, data: Any, earlier: Any, **how: Any) -> Self:
        return super()._learn(self._of_columns(settings), data, earlier, **how)

    def restore(self, state: State) -> Self:
        """Take over what ``state`` returned; the parameters must be the same."""
        super().restore(state)
        if state:  # names of columns are known from here on
            belief = self.belief_
            self.belief_ = replace(belief, settings=self._of_columns(belief.settings))
        return self

    def _of_columns(self, settings: CloudSettings, X: Any = None) -> CloudSettings:
        """The settings with columns by their numbers: names are those of the last fit, or of candidates before it."""
        if not isinstance(settings, ParticleSettings):
            return settings
        names = getattr(self, "feature_names_in_", None)
        names = getattr(X, "columns", ()) if names is None else names
        return settings.of_columns(() if names is None else tuple(names))

    def _measured(self, X: Table, y: ArrayLike, earlier: Rows | None = None) -> Rows:
        outcomes = self._outcomes(y)
        m = pools.length(X)
        if m != len(outcomes):
            raise ValueError(f"y must hold one outcome per setting, got {len(outcomes)} for {m} rows of X.")
        if earlier is None:
            return Rows(checked_table(self, X, np.zeros(m), reset=True, numbers=True)[0], outcomes)
        rows = checked_table(self, X, numbers=True)
        if outcomes.shape[1:] != earlier.y.shape[1:]:
            raise ValueError(f"y must be like the earlier answers, of shape {earlier.y.shape}, got {outcomes.shape}.")
        return earlier.followed_by(rows, outcomes)

    def _outcomes(self, y: ArrayLike) -> np.ndarray:
        """The outcomes as numbers, or as those listed."""
        known = self._Settings.of(self).known_outcomes
        if known is None:
            found = checks.finite("y", y, dtype=complex if self._complex and np.iscomplexobj(y) else float)
            refuse_extremes("y", stacked(found))
            if found.ndim not in (1, 2):
                raise ValueError(f"y must hold one outcome per setting, (m,) or (m, c), got shape {found.shape}.")
            if getattr(self._Settings.of(self), "family", None) is not None:
                check_counts(found)
            return found
        labels = np.atleast_1d(np.asarray(y))
        listed = set(known.tolist())
        for label in labels.ravel().tolist():
            if labels.ndim > 1 or not isinstance(label, Hashable) or label not in listed:
                raise ValueError(
                    f"y must hold outcomes out of {known.tolist()}, one per setting, got {checks.short(label)}."
                )
        return labels.astype(known.dtype, copy=False)

    # -- belief --------------------------------------------------------------------------------------------------------

    def predictive(
        self, candidates: Pool, *, target: Named | Table = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the predictive of the outcomes at settings.

        Parameters
        ----------
        candidates : (m, f) array or frame of settings
        target : str, list of str, callable(parameters) -> (k,) or (k, t), or (t, f) settings; optional
            What is to be learnt: parameters by name, a function of them, or predictions at settings. None: all
            parameters.
        random_state : None, int, Generator or RandomState
        """
        given = self._candidates(candidates)
        named = callable(target) or isinstance(target, str)
        named = named or (isinstance(target, (list, tuple)) and all(isinstance(one, str) for one in target))
        about = cast("Named", target if target is None or named else self._candidates(target))
        if self.__sklearn_is_fitted__():
            return self.belief_.predictive(given, target=about, random_state=random_state)
        settings = self._of_columns(self._Settings.of(self), candidates)
        return self._Belief.prior_predictive(settings, given, target=about, random_state=random_state)

    def predict(self, X: Table, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the mean outcomes (m,), or (m, channels); of a list of labels the most probable.

        With ``return_std`` also the posterior standard deviations of these means, without the noise of a measurement,
        which `interval` includes; of complex means the deviations of both parts, as real and imaginary part. Nominal
        .90 of parameters covers .88 to .91 of drawn ones (``ours-bands-particles``; simulators .87 to .92,
        ``ours-bands-simulators``).
        """
        return predictions.means(self.fitted_belief(), self._candidates(X), return_std)

    def score(self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2 of the mean outcomes: 1 - sum |y - mean|^2 / sum |y - mean of y|^2 where they are complex."""
        if not np.iscomplexobj(y):
            return super().score(X, y, sample_weight)
        outcomes = self._outcomes(y)
        pairs = (stacked(numbers.reshape(len(numbers), -1)) for numbers in (outcomes, np.asarray(self.predict(X))))
        return float(r2_score(*pairs, sample_weight=sample_weight, multioutput="variance_weighted"))

    def predict_proba(self, X: Table) -> np.ndarray:
        """Return the probabilities (m, c) of the ``outcomes`` listed."""
        return predictions.probabilities(self.fitted_belief(), self._candidates(X))

    def interval(self, X: Table, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the outcomes (m,) between which each lies with the probability ``level``, noise included.

        Nominal .90 of parameters covers .88 to .91 of drawn ones (``ours-bands-particles``).
        """
        return predictions.interval(self.fitted_belief(), self._candidates(X), level)

    def log_predictive(self, X: Table, y: ArrayLike) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities (densities) of the outcomes ``y``, each by itself."""
        return predictions.log_predictive(self.fitted_belief(), self._candidates(X), self._outcomes(y))

    def information_bounds(self, candidates: Table, *, random_state: RandomState = None) -> Bounds:
        """Return a lower and an upper bound (m,) on what measuring at each setting teaches about the parameters, nats.

        ``select`` goes by a lower one; their distance says what more particles would bring.

        Parameters
        ----------
        candidates : (m, f) array or frame of settings
        random_state : None, int, Generator or RandomState
            Of the outcomes drawn, where they are not enumerated.

        Returns
        -------
        Bounds
            ``lower``, ``upper`` and their standard errors ``lower_error``, ``upper_error``.

        References
        ----------
        A. Foster, M. Jankowiak, M. O'Meara, Y. Teh, T. Rainforth (2020), A unified stochastic gradient approach to
        designing Bayesian-optimal experiments.
        """
        predictive = self.predictive(candidates, random_state=random_state)
        assert isinstance(predictive, ParticlePredictive)
        return information_bounds(predictive)

    # -- draws, as `diagnostics.simulation_based_calibration` asks for them --------------------------------------------

    def prior_draws(self, n: int, random_state: RandomState = None) -> np.ndarray:
        """Return (n, d) draws of the parameters before any answer."""
        seed = int(checks.generator(random_state).integers(2**62))
        return checked_draws(self._Settings.of(self).stated_prior, checks.integer("n", n, minimum=1), seed)

    def posterior_draws(self, n: int, random_state: RandomState = None) -> np.ndarray:
        """Return (n, d) draws of equal weight from what is believed."""
        return self.fitted_belief().posterior.sample(n, random_state)

    def simulated_outcomes(self, parameters: ArrayLike, X: Table, random_state: RandomState = None) -> np.ndarray:
        """Return outcomes (n, m), or (n, m, channels), drawn at settings X (m, f) for each row of parameters (n, d)."""
        values = checks.finite("parameters", parameters)
        settings = self._of_columns(self._Settings.of(self), X)
        checks.shape("parameters", values, (None, len(settings.stated_prior.names)))
        return self._drawn(settings, values, self._candidates(X), checks.generator(random_state))

    @staticmethod
    def _drawn(settings: CloudSettings, values: np.ndarray, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return predictions.drawn(settings, values, X, rng)

    def to_frame(self) -> DataFrame:
        """Return the weighted draws as a pandas frame: one column per parameter, and ``weight``."""
        return self.fitted_belief().posterior.to_frame()

    parameters_ = of_belief("posterior", "Weighted draws of the parameters.")
    effective_sample_size_ = of_belief("posterior.effective_sample_size", "How many equal draws say as much.")
    log_evidence_std_ = of_belief("posterior.log_evidence_std", "Standard error of the log evidence.")
    X_train_ = of_belief("data.X", "The settings that were measured.")
    y_train_ = of_belief("data.y", "Their outcomes.")
