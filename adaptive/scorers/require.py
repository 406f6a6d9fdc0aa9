"""What a scorer needs of a predictive, or one line that names scorer, field and predictive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaptive.predictive.base import MissingField

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive

__all__ = ["require"]


def require(scorer: str, predictive: Predictive, *fields: str) -> None:
    """Raise MissingField unless ``predictive`` provides all ``fields``."""
    for field in fields:
        if not predictive.provides(field):
            missing = "give target=, the inputs to predict" if field == "target" else getattr(predictive, "remedy", "")
            hint = f": {missing}." if missing else "."
            raise MissingField(f"{scorer} needs {field}, which {type(predictive).__name__} does not provide{hint}")
