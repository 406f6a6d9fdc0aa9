"""Estimators that users import: scikit-learn's kind, which can also say what is worth measuring next."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

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
    from adaptive.estimators.preferences.bradley_terry import BradleyTerry
    from adaptive.estimators.preferences.collaborative_preference import CollaborativePreference
    from adaptive.estimators.questionnaires.questionnaire import Questionnaire
    from adaptive.estimators.rows.training import Rows
    from adaptive.estimators.sequences.collaborative_rnn import CollaborativeRNN
    from adaptive.estimators.topics.metadata_topic_model import MetadataTopicModel
    from adaptive.estimators.views.classifier_view import ClassifierView, wrap
    from adaptive.estimators.views.pipeline_view import PipelineView
    from adaptive.estimators.views.pipelines import Pipeline

__all__ = [
    "BayesianLogisticRegression",
    "Belief",
    "BeliefEstimator",
    "BradleyTerry",
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
    "Pipeline",
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

__getattr__, __dir__ = _lazily(__name__)
