"""Sparse image priors: Laplace potentials on wavelet coefficients, on differences of neighbours, or on both.

    p(u) = exp(- sum_k |W_k u|_1 / scale_k) / Z(scales)

Complex images have the same potentials on their real and their imaginary part, so that an image that is nearly real
stays so where nothing was measured (``imaginary="transform"``). An earlier image r of the same object says where edges
are to be expected, whatever its contrast: scales are then those of a place,

    scale_kj = scale_k (|W_k r|_j + m) / (2 m),      m = mean |W_k r|

And where it is known what an uncertain phase may leave, the pixels of the imaginary part have scales of a place, too.
Or a forest of wavelet coefficients, two states each (`TreeMixture`), whose parameters take the place of the scales.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from adaptive.checks import choice, positive
from adaptive.estimators.imaging.trees import TreeMixture
from adaptive.operators import FiniteDifference, Identity, Operator, Padded, Product, RealStacked, Wavelet
from adaptive.potentials import Laplace

__all__ = ["IMAGINARY", "PRIORS", "ImagePrior", "Scales", "StatedScales", "image_prior", "padded_shape"]

Scales: TypeAlias = dict[str, float] | TreeMixture  # one for each group, or the parameters of a tree
StatedScales: TypeAlias = float | Mapping[str, float] | TreeMixture  # as users give them

PRIORS = {
    "tv": ("tv",),
    "wavelet": ("wavelet",),
    "tv+wavelet": ("wavelet", "tv"),
    "tree": ("tree",),
    "student_t_tree": ("tree",),
}
_COMPONENTS = {"tree": "laplace", "student_t_tree": "student_t"}
IMAGINARY = ("transform", "pixel", "none")
_USUAL = 0.02  # magnitude of the imaginary part, for ``largest`` = 1, for which its scale stands where none is known
_LEAST = 0.3  # of that: models are never certain, and smaller ones cost products
_NO_PRIOR = 1e6  # scale, in units of the largest magnitude, of a potential that is not meant to do anything


class ImagePrior:
    """The operators of a prior, and its potentials at given scales.

    Parameters
    ----------
    shape : tuple of two int
    kind : {"tv", "wavelet", "tv+wavelet", "tree", "student_t_tree"}
    wavelet : str
        Orthonormal wavelet.
    level : int or None
        Its depth; None: as deep as the shape allows.
    unknown : {"real", "complex"}
    imaginary : {"transform", "pixel", "none"}
        What is put on the imaginary part: the same as on the real part, Laplace potentials on its pixels, or nothing.
    largest : float
        Largest magnitude of the image.

    Attributes
    ----------
    names : tuple of str
        The groups whose scales may be given or fitted.
    components : {"laplace", "student_t"} or None
        Of a tree.
    places : dict of str to array
        By group: what its scale is multiplied with at every projection; empty where all places are alike.
    left_over : array (*shape) or None
        Magnitude of the imaginary part that is to be expected of every pixel; None: the same everywhere.

    Examples
    --------
    >>> prior = ImagePrior((8, 8), "tv", "haar", None, "real", "transform", 1.0)
    >>> [(operator.shape, potential) for operator, potential in prior.groups({"tv": 0.1})]
    [((112, 64), Laplace(scale=0.1, location=0))]
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        kind: str,
        wavelet: str,
        level: int | None,
        unknown: str,
        imaginary: str,
        largest: float,
    ):
        choice("prior", kind, PRIORS)
        choice("imaginary_prior", imaginary, IMAGINARY)
        self.shape, self.largest = shape, largest
        self.names = PRIORS[kind]
        self.complex = unknown == "complex"
        self.imaginary = imaginary if self.complex else "transform"
        self.components = _COMPONENTS.get(kind)
        if self.components:
            _require_for_tree(kind, shape, self.complex)
        make = {"tv": lambda: FiniteDifference(shape), "wavelet": lambda: _wavelet(shape, wavelet, level)}
        make["tree"] = make["wavelet"]
        self.operators: list[Operator] = [make[name]() for name in self.names]
        self.places: dict[str, np.ndarray] = {}
        self.left_over: np.ndarray | None = None

    def leaving(self, left_over: np.ndarray | None) -> ImagePrior:
        """The same prior, where the phase leaves an imaginary part of these magnitudes (of the shape)."""
        after = copy.copy(self)
        after.left_over = left_over
        return after

    def beside(self, reference: np.ndarray) -> ImagePrior:
        """The same prior, its scales larger where an earlier image ``reference`` (of the shape) has more."""
        after = copy.copy(self)
        seen = {n: np.abs(b.forward(reference)).ravel() for n, b in zip(self.names, self.operators, strict=True)}
        floor = np.finfo(float).tiny
        after.places = {n: (one + one.mean() + floor) / (2 * one.mean() + floor) for n, one in seen.items()}
        return after

    def _scales_of(self, name: str, scale: float) -> float | np.ndarray:
        """Scale of every projection of a group."""
        return scale * self.places[name] if name in self.places else scale

    def groups(self, scales: Mapping[str, float]) -> list[tuple[Operator, Laplace]]:
        """The projections with their potentials; a tree is more than these."""
        if not self.complex:
            named = zip(self.operators, self.names, strict=True)
            return [(b, Laplace(self._scales_of(name, scales[name]))) for b, name in named]
        off = _NO_PRIOR * self.largest
        result: list[tuple[Operator, Laplace]] = []
        for b, name in zip(self.operators, self.names, strict=True):
            q = b.shape[0]
            both = self.imaginary == "transform"
            own = self._scales_of(name, scales[name])
            scale = own if both else np.concatenate([np.broadcast_to(own, (q,)), np.full(q, off)])
            if both and name in self.places:
                scale = np.concatenate([own, own])
            result.append((RealStacked(b, "complex"), Laplace(scale)))
        if self.imaginary == "pixel":
            n = int(np.prod(self.shape))
            pixel = scales.get("imaginary", min(scales[name] for name in self.names) / 5)
            scale = np.concatenate([np.full(n, off), pixel * self._left_over()])
            result.append((RealStacked(Identity(self.shape), "complex"), Laplace(scale)))
        return result

    def _left_over(self) -> np.ndarray:
        """Factor of the scale of each pixel of the imaginary part."""
        if self.left_over is None:
            return np.ones(int(np.prod(self.shape)))
        return np.maximum(self.left_over.ravel() / (_USUAL * self.largest), _LEAST)

    def scales(self, given: StatedScales, name: str = "prior_scales") -> Scales:
        """One scale per group from a number or a mapping of names to numbers; of a tree its parameters."""
        return self._scales(given, name) if self.components is None else self.tree(given, name)

    def tree(self, given: StatedScales, name: str = "prior_scales") -> TreeMixture:
        """The parameters of a tree: as given, or `TreeMixture.generic` of the scale of its wide state, finest level."""
        if isinstance(given, TreeMixture):
            if given.wavelet.input_shape != self.shape:
                raise ValueError(f"{name} is a prior of images of shape {given.wavelet.input_shape}, not {self.shape}.")
            return given
        wavelet = self.operators[0]
        assert self.components is not None and isinstance(wavelet, Wavelet)
        return TreeMixture.generic(wavelet, self._scales(given, name)["tree"], self.components, unit=self.largest)

    def _scales(self, given: StatedScales, name: str) -> dict[str, float]:
        allowed = (*self.names, "imaginary") if self.imaginary == "pixel" else self.names
        if isinstance(given, Mapping):
            for key in given:
                choice(f"every key of {name}", key, allowed)
            missing = [key for key in self.names if key not in given]
            if missing:
                raise ValueError(f"{name} must hold a scale for {missing[0]!r}, got those for {sorted(given)}.")
            return {key: float(positive(f"{name}[{key!r}]", value)) for key, value in given.items()}
        value = positive(name, given)
        if value.ndim:
            raise ValueError(f"{name} must be a number or a mapping of {', '.join(map(repr, allowed))} to numbers.")
        return dict.fromkeys(self.names, float(value))

    def learnt(self, sums: Mapping[str, float], unknowns: int) -> dict[str, float]:
        """The fixed point of the evidence, given S_k = sum_j sqrt(variance_j + s_j^2) over each group k.

        A prior that was normalised as a density of its q_k projections would have rates q_k / S_k. It is one of n
        unknowns, and Z scales with the power n of all scales together, so that sum_k S_k / scale_k = n.
        """
        share = unknowns / sum(self.rows(name) for name in self.names)
        floor = 1e-9 * self.largest
        return {name: max(sums[name] / (share * self.rows(name)), floor) for name in self.names}

    def times(self, scales: Scales, unit: float) -> Scales:
        """The scales in other units."""
        if isinstance(scales, TreeMixture):
            return scales.with_parameters(narrow=unit * scales.narrow, wide=unit * scales.wide)
        return {name: scale * unit for name, scale in scales.items()}

    def place(self, name: str) -> float | np.ndarray:
        """Factor of the scale of a group at each of its `rows`."""
        return np.tile(self.places[name], self.parts) if name in self.places else 1.0

    @property
    def parts(self) -> int:
        """On how many of real and imaginary part the groups are."""
        return 2 if self.complex and self.imaginary == "transform" else 1

    def rows(self, name: str) -> int:
        """Number of projections in a group, those left out that are not meant to do anything."""
        return self.operators[self.names.index(name)].shape[0] * self.parts


