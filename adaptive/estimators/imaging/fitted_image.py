"""What the parts of an `ImageReconstructor` know of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adaptive.estimators.imaging.followed_directions import FollowedDirections
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.estimators.imaging.receiver import Received
    from adaptive.estimators.imaging.settings import ImageSettings
    from adaptive.inference import Posterior

__all__ = ["FittedImage"]


class FittedImage:
    """The parameters and attributes that its mixins read."""

    measured_: MeasuredBlocks
    design_posterior_: Posterior
    noise_variance_: float
    coils: Any
    n_samples: int
    max_iter: int
    tol: float
    refine: bool
    _computed: dict[str, Any]
    _directions: FollowedDirections

    if TYPE_CHECKING:

        @property
        def _settings(self) -> ImageSettings: ...

        @property
        def _received(self) -> Received: ...
