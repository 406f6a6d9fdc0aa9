"""Images: scanned in simulation, checked and compared; `adaptive.scanner` reads them. Nothing here knows a model."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.images.cfl import read_cfl, write_cfl
    from adaptive.images.coils import estimate_coils, map_error, normalised_maps, simulate_coils
    from adaptive.images.compression import CompressedCoils, compress_coils
    from adaptive.images.design_table import COLUMNS, best_parameter, compare_designs
    from adaptive.images.folding import folded, unfolded
    from adaptive.images.foreground import foreground
    from adaptive.images.kspace_check import check_coils, check_kspace, gridded, kspace_problem
    from adaptive.images.noise import estimate_noise, noise_covariance, whitened
    from adaptive.images.oversampling import remove_oversampling
    from adaptive.images.phase import estimate_phase, low_resolution, polynomial_phase
    from adaptive.images.quality import Interval, l2_error, nmse, paired_interval, psnr, ssim
    from adaptive.images.receiver import CoilCovariance, coil_covariance
    from adaptive.images.simulation import SimulatedScan, simulate_scan
    from adaptive.images.smooth_phase import SmoothPhase, smooth_phase
    from adaptive.images.stack import ImageStack, Slice, fitted, head_scan, middle_square, padded, scaled

__all__ = [
    "COLUMNS",
    "CoilCovariance",
    "CompressedCoils",
    "ImageStack",
    "Interval",
    "SimulatedScan",
    "Slice",
    "SmoothPhase",
    "best_parameter",
    "check_coils",
    "check_kspace",
    "coil_covariance",
    "compare_designs",
    "compress_coils",
    "estimate_coils",
    "estimate_noise",
    "estimate_phase",
    "fitted",
    "folded",
    "foreground",
    "gridded",
    "head_scan",
    "kspace_problem",
    "l2_error",
    "low_resolution",
    "map_error",
    "middle_square",
    "nmse",
    "noise_covariance",
    "normalised_maps",
    "padded",
    "paired_interval",
    "polynomial_phase",
    "psnr",
    "read_cfl",
    "remove_oversampling",
    "scaled",
    "simulate_coils",
    "simulate_scan",
    "smooth_phase",
    "ssim",
    "unfolded",
    "whitened",
    "write_cfl",
]

__getattr__, __dir__ = _lazily(__name__)
