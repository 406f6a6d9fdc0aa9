"""A running Label Studio as the place where people answer: its REST interface, and a design that follows it."""

from adaptive.labelling.studio.client import LabelStudio, StudioAway, StudioError
from adaptive.labelling.studio.live import Live, Looked

__all__ = ["LabelStudio", "Live", "Looked", "StudioAway", "StudioError"]
