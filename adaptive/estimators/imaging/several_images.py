"""One design for several images: each has a posterior of its own, and their informations are added.

    gain(block) = sum over the images of  1/2 log|I + X Cov_s X' / noise_s|

A design made for one slice suits that slice; one made for several, measured alike, suits what they have in common.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, clone

from adaptive.checks import short
from adaptive.estimators.belief import BeliefEstimator, Inferred, Settings, of_belief
from adaptive.estimators.imaging.belief import ImageBelief
from adaptive.estimators.imaging.conventions import measured
from adaptive.estimators.imaging.settings import ImageSettings
from adaptive.parallel import in_parallel
from adaptive.predictive import SummedPredictive

if TYPE_CHECKING:
    from adaptive.estimators.imaging.image_reconstructor import ImageReconstructor
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.inference import Posterior
    from adaptive.operators import Operator
    from adaptive.types import ArrayLike, Outcomes, Pool, RandomState, State

__all__ = ["SeveralImages"]


@dataclass(frozen=True, eq=False)
class SeveralSettings(Settings):
    """Copies of the reconstructors as they were given, and how many work at once."""

    reconstructors: Sequence[ImageReconstructor]
    n_jobs: int | None

    @classmethod
    def of(cls, estimator: BaseEstimator) -> Self:
        """The parameters of ``estimator``, checked; what is fitted with the copies leaves the given ones alone."""
        given = super().of(estimator)
        return replace(given, reconstructors=[clone(one) for one in given.reconstructors])

    def check(self) -> None:
        """Refuse what is no list of reconstructors of images of one shape."""
        given = self.reconstructors
        if not isinstance(given, (list, tuple)) or not given:
            raise ValueError(f"reconstructors must be a list of one or more, one for each image, got {given!r}.")
        shapes = {tuple(one.shape) for one in given}
        if len(shapes) > 1:
            raise ValueError(f"reconstructors must be for images of one shape, got {sorted(shapes)}.")


@dataclass(frozen=True, eq=False)
class SeveralMeasured:
    """Measurements of each image."""

    images: tuple[MeasuredBlocks, ...]
    n_features = None

    def state(self) -> State:
        """As plain arrays, image by image."""
        return {"reconstructors": [one.state() for one in self.images]}


@dataclass(frozen=True, eq=False)
class SeveralBeliefs(Inferred):
    """Beliefs about images that are independent."""

    settings: SeveralSettings
    data: SeveralMeasured
    images: tuple[ImageBelief, ...]

    @classmethod
    def learnt(cls, settings: SeveralSettings, data: SeveralMeasured, earlier: SeveralBeliefs | None = None) -> Self:
        """Each after its own measurements."""
        each = [ImageSettings.of(one) for one in settings.reconstructors]
        before = [None] * len(each) if earlier is None else earlier.images
        tasks = zip(each, data.images, before, strict=True)
        images = tuple(in_parallel(_learnt, tasks, settings.n_jobs))
        return cls(settings, SeveralMeasured(tuple(one.data for one in images)), images)  # not twice, from workers

    @cached_property
    def reconstructors(self) -> list[ImageReconstructor]:
        """Reconstructors with what was fitted."""
        fitted = [copy.copy(one) for one in self.settings.reconstructors]
        for one, belief in zip(fitted, self.images, strict=True):
            one.belief_ = belief
        return fitted

    @cached_property
    def pictures(self) -> list[np.ndarray]:
        """Magnitudes of the reconstructions."""
        return in_parallel(_picture, [(one,) for one in self.images], self.settings.n_jobs)

    @property
    def posterior(self) -> list[Posterior]:
        """Posteriors of the models that reconstruct."""
        return [one.reconstruction.posterior for one in self.images]

    @property
    def posteriors(self) -> list[Posterior]:
        """Posteriors of the models that design."""
        return [one.posterior for one in self.images]

    @property
    def n_products(self) -> int:
        """Products with system matrices so far."""
        return sum(one.n_products for one in self.images)

    def predictive(
        self, candidates: Pool, *, target: None = None, random_state: RandomState = None
    ) -> SummedPredictive:
        """Predictive of blocks of measurements, of all images together."""
        parts = [one.predictive(candidates, target=target, random_state=random_state) for one in self.reconstructors]
        return SummedPredictive(parts, n_jobs=self.settings.n_jobs)

    @classmethod
    def prior_predictive(
        cls, settings: SeveralSettings, candidates: Pool, *, target: None = None, random_state: RandomState = None
    ) -> SummedPredictive:
        """The same before anything was measured."""
        ones = settings.reconstructors
        parts = [one.predictive(candidates, target=target, random_state=random_state) for one in ones]
        return SummedPredictive(parts, n_jobs=settings.n_jobs)

    def state(self) -> State:
        """Plain data, without what was measured."""
        return {"images": [one.state() for one in self.images]}

    @classmethod
    def from_state(cls, settings: SeveralSettings, data: SeveralMeasured, state: State) -> Self:
        """Beliefs from their ``state``."""
        each = zip(settings.reconstructors, data.images, state["images"], strict=True)
        return cls(
            settings, data, tuple(ImageBelief.from_state(ImageSettings.of(one), own, at) for one, own, at in each)
        )

    def __getstate__(self) -> State:
        """Without what is computed when it is first asked for."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


