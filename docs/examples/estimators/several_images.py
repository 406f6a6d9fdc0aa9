"""
One design for several slices: SeveralImages
============================================

A protocol has to suit more than one slice. The information of a line is added up over all of them; the slices are
reconstructed in parallel where joblib is told so.
"""

import matplotlib.pyplot as plt
import numpy as np

from adaptive import ImageReconstructor, SeveralImages
from adaptive.images import head_scan, simulate_scan
from designs.kspace import central, lines

scans = [simulate_scan(head_scan()[k].image[::2, ::2], snr=100, random_state=k) for k in (10, 12, 14)]
shape = scans[0].image.shape
pool = lines(shape)
first = pool.take(central(len(pool), 10))
model = SeveralImages([ImageReconstructor(shape) for _ in scans])
model = model.fit(first, [[scan.samples(line) for scan in scans] for line in first])
position, scores = model.select(pool, mask=~np.isin(pool.lines, first.lines), return_scores=True)
print(f"the next line for all three: {pool.lines[position[0]]}, {scores[0]:.1f} nats")

# %%
# The slices, from the ten lines that they share so far:

figure, axes = plt.subplots(2, 3, figsize=(7.5, 4.4))
for (top, below), scan, one in zip(axes.T, scans, model.reconstructors_, strict=True):
    top.imshow(scan.image, cmap="gray")
    below.imshow(one.image_, cmap="gray")
    top.axis("off")
    below.axis("off")
axes[0, 0].set_title("slices", loc="left")
axes[1, 0].set_title("after ten lines", loc="left")
figure.tight_layout()
