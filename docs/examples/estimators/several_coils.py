"""
Several coils through the loop
==============================

Nobody tells the model what the coils see: it reads that from the central lines as soon as these were measured, and goes
on choosing lines. A slice of a head at 32 by 32 pixels, scanned in simulation by four coils.
"""

import matplotlib.pyplot as plt
import numpy as np

from adaptive import ImageReconstructor, SequentialDesign, plots, scorers
from adaptive.images import head_scan, nmse, simulate_coils, simulate_scan
from designs.kspace import central, equispaced, lines

image = np.pad(head_scan()[12].image, ((0, 0), (16, 16)))[::4, ::4]
scan = simulate_scan(image, snr=100, coils=simulate_coils(image.shape, 4, random_state=0), random_state=0)
pool = lines(image.shape)
model = ImageReconstructor(image.shape, coils="estimate")
design = SequentialDesign(model, pool, scan.measure, initial=pool.positions(central(32, 8)), random_state=0)
design.run(4)
print("after 4 lines:", design.estimator_.coil_maps_)  # the centre is not there yet: the prior answers
design.run(10)
found = design.estimator_
print("after 14 lines:", found.coil_maps_.shape)

# %%
# The same number of equispaced lines around the same centre, as scanners take them:
usual = pool.take(equispaced(32, 14, 8))
other = ImageReconstructor(image.shape, coils="estimate").fit(usual, scan.measure(usual))
images = {"chosen lines": found.image_, "equispaced lines": other.image_}
for name, one in images.items():
    print(f"{name}: NMSE {nmse(scan.image, one):.4f}")
plots.residuals(scan.image, images, into=plt.figure(figsize=(10, 6), layout="constrained"))

# %%
# What was measured in which order, and what those lines would say that are left:
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plots.sampling_order(pool.take(design.history_["position"]), 8, ax=left)
scores = scorers.get("information_gain")(found.predictive(pool))
taken = {"lines that are left": design.history_["position"]}
plots.sampling_scores(pool, {"lines that are left": scores}, measured=taken, ax=right)

# %%
# What the coils see, estimated from the centre:
plots.coil_maps(found.coil_maps_, into=plt.figure(figsize=(10, 5), layout="constrained"))
