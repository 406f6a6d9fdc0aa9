"""Gaussian processes on any inference: what a classifier and a regressor believe.

latent_process      belief about a function: kernel, mean, inputs, posterior; its moments and covariances anywhere
evidence            log evidence and its gradient in the parameters of kernel, mean and likelihood
hyperparameters     their optimisation, with restarts, as in scikit-learn
process_belief      processes and evidences; what `classifier_belief` and `regressor_belief` share
"""

from adaptive.estimators.gaussian_process.evidence import Evidence
from adaptive.estimators.gaussian_process.hyperparameters import optimised
from adaptive.estimators.gaussian_process.latent_process import LatentProcess

__all__ = ["Evidence", "LatentProcess", "optimised"]
