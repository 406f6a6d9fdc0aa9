"""
A bank of items from answers: adaptive calibrate
================================================

A table with a row for each person and a column for each question becomes a bank: how hard each item is, how sharply it
divides people, and how uncertain that still is.
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
trait, difficulty = rng.standard_normal(300), np.linspace(-2, 2, 12)
right = rng.random((300, 12)) < 1 / (1 + np.exp(-1.5 * (trait[:, None] - difficulty)))
pd.DataFrame(right.astype(int), columns=[f"q{k + 1}" for k in range(12)]).assign(who=range(300)).to_csv(
    "answers.csv", index=False
)
line = "adaptive calibrate answers.csv --person who --out run"
print("$", line)
app(line.split()[1:], standalone_mode=False)
print(sorted(path.name for path in Path("run").iterdir() if not path.name.startswith(".")))

# %%
pictures = sorted((folder / "run").glob("*.png"))
figure, axes = plt.subplots(1, max(len(pictures), 1), figsize=(8, 4), squeeze=False)
for ax, picture in zip(axes.flat, pictures, strict=False):
    ax.imshow(plt.imread(picture))
    ax.axis("off")
figure.tight_layout()
