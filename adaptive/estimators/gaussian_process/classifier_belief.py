"""Belief about labels:  p(y | x, f) = link(y f(x)),    f ~ GP(m, k).

Several classes are as many binary problems: each class against the rest, whose probabilities are divided by their sum,
or every pair, whose winners vote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils.multiclass import _ovr_decision_function

from adaptive import checks
from adaptive.estimators.gaussian_process.evidence import Evidence
from adaptive.estimators.gaussian_process.latent_bands import factor_of_labels, latent_interval
from adaptive.estimators.gaussian_process.low_rank import subset
from adaptive.estimators.gaussian_process.process_belief import (
    ProcessBelief,
    evidence_state,
    inferred,
    learnt,
    prior_process,
    restored,
)
from adaptive.estimators.gaussian_process.settings import HYPERPARAMETERS, ProcessSettings
from adaptive.estimators.rows.labels import LINKS, labelled, one_against_rest
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, latent_factor, of_two_classes, without_sites
from adaptive.estimators.rows.training import LabelledRows, labels_of
from adaptive.estimators.searches import due
from adaptive.means import as_mean
from adaptive.predictive import Predictive, WeightedDraws

if TYPE_CHECKING:
    from adaptive.estimators.variance_factor import VarianceFactor
    from adaptive.inference import Posterior
    from adaptive.potentials import Potential
    from adaptive.types import ArrayLike, Inputs, RandomState, State

__all__ = ["ClassifierBelief", "ClassifierSettings"]

N_DRAWS = 512


@dataclass(frozen=True, eq=False)
class ClassifierSettings(ProcessSettings):
    """Parameters of :class:`~adaptive.GaussianProcessClassifier`, under the same names."""

    link: str = "logit"
    inference: str | Callable[..., Posterior] | None = "expectation_propagation"
    max_iter_predict: int = 100
    multi_class: str = "one_vs_rest"
    n_jobs: int | None = None
    classes: ArrayLike | None = None
    hyperparameters: str = "auto"
    calibration: str | None = "leave_one_out"

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        super().check()
        checks.choice("hyperparameters", self.hyperparameters, HYPERPARAMETERS)
        checks.choice("link", self.link, LINKS)
        if self.calibration is not None:
            checks.choice("calibration", self.calibration, ("leave_one_out",))
        checks.choice("multi_class", self.multi_class, ("one_vs_rest", "one_vs_one"))
        checks.integer("max_iter_predict", self.max_iter_predict, minimum=1)
        self.check_engine()
        if self.classes is not None and len(np.unique(self.classes)) < 2:
            raise ValueError(f"classes must name two labels or more, got {list(np.asarray(self.classes))}.")

    def problem(self, X: Inputs, signs: np.ndarray) -> Evidence:
        """The evidence of a binary problem, before any fit."""
        steps = 400 if self.inference == "annealed_importance" else int(self.max_iter_predict)
        return Evidence(
            self.start_kernel(X),
            as_mean(self.mean).prepared(X),
            X,
            [partial(_observed, LINKS[self.link], signs)],
            self.engine(self.inference, steps),
            low_rank=self.approximation(),
        )

    def problems(self, data: LabelledRows) -> list[Evidence]:
        """The binary problems: one, or as many as ``multi_class`` makes of the classes."""
        X, codes, n_classes = data.X, data.codes, data.n_classes
        if n_classes <= 2:
            return [self.problem(X, np.where(codes == n_classes - 1, 1.0, -1.0))]
        if self.multi_class == "one_vs_rest":
            return [self.problem(X, np.where(codes == k, 1.0, -1.0)) for k in range(n_classes)]
        found = []
        for i, j in combinations(range(n_classes), 2):
            rows = np.flatnonzero((codes == i) | (codes == j))
            found.append(self.problem(subset(X, rows), np.where(codes[rows] == j, 1.0, -1.0)))
        return found


@dataclass(frozen=True, eq=False)
class ClassifierBelief(ProcessBelief):
    """One process per binary problem; `ProcessBelief` says the rest."""

    settings: ClassifierSettings
    data: LabelledRows | None

    @classmethod
    def learnt(
        cls,
        settings: ClassifierSettings,
        data: LabelledRows,
        earlier: ClassifierBelief | None = None,
        *,
        start: Sequence[np.ndarray] | None = None,
    ) -> ClassifierBelief:
        """Learn hyper-parameters, from those at the ``start`` of the search, if given.

        From those of an ``earlier`` belief, too, and where that is due as without it; of other classes anew.
        """
        problems, rows, near = settings.problems(data), len(data), None
        if earlier is not None and earlier.data is not None and earlier.data.n_classes == data.n_classes:
            near = [problem.at(before.theta) for problem, before in zip(problems, earlier.evidences, strict=True)]
            for problem, before in zip(near, earlier.evidences, strict=True):
                problem.warm = before.warm if _appended(problem, before.warm) else None
        elif start is not None and len(start) == len(problems):
            problems = [problem.at(theta) for problem, theta in zip(problems, start, strict=True)]
        again = True
        if earlier is not None and near is not None:
            again = len(problems[0].theta) > 0 and _due(earlier, data)
            rows = rows if again else earlier.learnt_rows
        found = Parallel(n_jobs=settings.n_jobs if len(problems) > 1 else None)(
            delayed(learnt)(settings, problem, near and near[k], again) for k, problem in enumerate(problems)
        )
        return cls(settings, data, [evidence for evidence, _ in found], [parts[0] for _, parts in found], rows)

    @staticmethod
    def problems(settings: ClassifierSettings, data: LabelledRows) -> list[Evidence]:
        """The binary problems, before any fit."""
        return settings.problems(data)

    @classmethod
    def at_node(
        cls, settings: ClassifierSettings, data: LabelledRows, theta: np.ndarray, near: ClassifierBelief | None
    ) -> ClassifierBelief:
        """The belief at these hyper-parameters, of all binary problems alike, warm from one ``near``."""
        problems = [problem.at(theta) for problem in settings.problems(data)]
        for k, problem in enumerate(problems):
            if near is not None and _appended(problem, near.evidences[k].warm):
                problem.warm = near.evidences[k].warm
        found = [inferred(settings, problem, False) for problem in problems]
        return cls(settings, data, [evidence for evidence, _ in found], [parts[0] for _, parts in found], len(data))

    @classmethod
    def prior(cls, settings: ClassifierSettings, X: Inputs) -> ClassifierBelief:
        """The belief before any fit."""
        labels = labels_of(settings.classes)
        count = 1 if labels is None or len(labels) == 2 else len(labels)
        return cls(settings, None, [], [prior_process(settings, X)] * count, 0)

    # -- what is believed --------------------------------------------------------------------------------------------

    @property
    def labels(self) -> np.ndarray | None:
        """The classes, where two or more are known."""
        return labels_of(self.settings.classes) if self.data is None else self.data.labels

    @classmethod
    def prior_predictive(
        cls, settings: ClassifierSettings, X: Inputs, *, target: Inputs | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The predictive of the prior."""
        return cls.prior(settings, X).predictive(X, target=target, random_state=random_state)

    def predictive(self, X: Inputs, *, target: Inputs | None = None, random_state: RandomState = None) -> Predictive:
        """Jointly Gaussian latents and class probabilities; of more than two classes by joint draws."""
        if len(self.processes) > 1:
            return self._by_draws(X, target, random_state)
        family = labelled(LINKS[self.settings.link](), self.labels)
        return self.processes[0].predictive(X, family, target=target, random_state=random_state)

    def _by_draws(self, X: Inputs, target: Inputs | None, random_state: RandomState) -> WeightedDraws:
        """Joint draws of the classes' latents at candidates and target, for one-vs-rest."""
        self._require_probabilities()
        both = X if target is None else np.concatenate([X, target])
        link, latents = LINKS[self.settings.link](), []
        for k, process in enumerate(self.processes):
            rng = np.random.default_rng([self.settings.seed, k])
            mean, _ = process.moments(both)
            values, vectors = np.linalg.eigh(process.covariance(both, both))
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            latents.append(mean + rng.standard_normal((N_DRAWS, len(mean))) @ root.T)
        table = one_against_rest(np.exp(link.log_density(np.stack(latents, axis=-1), 1.0)))
        equal, m, labels = np.full(N_DRAWS, 1.0 / N_DRAWS), len(X), self.labels
        assert labels is not None
        about = None if target is None else WeightedDraws(equal, table[:, m:], labels, random_state=random_state)
        return WeightedDraws(
            equal, table[:, :m], labels, target=about, ensemble=True, features=X, random_state=random_state
        )

    def probabilities(self, X: Inputs) -> np.ndarray:
        """(m, c) predictive probabilities."""
        assert self.data is not None
        if self.data.n_classes == 1:
            return np.ones((len(X), 1))
        if self.data.n_classes > 2:
            self._require_probabilities()
        family = LINKS[self.settings.link]()
        moments = [process.moments(X) for process in self.processes]
        tables = [family.outcome_probabilities(mean, self.gamma * variance)[1] for mean, variance in moments]
        if len(tables) == 1:
            return tables[0]
        return one_against_rest(np.column_stack([table[:, 1] for table in tables]))

    @property
    def gamma(self) -> float:
        """The factor on latents' variances that suits the predictions left out; 1 where it is not asked for."""
        if self.settings.calibration is None or self.data is None or self.data.n_classes != 2:
            return 1.0
        posterior = self.posteriors[0]
        if posterior.engine != "expectation_propagation":
            return 1.0
        cavities = without_sites(posterior.mean, posterior.variances(), *posterior.sites)
        said = of_two_classes(np.ones(1), [cavities], LINKS[self.settings.link](), self.data.evidence)
        return latent_factor(said, self.data.sample_weight)

    @property
    def left_out(self) -> LeaveOneOut | None:
        """Predictions of the training rows without themselves; of two classes by expectation propagation."""
        if self.data is None or self.data.n_classes != 2 or (found := super().left_out) is None:
            return None
        chosen = np.exp(found.log_score)
        table = np.where(np.arange(2) == self.data.codes[:, None], chosen[:, None], 1.0 - chosen[:, None])
        return LeaveOneOut(table, found.log_score)

    def latent_moments(self, X: Inputs) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance (m,) of the function of two classes."""
        return self.processes[0].moments(X)

    @property
    def nodes(self) -> list[tuple[float, ClassifierBelief]]:
        """Weighted beliefs: this one."""
        return [(1.0, self)]

    @cached_property
    def variance_factor(self) -> VarianceFactor | None:
        """By how much variances of the function of two classes are too small, by labels without themselves."""
        return factor_of_labels(self.nodes)

    def latent_interval(self, X: Inputs, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends (m,) of the function of two classes."""
        return latent_interval(self.nodes, self.variance_factor, X, level)

    def winners(self, X: Inputs) -> np.ndarray:
        """(m,) codes of the most probable class."""
        assert self.data is not None
        if self.data.n_classes == 1:
            return np.zeros(len(X), dtype=int)
        means = [process.moments(X)[0] for process in self.processes]
        if len(means) == 1:
            return (means[0] > 0).astype(int)
        if self.settings.multi_class == "one_vs_one":
            votes = np.column_stack([(mean > 0).astype(int) for mean in means])
            return np.argmax(_ovr_decision_function(votes, np.column_stack(means), self.data.n_classes), axis=1)
        return np.argmax(self.probabilities(X), axis=1)

    def _require_probabilities(self) -> None:
        if self.settings.multi_class == "one_vs_one":
            raise ValueError('multi_class="one_vs_one" has no class probabilities; use "one_vs_rest".')

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        pairs = zip(self.evidences, self.processes, strict=True)
        return {
            "learnt_rows": self.learnt_rows,
            "parts": [evidence_state(evidence, [process]) for evidence, process in pairs],
        }

    @classmethod
    def from_state(cls, settings: ClassifierSettings, data: LabelledRows, state: State) -> ClassifierBelief:
        """The belief that ``state`` described."""
        pairs = zip(settings.problems(data), state["parts"], strict=True)
        found = [restored(problem, part) for problem, part in pairs]
        evidences, processes = [evidence for evidence, _ in found], [parts[0] for _, parts in found]
        return cls(settings, data, evidences, processes, int(state["learnt_rows"]))


def _due(earlier: ClassifierBelief, data: LabelledRows) -> bool:
    """True where hyper-parameters are to be sought from the start again."""
    assert earlier.data is not None
    first = len(earlier.data)
    said = None if len(earlier.processes) > 1 else (lambda: earlier.predictive(data.X[first:]))
    return due(len(data), earlier.learnt_rows, said, data.y[first:])


def _appended(problem: Evidence, warm: list[Posterior] | None) -> bool:
    """True where the earlier posterior's rows are the first of the problem's."""
    return warm is not None and warm[0].group_lengths[0] <= len(problem.X)


def _observed(family: Callable[[np.ndarray], Potential], signs: np.ndarray, scale: float) -> Potential:
    """The potentials of the labels; a link has no scale."""
    return family(signs)
