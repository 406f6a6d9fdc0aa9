"""Figures of what a run has shown: learning curves with bands, calibration, paired differences, diagnostics, scans.

Each function draws given columns on Matplotlib axes and returns the axes; none computes a model. Colours are those of
Okabe and Ito (2008), which people with colour-blindness tell apart; lines differ in dash and marker as well, for print
in grey. A series called "random" is always the grey dashed one.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.plots.curves import differences, learning_curve
    from adaptive.plots.diagnostics import calibration_along, class_balance, when_to_stop
    from adaptive.plots.reliability import calibration
    from adaptive.plots.sampling import sampling_order, sampling_scores
    from adaptive.plots.scans import coil_maps, design_errors, error_curves, residuals
    from adaptive.plots.style import PALETTE, figure, save
    from adaptive.plots.tree_of_values import tree_of_values

__all__ = [
    "PALETTE",
    "calibration",
    "calibration_along",
    "class_balance",
    "coil_maps",
    "design_errors",
    "differences",
    "error_curves",
    "figure",
    "learning_curve",
    "residuals",
    "sampling_order",
    "sampling_scores",
    "save",
    "tree_of_values",
    "when_to_stop",
]

__getattr__, __dir__ = _lazily(__name__)
