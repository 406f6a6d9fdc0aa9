"""
Which lines of k-space to measure: ImageReconstructor
=====================================================

A slice of a real head, the scan of it simulated. Sixteen central lines are measured first; then every line is chosen
by what it is expected to tell, given those before it. All lines are scored together, from a few posterior samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from adaptive import ImageReconstructor
from adaptive.images import head_scan, l2_error, simulate_scan
from designs.kspace import central, lines, low_pass

image = head_scan()[12].image[::2, ::2]
scan = simulate_scan(image, snr=100, random_state=0)
pool = lines(scan.image.shape)
n = len(pool)
first = pool.take(central(n, 12))
model = ImageReconstructor(scan.image.shape).fit(first, scan.measure(first))
taken = list(first.lines)
for _ in range(6):  # two lines at a time, chosen jointly
    chosen = pool.take(model.select(pool, 2, mask=~np.isin(pool.lines, taken)))
    model = model.partial_fit(chosen, scan.measure(chosen))
    taken += list(chosen.lines)

# %%
# As many lines around the centre, for comparison:

block = pool.take(low_pass(n, len(taken)))
plain = ImageReconstructor(scan.image.shape).fit(block, scan.measure(block))
figure, axes = plt.subplots(1, 4, figsize=(9, 3.2))
shown = (scan.image, model.image_, plain.image_, model.image_std_)
titles = ("the slice", f"{len(taken)} chosen lines", f"{len(taken)} central lines", "how unsure (chosen)")
for ax, picture, title in zip(axes, shown, titles, strict=True):
    ax.imshow(np.abs(picture), cmap="gray")
    ax.set_title(title, fontsize=9)
    ax.axis("off")
figure.tight_layout()
print("lines:", sorted(int(line) for line in taken))
for name, one in (("chosen", model), ("central", plain)):
    print(f"{name}: error {l2_error(scan.image, one.image_):.2f}")
