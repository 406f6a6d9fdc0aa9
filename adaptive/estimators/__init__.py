"""What users import: scikit-learn estimators that can also say what is worth measuring next."""

import re as _re
from importlib import import_module as _import
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from adaptive.estimators.base import DesignMixin
    from adaptive.estimators.bayesian_logistic_regression import BayesianLogisticRegression
    from adaptive.estimators.belief import Belief, BeliefEstimator, Data, Inferred, Settings, of_belief
    from adaptive.estimators.collaborative_preference import CollaborativePreference
    from adaptive.estimators.collaborative_rnn import CollaborativeRNN
    from adaptive.estimators.cox_process import CoxProcess
    from adaptive.estimators.game_tree_search import GameTreeSearch
    from adaptive.estimators.gaussian_process_classifier import GaussianProcessClassifier
    from adaptive.estimators.gaussian_process_regressor import GaussianProcessRegressor
    from adaptive.estimators.image_reconstructor import ImageReconstructor
    from adaptive.estimators.linear.training import Rows
    from adaptive.estimators.metadata_topic_model import MetadataTopicModel
    from adaptive.estimators.paired_symbols import PairedSymbols
    from adaptive.estimators.particle_estimator import ParticleEstimator
    from adaptive.estimators.poisson_factorization import PoissonFactorization
    from adaptive.estimators.poisson_regression import PoissonRegression
    from adaptive.estimators.questionnaire import Questionnaire
    from adaptive.estimators.several_images import SeveralImages
    from adaptive.estimators.simulator_estimator import SimulatorEstimator
    from adaptive.estimators.sparse_linear_regression import SparseLinearRegression
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
    "Rows": "linear.training",
    "Settings": "belief",
    "of_belief": "belief",
    "ClassifierView": "views.classifier_view",
    "PipelineView": "views.pipeline_view",
    "wrap": "views.classifier_view",
}  # of what is no estimator, and of views: the others stand in modules of their names


def __getattr__(name: str) -> _Any:
    """Import an estimator when it is asked for: whoever needs one does not wait for the others."""
    if name not in __all__:
        raise AttributeError(f"module 'adaptive.estimators' has no attribute {name!r}")
    module = _HOMES.get(name) or _re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    thing = getattr(_import(f"adaptive.estimators.{module}"), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
