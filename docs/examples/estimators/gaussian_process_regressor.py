"""
Measurements with outliers: GaussianProcessRegressor
====================================================

A function is measured where it is known least. One measurement in seven goes wrong, which Student t noise survives
and Gaussian noise does not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process.kernels import RBF

from adaptive import GaussianProcessRegressor, SequentialDesign

grid = np.linspace(0, 10, 201)[:, None]


def truth(x):
    return np.sin(x) + 0.3 * x


def measure(query):
    number = len(asked)
    asked.append(query.positions[0])
    return truth(query.candidates[:, 0]) + 0.05 * np.sin(99 * number) + (3.0 if number % 7 == 6 else 0.0)


asked = []
kernel = 4.0 * RBF(1.5)
model = GaussianProcessRegressor(kernel, likelihood="student_t", optimizer=None)
design = SequentialDesign(model, grid, measure, random_state=0).run(21)

# %%
# The band holds nine tenths of what the posterior believes of the function.

X, y = grid[asked], np.array(design.history_["outcome"], dtype=float)
gaussian = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for ax, one, title in ((axes[0], design.estimator_, "Student t noise"), (axes[1], gaussian, "Gaussian noise")):
    mean, std = one.predict(grid, return_std=True)
    ax.fill_between(grid[:, 0], mean - 1.645 * std, mean + 1.645 * std, alpha=0.3)
    ax.plot(grid, mean, label="estimate")
    ax.plot(grid, truth(grid), "k:", label="truth")
    ax.plot(X, y, "o", markersize=4, label="measured")
    ax.set(title=title, xlabel="input")
    error = np.sqrt(np.mean((mean - truth(grid[:, 0])) ** 2))
    print(f"{title}: root mean square error {error:.2f}")
axes[0].set_ylabel("value")
axes[0].legend()
figure.tight_layout()
