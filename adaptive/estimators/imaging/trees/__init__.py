"""Tree-structured scale mixtures: every wavelet coefficient is narrow or wide, and takes after its parent."""

from adaptive.estimators.imaging.trees.double_loop import tree_bounds, tree_mode
from adaptive.estimators.imaging.trees.exact_denoising import ExactDenoising, exact_denoising
from adaptive.estimators.imaging.trees.forest import ForestBeliefs, WaveletForest
from adaptive.estimators.imaging.trees.mixture import TreeMixture
from adaptive.estimators.imaging.trees.tree_posterior import TreePosterior

__all__ = [
    "ExactDenoising",
    "ForestBeliefs",
    "TreeMixture",
    "TreePosterior",
    "WaveletForest",
    "exact_denoising",
    "tree_bounds",
    "tree_mode",
]
