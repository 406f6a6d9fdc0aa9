"""What users import: scikit-learn estimators that can also say what is worth measuring next."""

from adaptive.estimators.base import DesignMixin
from adaptive.estimators.bayesian_logistic_regression import BayesianLogisticRegression
from adaptive.estimators.belief import Belief, BeliefEstimator, Data, Inferred, Settings, of_belief
from adaptive.estimators.classifier_view import ClassifierView, wrap
from adaptive.estimators.cox_process import CoxProcess
from adaptive.estimators.game_tree_search import GameTreeSearch
from adaptive.estimators.gaussian_process_classifier import GaussianProcessClassifier
from adaptive.estimators.gaussian_process_regressor import GaussianProcessRegressor
from adaptive.estimators.image_reconstructor import ImageReconstructor
from adaptive.estimators.linear.training import Rows
from adaptive.estimators.metadata_topic_model import MetadataTopicModel
from adaptive.estimators.poisson_factorization import PoissonFactorization
from adaptive.estimators.poisson_regression import PoissonRegression
from adaptive.estimators.questionnaire import Questionnaire
from adaptive.estimators.several_images import SeveralImages
from adaptive.estimators.sparse_linear_regression import SparseLinearRegression

__all__ = [
    "BayesianLogisticRegression",
    "Belief",
    "BeliefEstimator",
    "ClassifierView",
    "CoxProcess",
    "Data",
    "DesignMixin",
    "GameTreeSearch",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "ImageReconstructor",
    "Inferred",
    "MetadataTopicModel",
    "PoissonFactorization",
    "PoissonRegression",
    "Questionnaire",
    "Rows",
    "Settings",
    "SeveralImages",
    "SparseLinearRegression",
    "of_belief",
    "wrap",
]
