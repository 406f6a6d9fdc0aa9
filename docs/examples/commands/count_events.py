"""
Rates of events, with bands: adaptive counts
============================================

One column with a time for each event is enough. The rate comes with a band, and with the place where counting on would
tell most.
"""

import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from adaptive.cli import app

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
os.environ["COLUMNS"] = "100"
rng = np.random.default_rng(0)
years = np.sort(np.concatenate([rng.uniform(1850, 1950, 40), rng.normal(1880, 5, 50)]))
pd.DataFrame({"year": years.round(2)}).to_csv("events.csv", index=False)
line = "adaptive counts events.csv --out run"
print("$", line)
app(line.split()[1:], standalone_mode=False)

# %%
pictures = sorted((folder / "run").glob("*.png"))
figure, axes = plt.subplots(1, max(len(pictures), 1), figsize=(8, 4.4), squeeze=False)
for ax, picture in zip(axes.flat, pictures, strict=False):
    ax.imshow(plt.imread(picture))
    ax.axis("off")
figure.tight_layout()
