"""
Where to try next: GaussianProcessClassifier
============================================

Two classes in the plane, divided by a curve. The design asks for the inputs that say most about the predictions
elsewhere (``predictive_information_gain``, the default of processes).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.gaussian_process.kernels import RBF

from adaptive import GaussianProcessClassifier, SequentialDesign

X, y = make_moons(150, noise=0.15, random_state=0)
model = GaussianProcessClassifier(9.0 * RBF(0.7), optimizer=None, classes=[0, 1])
design = SequentialDesign(model, X, lambda query: y[query.positions], initial=2, random_state=0).run(22)
learnt, asked = design.estimator_, design.history_["position"]

# %%
# Grey points were not asked. Probabilities are those of the whole posterior: far from labels they return to one half.

u, v = np.meshgrid(np.linspace(-1.8, 2.8, 60), np.linspace(-1.4, 1.9, 50))
p = learnt.predict_proba(np.column_stack([u.ravel(), v.ravel()]))[:, 1].reshape(u.shape)
figure, ax = plt.subplots(figsize=(6.4, 4.2))
filled = ax.contourf(u, v, p, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.8)
figure.colorbar(filled, label="probability of class 1")
ax.scatter(*X.T, s=10, color="0.5")
ax.scatter(*X[asked].T, c=y[asked], cmap="RdBu_r", edgecolor="black", s=50)
ax.set(xlabel="first input", ylabel="second input")
figure.tight_layout()
rest = np.setdiff1d(np.arange(len(X)), asked)
print(f"{len(asked)} labels, {learnt.score(X[rest], y[rest]):.0%} of the others right")
