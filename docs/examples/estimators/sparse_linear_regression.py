"""
Few weights of many: SparseLinearRegression
===========================================

One hundred possible causes, five of them real, sixty measurements. The posterior says which weights are not zero, and
how sure that is; ``select`` says which row to measure next.
"""

import matplotlib.pyplot as plt
import numpy as np

from adaptive import SparseLinearRegression

rng = np.random.default_rng(0)
weights = np.zeros(100)
weights[[7, 20, 41, 66, 90]] = [2.0, -1.5, 1.0, 0.6, -2.5]
X = rng.standard_normal((60, 100))
y = X @ weights + 0.3 * rng.standard_normal(60)

model = SparseLinearRegression().fit(X, y)

# %%
# Means with 95% intervals; the crosses are the true weights.

order = np.arange(100)
figure, ax = plt.subplots(figsize=(8, 3.4))
ax.errorbar(order, model.coef_, yerr=1.96 * model.coef_std_, fmt=".", elinewidth=1, label="posterior")
ax.plot(np.flatnonzero(weights), weights[weights != 0], "x", color="black", markersize=9, label="truth")
ax.set(xlabel="column", ylabel="weight")
ax.legend()
figure.tight_layout()
inside = np.abs(model.coef_ - weights) < 1.96 * model.coef_std_
print(f"{inside.mean():.0%} of the intervals hold their weight")

# %%
# Among two hundred further rows, the most informative one:

further = rng.standard_normal((200, 100))
position = model.select(further)
print("measure row", position[0])
