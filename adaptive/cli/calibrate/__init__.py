"""``adaptive calibrate``: a bank of items from answers, and what tests from it would be worth."""

from adaptive.cli.calibrate.command import calibrate

__all__ = ["calibrate"]
