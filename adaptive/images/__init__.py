"""Images: read from files, scanned in simulation, checked and compared. Nothing here knows a model."""

from .cfl import read_cfl, write_cfl
from .coils import estimate_coils, map_error, normalised_maps, simulate_coils
from .design_table import COLUMNS, best_parameter, compare_designs
from .kspace_check import check_coils, check_kspace, gridded, kspace_problem
from .kspace_files import RawKspace, read_kspace
from .noise import estimate_noise, noise_covariance, whitened
from .phase import estimate_phase, low_resolution, polynomial_phase
from .quality import Interval, l2_error, nmse, paired_interval, psnr, ssim
from .reading import head_scan, read_images
from .simulation import SimulatedScan, simulate_scan
from .stack import ImageStack, Slice, fitted, padded, scaled

__all__ = [
    "COLUMNS",
    "ImageStack",
    "Interval",
    "RawKspace",
    "SimulatedScan",
    "Slice",
    "best_parameter",
    "check_coils",
    "check_kspace",
    "compare_designs",
    "estimate_coils",
    "estimate_noise",
    "estimate_phase",
    "fitted",
    "gridded",
    "head_scan",
    "kspace_problem",
    "l2_error",
    "low_resolution",
    "map_error",
    "nmse",
    "noise_covariance",
    "normalised_maps",
    "padded",
    "paired_interval",
    "polynomial_phase",
    "psnr",
    "read_cfl",
    "read_images",
    "read_kspace",
    "scaled",
    "simulate_coils",
    "simulate_scan",
    "ssim",
    "whitened",
    "write_cfl",
]
