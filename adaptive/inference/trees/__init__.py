"""Tree-structured scale mixtures: every wavelet coefficient is narrow or wide, and takes after its parent."""

from .double_loop import tree_bounds, tree_mode
from .exact_denoising import ExactDenoising, exact_denoising
from .forest import ForestBeliefs, WaveletForest
from .mixture import TreeMixture
from .tree_posterior import TreePosterior

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
