"""Which filters to measure an image with: rows of norm one, drawn, in a fixed order, or designed from what is known.

Ensembles are functions ``(shape, n_filters, ..., random_state=None)`` that return rows (n_filters, pixels), or a lazy
pool of such rows where they come from an orthonormal transform. The adaptive ones are callable pools
``estimator -> rows`` for `SequentialDesign`. A user's own matrix goes through `as_filters`.
"""

from .checked import as_filters
from .coloured import coloured
from .hadamard import HadamardTransform, hadamard, signs
from .leading import LeadingDirections, LeadingSigns
from .noiselets import NoiseletTransform, noiselets
from .transform_rows import TransformRows
from .tree_search import TreeSearch
from .uncertain import UncertainWavelets
from .uniform import uniform
from .wavelets import wavelets

__all__ = [
    "HadamardTransform",
    "LeadingDirections",
    "LeadingSigns",
    "NoiseletTransform",
    "TransformRows",
    "TreeSearch",
    "UncertainWavelets",
    "as_filters",
    "coloured",
    "hadamard",
    "noiselets",
    "signs",
    "uniform",
    "wavelets",
]
