"""Gaussian process regression with any noise:  y = f(x) + noise,    f ~ GP(m, k)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from adaptive import checks
from adaptive.estimators.belief import Belief, of_belief
from adaptive.estimators.gaussian_process.estimator import ProcessEstimator
from adaptive.estimators.gaussian_process.integrated_belief import IntegratedRegressor
from adaptive.estimators.gaussian_process.process_belief import log_marginal_likelihood
from adaptive.estimators.gaussian_process.regressor_belief import RegressorBelief, RegressorSettings
from adaptive.estimators.gaussian_process.settings import integrates
from adaptive.estimators.rows.training import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.gaussian_process.kernels import Kernel
    from sklearn.utils import Tags

    from adaptive.inference import Posterior
    from adaptive.means import Mean
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Number, Pool, RandomState, Table

__all__ = ["GaussianProcessRegressor"]


class GaussianProcessRegressor(MultiOutputMixin, RegressorMixin, ProcessEstimator):
    """Gaussian process regressor: scikit-learn's arguments, and a choice of noise, mean and inference.

    Parameters
    ----------
    kernel : kernel, optional
        Of scikit-learn or :mod:`adaptive.kernels`. None: a squared exponential whose height and length are learnt, and
        Gaussian noise where ``alpha`` states none; the length starts at the median distance of the rows (with
        ``optimizer=None`` it is ``1.0 * RBF(1.0)``). Chosen by `ours-default-processes`.
    likelihood : {"gaussian", "logistic", "laplace", "student_t"}, default "gaussian"
        Of the noise; the last three forgive outliers, in this order ever more. Chosen by
        ``ours-default-settings-numbers-by-processes``, where these were ahead on one half of the sets.
    likelihood_scale : float, optional
        Scale of noise that is not Gaussian, in units of ``y``; None: fitted by evidence.
    df : float, default 4.0
        Degrees of freedom of "student_t".
    inference : str or callable, optional
        As for `GaussianProcessClassifier`. None: exact for Gaussian noise, "laplace_approximation" for "student_t",
        "expectation_propagation" for the others.
    mean : mean function of :mod:`adaptive.means`, float or None
        In units of the normalised ``y`` with ``normalize_y``.
    alpha : float or (n,) array, default 1e-10
        Added to the diagonal of the kernel matrix: the variance of Gaussian noise.
    optimizer, n_restarts_optimizer, copy_X_train, random_state
        As for `GaussianProcessClassifier`.
    normalize_y : bool or "auto", default "auto"
        Subtract the mean of ``y`` and divide by its standard deviation. "auto": where neither ``kernel`` nor ``alpha``
        is given, and with them not, as in scikit-learn. Chosen by `ours-default-processes`.
    n_targets : int, optional
        Outputs of the prior before any fit.
    max_iter : int, default 200
        Iterations of the inference.
    tol : float, default 1e-6
        Its tolerance.
    rank, low_rank
        As for `GaussianProcessClassifier`.
    hyperparameters : {"auto", "integrated", "mode"}, default "auto"
        As for `GaussianProcessClassifier`. Chosen by `ours-default-processes`.

    Attributes
    ----------
    kernel_, mean_ : as fitted
    likelihood_scale_ : float or None
    log_marginal_likelihood_value_, log_evidence_ : float
        Summed over outputs.
    evidence_kind_, objective_trace_, n_iter_, converged_ : of the inference
    posterior_ : Posterior over the latents at the training inputs (a list of them for several outputs)
    X_train_, y_train_ : training rows and answers

    Notes
    -----
    ``partial_fit`` adds rows. Hyper-parameters follow their top at every row and are sought from where ``fit`` starts,
    too, when there are a quarter more rows or an outcome is a surprise (under Gaussian noise: at every one of the first
    fifty rows): answers one by one lead to the evidence of ``fit`` on all of them within .1 nat, or to a higher one. An
    ``optimizer`` of your own is asked at those rows only.

    References
    ----------
    Rasmussen and Williams (2006), chapter 2; Nickisch (2010), section 4.11; Kuss (2006) for robust noise.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> X = np.linspace(0, 6, 25)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> y[7] += 5.0                                                     # an outlier
    >>> robust = GaussianProcessRegressor(1.0 * RBF(1.0), likelihood="laplace").fit(X, y)
    >>> bool(np.abs(robust.predict(X) - np.sin(X[:, 0])).max() < 0.2)
    True
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        likelihood: str = "gaussian",
        likelihood_scale: float | None = None,
        df: float = 4.0,
        inference: str | Callable[..., Posterior] | None = None,
        mean: Mean | float | None = None,
        alpha: Number = 1e-10,
        optimizer: str | Callable[..., Any] | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool | str = "auto",
        copy_X_train: bool = True,
        n_targets: int | None = None,
        random_state: RandomState = None,
        max_iter: int = 200,
        tol: float = 1e-6,
        rank: int | None = None,
        low_rank: str = "incomplete_cholesky",
        hyperparameters: str = "auto",
    ) -> None:
        self.kernel = kernel
        self.likelihood = likelihood
        self.likelihood_scale = likelihood_scale
        self.df = df
        self.inference = inference
        self.mean = mean
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol
        self.rank = rank
        self.low_rank = low_rank
        self.hyperparameters = hyperparameters

    # -- learning ------------------------------------------------------------------------------------------------------

    _Settings, _Data, _Belief = RegressorSettings, Rows, RegressorBelief
    _cites = ("rasmussen2006", "nickisch2010")
    belief_: RegressorBelief | IntegratedRegressor

    def _belief_about(self, data: Rows | None) -> type[Belief]:
        return IntegratedRegressor if integrates(self) else RegressorBelief

    def fit(self, X: Table, y: ArrayLike) -> GaussianProcessRegressor:
        """Forget the earlier fit, and fit.

        Parameters
        ----------
        X : (n, D) array, or list of what the kernel takes
        y : (n,) or (n, outputs) array of numbers
        """
        return self._fit(X, y)

    def partial_fit(self, X: Table, y: ArrayLike) -> GaussianProcessRegressor:
        """Learn from further rows; what is refused changes nothing."""
        return self._partial_fit(X, y)

    def _measured(self, X: Table, y: ArrayLike, earlier: Rows | None = None) -> Rows:
        if earlier is not None and np.ndim(self.alpha):
            raise ValueError("partial_fit needs one alpha for all rows, got one per training row.")
        inputs, numbers = self._inputs(X, y, reset=earlier is None, multi_output=True, y_numeric=True)
        numbers = checks.finite("y", numbers)
        return Rows(self._kept(inputs), numbers) if earlier is None else earlier.followed_by(inputs, numbers)

    # -- belief --------------------------------------------------------------------------------------------------------

    def predict(
        self, X: Table, return_std: bool = False, return_cov: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return means (m,) or (m, outputs) of the function; before any fit those of the prior.

        Parameters
        ----------
        X : (m, D) array
        return_std : bool, default False
            Also return standard deviations (those of a WhiteKernel included, as in scikit-learn). At the kernel of the
            highest evidence they are too small where there are few rows: nominal .90 covers .73 to .80 of outcomes
            after ten rows, .82 to .88 after forty (``ours-bands-gp-regressor``); averaged over, by
            default, .89 to .94 and .88 to .92 (``ours-bands-gp-regressor-integrated``).
        return_cov : bool, default False
            Also return the covariance matrix.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        inputs = self._candidates(X)
        if self.__sklearn_is_fitted__():
            belief: RegressorBelief | IntegratedRegressor = self.belief_
        else:
            belief = RegressorBelief.prior(RegressorSettings.of(self), inputs)
        mean, variance = belief.moments(inputs)
        if return_std:
            return mean, np.sqrt(variance)
        return (mean, belief.covariance(inputs)) if return_cov else mean

    def sample_y(self, X: Table, n_samples: int = 1, random_state: RandomState = 0) -> np.ndarray:
        """Return draws of the function, (m, n_samples) or (m, outputs, n_samples)."""
        rng = checks.generator(random_state)
        mean, covariance = self.predict(X, return_cov=True)
        if mean.ndim == 1:
            return rng.multivariate_normal(mean, covariance, n_samples).T
        draws = [rng.multivariate_normal(mean[:, k], covariance[..., k], n_samples).T for k in range(mean.shape[1])]
        return np.stack(draws, axis=1)

    def log_predictive(self, X: Table, y: ArrayLike) -> np.ndarray:
        """Return the (m,) natural-log predictive densities of the outcomes ``y`` (summed over outputs)."""
        return self.fitted_belief().log_predictive(self._inputs(X, reset=False), checks.finite("y", y))

    def predictive(
        self, candidates: Pool, *, target: Table | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the belief about inputs; one output only.

        Parameters
        ----------
        candidates : (m, D) array
        target : (t, D) array, optional
            Inputs that the information is to be about; None: the whole function.
        random_state : None, int, Generator or RandomState
        """
        return super().predictive(candidates, target=target, random_state=random_state)

    # -- evidence ------------------------------------------------------------------------------------------------------

    def log_marginal_likelihood(
        self, theta: ArrayLike | None = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> float | tuple[float, np.ndarray]:
        """Return the log evidence at ``theta`` (None: as fitted), and with ``eval_gradient`` its derivatives.

        Parameters
        ----------
        theta : (p,) array, optional
            Of the kernel, or of kernel, mean and likelihood.
        eval_gradient : bool, default False
        clone_kernel : ignored
            The kernel is never changed.
        """
        return log_marginal_likelihood(self.fitted_belief().evidence, theta, eval_gradient)

    kernel_ = of_belief("evidence.kernel", "The kernel as fitted.")
    mean_ = of_belief("evidence.mean", "The mean function as fitted.")
    evidence_ = of_belief("evidence", "Of all outputs.")
    likelihood_scale_ = of_belief("likelihood_scale", "Scale of the noise in units of ``y``; None for Gaussian noise.")
    log_marginal_likelihood_value_ = of_belief("log_evidence", "As in scikit-learn.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags
