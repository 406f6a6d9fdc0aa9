"""Sequential experimental design and active learning with approximate Bayesian posteriors.

    infer   everything known so far        ->  an approximate posterior, with honest uncertainty
    select  among everything one could do  ->  the measurement with the highest score

Estimators have ``fit``, ``partial_fit``, ``predict`` and ``select``; :class:`SequentialDesign` drives any of them.
"""

from importlib import metadata as _metadata

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

from adaptive import inference, operators, potentials, scorers, search  # noqa: E402
from adaptive.citing import cite  # noqa: E402
from adaptive.estimators import (  # noqa: E402
    BayesianLogisticRegression,
    ClassifierView,
    CoxProcess,
    GameTreeSearch,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    ImageReconstructor,
    MetadataTopicModel,
    PoissonFactorization,
    PoissonRegression,
    Questionnaire,
    SeveralImages,
    SparseLinearRegression,
)
from adaptive.inference import GLM, Posterior  # noqa: E402
from adaptive.loop import SequentialDesign, compare_with_random  # noqa: E402

__all__ = [
    "GLM",
    "BayesianLogisticRegression",
    "ClassifierView",
    "CoxProcess",
    "GameTreeSearch",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "ImageReconstructor",
    "MetadataTopicModel",
    "PoissonFactorization",
    "PoissonRegression",
    "Posterior",
    "Questionnaire",
    "SequentialDesign",
    "SeveralImages",
    "SparseLinearRegression",
    "cite",
    "compare_with_random",
    "inference",
    "operators",
    "potentials",
    "scorers",
    "search",
]