class SeveralImages(BeliefEstimator):
    """Choose measurements that suit several images at once.

    Parameters
    ----------
    reconstructors : list of ImageReconstructor
        One for each image, all of the same shape; settings may differ. They are copied, never fitted themselves.
    n_jobs : int, optional
        Images are reconstructed and scored by so many workers, through joblib; None: what ``joblib.parallel_config``
        says, else 1. Results do not depend on it.

    Attributes
    ----------
    reconstructors_ : list of ImageReconstructor
        With what was fitted.
    images_ : list of arrays (*shape)
        Magnitudes of the reconstructions, computed when they are first asked for.
    n_products_ : int
        Products with the system matrices that the design has cost, of all images.

    Notes
    -----
    The outcome of a block is one array of samples for each image: an array (images, ...) or a list of arrays. Images
    are independent: the log-determinant of all is the sum of theirs, and so is the information of a batch.

    References
    ----------
    Seeger, Nickisch, Pohmann and Schoelkopf (2010), Optimization of k-space trajectories for compressed sensing by
    Bayesian experimental design, for one image.

    Examples
    --------
    >>> from adaptive import ImageReconstructor
    >>> from adaptive.images import head_scan, simulate_scan
    >>> from designs.kspace import central, lines
    >>> scans = [simulate_scan(head_scan()[k].image, snr=50, random_state=k) for k in (11, 13)]
    >>> pool = lines((128, 96))
    >>> first = pool.take(central(128, 16))
    >>> model = SeveralImages([ImageReconstructor((128, 96)), ImageReconstructor((128, 96))])
    >>> model = model.fit(first, [[scan.samples(line) for scan in scans] for line in first])
    >>> model.select(pool, mask=~np.isin(pool.lines, first.lines)).shape
    (1,)
    """

    def __init__(self, reconstructors: Sequence[ImageReconstructor], *, n_jobs: int | None = None) -> None:
        self.reconstructors = reconstructors
        self.n_jobs = n_jobs

    # -- learning ------------------------------------------------------------------------------------------------------

    _Settings, _Belief = SeveralSettings, SeveralBeliefs
    _cites = ("seeger2010",)
    belief_: SeveralBeliefs

    def fit(self, X: Pool | Operator, y: Outcomes) -> Self:
        """Forget what was measured and fit.

        Parameters
        ----------
        X : list (pool) of operator blocks
        y : list
            For every block one array of samples for each image.

        Raises
        ------
        ValueError
            If there are no reconstructors, they differ in shape, a block has not one array for each image, or a
            reconstructor refuses its samples.
        """
        return self._fit(X, y, whole=True)

    def partial_fit(self, X: Pool | Operator, y: Outcomes) -> Self:
        """Learn from further measurements; what one of the reconstructors refuses changes none of them."""
        return self._partial_fit(X, y)

    def _measured(
        self, X: Pool | Operator, y: Outcomes, earlier: SeveralMeasured | None = None, whole: bool = False
    ) -> SeveralMeasured:
        samples = _by_image(y, len(self.reconstructors))
        before = [None] * len(samples) if earlier is None else earlier.images
        images = tuple(
            measured(ImageSettings.of(one), X, own, known, check=one.check)
            for one, own, known in zip(self.reconstructors, samples, before, strict=True)
        )
        for one in images:
            if whole:
                one.require_centre()
        return SeveralMeasured(images)

    def _candidates(self, X: Pool) -> Pool:
        return X  # every reconstructor looks at them

    def _measured_before(self, settings: SeveralSettings, state: State) -> SeveralMeasured:
        each = zip(settings.reconstructors, state["reconstructors"], strict=True)
        return SeveralMeasured(
            tuple(ImageSettings.of(one).nothing_measured(one.check).restored(own) for one, own in each)
        )

    # -- what is believed ----------------------------------------------------------------------------------------------

    posterior_ = of_belief("posterior", "Those of the models that reconstruct, one for each image.")
    reconstructors_ = of_belief("reconstructors", "With what was learnt.")
    images_ = of_belief("pictures", "Magnitudes of the reconstructions.")
    n_products_ = of_belief("n_products", "Products with system matrices so far.")

    def predict(self, X: object = None) -> np.ndarray:
        """Magnitudes of the reconstructed images, (images, *shape); ``X`` is ignored."""
        return np.stack(self.images_)

    def reconstruct(self, X: Pool | Operator, y: Outcomes) -> list[np.ndarray]:
        """The images from other measurements with the settings of this estimator, which is not changed.

        Parameters
        ----------
        X, y
            As for ``fit``.
        """
        present = self._present()
        samples = _by_image(y, len(present))
        tasks = [(one, X, own) for one, own in zip(present, samples, strict=True)]
        return in_parallel(_reconstructed, tasks, self.n_jobs)

    def _present(self) -> Sequence[ImageReconstructor]:
        """The reconstructors with what was fitted, before any fit as they were given."""
        return self.reconstructors_ if self.__sklearn_is_fitted__() else SeveralSettings.of(self).reconstructors


