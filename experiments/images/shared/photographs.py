"""Photographs for the experiments on natural images: grey, square, small, in [0, 1].

The middle square of a photograph, averaged over blocks of pixels. The source's 75 pictures cannot be redistributed;
these are others of the same kind: Set12, Kodak (without number 23, of which a picture of Set12 is a part) and BSD68.
"""

from __future__ import annotations

import numpy as np
import pywt
from PIL import Image

from adaptive import datasets
from adaptive.images import middle_square

__all__ = ["SHIPPED", "TEST", "TUNING", "photograph"]

# In an order in which every beginning holds pictures of all sets.
TEST = tuple(
    name
    for k in range(12)
    for name in (
        f"images-set12/{k + 1:02d}.png",
        f"images-kodak/{k + 1:02d}.png",
        *([f"images-bsd68/test{4 * k + 3:03d}.png"] if k < 6 else []),
    )
)
TUNING = tuple(f"images-bsd68/test{k:03d}.png" for k in (30, 40, 50))
SHIPPED = ("camera", "ascent", "aero")  # with PyWavelets, for the quick modes


def photograph(name: str, side: int) -> np.ndarray:
    """Return a photograph of the data folder, or one of `SHIPPED`, with ``side`` x ``side`` pixels in [0, 1]."""
    if name in SHIPPED:
        whole = np.asarray(getattr(pywt.data, name)(), dtype=float)
    else:
        with Image.open(datasets.file(name, "its collection")) as picture:
            whole = np.asarray(picture.convert("L"), dtype=float)
    return middle_square(whole, side) / 255.0
