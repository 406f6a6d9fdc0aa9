"""Parts of k-space to measure: lines, phase encodes, spokes, spirals - and the designs that look at no data."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from designs.kspace.angles import equispaced_angles, golden_angles, random_angles, rotated, spoke_samples
    from designs.kspace.cartesian import Line, LinePool, as_lines, central, lines, mirror
    from designs.kspace.comparison import (
        comparison_designs,
        equispaced,
        half_plane_quantiles,
        half_plane_variable_density,
        low_pass,
        one_sided_low_pass,
        uniform,
        variable_density,
    )
    from designs.kspace.density import line_density, voronoi_density
    from designs.kspace.encode_comparison import (
        comparison_encodes,
        low_pass_encodes,
        poisson_disc_encodes,
        uniform_encodes,
        variable_density_encodes,
    )
    from designs.kspace.encode_indices import as_encodes, central_encodes, mirror_encodes
    from designs.kspace.export import export_design, import_design
    from designs.kspace.from_images.centre import centre_size
    from designs.kspace.from_images.certified import line_certificate
    from designs.kspace.from_images.population import learnt_lines, learnt_points
    from designs.kspace.from_images.reference import reference_lines, reference_points
    from designs.kspace.from_images.tuned import Tuned, tuned_lines, tuned_points
    from designs.kspace.limits import GradientLimits
    from designs.kspace.own_trajectories import trajectories
    from designs.kspace.phase_encodes import PhaseEncode, PhaseEncodePool, phase_encodes
    from designs.kspace.refined import RefinedAngles
    from designs.kspace.rules import simple_rules
    from designs.kspace.spiral import spiral_samples
    from designs.kspace.swaps import Swapped, improve_by_swaps
    from designs.kspace.trajectory import Trajectory, TrajectoryPool, spirals, spokes

__all__ = [
    "GradientLimits",
    "Line",
    "LinePool",
    "PhaseEncode",
    "PhaseEncodePool",
    "RefinedAngles",
    "Swapped",
    "Trajectory",
    "TrajectoryPool",
    "Tuned",
    "as_encodes",
    "as_lines",
    "central",
    "central_encodes",
    "centre_size",
    "comparison_designs",
    "comparison_encodes",
    "equispaced",
    "equispaced_angles",
    "export_design",
    "golden_angles",
    "half_plane_quantiles",
    "half_plane_variable_density",
    "import_design",
    "improve_by_swaps",
    "learnt_lines",
    "learnt_points",
    "line_certificate",
    "line_density",
    "lines",
    "low_pass",
    "low_pass_encodes",
    "mirror",
    "mirror_encodes",
    "one_sided_low_pass",
    "phase_encodes",
    "poisson_disc_encodes",
    "random_angles",
    "reference_lines",
    "reference_points",
    "rotated",
    "simple_rules",
    "spiral_samples",
    "spirals",
    "spoke_samples",
    "spokes",
    "trajectories",
    "tuned_lines",
    "tuned_points",
    "uniform",
    "uniform_encodes",
    "variable_density",
    "variable_density_encodes",
    "voronoi_density",
]

__getattr__, __dir__ = _lazily(__name__)
