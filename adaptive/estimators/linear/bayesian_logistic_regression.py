"""Classification with linear latents and an honest posterior over their weights.

The estimator checks what users give; what is believed about labels is an object of :mod:`adaptive.estimators.linear`,
one kind for two classes and others for more.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.extmath import randomized_svd

from adaptive import pool
from adaptive.estimators.belief import Belief, BeliefEstimator, of_belief
from adaptive.estimators.linear.annotators.annotated_belief import AnnotatedBelief
from adaptive.estimators.linear.annotators.answers import Answers
from adaptive.estimators.linear.annotators.asked import AskedRows, pairs_of
from adaptive.estimators.linear.binary_belief import BinaryBelief
from adaptive.estimators.linear.integrated_belief import IntegratedBelief
from adaptive.estimators.linear.one_vs_rest_belief import OneVsRestBelief
from adaptive.estimators.linear.pool_marginals import KeptRows
from adaptive.estimators.linear.settings import LogisticSettings
from adaptive.estimators.linear.softmax_belief import SoftmaxBelief
from adaptive.estimators.rows.labels import codes_of, known_classes, refuse_two_kinds, unboxed, warn_of_one_class
from adaptive.estimators.rows.tables import checked_pool, checked_table
from adaptive.estimators.rows.training import LabelledRows, checked_weights, labels_of, stacked_rows
from adaptive.selection.arguments import written_out

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sklearn.utils import Tags

    from adaptive.estimators.linear.annotators.rates import Skill
    from adaptive.inference import Posterior
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Matrix, Options, Pool, RandomState, State, Table

__all__ = ["BayesianLogisticRegression"]

MOST_KEPT = 10_000_000  # rows of a pool whose marginals are kept: a hundred bytes each
RANK = 300  # directions of a pool: variances fall with the square of singular values
_DENSE = 2_000_000  # numbers up to which their decomposition is an exact one


class BayesianLogisticRegression(ClassifierMixin, BeliefEstimator):
    r"""Bayesian logistic (or probit) regression with a Gaussian or a sparse prior.

    Parameters
    ----------
    prior : {"gaussian", "laplace", "student_t"}, default "gaussian"
        Of each weight: N(0, scale^2), exp(-\|w\|/scale)/(2 scale), or a Student t, whose heavy tails leave a few large
        weights as they are while the others shrink.  The intercept is N(0, 9). Chosen by
        ``ours-default-settings-labels``.
    prior_scale : float, optional
        None: fitted by evidence, under a broad log-normal prior (see Notes). Beside cross-validation:
        ``ours-multiclass-log-loss``.
    df : float, default 2.0
        Degrees of freedom of "student_t".
    link : {"logit", "probit"}, default "logit"
        Chosen by ``ours-default-settings-labels``.
    inference : str or callable, default "expectation_propagation"
        A name in :mod:`adaptive.inference`, or a callable ``(model, **settings) -> Posterior`` such as
        ``functools.partial(inference.variational_bounds, variances="sampled", n_samples=64)``, or "lanczos": products
        with the rows only, where both they and the features (with a sparse prior, the features) are beyond 20,000.
        With "student_t" "variational_bounds" stands in for "expectation_propagation", which needs log-concave priors.
        Chosen by ``ours-ep-is-closest``.
    fit_intercept : bool, default True
    classes : array-like (c,) of two or more labels, optional
        All labels, where the first answers may not show every class.
    multi_class : {"softmax", "one_vs_rest"}, default "softmax"
        For more than two classes: one joint posterior over the scores of all, by a Gaussian prior, the logit link and
        "variational_bounds" (which also stands in for "expectation_propagation") or "laplace_approximation"; or as many
        binary problems, with any of the options above. Chosen by ``ours-hyper-classes``.
    max_iter : int, default 100
        Iterations of the inference.
    tol : float, default 1e-4
        Its tolerance.
    random_state : None, int, Generator or RandomState
        For inference that draws.
    update : {"auto", "refit", "inclusion"}, default "auto"
        What ``partial_fit`` does with further answers: fit all of them again, warm; or include them one by one, each by
        a rank-one update, with one step of the inference after every block.  "auto" includes up to a block of dense
        rows of two classes where the scale is integrated, with a Gaussian prior and expectation propagation, and else
        fits again.
        ``select`` then follows the marginals of the whole pool by one product with its rows per answer; the pool must
        be the same object, unchanged, from call to call (as in a `SequentialDesign`), else they are computed anew.
        Chosen by ``ours-selective-ep-update``.
        More than two classes of a softmax are refitted by "auto"; included, each answer is one step of the inference.
    block_size : int, default 10
        Answers per block of ``update="inclusion"``.
    hyperparameters : {"integrated", "mode"}, default "integrated"
        What is done about a ``prior_scale`` that is not given: average over nodes of it, each weighted by its evidence
        (see Notes), or take that of the highest evidence. Chosen by ``ours-hyper-better-on-average`` and
        ``ours-hyper-coverage``.
    calibration : {"leave_one_out", None}, default "leave_one_out"
        With integrated hyper-parameters, of two classes by expectation propagation and of a softmax: probabilities are
        those of latents whose (co)variances are multiplied by one factor, fitted to leave-one-out predictions. Who is
        asked does not depend on it. Chosen by `ours-hyper-text-factor` and `ours-hyper-factor-classes`.
    prior_covariance : {None, "pool"}, default None
        None: weights are independent. "pool": they vary as the rows of ``pool`` do, w ~ N(0, scale^2 C), C = X'X / N,
        along its 300 leading directions and scaled so that its rows have mean square length 1. For texts, whose words
        go together: more accurate at few labels (`ours-hyper-text-pool`; six classes: `ours-default-texts`), so that
        `adaptive label` and `adaptive classify` take it of texts. Not for tables, where rare directions may be those
        that matter.
    pool : (N, n_features) array, sparse matrix or frame, optional
        Rows, without labels, whose directions these are; mostly those that are to be chosen from.
    annotators : bool or mapping of people to numbers, default False
        True: labels come from people who may be wrong, each at rates of their own, which are learnt. Candidates are
        pairs of a row and a person, as `designs.pool.Annotated` makes them; ``predict`` is about the true labels of
        plain rows. A mapping gives the probability of a right answer of those of whom it is known, {"Ann": 0.95}; 1 is
        somebody who is never wrong. All labels of a row are one observation of its true label (see Notes).

    Attributes
    ----------
    classes_ : (c,) array, the labels known so far
    coef_ : (1, n_features) array, posterior mean of the weights; of more than two classes (c, n_features)
    intercept_ : (1,) or (c,) array, posterior mean of the intercept
    prior_scale_ : float
    leave_one_out_ : what would have been said of each row without it, ``probabilities`` (m, c) and ``log_score`` (m,)
        of two classes by expectation propagation, and of a softmax; None otherwise
    X_train_, y_train_, sample_weight_ : the training rows (along the pool's directions, where it has some), their
        labels and weights
    annotators_ : dict or None
        With ``annotators``: of everybody who has answered a `Skill`, the probability of a right answer (``mean``, and
        ``low``, ``high`` of a 90% interval), the number of ``labels``, and ``rates`` (c, c), true labels in rows.
    doubts_ : dict
        With ``annotators``: what of this rests on the prior alone, a sentence each by its kind: "one_person" where all
        labels are one person's, "most_wrong" where most people are believed to be wrong more often than right.
    truth_ : (rows, probabilities) or None
        With ``annotators``: positions (n,) of the rows somebody has answered, and (n, c) probabilities of their labels.
    posterior_ : Posterior over the weights and, last, the intercept
    log_evidence_, evidence_kind_, objective_trace_, n_iter_, converged_ : of the inference
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    adaptive.SequentialDesign : asks for labels one by one.

    Notes
    -----
    Pools are scored in chunks, through joblib where ``joblib.parallel_config`` says so, without a dense copy of sparse
    rows; those of single precision are cast a block at a time, once for all nodes of the prior scale.

    With ``hyperparameters="mode"`` the scale maximises the evidence times a log-normal prior: its median makes the
    latent of a typical training row 3, the standard deviation of ln scale is 1.5; ``log_evidence_`` is without that
    prior.  With a softmax the scale is that of Laplace's evidence, whatever the inference: the bound's would be too
    small the more classes there are; ``log_evidence_`` is then the bound (``evidence_kind_`` "lower_bound") at this
    scale.  With a Student t there may be several optima; the posterior is one near a mode.  ``partial_fit`` keeps all
    rows and refits warm.  Answers that repeat a row count as independent ones: labellers who disagree about a row leave
    its class as uncertain as their votes are divided, and no answer is ever certain.

    Integrated, ln(scale x typical length of the training rows) has a N(ln 2, 1.5^2) prior and nine nodes, .75 apart;
    those of weight below .001 are dropped, and only the others and their neighbours are refitted until there are a
    quarter more rows. Probabilities are the mixture's, as are moments and quantiles of ``posterior_``;
    ``log_evidence_`` is that of all nodes, ``prior_scale_`` their geometric mean.

    With ``annotators`` the true label z of a row, the same for all who look at it, has the link's probability, and a
    person says y with the probability R[z, y]. The rates have a Dirichlet prior about the person's one number, by which
    a stranger is right in 82% of the cases; rows of R that have few answers are pulled towards it. Weights and rates
    are found in turn: of two classes all labels of a row are one site, sum_z L(z) p(z | s), of expectation propagation,
    and of more the softmax's bound takes the labels' probabilities. ``scorer="auto"`` is "information_gain", about the
    weights: rates are integrated out, and learnt by the way. That true labels are not certain does not widen the
    intervals of skills: nominal 90% cover .81 to .88 after 120 labels of five people (`ours-skills-coverage`). Where
    one person has answered everything, errors and noise of the labels cannot be told apart, and where most people are
    wrong more often than right the classes may be the wrong way round: both are said in a warning of ``fit``, once by
    each `SequentialDesign` when it asks, and in ``doubts_``. Of somebody with fewer than five labels it is the prior
    that decides, by which a stranger's interval is .53 to 1.00, and neither is said.

    Rows asked by "uncertainty" lie near the class boundary, where labels say little about the length of the weights: a
    scale learnt from them alone can be several times too large, and intervals then cover too little.  Integrate, give
    ``prior_scale``, or draw some rows at random (``initial`` of `SequentialDesign`), where probabilities matter.

    References
    ----------
    Nickisch (2010), "Bayesian Inference and Experimental Design for Large Generalised Linear Models", section 3.7.
    Minka (2001), "Expectation propagation for approximate Bayesian inference".
    Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM algorithm".
    Raykar et al. (2010), "Learning from crowds", JMLR 11.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> y = np.where(X[:, 0] > 0.5, "yes", "no")
    >>> model = BayesianLogisticRegression().fit(X[::8], y[::8])
    >>> model.predict([[-2.0], [2.0]]).tolist()
    ['no', 'yes']
    >>> bool(abs(X[model.select(X)[0], 0] - 0.5) < 1.5)
    True
    """

    def __init__(
        self,
        prior: str = "gaussian",
        *,
        prior_scale: float | None = None,
        df: float = 2.0,
        link: str = "logit",
        inference: str | Callable[..., Posterior] = "expectation_propagation",
        fit_intercept: bool = True,
        classes: ArrayLike | None = None,
        multi_class: str = "softmax",
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: RandomState = None,
        update: str = "auto",
        block_size: int = 10,
        hyperparameters: str = "integrated",
        calibration: str | None = "leave_one_out",
        prior_covariance: str | None = None,
        pool: Table | None = None,
        annotators: bool | Mapping[Any, float] = False,
    ) -> None:
        self.prior = prior
        self.prior_scale = prior_scale
        self.df = df
        self.link = link
        self.inference = inference
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.update = update
        self.block_size = block_size
        self.hyperparameters = hyperparameters
        self.calibration = calibration
        self.prior_covariance = prior_covariance
        self.pool = pool
        self.annotators = annotators

    # -- learning ------------------------------------------------------------------------------------------------------

    @property
    def default_scorer(self) -> str:  # type: ignore[override]
        """The committee, at a hundredth of the time of predictive information (`ours-default-classifiers`); of
        candidates that are a row and a person the information (`ours-skills-labels`).
        """
        return "query_by_committee" if self.annotators is False else "information_gain"

    _Settings, _Data = LogisticSettings, LabelledRows
    _cites = ("nickisch2010",)
    belief_: BinaryBelief | SoftmaxBelief | OneVsRestBelief | IntegratedBelief | AnnotatedBelief

    def fit(self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BayesianLogisticRegression:
        """Forget the earlier fit, and fit.

        Parameters
        ----------
        X : (m, n_features) array, sparse matrix or frame
        y : (m,) array of labels
        sample_weight : (m,) array of numbers >= 0, optional
            How many independent answers a row counts for (its likelihood to that power); 0 leaves it out.

        Raises
        ------
        ValueError
            If X or y is not finite, shapes differ, or y holds labels other than ``classes``.
        """
        fitted = self._fit(X, y, sample_weight=sample_weight)
        warn_of_one_class(fitted.belief_.data.classes)
        for sentence in self.doubts_.values():
            warnings.warn(sentence, UserWarning, stacklevel=2)
        return fitted

    def partial_fit(
        self, X: Table, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> BayesianLogisticRegression:
        """Learn from further rows; what is refused leaves the estimator unchanged.

        Parameters
        ----------
        X : (m, n_features) array, sparse matrix or frame
        y : (m,) array of labels
        classes : array-like of labels, optional
            All that are known, as in scikit-learn's own ``partial_fit``; new ones may be named later.
        sample_weight : (m,) array of numbers >= 0, optional
            As in ``fit``.
        """
        return self._partial_fit(X, y, classes=classes, sample_weight=sample_weight)

    def _measured(
        self,
        X: Table,
        y: ArrayLike,
        earlier: LabelledRows | None = None,
        *,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> LabelledRows | Answers:
        refuse_two_kinds(y)
        if self.annotators is not False:
            return self._answers(X, y, earlier, classes, sample_weight)
        rows, labels = checked_table(self, X, unboxed(y), reset=earlier is None)
        rows = self._along(rows)
        weights, named = checked_weights(sample_weight, len(labels)), self.classes if classes is None else classes
        if earlier is None:
            known = known_classes(labels, named)
        else:
            known = earlier.classes
            if classes is not None or not set(labels.tolist()) <= set(known.tolist()):
                known = known_classes(labels, named, known)
            weights = np.concatenate([earlier.sample_weight, weights])
            rows, labels = stacked_rows(earlier.X, rows), np.concatenate([earlier.y, labels])
        if not weights.all():  # what counts for nothing is left out
            rows, labels, weights = rows[weights > 0], labels[weights > 0], weights[weights > 0]
        return LabelledRows(rows, labels, known, None if np.all(weights == 1.0) else weights)

    def _answers(
        self, X: Any, y: ArrayLike, earlier: Any, classes: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> Answers:
        """Answers of people about rows, after the earlier ones."""
        if sample_weight is not None:
            raise ValueError(
                "sample_weight cannot be used with annotators, since the people who gave a row's labels weigh them."
            )
        ids, who = pairs_of(X)
        rows, labels = checked_table(self, pool.take(X.table, ids), unboxed(y), reset=earlier is None)
        named = self.classes if classes is None else classes
        known = known_classes(labels, named) if earlier is None else earlier.classes
        if earlier is not None and (classes is not None or not set(labels.tolist()) <= set(known.tolist())):
            known = known_classes(labels, named, known)
        return Answers.of(self._along(rows), ids, who, labels, known, earlier)

    def _measured_before(self, settings: Any, state: State) -> Any:
        return LabelledRows.from_state(state) if self.annotators is False else Answers.from_state(state)

    def _belief_about(self, data: Any) -> type[Belief[LogisticSettings, Any]]:
        if self.annotators is not False:
            return AnnotatedBelief
        labels = labels_of(self.classes) if data is None else data.classes
        two = labels is None or len(labels) <= 2
        if not two and self.multi_class != "softmax":
            return OneVsRestBelief
        if self.prior_scale is None and self.hyperparameters != "mode":
            return IntegratedBelief
        return BinaryBelief if two else SoftmaxBelief

    @property
    def compares_columns(self) -> bool:
        """A pool's directions have scales of their own, which the prior takes from them."""
        return self.prior_covariance is None

    # -- belief --------------------------------------------------------------------------------------------------------

    def predictive(
        self, candidates: Pool, *, target: Table | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the belief about rows: Gaussian latents and their class probabilities.

        Parameters
        ----------
        candidates : (m, n_features) array, sparse matrix or frame
        target : (t, n_features) rows, optional
            Inputs that the information is to be about; None: the weights.
        random_state : None, int, Generator or RandomState
            Of ``draws``.

        Returns
        -------
        GaussianProjections, SoftmaxProjections, WeightedDraws or Mixture
            For two classes, more by softmax, more by one-vs-rest, and of the first two over nodes.  Outcomes are
            ``classes_`` where two or more are known, else -1 and +1.
        """
        return super().predictive(candidates, target=target, random_state=random_state)

    def _candidates(self, X: Pool) -> Matrix | KeptRows | AskedRows:
        if self.annotators is not False:
            return AskedRows.of(X, self._rows)
        return X if isinstance(X, KeptRows) else self._rows(X)

    def _given_inputs(self, target: Any) -> Matrix:
        if self.annotators is not False and hasattr(target, "table"):  # `select` takes some of the pool
            return self._rows(pool.take(target.table, np.unique(target.rows)))
        return target.rows() if isinstance(target, KeptRows) else self._rows(target)

    def _rows(self, X: Any) -> Matrix:
        """Rows, checked, along the directions in which weights are independent; those of pairs with people."""
        if self.annotators is not False and hasattr(X, "table"):
            X = pool.take(X.table, X.rows)
        return self._along(checked_table(self, X))

    def _along(self, rows: Matrix) -> Matrix:
        """Rows along the pool's directions, where weights vary as its rows do."""
        directions = self._directions
        if directions is None:
            return rows
        if rows.shape[1] != len(directions):
            raise ValueError(f"X has {rows.shape[1]} features, but pool has {len(directions)}.")
        return np.asarray(rows @ directions)

    @property
    def _directions(self) -> np.ndarray | None:
        if self.prior_covariance is None:
            return None
        LogisticSettings.of(self)  # refuses a pool that is not there
        known = getattr(self, "_of_pool", None)
        if known is None or known[0] is not self.pool:
            known = self._of_pool = (self.pool, pool_directions(checked_pool(self.pool)))
        return known[1]

    def _prepared(self, arguments: Options) -> Options:
        """The arguments; where answers are included the pool goes with its marginals, kept from call to call."""
        belief, candidates, pending = getattr(self, "belief_", None), arguments["candidates"], arguments["pending"]
        if not isinstance(belief, BinaryBelief | IntegratedBelief) or not belief.settings.includes(belief.data):
            return arguments
        if belief.data.n_classes > 2:
            return arguments
        if callable(candidates) or pool.length(candidates) == 0:
            return arguments
        if pool.is_stored(candidates) or pool.length(candidates) > MOST_KEPT:
            return arguments  # marginals of a chunk at a time are all that is held
        mask = written_out(
            arguments["mask"], candidates, pool.length(candidates)
        )  # of the rows, not what goes for them
        arguments = {**arguments, "mask": mask}
        marginals = belief.marginals(candidates, lambda: self._rows(candidates))
        prepared = {**arguments, "candidates": marginals.as_pool(), "mask": marginals.mask(arguments)}
        if callable(arguments["cost"]):
            prepared["cost"] = arguments["cost"](candidates)
        if pending is not None:
            beside = belief.marginals(pending, lambda: self._rows(pending), keep=False)
            prepared["pending"] = beside.as_pool()
        return prepared

    def restore(self, state: State) -> Self:
        """Take over what ``state`` returned; the parameters must be the same."""
        super().restore(state)
        if state and self._directions is not None:
            self.n_features_in_ = len(self._directions)
        return self

    def predict_proba(self, X: Table) -> np.ndarray:
        """Return the (m, c) predictive probabilities, columns as in ``classes_``."""
        belief = self.fitted_belief()
        return belief.probabilities(self._rows(X))

    def predict(self, X: Table) -> np.ndarray:
        """Return the (m,) labels with the highest predictive probability."""
        belief = self.fitted_belief()
        return belief.data.classes[belief.winners(self._rows(X))]

    def decision_function(self, X: Table) -> np.ndarray:
        """Return log-odds (m,), ln p(classes_[1]) - ln p(classes_[0]); of more classes ln p (m, c)."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny))
        return logs if logs.shape[1] > 2 else logs[:, -1] - logs[:, 0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.multi_class != "softmax" or SoftmaxBelief.supports(self)
        tags.input_tags.sparse = True
        return tags

    def log_predictive(self, X: Table, y: ArrayLike) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities of the labels ``y``."""
        probabilities = self.predict_proba(X)
        codes = codes_of(np.asarray(y), self.classes_)
        with np.errstate(divide="ignore"):
            return np.log(probabilities[np.arange(len(codes)), codes])

    @property
    def coef_(self) -> np.ndarray:
        """(1, n_features) posterior means of the weights; (c, n_features) of more than two classes."""
        weights, directions = self.fitted_belief().coefficients()[0], self._directions
        return weights if directions is None else weights @ directions.T

    @property
    def intercept_(self) -> np.ndarray:
        """(1,) or (c,) posterior means of the intercept, 0 without one."""
        return self.fitted_belief().coefficients()[1]

    classes_ = of_belief("data.classes", "The labels known so far, sorted.")
    prior_scale_ = of_belief("prior_scale", "Given, or fitted by evidence; the geometric mean over nodes.")
    leave_one_out_ = of_belief("left_out", "Probabilities (m, c) and log_score (m,) of the training rows; or None.")

    @property
    def annotators_(self) -> dict[Any, Skill] | None:
        """Skills of everybody who has answered, by person; None without ``annotators``."""
        belief = self.fitted_belief()
        return belief.skills if isinstance(belief, AnnotatedBelief) else None

    @property
    def doubts_(self) -> dict[str, str]:
        """Sentences by their kind on what rests on the prior alone; none without ``annotators``."""
        belief = self.fitted_belief()
        return belief.doubts if isinstance(belief, AnnotatedBelief) else {}

    @property
    def truth_(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Positions (n,) of the rows that somebody has answered, and (n, c) probabilities of their true labels."""
        belief = self.fitted_belief()
        return (belief.data.ids, belief.truth) if isinstance(belief, AnnotatedBelief) else None

    X_train_ = of_belief("data.X", "The training rows.")
    y_train_ = of_belief("data.y", "Their labels.")
    sample_weight_ = of_belief("data.sample_weight", "Their weights.")


def pool_directions(pool: Matrix, rank: int = RANK) -> np.ndarray:
    """Return D (p, r) with  D D' = C / mean of x C x' over the pool,  C = X' X / N,  exact where r >= the pool's rank.

    Weights  w ~ N(0, s^2 C)  vary as the N rows of the pool do; they are N(0, s^2) weights of the features  x D.  An
    isotropic prior leaves variance in directions that no document of a pool of texts has; of tables this takes it from
    directions that matter (results/tables/hyper-text.csv). No p x p matrix is formed.

    Parameters
    ----------
    pool : (N, p) array or sparse matrix
    rank : int, default 300
        Directions kept at most.

    Examples
    --------
    >>> rows = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> directions = pool_directions(rows)
    >>> covariance = rows.T @ rows / 3
    >>> unit = np.mean(np.einsum("ij,jk,ik->i", rows, covariance, rows))
    >>> bool(np.allclose(directions @ directions.T, covariance / unit))
    True
    """
    count, p = pool.shape
    if count * p <= _DENSE:
        matrix: Any = pool
        dense = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix, dtype=float)
        _, singular, right = np.linalg.svd(dense, full_matrices=False)
    else:
        _, singular, right = randomized_svd(pool, min(rank, min(count, p) - 1), n_iter=4, random_state=0)
    kept = singular[:rank] > 1e-10 * singular[0]
    directions = right[:rank][kept].T * singular[:rank][kept]  # of C, times sqrt(N)
    lengths = np.square(np.asarray(pool @ directions)).sum(axis=1)
    return directions / np.sqrt(np.mean(lengths))
