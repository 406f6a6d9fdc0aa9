"""``adaptive calibrate``: items of a questionnaire from a table of answers."""

from adaptive.cli.calibrate.command import calibrate

__all__ = ["calibrate"]
