"""Hardware that a sequence is for: limits of its gradients, dead times, rasters; from a TOML file or as is usual.

max_grad = 28            # mT/m
max_slew = 120           # T/m/s
rf_dead_time = 100e-6    # seconds, as all times
dwell = 10e-6            # between two samples
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adaptive.checks import positive
from adaptive.scanner.sentences import needs

__all__ = ["USUAL", "hardware", "read_hardware"]

USUAL: dict[str, float] = {
    "max_grad": 28.0, "max_slew": 120.0, "rf_dead_time": 100e-6, "rf_ringdown_time": 20e-6, "adc_dead_time": 10e-6,
    "grad_raster_time": 10e-6, "rf_raster_time": 1e-6, "adc_raster_time": 1e-7, "block_duration_raster": 10e-6,
    "B0": 3.0, "dwell": 10e-6,
}  # fmt: skip


def read_hardware(path: str | os.PathLike[str]) -> dict[str, float]:
    """Read values that differ from the usual ones.

    Raises
    ------
    ValueError
        If the file is no TOML, or a name is unknown, or a value no number > 0.
    """
    path = Path(path).expanduser()
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as reason:
        raise ValueError(f"{path.name} cannot be read as TOML ({' '.join(str(reason).split())}).") from reason
    try:
        return checked(found)
    except ValueError as reason:
        raise ValueError(f"{path.name}: {reason}") from None


def checked(given: Mapping[str, Any]) -> dict[str, float]:
    """The values, refused in one sentence where a name or a value is wrong."""
    for name in given:
        if name not in USUAL:
            raise ValueError(f"system has no {name!r}; it knows {', '.join(USUAL)}.")
    values = {name: float(positive(name, value, or_zero=name.endswith(("dead_time", "ringdown_time"))))
              for name, value in given.items()}  # fmt: skip
    for name, least, most, unit in (("max_grad", 1.0, 1000.0, "mT/m"), ("max_slew", 1.0, 2000.0, "T/m/s")):
        if name in values and not least <= values[name] <= most:
            raise ValueError(f"{name} is in {unit}, {least:g} to {most:g}, got {values[name]:g}: mixed units?")
    for name, value in values.items():
        if (name.endswith(("time", "raster")) or name == "dwell") and value >= 1e-2:
            raise ValueError(f"{name} is in seconds and below 0.01, got {value:g}: mixed units?")
    return values


def hardware(given: Mapping[str, Any] | None = None) -> tuple[Any, float]:
    """Return pypulseq's limits, and the dwell time in seconds."""
    needs_pulseq()
    import pypulseq as pp

    values = USUAL | checked(given or {})
    dwell = values.pop("dwell")
    return pp.Opts(grad_unit="mT/m", slew_unit="T/m/s", **values), dwell


def needs_pulseq(what: str = "writing Pulseq") -> None:
    """Raise ``ImportError`` with what to install, if pypulseq is absent."""
    needs("pypulseq", what, "pulseq")
