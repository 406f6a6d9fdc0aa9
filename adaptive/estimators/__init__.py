"""Estimators that users import: scikit-learn's kind, which can also say what is worth measuring next."""

from importlib import import_module as _import
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from adaptive.estimators.base import DesignMixin
    from adaptive.estimators.belief import Belief, BeliefEstimator, Data, Inferred, Settings, of_belief
    from adaptive.estimators.counts.cox_process import CoxProcess
    from adaptive.estimators.counts.poisson_regression import PoissonRegression
    from adaptive.estimators.game_trees.game_tree_search import GameTreeSearch
    from adaptive.estimators.gaussian_process.gaussian_process_classifier import GaussianProcessClassifier
    from adaptive.estimators.gaussian_process.gaussian_process_regressor import GaussianProcessRegressor
    from adaptive.estimators.imaging.image_reconstructor import ImageReconstructor
    from adaptive.estimators.imaging.several_images import SeveralImages
    from adaptive.estimators.linear.bayesian_logistic_regression import BayesianLogisticRegression
    from adaptive.estimators.linear.sparse_linear_regression import SparseLinearRegression
    from adaptive.estimators.pairs.paired_symbols import PairedSymbols
    from adaptive.estimators.pairs.poisson_factorization import PoissonFactorization
    from adaptive.estimators.particles.particle_estimator import ParticleEstimator
    from adaptive.estimators.particles.simulator_estimator import SimulatorEstimator
    from adaptive.estimators.preferences.collaborative_preference import CollaborativePreference
    from adaptive.estimators.questionnaires.questionnaire import Questionnaire
    from adaptive.estimators.rows.training import Rows
    from adaptive.estimators.sequences.collaborative_rnn import CollaborativeRNN
    from adaptive.estimators.topics.metadata_topic_model import MetadataTopicModel
    from adaptive.estimators.views.classifier_view import ClassifierView, wrap
    from adaptive.estimators.views.pipeline_view import PipelineView

__all__ = [
    "BayesianLogisticRegression",
    "Belief",
    "BeliefEstimator",
    "ClassifierView",
    "CollaborativePreference",
    "CollaborativeRNN",
    "CoxProcess",
    "Data",
    "DesignMixin",
    "GameTreeSearch",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "ImageReconstructor",
    "Inferred",
    "MetadataTopicModel",
    "PairedSymbols",
    "ParticleEstimator",
    "PipelineView",
    "PoissonFactorization",
    "PoissonRegression",
    "Questionnaire",
    "Rows",
    "Settings",
    "SeveralImages",
    "SimulatorEstimator",
    "SparseLinearRegression",
    "of_belief",
    "wrap",
]

_HOMES = {
    "Belief": "belief",
    "Data": "belief",
    "BeliefEstimator": "belief",
    "DesignMixin": "base",
    "Inferred": "belief",
    "Rows": "rows.training",
    "Settings": "belief",
    "of_belief": "belief",
    "ClassifierView": "views.classifier_view",
    "PipelineView": "views.pipeline_view",
    "wrap": "views.classifier_view",
    "BayesianLogisticRegression": "linear.bayesian_logistic_regression",
    "SparseLinearRegression": "linear.sparse_linear_regression",
    "GaussianProcessClassifier": "gaussian_process.gaussian_process_classifier",
    "GaussianProcessRegressor": "gaussian_process.gaussian_process_regressor",
    "CoxProcess": "counts.cox_process",
    "PoissonRegression": "counts.poisson_regression",
    "PairedSymbols": "pairs.paired_symbols",
    "PoissonFactorization": "pairs.poisson_factorization",
    "CollaborativePreference": "preferences.collaborative_preference",
    "CollaborativeRNN": "sequences.collaborative_rnn",
    "MetadataTopicModel": "topics.metadata_topic_model",
    "GameTreeSearch": "game_trees.game_tree_search",
    "Questionnaire": "questionnaires.questionnaire",
    "ParticleEstimator": "particles.particle_estimator",
    "SimulatorEstimator": "particles.simulator_estimator",
    "ImageReconstructor": "imaging.image_reconstructor",
    "SeveralImages": "imaging.several_images",
}  # the one module of each: what is not used is not imported


def __getattr__(name: str) -> _Any:
    """Import an estimator when it is asked for: whoever needs one does not wait for the others."""
    if name not in __all__:
        raise AttributeError(f"module 'adaptive.estimators' has no attribute {name!r}")
    thing = getattr(_import(f"adaptive.estimators.{_HOMES[name]}"), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
