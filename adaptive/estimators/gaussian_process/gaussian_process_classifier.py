"""Gaussian process classification with any approximation:  p(y | x, f) = link(y f(x)),    f ~ GP(m, k)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.gaussian_process.kernels import CompoundKernel

from adaptive.estimators.belief import Belief, of_belief
from adaptive.estimators.gaussian_process.classifier_belief import ClassifierBelief, ClassifierSettings
from adaptive.estimators.gaussian_process.estimator import ProcessEstimator
from adaptive.estimators.gaussian_process.integrated_belief import IntegratedClassifier
from adaptive.estimators.gaussian_process.process_belief import log_marginal_likelihood, one_or_all
from adaptive.estimators.gaussian_process.settings import integrates
from adaptive.estimators.rows.labels import codes_of, known_classes, refuse_two_kinds, unboxed, warn_of_one_class
from adaptive.estimators.rows.scales import warn_of_scales
from adaptive.estimators.rows.training import LabelledRows, labels_of, stacked_rows
from adaptive.estimators.variance_factor import tell_alarm

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.inference import Posterior
    from adaptive.means import Mean
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Pool, RandomState, Table

__all__ = ["GaussianProcessClassifier"]


class GaussianProcessClassifier(ClassifierMixin, ProcessEstimator):
    r"""Gaussian process classifier: scikit-learn's arguments, and a choice of link, mean and inference.

    Parameters
    ----------
    kernel : kernel, optional
        Of scikit-learn or :mod:`adaptive.kernels`. None: a squared exponential whose height and length are learnt; the
        length starts at the median distance of the rows (with ``optimizer=None`` it is ``1.0 * RBF(1.0)``). Chosen by
        `ours-default-processes`.
    link : {"logit", "probit"}, default "logit"
        Chosen by ``ours-default-settings-labels-by-processes``.
    inference : str or callable, default "expectation_propagation"
        "laplace_approximation", "expectation_propagation", "variational_gaussian", "variational_bounds", "mean_field",
        "annealed_importance", or a callable ``(model, **settings) -> Posterior``. Chosen by ``ours-ep-is-closest``.
    mean : mean function of :mod:`adaptive.means`, float or None
        None: zero. Its parameters are fitted with those of the kernel. Chosen by
        ``ours-default-settings-labels-by-processes``.
    optimizer : "fmin_l_bfgs_b", callable or None, default "fmin_l_bfgs_b"
        Climbs the log evidence; None keeps the parameters.
    n_restarts_optimizer : int, default 0
    max_iter_predict : int, default 100
        Iterations of the inference.
    warm_start : bool, default False
        Whether ``fit`` starts from the parameters that the last one found.
    copy_X_train : bool, default True
    random_state : None, int, Generator or RandomState
    multi_class : {"one_vs_rest", "one_vs_one"}, default "one_vs_rest"
        Of more than two classes.
    n_jobs : int, optional
        For their binary problems.
    classes : array-like (c,) of labels, optional
        All labels, where the first answers may not show every class.
    tol : float, default 1e-6
        Of the inference.
    rank : int, optional
        Approximate the kernel matrix by that many of its rows, the pivots, and its exact diagonal: time n rank^2 and
        memory n rank for n rows, and rank kernel values per prediction. Any inference but "mean_field" and
        "annealed_importance". None: the whole matrix.
    low_rank : {"incomplete_cholesky", "nystroem"}, default "incomplete_cholesky"
        How pivots are found: each where the variance that remains is largest, or at random. Hyper-parameters are fitted
        with the pivots that the starting kernel asks for; those of the fitted one are found afterwards.
    hyperparameters : {"auto", "integrated", "mode"}, default "auto"
        Average over nodes of them, each weighted by its evidence and a prior about what ``kernel`` has: ln length ~
        N(ln start, 1), heights alike; or take those of the highest evidence. One has 9 nodes, two have 15, more a
        central composite design about the best. Few labels, or those that a design chose, make the best kernel's
        variances too small. "auto" averages over at most four, of two classes, and takes the highest where the search
        was given an ``optimizer`` or restarts or a mean. Chosen by `ours-default-processes`.
    calibration : {"leave_one_out", None}, default "leave_one_out"
        Two classes by expectation propagation: multiply latents' variances by one factor, fitted to leave-one-out
        predictions, in ``predict_proba``. On four pools it lowers the log loss by .02 nats after designed rows and .016
        after random ones (``ours-hyper-factor-processes``). Who is asked does not depend on it.

    Attributes
    ----------
    classes_ : (c,) array
    n_classes_ : int
    kernel_ : kernel as fitted; of more than two classes a CompoundKernel
    log_marginal_likelihood_value_ : float
        Of more than two classes the mean over the binary problems, as in scikit-learn.
    log_evidence_ : float
        The sum.
    evidence_kind_, objective_trace_, n_iter_, converged_ : of the inference
    variance_factor_ : VarianceFactor or None
        By how much the latent function's variances are too small, by labels without themselves, with the standard error
        of its logarithm; at least 1, and only in `interval`. Of two classes by expectation propagation, else None.
    posterior_ : Posterior over the latents at the training inputs (a list of them for more than two classes)
    X_train_, y_train_ : training rows and answers

    Notes
    -----
    ``partial_fit`` adds rows and re-converges from the sites it had. Hyper-parameters follow their top at every row
    and, when there are a quarter more rows or a label is a surprise, are sought from where ``fit`` starts, too: answers
    one by one lead to the evidence of ``fit`` on all of them within .1 nat, or to a higher one. An ``optimizer`` of
    your own is asked at those rows only.

    Nominal .90 of labels, by ``predict_proba``, covers .90 to .93 on five real sets; of drawn latents, by
    ``interval``, .93 to .95 after 20 labels and .86 after 60 (``ours-bands-gp-classifier``). The prior of
    height and length is about where the kernel begins: begun at a quarter of the true variance it covers .83 to .88
    (``ours-bands-gp-classifier-begun-small``), begun at the one that drew them .90 to .94.

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
        kernel: Kernel | None = None,
        *,
        link: str = "logit",
        inference: str | Callable[..., Posterior] = "expectation_propagation",
        mean: Mean | float | None = None,
        optimizer: str | Callable[..., Any] | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        max_iter_predict: int = 100,
        warm_start: bool = False,
        copy_X_train: bool = True,
        random_state: RandomState = None,
        multi_class: str = "one_vs_rest",
        n_jobs: int | None = None,
        classes: ArrayLike | None = None,
        tol: float = 1e-6,
        rank: int | None = None,
        low_rank: str = "incomplete_cholesky",
        hyperparameters: str = "auto",
        calibration: str | None = "leave_one_out",
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
        self.hyperparameters = hyperparameters
        self.calibration = calibration

    # -- learning ------------------------------------------------------------------------------------------------------

    default_scorer = "predictive_information_gain"  # information_gain asks odd rows of a pool, whatever was learnt
    _Settings, _Data, _Belief = ClassifierSettings, LabelledRows, ClassifierBelief
    _cites = ("nickisch2008", "nickisch2010")
    belief_: ClassifierBelief | IntegratedClassifier

    def _belief_about(self, data: LabelledRows | None) -> type[Belief]:
        labels = labels_of(self.classes) if data is None else data.labels
        several = labels is not None and len(labels) > 2
        return IntegratedClassifier if integrates(self, several) else ClassifierBelief

    def fit(self, X: Table, y: ArrayLike) -> GaussianProcessClassifier:
        """Forget the earlier fit, and fit.

        Parameters
        ----------
        X : (n, D) array, or list of what the kernel takes
        y : (n,) array of labels
        """
        settings, data = ClassifierSettings.of(self), self._measured(X, y)
        warn_of_scales(self, data.X, "X")
        warn_of_one_class(data.classes)
        start = self.belief_.thetas if self.warm_start and self.__sklearn_is_fitted__() else None
        return self._learn(settings, data, None, start=start)

    def partial_fit(self, X: Table, y: ArrayLike, classes: ArrayLike | None = None) -> GaussianProcessClassifier:
        """Learn from further rows, starting from the sites there are; what is refused changes nothing.

        Parameters
        ----------
        X : (m, D) array
        y : (m,) array of labels
        classes : array-like of labels, optional
            All that are known.
        """
        return self._partial_fit(X, y, classes=classes)

    def _measured(
        self, X: Table, y: ArrayLike, earlier: LabelledRows | None = None, *, classes: ArrayLike | None = None
    ) -> LabelledRows:
        refuse_two_kinds(y)
        inputs, labels = self._inputs(X, unboxed(y), reset=earlier is None, multi_output=False)
        named = self.classes if classes is None else classes
        if earlier is None:
            return LabelledRows(self._kept(inputs), labels, known_classes(labels, named))
        known = earlier.classes
        if named is not None or not set(labels.tolist()) <= set(known.tolist()):
            known = known_classes(labels, named, known)
        return LabelledRows(stacked_rows(earlier.X, inputs), np.concatenate([earlier.y, labels]), known)

    # -- belief --------------------------------------------------------------------------------------------------------

    def latent_mean_and_variance(self, X: Table) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance (m,) of the latent function; two classes only."""
        belief = self.fitted_belief()
        if belief.data.n_classes > 2:
            raise ValueError(
                f"latent_mean_and_variance needs a classifier of two classes, got {belief.data.n_classes}."
            )
        return belief.latent_moments(self._inputs(X, reset=False))

    def interval(self, X: Table, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends (m,) between which the latent function lies with the probability ``level``; two classes only.

        Nodes of the hyper-parameters are mixed, variances multiplied by ``variance_factor_``, which is 1.1 more often
        than not. Nominal .90 of drawn functions covers .93 to .95 after 20 labels and .86 after 60
        (``ours-bands-gp-classifier``). A factor above 4 is an alarm, which warns: the kernel is wrong, not only its
        width.

        Parameters
        ----------
        X : (m, D) array
        level : float, default 0.9
        """
        belief = self.fitted_belief()
        if belief.data.n_classes > 2:
            raise ValueError(f"interval needs a classifier of two classes, got {belief.data.n_classes}.")
        tell_alarm(belief.variance_factor, "labels", "Bands take them so. Another kernel suits them better.")
        return belief.latent_interval(self._inputs(X, reset=False), level)

    def predict_proba(self, X: Table) -> np.ndarray:
        """Return the (m, c) predictive probabilities, columns as in ``classes_``."""
        return self.fitted_belief().probabilities(self._inputs(X, reset=False))

    def predict(self, X: Table) -> np.ndarray:
        """Return the (m,) most probable labels."""
        belief = self.fitted_belief()
        return belief.data.classes[belief.winners(self._inputs(X, reset=False))]

    def log_predictive(self, X: Table, y: ArrayLike) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities of the labels ``y``."""
        probabilities = self.predict_proba(X)
        codes = codes_of(np.asarray(y), self.classes_)
        with np.errstate(divide="ignore"):
            return np.log(probabilities[np.arange(len(codes)), codes])

    def predictive(
        self, candidates: Pool, *, target: Table | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the belief about inputs: jointly Gaussian latents and class probabilities.

        Parameters
        ----------
        candidates : (m, D) array
        target : (t, D) array, optional
            Inputs that the information is to be about; None: the whole function.
        random_state : None, int, Generator or RandomState
            Of ``draws``.
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
            Of the kernel, or of kernel and mean. Of more than two classes one for all binary problems, or one after the
            other; then the mean over the problems is returned, as in scikit-learn.
        eval_gradient : bool, default False
        clone_kernel : ignored
            The kernel is never changed.
        """
        evidences = self.fitted_belief().evidences
        if len(evidences) == 1:
            return log_marginal_likelihood(evidences[0], theta, eval_gradient)
        if eval_gradient:
            raise ValueError(
                "eval_gradient needs a classifier of two classes; each binary problem has its own gradient."
            )
        thetas: Any = [None] * len(evidences)
        if theta is not None:
            theta = np.asarray(theta, dtype=float)
            sizes = [len(evidence.kernel.theta) for evidence in evidences]
            thetas = np.split(theta, np.cumsum(sizes)[:-1]) if len(theta) == sum(sizes) else [theta] * len(sizes)
        values = [e.at(e.theta if t is None else t).value() for e, t in zip(evidences, thetas, strict=True)]
        return float(np.mean(values))

    @property
    def kernel_(self) -> Kernel:
        """The kernel as fitted."""
        kernels = [process.kernel for process in self.fitted_belief().processes]
        return kernels[0] if len(kernels) == 1 else CompoundKernel(kernels)

    @property
    def mean_(self) -> Mean | list[Mean]:
        """The mean function as fitted (a list of them for more than two classes)."""
        return one_or_all([process.mean for process in self.fitted_belief().processes])

    @property
    def log_marginal_likelihood_value_(self) -> float:
        """As in scikit-learn."""
        return float(np.mean([posterior.log_evidence for posterior in self.fitted_belief().posteriors]))

    variance_factor_ = of_belief("variance_factor", "Of the latent function's variances, by labels left out; or None.")
    classes_ = of_belief("data.classes", "The labels known so far, sorted.")
    n_classes_ = of_belief("data.n_classes", "How many there are.")
    evidences_ = of_belief("evidences", "Of every binary problem.")
