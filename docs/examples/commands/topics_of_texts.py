"""
Topics of texts with metadata: adaptive topics
==============================================

A table with a column of texts and others that say who, when or where. Out come topics, what each author is expected to
write of, and which text to read next.
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
vocabularies = {
    "anna": "vine barrel cellar oak harvest grape cork bottle slope cask",
    "ben": "engine wheel brake gear road motor tyre clutch fuel race",
}
rows = [
    {"text": " ".join(rng.choice(vocabularies[author].split(), 12)), "author": author}
    for author in ("anna", "ben")
    for _ in range(40)
]
pd.DataFrame(rows).to_csv("texts.csv", index=False)
line = "adaptive topics texts.csv --text text --metadata author --topics 2 --out run"
print("$", line)
app(line.split()[1:], standalone_mode=False)

# %%
pictures = sorted((folder / "run").glob("*.png"))
figure, axes = plt.subplots(1, max(len(pictures), 1), figsize=(8, 4), squeeze=False)
for ax, picture in zip(axes.flat, pictures, strict=False):
    ax.imshow(plt.imread(picture))
    ax.axis("off")
figure.tight_layout()
