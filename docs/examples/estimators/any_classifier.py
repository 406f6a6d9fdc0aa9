"""
What you have already: any classifier, any pipeline
===================================================

A scikit-learn classifier can stand where a Bayesian estimator does: the loop wraps it (``ClassifierView``). In a
pipeline that ends in an estimator of the toolkit, transformers are fitted once, on all rows, and the posterior at the
end is kept (``PipelineView``).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adaptive import BayesianLogisticRegression, SequentialDesign, diagnostics
from adaptive.datasets import breast_cancer

X, y = breast_cancer()
pool, test = slice(0, 300), slice(300, None)
models = {
    "random forest, margin": RandomForestClassifier(20, random_state=0),
    "scaler and posterior": make_pipeline(StandardScaler(), BayesianLogisticRegression(classes=[0, 1])),
}

# %%
figure, ax = plt.subplots(figsize=(6.8, 3.6))
for name, model in models.items():
    design = SequentialDesign(model, X[pool], lambda query: y[pool][query.positions], initial=4, random_state=0).run(20)
    curve = diagnostics.learning_curve(design, X[test], y[test], every=4)
    ax.plot(curve["n_labelled"], 100 * np.array(curve["mean"]), marker="o", label=name)
    print(f"{name}: {type(design.estimator_).__name__}, {curve['mean'][-1]:.1%} right after 20 labels")
ax.set(xlabel="labels", ylabel="accuracy on other rows (%)")
ax.legend()
figure.tight_layout()
