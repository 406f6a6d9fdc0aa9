"""
Label handwritten digits: BayesianLogisticRegression
====================================================

Which pictures are worth a person's time? The model learns threes and fives from the labels it asks for, and says how
sure it is of every other picture.
"""

import matplotlib.pyplot as plt
import numpy as np

from adaptive import BayesianLogisticRegression, SequentialDesign, diagnostics
from adaptive.datasets import digits_pair

X, y = digits_pair(3, 5)
pool, test = slice(0, 200), slice(200, None)
model = BayesianLogisticRegression(classes=[3, 5])
design = SequentialDesign(model, X[pool], lambda query: y[pool][query.positions], random_state=0).run(16)
print(f"after 16 labels: {np.mean(design.estimator_.predict(X[test]) == y[test]):.1%} of the others are read correctly")

# %%
# The pictures in the order in which they were asked for. The default scorer asks where a committee of posterior draws
# disagrees; about one question in seven is drawn at random, so that the labels speak for the whole pool.

figure, axes = plt.subplots(2, 8, figsize=(8, 2.6))
for ax, position, label in zip(axes.flat, design.history_["position"], design.history_["outcome"], strict=True):
    ax.imshow(X[position].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"told: {label}", fontsize=9)
    ax.axis("off")
figure.tight_layout()

# %%
# How much was learnt after each label, on rows that were never asked:

curve = diagnostics.learning_curve(design, X[test], y[test])
figure, ax = plt.subplots(figsize=(6, 3.2))
ax.plot(curve["n_labelled"], 100 * np.array(curve["mean"]), marker="o")
ax.set(xlabel="labels", ylabel="accuracy on the other rows (%)")
figure.tight_layout()
