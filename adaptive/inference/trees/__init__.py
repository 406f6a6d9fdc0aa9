"""Tree-structured scale mixtures: every wavelet coefficient is narrow or wide, and takes after its parent."""

from adaptive.inference.trees.double_loop import tree_bounds, tree_mode
from adaptive.inference.trees.exact_denoising import ExactDenoising, exact_denoising
from adaptive.inference.trees.forest import ForestBeliefs, WaveletForest
from adaptive.inference.trees.mixture import TreeMixture
from adaptive.inference.trees.tree_posterior import TreePosterior

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
