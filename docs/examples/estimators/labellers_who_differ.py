"""
Labellers who differ: which row, and whom to ask
================================================

Five people label pictures of a 3 or a 5; one is right nearly always, one hardly more often than a coin. Who they are
is learnt beside the weights: a candidate is a row and a person.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from adaptive import BayesianLogisticRegression, SequentialDesign
from designs.pool import Annotated

images, digits = load_digits(return_X_y=True)
kept = np.isin(digits, (3, 5))
X, y = images[kept] / 16, digits[kept]
skill = {"Ann": 0.95, "Bob": 0.85, "Cid": 0.75, "Dot": 0.65, "Eve": 0.55}

# %%
# What they say is drawn here; a person who errs says the other digit.
rng = np.random.default_rng(0)


def answers(query):
    rows, people = query.candidates.rows, query.candidates.annotators
    right = rng.random(len(rows)) < [skill[person] for person in people]
    return np.where(right, y[rows], 8 - y[rows])


pairs = Annotated(X[:215], list(skill))
model = BayesianLogisticRegression(annotators=True, classes=[3, 5])
design = SequentialDesign(model, pairs, answers, initial=6, random_state=0)
curve = []
for _ in range(10):
    design.run(10)
    curve.append((design.iteration, design.estimator_.score(X[215:], y[215:])))
print(f"{curve[-1][1]:.1%} right on other rows after {curve[-1][0]} labels")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.4))
left.plot(*np.array(curve).T * [[1], [100]], marker="o")
left.set(xlabel="labels", ylabel="accuracy on other rows (%)")
for k, (person, known) in enumerate(skill.items()):
    found = design.estimator_.annotators_.get(person)
    if found is not None:
        limits = 100 * np.array([[found.mean - found.low], [found.high - found.mean]])
        right.errorbar(100 * found.mean, k, xerr=limits, fmt="o", color="C0", label="believed, 90%" if k == 0 else None)
        right.text(101, k, f"{found.labels} labels", va="center", fontsize="small")
    right.plot(100 * known, k, "k|", ms=14, label="true" if k == 0 else None)
right.set(xlabel="right answers (%)", yticks=range(5), yticklabels=list(skill), xlim=(20, 100))
right.legend(loc="lower left", fontsize="small")
figure.tight_layout()
