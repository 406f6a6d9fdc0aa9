"""Gaussian process regression with any noise:  y = f(x) + noise,    f ~ GP(m, k)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from adaptive import checks
from adaptive.estimators.base import unfitted_if_refused
from adaptive.estimators.gaussian_process.base import ENGINES, ProcessEstimator
from adaptive.estimators.gaussian_process.evidence import Evidence
from adaptive.estimators.gaussian_process.latent_process import LatentProcess
from adaptive.estimators.gaussian_process.low_rank import white_noise
from adaptive.means import as_mean
from adaptive.potentials import Gaussian, Laplace, Logistic, StudentT
from adaptive.predictive import GaussianProjections

__all__ = ["GaussianProcessRegressor"]

DEFAULT_INFERENCE = {
    "gaussian": "expectation_propagation",  # exact, whatever the engine
    "laplace": "expectation_propagation",
    "logistic": "expectation_propagation",
    "student_t": "laplace_approximation",
}


class GaussianProcessRegressor(MultiOutputMixin, RegressorMixin, ProcessEstimator):
    """Gaussian process regressor: scikit-learn's arguments, and a choice of noise, mean and inference.

    Parameters
    ----------
    kernel : kernel, optional
        Of scikit-learn or :mod:`adaptive.kernels`. None: ``1.0 * RBF(1.0)``, both fixed.
    likelihood : {"gaussian", "laplace", "logistic", "student_t"}, default "gaussian"
        Of the noise; the last three forgive outliers, in this order ever more.
    likelihood_scale : float, optional
        Scale of noise that is not Gaussian, in units of ``y``; None: learnt by evidence.
    df : float, default 4.0
        Degrees of freedom of "student_t".
    inference : str or callable, optional
        As for `GaussianProcessClassifier`. None: exact for Gaussian noise, "expectation_propagation" for "laplace" and
        "logistic", "laplace_approximation" for "student_t".
    mean : mean function of :mod:`adaptive.means`, float or None
        In units of the normalised ``y`` with ``normalize_y``.
    alpha : float or (n,) array, default 1e-10
        Added to the diagonal of the kernel matrix: the variance of Gaussian noise.
    optimizer, n_restarts_optimizer, copy_X_train, random_state
        As for `GaussianProcessClassifier`.
    normalize_y : bool, default False
        Subtract the mean of ``y`` and divide by its standard deviation.
    n_targets : int, optional
        Outputs of the prior before any fit.
    max_iter : int, default 200
        Iterations of the inference.
    tol : float, default 1e-6
        Its tolerance.
    rank, low_rank
        As for `GaussianProcessClassifier`.

    Attributes
    ----------
    kernel_, mean_ : as learnt
    likelihood_scale_ : float or None
    log_marginal_likelihood_value_, log_evidence_ : float
        Summed over outputs.
    evidence_kind_, objective_trace_, n_iter_, converged_ : of the inference
    posterior_ : Posterior over the latents at the training inputs (a list of them for several outputs)
    X_train_, y_train_ : what was learnt from

    Notes
    -----
    ``partial_fit`` adds rows; hyper-parameters are learnt again, as ``fit`` learns them, when there are twice as many
    rows as the last time.

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
        kernel: Any = None,
        *,
        likelihood: str = "gaussian",
        likelihood_scale: float | None = None,
        df: float = 4.0,
        inference: Any = None,
        mean: Any = None,
        alpha: Any = 1e-10,
        optimizer: Any = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: int | None = None,
        random_state: Any = None,
        max_iter: int = 200,
        tol: float = 1e-6,
        rank: int | None = None,
        low_rank: str = "incomplete_cholesky",
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

    # -- learning ------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> GaussianProcessRegressor:
        """Forget what was learnt and fit.

        Parameters
        ----------
        X : (n, D) array, or list of what the kernel takes
        y : (n,) or (n, outputs) array of numbers
        """
        self._check_parameters()
        X, y = self._inputs(X, y, reset=True, multi_output=True, y_numeric=True)
        return self._learn(X, np.asarray(y, dtype=float), search=True)

    def partial_fit(self, X: Any, y: Any) -> GaussianProcessRegressor:
        """Learn from further rows; what is refused changes nothing."""
        if not hasattr(self, "evidence_"):
            self._check_parameters()
            with unfitted_if_refused(self):
                X, y = self._inputs(X, y, reset=True, multi_output=True, y_numeric=True)
                return self._learn(X, np.asarray(y, dtype=float), search=True)
        if np.ndim(self.alpha):
            raise ValueError("partial_fit needs one alpha for all rows, got one per training row.")
        X, y = self._inputs(X, y, reset=False, multi_output=True, y_numeric=True)
        X = np.concatenate([self.X_train_, X]) if isinstance(X, np.ndarray) else [*self.X_train_, *X]
        y = np.concatenate([self.y_train_, np.asarray(y, dtype=float)])
        search = len(y) >= 2 * self.learnt_rows_
        return self._learn(X, y, search=search, earlier=self.evidence_)

    def _learn(self, X: Any, y: np.ndarray, *, search: bool, earlier: Evidence | None = None) -> Any:
        alpha = np.asarray(self.alpha, dtype=float)
        if alpha.ndim and alpha.shape != (len(y),):
            raise ValueError(f"alpha must be a number or have one entry per row ({len(y)}), got shape {alpha.shape}.")
        shift, scale = np.zeros(y.shape[1:]), np.ones(y.shape[1:])
        if self.normalize_y:
            shift, deviation = y.mean(axis=0), y.std(axis=0)
            scale = np.where(deviation > 0, deviation, 1.0)
        evidence = self._problem(X, (y - shift) / scale, float(np.mean(scale)))
        if earlier is not None and not search:
            evidence = evidence.at(earlier.theta)
            if not self.normalize_y:
                evidence.warm = earlier.warm
        evidence, self.processes_ = self._climbed(evidence, search)
        evidence.warm = [process.posterior for process in self.processes_]
        self.evidence_ = evidence
        self._shift, self._scale = shift, scale
        self.X_train_ = np.copy(X) if self.copy_X_train and isinstance(X, np.ndarray) else X
        self.y_train_ = y
        if search:
            self.learnt_rows_ = len(y)
        return self

    def _problem(self, X: Any, y: np.ndarray, unit: float) -> Evidence:
        columns = y[:, None] if y.ndim == 1 else y
        log_scale, nugget = None, np.asarray(self.alpha, dtype=float)
        if self.likelihood == "gaussian":
            outputs = [partial(_gaussian, nugget, column) for column in columns.T]
            nugget = np.zeros(())
        else:
            given = self.likelihood_scale
            start = 0.3 * float(np.std(columns)) or 1.0
            if given is None:
                log_scale, scale = float(np.log(start)), None
            else:
                scale = float(checks.positive("likelihood_scale", given)) / unit
            outputs = [partial(_robust, self.likelihood, self.df, scale, column) for column in columns.T]
        name = self.inference if self.inference is not None else DEFAULT_INFERENCE[self.likelihood]
        engine = self._named_engine(name, self.max_iter)
        return Evidence(
            self._start_kernel(),
            as_mean(self.mean).prepared(X),
            X,
            outputs,
            engine,
            log_scale=log_scale,
            nugget=nugget,
            low_rank=self._low_rank(),
        )

    # -- belief --------------------------------------------------------------------------------------------------------

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return means (m,) or (m, outputs) of the function; before any fit those of the prior.

        Parameters
        ----------
        X : (m, D) array
        return_std : bool, default False
            Also return standard deviations (those of a WhiteKernel included, as in scikit-learn).
        return_cov : bool, default False
            Also return the covariance matrix.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        X, processes = self._asked(X)
        shift, scale = np.atleast_1d(getattr(self, "_shift", 0.0)), np.atleast_1d(getattr(self, "_scale", 1.0))
        moments = [process.moments(X) for process in processes]
        several = len(processes) > 1 or getattr(self, "y_train_", np.empty(0)).ndim > 1
        shift, scale = (np.broadcast_to(a, (len(processes),)) for a in (shift, scale))

        def stacked(parts: list[np.ndarray]) -> np.ndarray:
            return np.stack(parts, axis=-1) if several else parts[0]

        mean = stacked([a + b * m for a, b, (m, _) in zip(shift, scale, moments, strict=True)])
        if return_std:
            return mean, stacked([b * np.sqrt(v) for b, (_, v) in zip(scale, moments, strict=True)])
        if return_cov:
            return mean, stacked([b**2 * p.covariance(X, X) for b, p in zip(scale, processes, strict=True)])
        return mean

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Return draws of the function, (m, n_samples) or (m, outputs, n_samples)."""
        rng = checks.generator(random_state)
        mean, covariance = self.predict(X, return_cov=True)
        if mean.ndim == 1:
            return rng.multivariate_normal(mean, covariance, n_samples).T
        draws = [rng.multivariate_normal(mean[:, k], covariance[..., k], n_samples).T for k in range(mean.shape[1])]
        return np.stack(draws, axis=1)

    def log_predictive(self, X: Any, y: Any) -> np.ndarray:
        """Return the (m,) natural-log predictive densities of the outcomes ``y`` (summed over outputs)."""
        check_is_fitted(self, "evidence_")
        X, y = self._inputs(X, reset=False), np.asarray(y, dtype=float)
        columns = y[:, None] if y.ndim == 1 else y
        shift, scale = (np.broadcast_to(a, (len(self.processes_),)) for a in (self._shift, self._scale))
        total = np.zeros(len(columns))
        for column, a, b, process in zip(columns.T, shift, scale, self.processes_, strict=True):
            mean, variance, family = self._outcomes(process, X)
            potential = family.observe((column - a) / b)
            total += potential.tilted_moments(mean, np.maximum(variance, 1e-300))[0] - np.log(b)
        return total

    def predictive(self, candidates: Any, *, target: Any = None, random_state: Any = None) -> GaussianProjections:
        """What is believed about inputs; one output only.

        Parameters
        ----------
        candidates : (m, D) array
        target : (t, D) array, optional
            Inputs that the information is to be about; None: the whole function.
        random_state : None, int, Generator or RandomState
        """
        X, processes = self._asked(candidates)
        if len(processes) > 1:
            raise ValueError(f"predictive is there for one output, got {len(processes)}.")
        if target is not None:
            target = self._asked(target)[0]
        shift, scale = float(np.mean(getattr(self, "_shift", 0.0))), float(np.mean(getattr(self, "_scale", 1.0)))
        _, _, family = self._outcomes(processes[0], X)
        process = _Scaled(processes[0], shift, scale, white_noise(processes[0].kernel, X))
        return process.predictive(X, _rescaled(family, scale), target=target, random_state=random_state)

    def _outcomes(self, process: LatentProcess, X: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        """Moments of the function without noise, and the family of the noise, in normalised units."""
        mean, variance = process.moments(X)
        white = white_noise(process.kernel, X)
        if self.likelihood == "gaussian":
            noise = float(np.mean(self.alpha)) + white
            return mean, np.maximum(variance - white, 0.0), Gaussian(max(noise, 1e-300))
        if self.likelihood_scale is not None:
            scale = float(self.likelihood_scale) / float(np.mean(getattr(self, "_scale", 1.0)))
        else:
            scale = self.evidence_.scale if hasattr(self, "evidence_") else 1.0
        return mean, variance, _family(self.likelihood, self.df, scale)

    def _asked(self, X: Any) -> tuple[Any, list[LatentProcess]]:
        if hasattr(self, "processes_"):
            return self._inputs(X, reset=False), self.processes_
        X = self._fresh(X)
        return X, [self._prior(X)] * (self.n_targets or 1)

    # -- evidence ------------------------------------------------------------------------------------------------------

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """Return the log evidence at ``theta`` (None: as learnt), and with ``eval_gradient`` its derivatives.

        Parameters
        ----------
        theta : (p,) array, optional
            Of the kernel, or of kernel, mean and likelihood.
        eval_gradient : bool, default False
        clone_kernel : ignored
            The kernel is never changed.
        """
        check_is_fitted(self, "evidence_")
        return self._marginal(self.evidence_, theta, eval_gradient)

    @property
    def kernel_(self) -> Any:
        check_is_fitted(self, "evidence_")
        return self.evidence_.kernel

    @property
    def mean_(self) -> Any:
        check_is_fitted(self, "evidence_")
        return self.evidence_.mean

    @property
    def likelihood_scale_(self) -> float | None:
        """Scale of the noise in units of ``y``; None for Gaussian noise."""
        check_is_fitted(self, "evidence_")
        if self.likelihood == "gaussian" or self.likelihood_scale is not None:
            return self.likelihood_scale
        return self.evidence_.scale * float(np.mean(self._scale))

    @property
    def posterior_(self) -> Any:
        check_is_fitted(self, "evidence_")
        posteriors = [process.posterior for process in self.processes_]
        return posteriors[0] if len(posteriors) == 1 else posteriors

    log_marginal_likelihood_value_ = property(lambda self: self.log_evidence_, doc="As in scikit-learn.")
    n_iter_ = property(lambda self: max(1, *(p.n_iter for p in self._posteriors)), doc="Of the inference; at least 1.")

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what was learnt as plain data; ``restore`` brings it back."""
        if not hasattr(self, "evidence_"):
            return {}
        names = getattr(self, "feature_names_in_", None)
        return {
            "X": np.asarray(self.X_train_),
            "y": self.y_train_,
            "shift": np.asarray(self._shift),
            "scale": np.asarray(self._scale),
            "learnt_rows": self.learnt_rows_,
            "belief": self._process_state(self.evidence_, self.processes_),
            "feature_names": None if names is None else list(names),
        }

    def restore(self, state: dict[str, Any]) -> GaussianProcessRegressor:
        """Take over what ``state`` returned; the parameters must be the same."""
        if not state:
            return self
        X, y = state["X"], state["y"]
        self._shift, self._scale = np.asarray(state["shift"]), np.asarray(state["scale"])
        problem = self._problem(X, (y - self._shift) / self._scale, float(np.mean(self._scale)))
        self.evidence_, self.processes_ = self._restored(problem, state["belief"])
        self.X_train_, self.y_train_, self.n_features_in_ = X, y, X.shape[1]
        self.learnt_rows_ = int(state["learnt_rows"])
        if state["feature_names"] is not None:
            self.feature_names_in_ = np.array(state["feature_names"], dtype=object)
        return self

    # -- details -------------------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        checks.choice("likelihood", self.likelihood, DEFAULT_INFERENCE)
        checks.positive("alpha", self.alpha, or_zero=True)
        checks.positive("df", self.df)
        checks.integer("max_iter", self.max_iter, minimum=1)
        if isinstance(self.inference, str):
            checks.choice("inference", self.inference, ENGINES)
        self._check_low_rank(self.inference)
        if self.likelihood_scale is not None:
            checks.positive("likelihood_scale", self.likelihood_scale)


