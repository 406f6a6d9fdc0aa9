"""
A score from a tenth of the items: adaptive evaluate
====================================================

A table of earlier models and the items that they answered rightly; a new model is asked the items that tell most about
its score on all of them. Its answers are played from a file here; ``--ask COMMAND`` runs a command for each item.
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
os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
rng = np.random.default_rng(0)
items = [f"q{k + 1}" for k in range(60)]
ability, difficulty = rng.standard_normal(161), rng.normal(0, 1.3, 60)
sharp = rng.lognormal(0.3, 0.4, 60)
right = rng.random((161, 60)) < 1 / (1 + np.exp(-sharp * (ability[:, None] - difficulty)))
earlier = pd.DataFrame(right[:160].astype(int), columns=items)
earlier.insert(0, "model", [f"m{k}" for k in range(160)])
earlier.insert(1, "family", [f"lab{k // 4}" for k in range(160)])
earlier.to_csv("earlier.csv", index=False)
pd.DataFrame({"item": items, "score": right[160].astype(int)}).to_csv("answers.csv", index=False)


def command(line):
    os.chdir(folder)
    print("$", line)
    app(line.split()[1:], standalone_mode=False)


command("adaptive evaluate earlier.csv --answers answers.csv --items 12 --out run")
print(f"on all 60 items it has {100 * right[160].mean():.1f}")

# %%
# The score with its band after each item, beside the earlier models:

picture = plt.imread(folder / "run" / "score.png")
figure, ax = plt.subplots(figsize=(8, 4.5))
ax.imshow(picture)
ax.axis("off")
figure.tight_layout()
