"""
Which lines of k-space to measure: adaptive kspace
==================================================

Your own slice is one option away (``--image FILE``, NIfTI, NumPy or PNG). Here a slice of a head at 16 by 16 pixels
whose phase is known, for seconds; at that size a simple rule may do better, and the command says so. The README has it
at full size, with a phase that the central lines show.
"""

import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from adaptive.cli import app
from adaptive.images import head_scan

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
os.environ["COLUMNS"] = "100"
pictures = [np.pad(head_scan()[k].image, ((0, 0), (16, 16))) for k in (11, 12, 13)]
np.save("head.npy", [picture.reshape(16, 8, 16, 8).mean(axis=(1, 3)) for picture in pictures])
options = "--slice 1 --lines 10 --initial 4 --snr 200 --phase known --draws 1 --jobs 1"
line = f"adaptive kspace --image head.npy {options} --out run"
print("$", line)
app(line.split()[1:], standalone_mode=False)

# %%
figure, ax = plt.subplots(figsize=(9, 6))
ax.imshow(plt.imread(folder / "run/design.png"))
ax.axis("off")
figure.tight_layout()
