"""
The best move of a position: adaptive move
==========================================

Values of the moves under best play, with intervals, from two hundred random games of tic-tac-toe.
"""

import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from adaptive.cli import app

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
os.environ["COLUMNS"] = "100"
line = "adaptive move --rollouts 200 --out run"
print("$", line)
app(line.split()[1:], standalone_mode=False)

# %%
figure, ax = plt.subplots(figsize=(8, 6))
ax.imshow(plt.imread(folder / "run/tree.png"))
ax.axis("off")
figure.tight_layout()
