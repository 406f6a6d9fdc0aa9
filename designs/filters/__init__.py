"""Filters to measure an image with: rows of norm one, drawn, in a fixed order, or designed from what is known.

Ensembles are functions ``(shape, n_filters, ..., random_state=None)`` that return rows (n_filters, pixels), or a lazy
pool of such rows where they come from an orthonormal transform. The adaptive ones are callable pools
``estimator -> rows`` for `SequentialDesign`. A user's own matrix goes through `as_filters`.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from designs.filters.coloured import coloured
    from designs.filters.hadamard import HadamardTransform, hadamard, signs
    from designs.filters.leading import LeadingDirections, LeadingSigns
    from designs.filters.noiselets import NoiseletTransform, noiselets
    from designs.filters.normalised import as_filters
    from designs.filters.transform_rows import TransformRows
    from designs.filters.tree_search import TreeSearch
    from designs.filters.uncertain import UncertainWavelets
    from designs.filters.uniform import uniform
    from designs.filters.wavelets import wavelets

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

__getattr__, __dir__ = _lazily(__name__)
