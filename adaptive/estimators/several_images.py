"""One design for several images: each has a posterior of its own, and their informations are added.

    gain(block) = sum over the images of  1/2 log|I + X Cov_s X' / noise_s|

A design made for one slice suits that slice; one made for several, measured alike, suits what they have in common.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from adaptive.estimators.base import DesignMixin
from adaptive.parallel import in_parallel
from adaptive.potentials import Gaussian
from adaptive.predictive import Predictive, StatedPredictive

__all__ = ["SeveralImages"]


class SeveralImages(DesignMixin, BaseEstimator):
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
        With what was learnt.
    images_ : list of arrays
        Magnitudes of the reconstructions, computed when they are first asked for.
    n_products_ : int
        Products with the system matrices that the design has cost, of all images.

    Notes
    -----
    The outcome of a block is one array of samples for each image: an array (images, ...) or a list of arrays. Images
    are independent: the log-determinant of all is the sum of theirs, and so is the information of a batch.

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

    def __init__(self, reconstructors: Sequence[Any], *, n_jobs: int | None = None) -> None:
        self.reconstructors = reconstructors
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> SeveralImages:
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
        return self._learn("fit", [clone(one) for one in self._checked()], X, y)

    def partial_fit(self, X: Any, y: Any) -> SeveralImages:
        """Learn from further measurements; what one of the reconstructors refuses changes none of them."""
        return self._learn("partial_fit", self._present(), X, y)

    def _learn(self, method: str, before: list[Any], X: Any, y: Any) -> SeveralImages:
        samples = _by_image(y, len(before))
        tasks = [(method, one, X, own) for one, own in zip(before, samples, strict=True)]
        self.reconstructors_: list[Any] = in_parallel(_learnt, tasks, self.n_jobs)
        self._images: list[np.ndarray] | None = None
        return self

    def _checked(self) -> list[Any]:
        """The reconstructors as they were given."""
        given = self.reconstructors
        if not isinstance(given, (list, tuple)) or not given:
            raise ValueError(f"reconstructors must be a list of one or more, one for each image, got {given!r}.")
        shapes = {tuple(one.shape) for one in given}
        if len(shapes) > 1:
            raise ValueError(f"reconstructors must be for images of one shape, got {sorted(shapes)}.")
        return list(given)

    def _present(self) -> list[Any]:
        """The reconstructors with what they learnt, before any fit as they were given."""
        return self.reconstructors_ if hasattr(self, "reconstructors_") else [clone(one) for one in self._checked()]

    # -- what is believed ----------------------------------------------------------------------------------------------

    @property
    def images_(self) -> list[np.ndarray]:
        """Magnitudes of the reconstructions."""
        check_is_fitted(self, "reconstructors_")
        if self._images is None:
            self._images = in_parallel(_image, [(one,) for one in self.reconstructors_], self.n_jobs)
        return self._images

    @property
    def n_products_(self) -> int:
        """Products with system matrices so far."""
        check_is_fitted(self, "reconstructors_")
        return sum(one.n_products_ for one in self.reconstructors_)

    def predict(self, X: Any = None) -> np.ndarray:
        """Magnitudes of the reconstructed images, (images, *shape); ``X`` is ignored."""
        return np.stack(self.images_)

    def reconstruct(self, X: Any, y: Any) -> list[np.ndarray]:
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

    def predictive(self, candidates: Any, *, target: Any = None, random_state: Any = None) -> SummedPredictive:
        """What is believed about blocks of measurements, of all images together.

        Parameters
        ----------
        candidates : pool of operator blocks
        target : None
        random_state : passed on to the reconstructors
        """
        parts = [one.predictive(candidates, target=target, random_state=random_state) for one in self._present()]
        return SummedPredictive(parts, n_jobs=self.n_jobs)

    # -- state ---------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What was learnt, as plain arrays and numbers."""
        check_is_fitted(self, "reconstructors_")
        return {"reconstructors": [one.state() for one in self.reconstructors_]}

    def restore(self, state: dict[str, Any]) -> SeveralImages:
        """Become what `state` described; the parameters are those of this estimator."""
        pairs = zip(self._checked(), state["reconstructors"], strict=True)
        self.reconstructors_ = [clone(one).restore(own) for one, own in pairs]
        self._images = None
        return self


