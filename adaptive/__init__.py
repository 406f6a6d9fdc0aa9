"""Sequential experimental design and active learning with approximate Bayesian posteriors.

    infer   everything known so far        ->  an approximate posterior, with honest uncertainty
    select  among everything one could do  ->  the measurement with the highest score

Estimators have ``fit``, ``partial_fit``, ``predict`` and ``select``; :class:`SequentialDesign` drives any of them.
"""

import logging as _logging
from importlib import metadata as _metadata
from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

__version__ = "0.1.0"


def _refuse_the_other_adaptive() -> None:
    """Another distribution, "adaptive", installs the same folder: the one installed last has overwritten files."""
    try:
        other = _metadata.version("adaptive")
    except _metadata.PackageNotFoundError:
        return
    raise ImportError(
        f"the distribution 'adaptive' {other} is installed beside 'adaptive-designs', and both own the import name "
        "'adaptive': run 'pip uninstall adaptive' and then 'pip install --force-reinstall --no-deps adaptive-designs'."
    )


_refuse_the_other_adaptive()
_logging.getLogger("adaptive").addHandler(_logging.NullHandler())  # quiet, until a program listens

if _TYPE_CHECKING:
    from adaptive import inference, operators, potentials, scorers, search
    from adaptive.citing import cite
    from adaptive.estimators import (
        BayesianLogisticRegression,
        BradleyTerry,
        ClassifierView,
        CollaborativePreference,
        CollaborativeRNN,
        CoxProcess,
        GameTreeSearch,
        GaussianProcessClassifier,
        GaussianProcessRegressor,
        ImageReconstructor,
        MetadataTopicModel,
        PairedSymbols,
        ParticleEstimator,
        PipelineView,
        PoissonFactorization,
        PoissonRegression,
        Questionnaire,
        SeveralImages,
        SimulatorEstimator,
        SparseLinearRegression,
    )
    from adaptive.estimators.views.pipelines import make_pipeline
    from adaptive.inference import GLM, Posterior
    from adaptive.loop import SequentialDesign, compare_with_random
    from adaptive.selection import Certificate, certificate
    from adaptive.tables.embedding import embed

__all__ = [
    "GLM",
    "BayesianLogisticRegression",
    "BradleyTerry",
    "Certificate",
    "ClassifierView",
    "CollaborativePreference",
    "CollaborativeRNN",
    "CoxProcess",
    "GameTreeSearch",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "ImageReconstructor",
    "MetadataTopicModel",
    "PairedSymbols",
    "ParticleEstimator",
    "PipelineView",
    "PoissonFactorization",
    "PoissonRegression",
    "Posterior",
    "Questionnaire",
    "SequentialDesign",
    "SeveralImages",
    "SimulatorEstimator",
    "SparseLinearRegression",
    "certificate",
    "cite",
    "compare_with_random",
    "embed",
    "inference",
    "make_pipeline",
    "operators",
    "potentials",
    "scorers",
    "search",
]

__getattr__, __dir__ = _lazily(__name__)
