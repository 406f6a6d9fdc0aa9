"""Weighting of a scan: echo, repetition and inversion time in seconds, flip angle in radians, field in T."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["Protocol"]


@dataclass(frozen=True)
class Protocol:
    """Settings of a scan, as far as its file states them.

    Attributes
    ----------
    echo_time, repetition_time, inversion_time : float or None
        Seconds.
    flip_angle : float or None
        Radians.
    field_strength : float or None
        Tesla.
    name : str
        As the scanner's user called it.
    frequency : float or None
        Of the protons, in hertz.

    Examples
    --------
    >>> Protocol(echo_time=0.03, repetition_time=2.0).echo_time
    0.03
    """

    echo_time: float | None = None
    repetition_time: float | None = None
    inversion_time: float | None = None
    flip_angle: float | None = None
    field_strength: float | None = None
    name: str = ""
    frequency: float | None = None

    def __bool__(self) -> bool:
        """True where the file stated anything."""
        return any(getattr(self, field.name) not in (None, "") for field in fields(self))