class SummedPredictive(Predictive):
    """Predictive of blocks that are measured of several independent images at once.

    Parameters
    ----------
    parts : list of predictives of the same candidates, one for each image
    n_jobs : int, optional
        As of ``SeveralImages``.
    """

    def __init__(self, parts: Sequence[Predictive], *, n_jobs: int | None = None):
        self.parts, self.n_jobs = list(parts), n_jobs
        # Samples of an image with another noise are thought of as scaled to that of the first.
        self.likelihood = Gaussian(parts[0].likelihood.variance)
        super().__init__(len(parts[0]))
        self._scores: tuple[np.ndarray, np.ndarray] | None = None

    def provides(self, name: str) -> bool:
        if name in ("refined", "given", "covariance"):
            return all(part.provides(name) for part in self.parts)
        return super().provides(name)

    def log_determinant(self) -> tuple[np.ndarray, np.ndarray]:
        """log|I + Cov / noise| of every candidate, added over the images, and standard errors."""
        if self._scores is None:
            self._scores = _sum(in_parallel(_log_determinant, [(part,) for part in self.parts], self.n_jobs))
        return self._scores

    def refined(self, positions: Any) -> StatedPredictive:
        """The candidates at ``positions``, their determinants exact."""
        found = _sum(in_parallel(_refined, [(part, positions) for part in self.parts], self.n_jobs))
        return StatedPredictive(len(found[0]), log_determinant=lambda: found)

    def covariance(self, i: Any, j: Any) -> np.ndarray:
        """Covariance of the samples of blocks ``i`` and ``j``: of every block those of image after image."""
        first, second = (np.atleast_1d(k) for k in (i, j))
        noise = self.likelihood.variance

        def of_pair(a: int, b: int) -> np.ndarray:
            blocks = [part.covariance(a, b) * (noise / part.likelihood.variance) for part in self.parts]
            return scipy.linalg.block_diag(*blocks)

        return np.block([[of_pair(a, b) for b in second] for a in first])

    def given(self, i: int, outcome: Any = None) -> SummedPredictive:
        """The belief had block ``i`` been measured of every image."""
        return SummedPredictive(
            in_parallel(_given, [(part, i) for part in self.parts], self.n_jobs), n_jobs=self.n_jobs
        )


def _sum(found: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Values added, independent errors too."""
    values, errors = zip(*found, strict=True)
    return np.sum(values, axis=0), np.sqrt(np.sum(np.square(errors), axis=0))


def _by_image(y: Any, n_images: int) -> list[list[Any]]:
    """Samples of every block by image, from those of every image by block."""
    blocks = list(y)
    for k, block in enumerate(blocks):
        if isinstance(block, (str, bytes)) or not hasattr(block, "__len__") or len(block) != n_images:
            given = len(block) if hasattr(block, "__len__") else type(block).__name__
            raise ValueError(f"y[{k}] must hold one array of samples for each of the {n_images} images, got {given}.")
    return [[block[image] for block in blocks] for image in range(n_images)]


# What workers do.
def _learnt(method: str, estimator: Any, X: Any, y: Any) -> Any:
    return getattr(copy.deepcopy(estimator), method)(X, y)


def _image(estimator: Any) -> np.ndarray:
    return estimator.image_


def _reconstructed(estimator: Any, X: Any, y: Any) -> np.ndarray:
    return estimator.reconstruct(X, y)


def _log_determinant(predictive: Any) -> tuple[np.ndarray, np.ndarray]:
    return predictive.log_determinant()


def _refined(predictive: Any, positions: Any) -> tuple[np.ndarray, np.ndarray]:
    return predictive.refined(positions).log_determinant()


def _given(predictive: Any, position: int) -> Any:
    return predictive.given(position)
