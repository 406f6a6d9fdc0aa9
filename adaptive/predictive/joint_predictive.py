"""Candidates, or the inputs of a target, as one part of a source of joint Gaussian moments.

A what-if is the same part of the source conditioned on one candidate; the target is another part of the same source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from adaptive.predictive.base import Predictive
from adaptive.predictive.joint_gaussian import CANDIDATES, Parts

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential
    from adaptive.predictive.softmax import SoftmaxLikelihood
    from adaptive.types import RandomState

__all__ = ["JointPredictive"]


class JointPredictive(Predictive):
    """Base of predictives by a joint Gaussian, whatever their outcomes.

    Parameters
    ----------
    source : object with the moments of its parts
    n_candidates : int
        Of this part.
    likelihood : likelihood family
    part : CANDIDATES or TARGET
    random_state, **fields
        As in :class:`Predictive`.
    """

    #: Attributes that a subclass adds, and that its what-ifs and its target keep.
    _kept: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        source: Parts,
        n_candidates: int,
        likelihood: Potential | SoftmaxLikelihood,
        *,
        part: int = CANDIDATES,
        random_state: RandomState = None,
        **fields: Any,
    ) -> None:
        super().__init__(n_candidates, random_state=random_state, **fields)
        self._source: Any = source
        self._part = part
        self.likelihood = likelihood  # type: ignore[assignment]  # of softmax it is another kind of family
        self._regressions: dict[int, Any] = {}  # on candidates: what-ifs that differ in the outcome share them

    @classmethod
    def _of(
        cls,
        source: Parts,
        n_candidates: int,
        likelihood: Potential | SoftmaxLikelihood,
        kept: dict[str, Any],
        **named: Any,
    ) -> Self:
        """Return an instance of a source that is there; the constructors of subclasses make one of what users state."""
        made = object.__new__(cls)
        JointPredictive.__init__(made, source, n_candidates, likelihood, **named)
        made.__dict__.update(kept)
        return made

    def _on(self, source: Parts) -> Self:
        """Return the same candidates by another source."""
        kept = {name: getattr(self, name) for name in ("asked", *self._kept)}
        return self._of(
            source, len(self), self.likelihood, part=self._part, random_state=self.seed, kept=kept, **self._fields
        )

    def _other_part(self, part: int, n_candidates: int) -> Self:
        """Return another part of the source; the candidates' fields, and what was asked of them, are not its own."""
        kept = {name: getattr(self, name) for name in self._kept}
        return self._of(self._source, n_candidates, self.likelihood, part=part, random_state=self.seed, kept=kept)

    def _has_target(self) -> bool:
        return self._part == CANDIDATES and self._source.n_parts > 1

    def _provides(self, name: str) -> bool:
        return self._part == CANDIDATES if name == "given" else super()._provides(name)  # no what-ifs about the target
