"""
Items for users, with odds: adaptive recommend
==============================================

A file with a line for every play becomes recommendations with odds and intervals, beside what popularity would have
ranked, and the pairs that are worth showing.
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
users, items = rng.normal(size=(300, 2)), rng.normal(size=(80, 2))
odds = 1 / (1 + np.exp(-1.5 * users @ items.T))
drawn = np.column_stack([rng.integers(0, 300, 24000), rng.integers(0, 80, 24000)])
kept = drawn[rng.random(24000) < odds[drawn[:, 0], drawn[:, 1]]]
pd.DataFrame({"user": [f"u{k}" for k in kept[:, 0]], "item": [f"i{k}" for k in kept[:, 1]]}).to_csv(
    "plays.csv", index=False
)

line = "adaptive recommend plays.csv --components 2 --to u3 --items 5 --out run"
print("$", line)
app(line.split()[1:], standalone_mode=False)
print((folder / "run/items.csv").read_text())

figure, ax = plt.subplots(figsize=(8, 4))
ax.imshow(plt.imread(folder / "run/ranks.png"))
ax.axis("off")
figure.tight_layout()
