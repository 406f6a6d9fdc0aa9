"""
A photograph through a single pixel: ImageReconstructor
=======================================================

A detector with one pixel sees the sum of a picture times a pattern. Forty random patterns are shown first; further
ones are chosen out of a thousand, by what they are expected to tell.
"""

import matplotlib.pyplot as plt
import numpy as np
import pywt

from adaptive import ImageReconstructor

picture = pywt.data.camera()[100:356, 150:406].reshape(16, 16, 16, 16).mean(axis=(1, 3)) / 255
rng = np.random.default_rng(0)
patterns = rng.standard_normal((1000, 256)) / 16
outcomes = patterns @ picture.ravel() + 0.01 * rng.standard_normal(1000)

model = ImageReconstructor(
    (16, 16), inference="expectation_propagation", noise_variance=1e-4, prior_scales={"wavelet": 0.943, "tv": 0.141}
).fit(patterns[:40], outcomes[:40])
taken = list(range(40))
errors = [np.sqrt(np.mean((model.image_ - picture) ** 2))]
for _ in range(4):
    chosen = model.select(patterns, 15, exclude=taken)
    model = model.partial_fit(patterns[chosen], outcomes[chosen])
    taken += list(chosen)
    errors.append(np.sqrt(np.mean((model.image_ - picture) ** 2)))
print("root mean square errors after 40, 55, 70, 85, 100 patterns:", np.round(errors, 3))

# %%
image, std = model.predict(return_std=True)
figure, axes = plt.subplots(1, 3, figsize=(7.5, 2.9))
titles = ("the picture", "100 patterns", "standard deviation")
for ax, shown, title in zip(axes, (picture, image, std), titles, strict=True):
    ax.imshow(shown, cmap="gray")
    ax.set_title(title)
    ax.axis("off")
figure.tight_layout()
