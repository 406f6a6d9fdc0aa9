"""
Filters for a photograph: adaptive photograph
=============================================

A picture through a single-pixel detector, every filter chosen by what those before it left open, beside wavelets from
coarse to fine and random filters. Sixteen pixels a side here, for seconds.
"""

import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from adaptive.cli import app

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
os.environ["COLUMNS"] = "100"
line = "adaptive photograph --size 16 --measurements 60 --out run"
print("$", line)
app(line.split()[1:], standalone_mode=False)

# %%
figure, ax = plt.subplots(figsize=(9, 5))
ax.imshow(plt.imread(folder / "run/photograph.png"))
ax.axis("off")
figure.tight_layout()
