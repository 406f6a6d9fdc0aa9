"""Gaussian process classification with any approximation:  p(y | x, f) = link(y f(x)),    f ~ GP(m, k)."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin
from sklearn.gaussian_process.kernels import CompoundKernel
from sklearn.utils.multiclass import _ovr_decision_function, check_classification_targets
from sklearn.utils.validation import check_is_fitted

from adaptive import checks
from adaptive.estimators.base import unfitted_if_refused
from adaptive.estimators.gaussian_process.base import ENGINES, ProcessEstimator
from adaptive.estimators.gaussian_process.evidence import Evidence
from adaptive.estimators.gaussian_process.latent_process import LatentProcess
from adaptive.estimators.gaussian_process.low_rank import subset
from adaptive.estimators.linear.labelled import Labelled
from adaptive.estimators.linear.labels import codes_of, known_classes
from adaptive.means import as_mean
from adaptive.potentials import BernoulliLogit, BernoulliProbit
from adaptive.predictive import Predictive, WeightedDraws

__all__ = ["GaussianProcessClassifier"]

LINKS = {"logit": BernoulliLogit, "probit": BernoulliProbit}
N_DRAWS = 512


class GaussianProcessClassifier(ClassifierMixin, ProcessEstimator):
    r"""Gaussian process classifier: scikit-learn's arguments, and a choice of link, mean and inference.

    Parameters
    ----------
    kernel : kernel, optional
        Of scikit-learn or :mod:`adaptive.kernels`. None: ``1.0 * RBF(1.0)``, both fixed.
    link : {"logit", "probit"}, default "logit"
    inference : str or callable, default "expectation_propagation"
        "laplace_approximation", "expectation_propagation", "variational_gaussian", "variational_bounds", "mean_field",
        "annealed_importance", or a callable ``(model, **settings) -> Posterior``.
    mean : mean function of :mod:`adaptive.means`, float or None
        None: zero. Its parameters are learnt with those of the kernel.
    optimizer : "fmin_l_bfgs_b", callable or None, default "fmin_l_bfgs_b"
        Climbs the log evidence; None keeps the parameters.
    n_restarts_optimizer : int, default 0
    max_iter_predict : int, default 100
        Iterations of the inference.
    warm_start : bool, default False
        Whether ``fit`` starts from the parameters that the last one learnt.
    copy_X_train : bool, default True
    random_state : None, int, Generator or RandomState
    multi_class : {"one_vs_rest", "one_vs_one"}, default "one_vs_rest"
        Of more than two classes.
    n_jobs : int, optional
        For their binary problems.
    classes : array-like of labels, optional
        All labels, where the first answers may not show every class.
    tol : float, default 1e-6
        Of the inference.
    rank : int, optional
        Approximate the kernel matrix by that many of its rows, the pivots, and its exact diagonal: time n rank^2 and
        memory n rank for n rows, and rank kernel values per prediction. Any inference but "mean_field" and
        "annealed_importance". None: the whole matrix.
    low_rank : {"incomplete_cholesky", "nystroem"}, default "incomplete_cholesky"
        How pivots are found: each where the variance that remains is largest, or at random. Hyper-parameters are learnt
        with the pivots that the starting kernel asks for; those of the learnt one are found afterwards.

    Attributes
    ----------
    classes_ : (c,) array
    n_classes_ : int
    kernel_ : kernel as learnt; of more than two classes a CompoundKernel
    log_marginal_likelihood_value_ : float
        Of more than two classes the mean over the binary problems, as in scikit-learn.
    log_evidence_ : float
        The sum.
    evidence_kind_, objective_trace_, n_iter_, converged_ : of the inference
    posterior_ : Posterior over the latents at the training inputs (a list of them for more than two classes)
    X_train_, y_train_ : what was learnt from

    Notes
    -----
    ``partial_fit`` adds rows and re-converges from the sites it had; hyper-parameters are learnt again, as ``fit``
    learns them, when there are twice as many rows as the last time: what a few labels made of them is no place to start
    from.

    Few labels, the more so where a design has chosen them, often look like no function at all, and the evidence then
    makes the kernel's height small or its length short: bound both, and begin with some labels at random.

    References
    ----------
    Rasmussen and Williams (2006), chapter 3; Nickisch and Rasmussen (2008), Approximations for binary Gaussian process
    classification; Nickisch (2010), chapter 4.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> X = np.linspace(-3, 3, 13)[:, None]
    >>> model = GaussianProcessClassifier(4.0 * RBF(1.0)).fit(X, np.where(X[:, 0] > 0, "right", "left"))
    >>> model.predict([[-2.0], [2.0]]).tolist()
    ['left', 'right']
    >>> bool(model.log_evidence_ > -13 * np.log(2))
    True
    """

    def __init__(
        self,
        kernel: Any = None,
        *,
        link: str = "logit",
        inference: Any = "expectation_propagation",
        mean: Any = None,
        optimizer: Any = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        max_iter_predict: int = 100,
        warm_start: bool = False,
        copy_X_train: bool = True,
        random_state: Any = None,
        multi_class: str = "one_vs_rest",
        n_jobs: int | None = None,
        classes: Any = None,
        tol: float = 1e-6,
        rank: int | None = None,
        low_rank: str = "incomplete_cholesky",
    ) -> None:
        self.kernel = kernel
        self.link = link
        self.inference = inference
        self.mean = mean
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.max_iter_predict = max_iter_predict
        self.warm_start = warm_start
        self.copy_X_train = copy_X_train
        self.random_state = random_state
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.classes = classes
        self.tol = tol
        self.rank = rank
        self.low_rank = low_rank

    # -- learning ------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> GaussianProcessClassifier:
        """Forget what was learnt and fit.

        Parameters
        ----------
        X : (n, D) array, or list of what the kernel takes
        y : (n,) array of labels
        """
        self._check_parameters()
        X, y = self._inputs(X, y, reset=True, multi_output=False)
        check_classification_targets(y)
        start = self._theta_of(self.evidences_) if self.warm_start and hasattr(self, "evidences_") else None
        return self._learn(X, y, known_classes(y, self.classes), start=start, search=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> GaussianProcessClassifier:
        """Learn from further rows, starting from the sites there are; what is refused changes nothing.

        Parameters
        ----------
        X : (m, D) array
        y : (m,) array of labels
        classes : array-like of labels, optional
            All that are known.
        """
        if not hasattr(self, "evidences_"):
            self._check_parameters()
            with unfitted_if_refused(self):
                X, y = self._inputs(X, y, reset=True, multi_output=False)
                known = known_classes(y, self.classes if classes is None else classes)
                return self._learn(X, y, known, start=None, search=True)
        X, y = self._inputs(X, y, reset=False, multi_output=False)
        named = self.classes if classes is None else classes
        earlier = self.classes_
        if named is None and set(y.tolist()) <= set(earlier.tolist()):
            known = earlier
        else:
            known = known_classes(y, named, earlier)
        X = np.concatenate([self.X_train_, X]) if isinstance(X, np.ndarray) else [*self.X_train_, *X]
        y = np.concatenate([self.y_train_, y])
        same = len(known) == len(earlier)
        search = len(y) >= 2 * self.learnt_rows_ or not same
        start = self._theta_of(self.evidences_) if same and not search else None
        warm = [evidence.warm for evidence in self.evidences_] if same and not search else None
        return self._learn(X, y, known, start=start, search=search, warm=warm)

    def _learn(
        self, X: Any, y: np.ndarray, classes: np.ndarray, *, start: Any, search: bool, warm: Any = None
    ) -> GaussianProcessClassifier:
        codes = codes_of(y, classes)
        problems = self._problems(X, codes, len(classes))
        for k, problem in enumerate(problems):
            if start is not None:
                problems[k] = problem.at(start[k])
            if warm is not None and self._appended(problems[k], warm[k]):
                problems[k].warm = warm[k]
        found = Parallel(n_jobs=self.n_jobs if len(problems) > 1 else None)(
            delayed(self._climbed)(problem, search) for problem in problems
        )
        self.evidences_ = [evidence for evidence, _ in found]
        self.processes_: list[LatentProcess] = [processes[0] for _, processes in found]
        for evidence, process in zip(self.evidences_, self.processes_, strict=True):
            evidence.warm = [process.posterior]
        self.X_train_ = np.copy(X) if self.copy_X_train and isinstance(X, np.ndarray) else X
        self.y_train_, self.classes_, self.n_classes_ = y, classes, len(classes)
        if search:
            self.learnt_rows_ = len(y)
        return self

    @staticmethod
    def _appended(problem: Evidence, warm: Any) -> bool:
        """Whether the earlier posterior's rows are the first of the problem's."""
        return warm is not None and warm[0].group_lengths[0] <= len(problem.X)

    def _problems(self, X: Any, codes: np.ndarray, n_classes: int) -> list[Evidence]:
        """The binary problems: one, or as many as ``multi_class`` makes of the classes."""
        if n_classes <= 2:
            return [self._problem(X, np.where(codes == n_classes - 1, 1.0, -1.0))]
        if self.multi_class == "one_vs_rest":
            return [self._problem(X, np.where(codes == k, 1.0, -1.0)) for k in range(n_classes)]
        problems = []
        for i, j in combinations(range(n_classes), 2):
            rows = np.flatnonzero((codes == i) | (codes == j))
            problems.append(self._problem(subset(X, rows), np.where(codes[rows] == j, 1.0, -1.0)))
        return problems

    def _problem(self, X: Any, signs: np.ndarray) -> Evidence:
        family = LINKS[self.link]
        mean = as_mean(self.mean).prepared(X)
        return Evidence(
            self._start_kernel(),
            mean,
            X,
            [partial(_observed, family, signs)],
            self._named_engine(self.inference, self._steps),
            low_rank=self._low_rank(),
        )

    @property
    def _steps(self) -> int:
        return 400 if self.inference == "annealed_importance" else int(self.max_iter_predict)

    @staticmethod
    def _theta_of(evidences: list[Evidence]) -> list[np.ndarray]:
        return [evidence.theta for evidence in evidences]

    # -- belief --------------------------------------------------------------------------------------------------------

    def latent_mean_and_variance(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance (m,) of the latent function; two classes only."""
        check_is_fitted(self)
        self._require_two("latent_mean_and_variance")
        return self.processes_[0].moments(self._inputs(X, reset=False))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the (m, c) predictive probabilities, columns as in ``classes_``."""
        check_is_fitted(self)
        X = self._inputs(X, reset=False)
        if len(self.classes_) == 1:
            return np.ones((len(X), 1))
        if len(self.classes_) > 2 and self.multi_class == "one_vs_one":
            raise ValueError('multi_class="one_vs_one" has no class probabilities; use "one_vs_rest".')
        family = LINKS[self.link]()
        tables = [family.outcome_probabilities(*process.moments(X))[1] for process in self.processes_]
        if len(tables) == 1:
            return tables[0]
        return _normalised(np.column_stack([table[:, 1] for table in tables]))

    def predict(self, X: Any) -> np.ndarray:
        """Return the (m,) most probable labels."""
        check_is_fitted(self)
        X = self._inputs(X, reset=False)
        if len(self.classes_) == 1:
            return np.full(len(X), self.classes_[0])
        means = [process.moments(X)[0] for process in self.processes_]
        if len(means) == 1:
            return self.classes_[(means[0] > 0).astype(int)]
        if self.multi_class == "one_vs_one":
            votes = np.column_stack([(mean > 0).astype(int) for mean in means])
            return self.classes_[
                np.argmax(_ovr_decision_function(votes, np.column_stack(means), self.n_classes_), axis=1)
            ]
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def log_predictive(self, X: Any, y: Any) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities of the labels ``y``."""
        probabilities = self.predict_proba(X)
        codes = codes_of(np.asarray(y), self.classes_)
        with np.errstate(divide="ignore"):
            return np.log(probabilities[np.arange(len(codes)), codes])

    def predictive(self, candidates: Any, *, target: Any = None, random_state: Any = None) -> Predictive:
        """What is believed about inputs: jointly Gaussian latents and class probabilities.

        Parameters
        ----------
        candidates : (m, D) array
        target : (t, D) array, optional
            Inputs that the information is to be about; None: the whole function.
        random_state : None, int, Generator or RandomState
            Of ``draws``.
        """
        fitted = hasattr(self, "processes_")
        X = self._inputs(candidates, reset=False) if fitted else self._fresh(candidates)
        target = None if target is None else self._inputs(target, reset=False) if fitted else self._fresh(target)
        labels = getattr(self, "classes_", self.classes)
        labels = None if labels is None or len(labels) < 2 else np.unique(labels)
        count = 1 if labels is None or len(labels) == 2 else len(labels)
        processes = self.processes_ if fitted else [self._prior(X)] * count
        if count > 1:
            return self._by_draws(processes, X, labels, target, random_state)
        family: Any = LINKS[self.link]()
        if labels is not None:
            family = Labelled(family, labels)
        return processes[0].predictive(X, family, target=target, random_state=random_state)

    def _by_draws(
        self, processes: list[LatentProcess], X: Any, labels: Any, target: Any, random_state: Any
    ) -> WeightedDraws:
        """Joint draws of the classes' latents at candidates and target, for one-vs-rest."""
        if self.multi_class == "one_vs_one":
            raise ValueError('multi_class="one_vs_one" has no class probabilities; use "one_vs_rest".')
        both = X if target is None else np.concatenate([X, target])
        link, latents = LINKS[self.link](), []
        for k, process in enumerate(processes):
            rng = np.random.default_rng([self.random_state if isinstance(self.random_state, int) else 0, k])
            mean, _ = process.moments(both)
            values, vectors = np.linalg.eigh(process.covariance(both, both))
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            latents.append(mean + rng.standard_normal((N_DRAWS, len(mean))) @ root.T)
        table = _normalised(np.exp(link.log_density(np.stack(latents, axis=-1), 1.0)))
        equal, m = np.full(N_DRAWS, 1.0 / N_DRAWS), len(X)
        about = None if target is None else WeightedDraws(equal, table[:, m:], labels, random_state=random_state)
        return WeightedDraws(equal, table[:, :m], labels, target=about, features=X, random_state=random_state)

    # -- evidence ------------------------------------------------------------------------------------------------------

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """Return the log evidence at ``theta`` (None: as learnt), and with ``eval_gradient`` its derivatives.

        Parameters
        ----------
        theta : (p,) array, optional
            Of the kernel, or of kernel and mean. Of more than two classes one for all binary problems, or one after the
            other; then the mean over the problems is returned, as in scikit-learn.
        eval_gradient : bool, default False
        clone_kernel : ignored
            The kernel is never changed.
        """
        check_is_fitted(self)
        if len(self.evidences_) == 1:
            return self._marginal(self.evidences_[0], theta, eval_gradient)
        if eval_gradient:
            raise ValueError("eval_gradient is there for two classes only; each binary problem has its own gradient.")
        thetas: Any = [None] * len(self.evidences_)
        if theta is not None:
            theta = np.asarray(theta, dtype=float)
            sizes = [len(evidence.kernel.theta) for evidence in self.evidences_]
            thetas = np.split(theta, np.cumsum(sizes)[:-1]) if len(theta) == sum(sizes) else [theta] * len(sizes)
        values = [self._marginal(e, t, False) for e, t in zip(self.evidences_, thetas, strict=True)]
        return float(np.mean(values))

    @property
    def kernel_(self) -> Any:
        """The kernel as learnt."""
        check_is_fitted(self)
        kernels = [process.kernel for process in self.processes_]
        return kernels[0] if len(kernels) == 1 else CompoundKernel(kernels)

    @property
    def mean_(self) -> Any:
        """The mean function as learnt (a list of them for more than two classes)."""
        check_is_fitted(self)
        return self._one([process.mean for process in self.processes_])

    @property
    def posterior_(self) -> Any:
        check_is_fitted(self)
        return self._one([process.posterior for process in self.processes_])

    @staticmethod
    def _one(values: list) -> Any:
        return values[0] if len(values) == 1 else values

    log_marginal_likelihood_value_ = property(
        lambda self: float(np.mean([p.log_evidence for p in self._posteriors])), doc="As in scikit-learn."
    )
    n_iter_ = property(lambda self: max(p.n_iter for p in self._posteriors), doc="Iterations of the inference.")

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what was learnt as plain data; ``restore`` brings it back."""
        if not hasattr(self, "evidences_"):
            return {}
        names = getattr(self, "feature_names_in_", None)
        parts = [self._process_state(e, [p]) for e, p in zip(self.evidences_, self.processes_, strict=True)]
        return {
            "X": np.asarray(self.X_train_),
            "y": self.y_train_,
            "classes": self.classes_,
            "learnt_rows": self.learnt_rows_,
            "parts": parts,
            "feature_names": None if names is None else list(names),
        }

    def restore(self, state: dict[str, Any]) -> GaussianProcessClassifier:
        """Take over what ``state`` returned; the parameters must be the same."""
        if not state:
            return self
        X, y, classes = state["X"], state["y"], state["classes"]
        problems = self._problems(X, codes_of(y, classes), len(classes))
        found = [self._restored(problem, part) for problem, part in zip(problems, state["parts"], strict=True)]
        self.evidences_, self.processes_ = [e for e, _ in found], [p[0] for _, p in found]
        self.X_train_, self.y_train_, self.classes_, self.n_classes_ = X, y, classes, len(classes)
        self.learnt_rows_, self.n_features_in_ = int(state["learnt_rows"]), X.shape[1]
        if state["feature_names"] is not None:
            self.feature_names_in_ = np.array(state["feature_names"], dtype=object)
        return self

    # -- details -------------------------------------------------------------------------------------------------------

    def _require_two(self, name: str) -> None:
        if len(self.classes_) > 2:
            raise ValueError(f"{name} is there for two classes only, got {len(self.classes_)}.")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        checks.choice("link", self.link, LINKS)
        checks.choice("multi_class", self.multi_class, ("one_vs_rest", "one_vs_one"))
        checks.integer("max_iter_predict", self.max_iter_predict, minimum=1)
        if isinstance(self.inference, str):
            checks.choice("inference", self.inference, ENGINES)
        self._check_low_rank(self.inference)
        if self.classes is not None and len(np.unique(self.classes)) < 2:
            raise ValueError(f"classes must name two labels or more, got {list(self.classes)}.")


def _observed(family: Any, signs: np.ndarray, scale: float) -> Any:
    """The potentials of the labels; a link has no scale."""
    return family(signs)


def _normalised(table: np.ndarray) -> np.ndarray:
    table = np.maximum(table, np.finfo(float).tiny)
    return table / table.sum(axis=-1, keepdims=True)
