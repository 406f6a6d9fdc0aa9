"""Which parts of k-space to measure: candidate lines, and the comparison designs that look at no data."""

from .cartesian import Line, LinePool, as_lines, central, lines, mirror
from .comparison import (
    comparison_designs,
    equispaced,
    half_plane_variable_density,
    low_pass,
    one_sided_low_pass,
    uniform,
    variable_density,
)

__all__ = [
    "Line",
    "LinePool",
    "as_lines",
    "central",
    "comparison_designs",
    "equispaced",
    "half_plane_variable_density",
    "lines",
    "low_pass",
    "mirror",
    "one_sided_low_pass",
    "uniform",
    "variable_density",
]