image_prior = lru_cache(maxsize=8)(ImagePrior)  # one object for all who ask: its operators keep what they computed


def _require_for_tree(kind: str, shape: tuple[int, ...], complex_: bool) -> None:
    if complex_:
        raise ValueError(f'prior="{kind}" is for real images: give dtype and design_dtype "float32" or "float64".')
    if padded_shape(shape) != shape:
        raise ValueError(
            f'prior="{kind}" needs images with even sides, got shape {shape}: pad the image to {padded_shape(shape)}, '
            'or use prior="wavelet".'
        )


def padded_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape on which wavelets look at an image: the same, or where a side is odd multiples of up to eight.

    Examples
    --------
    >>> padded_shape((30, 32)), padded_shape((31, 32)), padded_shape((481, 321))
    ((30, 32), (32, 32), (488, 328))
    """
    if not any(side % 2 for side in shape):
        return shape
    step = 2 ** min(3, max(1, int(np.log2(min(shape) / 4))))
    return tuple(-(-side // step) * step for side in shape)


def _wavelet(shape: tuple[int, ...], name: str, level: int | None) -> Operator:
    larger = padded_shape(shape)
    try:
        wavelet = Wavelet(larger, name, level)
    except ValueError as problem:
        raise ValueError(
            f"an image of shape {shape} has no depth for the wavelet prior ({problem}) Pad the image, or use "
            'prior="tv".'
        ) from None
    return wavelet if larger == shape else Product(wavelet, Padded(shape, larger))
