"""
Label your own table: adaptive label
====================================

People fill in files: the command writes the rows that teach most, a person writes the answers beside them, the command
learns and writes the next ones. Here the breast cancer table stands for yours, and its own diagnoses for the person.
"""

import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer

from adaptive.cli import app

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
os.environ["COLUMNS"] = "100"
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X.iloc[:200, :10].to_csv("table.csv", index=False)


def command(line):
    os.chdir(folder)
    print("$", line)
    app(line.split()[1:], standalone_mode=False)


# %%
# The first batch:

command("adaptive label table.csv --classes benign,malignant --batch 8 --ask next.csv")

# %%
# What people get, and fill in:

batch = pd.read_csv(folder / "next.csv")
batch["answer"] = [("malignant", "benign")[y[k]] for k in batch["position"]]
batch.to_csv(folder / "next.csv", index=False)
print(batch[["query", "position", "answer"]].to_string(index=False))

# %%
# The same file goes back; further rows go into a file of their own.

command("adaptive label --tell next.csv")
command("adaptive label table.csv --classes benign,malignant --batch 8 --ask more.csv --resume")
batch = pd.read_csv(folder / "more.csv")
batch["answer"] = [("malignant", "benign")[y[k]] for k in batch["position"]]
batch.to_csv(folder / "more.csv", index=False)
command("adaptive label --tell more.csv")

# %%
# At any time: how well were answers predicted, and is it time to stop?

command("adaptive label --report")
pictures = sorted(folder.rglob("*.png"))
figure, axes = plt.subplots(1, max(len(pictures), 1), figsize=(9, 3.6), squeeze=False)
for ax, picture in zip(axes.flat, pictures, strict=False):
    ax.imshow(plt.imread(picture))
    ax.axis("off")
figure.tight_layout()
