"""Any simulator, without a likelihood: particles weighted by simulations, and the setting that teaches most."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from adaptive.estimators.belief import of_belief
from adaptive.estimators.particles.bounds import Bounds, information_bounds
from adaptive.estimators.particles.particle_estimator import ParticleEstimator
from adaptive.estimators.particles.predictive import ParticlePredictive
from adaptive.estimators.particles.settings import CloudSettings
from adaptive.estimators.particles.simulators.belief import SimulatorBelief
from adaptive.estimators.particles.simulators.predictive import SimulatedParticles
from adaptive.estimators.particles.simulators.settings import SimulatorSettings

if TYPE_CHECKING:
    from adaptive.estimators.particles.belief import ParticleBelief
    from adaptive.estimators.particles.inference.prior import PriorLike
    from adaptive.estimators.particles.likelihood import Function
    from adaptive.estimators.particles.target import Named
    from adaptive.types import ArrayLike, RandomState, Table

__all__ = ["SimulatorEstimator"]


class SimulatorEstimator(ParticleEstimator):
    """A simulator of yours, its parameters fitted without a likelihood, its next setting chosen by information.

    Parameters
    ----------
    simulate : callable(parameters (n, d), x (f,), generator) -> (n,) or (n, channels)
        One outcome for each row of parameters at the setting x, with noise drawn from the NumPy generator.
    prior : callable(n, random_state) -> (n, d), or frozen SciPy distributions
        As for `ParticleEstimator`.
    summary : callable(outcomes (n, channels)) -> (n,) or (n, s), optional
        What is looked at of an outcome; None: all its channels.
    density : {"transformed", "synthetic", "kernel"}, default "transformed"
        Of a particle's summaries: the unbiased estimate of a Gaussian's density, "transformed" where simulations are
        not normal, by quantiles of those of like particles; "synthetic", always as they are; or a "kernel" around each
        simulation. A single summary that is a whole number in every simulation at a setting, and takes at most 256
        values, is fitted by shares of the simulations whatever is said here, smoothed by rounded Gaussians. Chosen by
        `ours-default-simulators`.
    n_particles : int, default 1000
        Chosen by `ours-default-simulators`.
    n_simulations : int, default 50
        Of each particle at each setting, at least three more than summaries. Its noise averages out over particles:
        fewer leave the posterior where it is, and cost effective sample size. Chosen by
        ``ours-default-settings-simulators``, with ``resample``.
    n_nested : int, default 256
        Particles of which an outcome is drawn, and which see those of the others, for informations: the only ones that
        a decision simulates. The information of one measurement is known up to log(n_nested) nats. With 1,000 the
        settings chosen tell as much (``ours-default-settings-next-settings``).
    resample : float in [0, 1], default 0.5
        As for `ParticleEstimator`.
    move : {"liu_west", "random_walk"}, default "random_walk"
        Metropolis steps, which simulate every earlier answer again at each step; or particles shrunk towards their mean
        and scattered, without a simulation: for simulators that take seconds. Chosen by `ours-default-simulators`.
    outcomes : list of labels, optional
        Where outcomes are labels, one each: their shares among the simulations are the likelihood.
    random_state : None, int, Generator or RandomState
        Seed of particles and simulations; None is 0.

    Attributes
    ----------
    parameters_, posterior_, effective_sample_size_, log_evidence_, log_evidence_std_, n_iter_
        As of `ParticleEstimator`.
    effective_simulations_ : (n,) array
        Of each answer, how many simulations of equal weight said as much about it as all that were made; below 30 there
        is a ConvergenceWarning. An answer far from every simulation has 0, and hardly changes the weights.

    Notes
    -----
    What is simulated follows from the seed, the setting and the particles, so that an imagined answer and the same
    answer fitted say the same, and a run that was stopped and continued gives the same bits. An answer costs
    n_particles x n_simulations runs of the simulator, a decision at most n_nested x n_simulations for each candidate;
    what is imagined (``given``, batches chosen jointly) simulates all particles at all candidates once.

    The posterior is that of the summaries under the simulated density: it is off where a Gaussian does not fit
    ("synthetic"), where kernels are wide ("kernel"), and where the shape of a summary's distribution changes much from
    one particle to the next ("transformed"). Particles that "liu_west" scatters keep mean and covariance of the few
    that an answer left, and never find back: of 250 about a resonance of three parameters, posterior means were half a
    deviation off, and ranks not uniform.

    ``fit`` learns one answer after the other, so that answers one by one lead to the same particles; other orders
    differ by the error of so many draws and simulations.

    A setting where every simulation of every particle is alike (no counts yet, a gauge at its end) stops nothing: that
    outcome is certain and teaches nothing, any other is said to be unexpected and teaches nothing either. Where only
    some particles' simulations are alike, other outcomes are given about one chance in n_simulations.

    References
    ----------
    S. Wood (2010), Statistical inference for noisy nonlinear ecological dynamic systems.  S. Ghurye, I. Olkin (1969),
    Unbiased estimation of some multivariate probability densities; L. Price, C. Drovandi, A. Lee, D. Nott (2018),
    Bayesian synthetic likelihood; J. Priddle, C. Drovandi (2023), Transformations in semi-parametric Bayesian synthetic
    likelihood.  M. Beaumont (2010), Approximate Bayesian computation in evolution and ecology.  A. Foster and others
    (2020), A unified stochastic gradient approach to designing Bayesian-optimal experiments; T. Rainforth and others
    (2018), On nesting Monte Carlo estimators.

    Examples
    --------
    A queue of unknown rate, seen at a time of one's choice: how many have come?

    >>> from scipy import stats
    >>> def arrivals(parameters, x, generator):
    ...     return generator.poisson(parameters[:, 0] * x[0]).astype(float)
    >>> model = SimulatorEstimator(arrivals, {"rate": stats.gamma(2.0, scale=2.0)}, n_particles=300, random_state=0)
    >>> model = model.fit([[2.0], [4.0]], [7.0, 13.0])
    >>> bool(2.6 < model.parameters_.mean[0] < 4.0), bool(model.effective_simulations_.min() > 30)
    (True, True)
    >>> times = [[0.5], [1.0], [4.0]]
    >>> int(model.select(times)[0])
    2
    >>> bounds = model.information_bounds(times)
    >>> bool((bounds.lower <= bounds.upper).all())
    True
    """

    _Settings: ClassVar[type[CloudSettings]] = SimulatorSettings
    _Belief: ClassVar[type[ParticleBelief]] = SimulatorBelief
    _complex = False
    _cites = ("wood2010", "price2018", "delmoral2006")
    belief_: SimulatorBelief

    def __init__(
        self,
        simulate: Function | None = None,
        prior: PriorLike = None,
        summary: Function | None = None,
        *,
        density: str = "transformed",
        n_particles: int = 1000,
        n_simulations: int = 50,
        n_nested: int = 256,
        resample: float = 0.5,
        move: str = "random_walk",
        outcomes: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.simulate = simulate
        self.prior = prior
        self.summary = summary
        self.density = density
        self.n_particles = n_particles
        self.n_simulations = n_simulations
        self.n_nested = n_nested
        self.resample = resample
        self.move = move
        self.outcomes = outcomes
        self.random_state = random_state

    def information_bounds(
        self, candidates: Table, *, target: Named | Table = None, random_state: RandomState = None
    ) -> Bounds:
        """Return bounds (m,) on the surrogate's information: what its densities of outcomes teach of the target, nats.

        Of numbers by nested draws, of labels by enumeration over the particles. They enclose the information that the
        densities fitted to simulations hold, not the simulator's own: where its summaries are far from normal, that of
        ``density="synthetic"`` may be anywhere (.108 nats where .160 is exact), and ``fit`` warns of it.

        Parameters
        ----------
        candidates, target, random_state
            As for `predictive`; of labels the target is all parameters.
        """
        predictive = self.predictive(candidates, target=target, random_state=random_state)
        if isinstance(predictive, SimulatedParticles):  # by draws
            return predictive.information_bounds()
        assert isinstance(predictive, ParticlePredictive)
        return information_bounds(predictive)

    @staticmethod
    def _drawn(settings: CloudSettings, values: np.ndarray, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        assert isinstance(settings, SimulatorSettings)
        return np.stack([settings.simulator.outcomes(values, x, rng) for x in X], axis=1)

    effective_simulations_ = of_belief("effective_simulations", "How many simulations speak of each answer.")
