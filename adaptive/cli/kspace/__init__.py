"""``adaptive kspace``: which parts of k-space to measure, tried on a slice or on raw samples, or planned.

line_*     lines on a slice and the one beside it, scanned in simulation, beside designs that look at no data
trial_*    lines, points or shots on one scan - raw samples replayed, or a slice scanned in simulation
plan       nothing is tried: the ordered design of the next scan
"""

from adaptive.cli.kspace.command import kspace

__all__ = ["kspace"]
