"""
Raw scans replayed, and a plan for the next one: adaptive kspace
================================================================

Raw samples of several coils (``--kspace``: ISMRMRD, fastMRI, BART, NumPy) are measured again, one line after the other,
out of those that were acquired; ``--plan`` writes the order of the next scan of a head for its sequence. Here both are
made of a slice at 32 by 32 pixels, for seconds.
"""

import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from adaptive.cli import app
from adaptive.images import head_scan, simulate_coils, simulate_scan
from adaptive.scanner import Geometry, Protocol, write_dicom

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
os.environ["COLUMNS"] = "100"
head = np.pad(head_scan()[12].image, ((0, 0), (16, 16))).reshape(32, 4, 32, 4).mean(axis=(1, 3))
scan = simulate_scan(head, snr=100, coils=simulate_coils(head.shape, 4, random_state=0), random_state=0)
np.save("raw.npy", scan.kspace.astype(np.complex64))
line = "adaptive kspace --kspace raw.npy --lines 14 --initial 8 --draws 1 --jobs 1 --out replay"
print("$", line)
app(line.split()[1:], standalone_mode=False)

# %%
figure, ax = plt.subplots(figsize=(9, 7))
ax.imshow(plt.imread(folder / "replay/design.png"))
ax.axis("off")
figure.tight_layout()

# %%
# The head of last week as a folder of DICOM, the next scan as ISMRMRD and as a text for people:
os.chdir(folder)
place = Geometry.from_affine(np.diag([8.0, 8.0, 3.0, 1.0]), (32, 32, 3))
write_dicom("last-week", np.stack([head] * 3, axis=2), place, Protocol(echo_time=0.03, repetition_time=2.0))
line = "adaptive kspace --plan --reference last-week --lines 14 --initial 8 --export ismrmrd,text --jobs 1 --out next"
print("$", line)
app(line.split()[1:], standalone_mode=False)
print(Path("next/plan.txt").read_text()[:420])
