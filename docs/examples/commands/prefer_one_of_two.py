"""
A or B? What people like: adaptive prefer
=========================================

A file of comparisons becomes a model; then somebody new is asked in the terminal, two items at a time. The person's
keys are played here.
"""

import io
import os
import tempfile
from pathlib import Path
from unittest import mock

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from adaptive.cli import app

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
os.environ["COLUMNS"] = "100"
rng = np.random.default_rng(0)
names = np.array(["tea", "coffee", "cocoa", "juice", "water", "milk"])
liked = np.array([0.5, 1.0, 0.2, 0.4, -0.3, -0.8])
rows = np.array([rng.choice(6, 2, replace=False) for _ in range(240)])
first = (liked[rows[:, 0]] - liked[rows[:, 1]] + rng.normal(size=240)) > 0
pd.DataFrame({
    "user": [f"p{k // 6}" for k in range(240)],
    "winner": names[np.where(first, rows[:, 0], rows[:, 1])],
    "loser": names[np.where(first, rows[:, 1], rows[:, 0])],
}).to_csv("comparisons.csv", index=False)  # fmt: skip


def command(line, keys=""):
    os.chdir(folder)
    print("$", line)
    with mock.patch("sys.stdin", io.StringIO(keys)):
        app(line.split()[1:], standalone_mode=False)


command("adaptive prefer comparisons.csv --components 1 --out model")

# %%
# Now one person is asked:

command("adaptive prefer comparisons.csv --components 1 --ask me --questions 4 --out me", "1\n2\n1\n1\n")
pictures = sorted((folder / "me").glob("*.png"))
figure, ax = plt.subplots(figsize=(8, 4))
ax.imshow(plt.imread(pictures[0]))
ax.axis("off")
figure.tight_layout()
