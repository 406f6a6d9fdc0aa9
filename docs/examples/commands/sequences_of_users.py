"""
What comes next, and whom to observe: adaptive sequences
========================================================

A file of events - who, what, when - becomes predictions user by user, beside counting and a net with one memory for
all.
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
names = np.array(["news", "mail", "maps", "music", "notes"])
rows = []
for user in range(20):
    at, follows = 0, rng.permutation(5)
    for minute in range(60):
        at = int(follows[at] if rng.random() < 0.85 else rng.integers(5))
        rows.append((f"p{user}", names[at], minute))
pd.DataFrame(rows, columns=["person", "app", "minute"]).to_csv("opened.csv", index=False)


def command(line):
    os.chdir(folder)
    print("$", line)
    app(line.split()[1:], standalone_mode=False)


command("adaptive sequences opened.csv --user person --item app --time minute --components 8 --epochs 25 --out run")

# %%
# Everybody's next items, and whose next event would tell most:

print(pd.read_csv(folder / "run" / "next.csv").head(5).to_string(index=False))
print(pd.read_csv(folder / "run" / "observe.csv").head(3).to_string(index=False))
figure, ax = plt.subplots(figsize=(8, 3.5))
ax.imshow(plt.imread(folder / "run" / "nats.png"))
ax.axis("off")
figure.tight_layout()