def _by_image(y: Outcomes, n_images: int) -> list[list[ArrayLike]]:
    """Samples of every block by image, from those of every image by block."""
    if not isinstance(y, Iterable):
        raise ValueError(f"y must hold the samples of each block, one array per image, got {short(y)}.")
    blocks = list(cast("Iterable[Sequence[ArrayLike]]", y))
    for k, block in enumerate(blocks):
        if isinstance(block, (str, bytes)) or not isinstance(block, Sized) or len(block) != n_images:
            given = len(block) if isinstance(block, Sized) else type(block).__name__
            raise ValueError(f"y[{k}] must hold one array of samples for each of the {n_images} images, got {given}.")
    return [[block[image] for block in blocks] for image in range(n_images)]


# What workers do.
def _learnt(settings: ImageSettings, data: MeasuredBlocks, earlier: ImageBelief | None) -> ImageBelief:
    if earlier is not None:  # its posterior is the one that stays, should another image be refused
        earlier = replace(earlier, posterior=copy.deepcopy(earlier.posterior))
    return ImageBelief.learnt(settings, data, earlier)


def _picture(belief: ImageBelief) -> np.ndarray:
    return belief.reconstruction.image


def _reconstructed(estimator: ImageReconstructor, X: Pool | Operator, y: list[ArrayLike]) -> np.ndarray:
    return estimator.reconstruct(X, y)