class _Scaled(LatentProcess):
    """The function in units of y: shift + scale f, without the noise that the kernel adds to observations."""

    def __init__(self, process: LatentProcess, shift: float, scale: float, white: float) -> None:
        super().__init__(process.kernel, process.mean, process.X, process.posterior)
        object.__setattr__(self, "_units", (process, shift, scale, white))

    def moments(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        process, shift, scale, white = self._units  # type: ignore[attr-defined]
        mean, variance = process.moments(X)
        return shift + scale * mean, scale**2 * np.maximum(variance - white, 0.0)

    def covariance(self, X: Any, Z: Any) -> np.ndarray:
        process, _, scale, _ = self._units  # type: ignore[attr-defined]
        if Z is X:
            Z = np.array(X)  # not "the same observations": no noise between them
        return scale**2 * process.covariance(X, Z)


def _family(name: str, df: float, scale: float) -> Any:
    return {"laplace": Laplace, "logistic": Logistic}[name](scale) if name != "student_t" else StudentT(df, scale)


def _rescaled(family: Any, scale: float) -> Any:
    """The same noise in other units."""
    if family.name == "Gaussian":
        return Gaussian(family.variance * scale**2)
    return family._with(scale=family.scale * scale)


def _gaussian(variance: np.ndarray, y: np.ndarray, scale: float) -> Any:
    """Gaussian potentials of the observations; their noise is no hyper-parameter."""
    return Gaussian(np.maximum(np.broadcast_to(variance, y.shape), 1e-12), y)


def _robust(name: str, df: float, given: float | None, y: np.ndarray, scale: float) -> Any:
    return _family(name, df, scale if given is None else given).observe(y)
