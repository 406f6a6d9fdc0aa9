"""
Would choosing have paid? adaptive classify
===========================================

A table that is labelled already, or the digits that come along: the same number of labels, chosen and at random, over
several seeds. Two seeds and twelve labels here, for seconds; the interval says how little that shows.
"""

import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from adaptive.cli import app

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
os.environ["COLUMNS"] = "100"
line = "adaptive classify --questions 12 --seeds 2 --jobs 1 --scorer margin --out run"
print("$", line)
app(line.split()[1:], standalone_mode=False)

# %%
# The picture in the folder ``run``, beside every question that was asked and the numbers of the curve:

figure, ax = plt.subplots(figsize=(7, 4.6))
ax.imshow(plt.imread(folder / "run/curve.png"))
ax.axis("off")
figure.tight_layout()
