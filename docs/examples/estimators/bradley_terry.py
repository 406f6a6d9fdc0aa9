"""
Strengths, ties and judges who differ: BradleyTerry
===================================================

Two judges compare eight drafts; one of them answers by a coin in four of ten cases.  Their skills are learnt beside the
strengths, and what is asked next is asked of the one who tells more.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np

from adaptive import BradleyTerry

rng = np.random.default_rng(0)
strength = np.linspace(2.0, -2.0, 8)
drafts = [f"draft {k + 1}" for k in range(8)]
rows, y = [], []
for k in range(240):
    i, j = rng.choice(8, 2, replace=False)
    judge = ("careful", "hasty")[k % 2]
    d = strength[i] - strength[j] + rng.logistic()
    won = 0 if abs(d) < 0.4 else int(np.sign(d))
    if judge == "hasty" and rng.random() < 0.4:
        won = int(rng.choice([-1, 1]))
    rows.append((drafts[i], drafts[j], judge))
    y.append(won)
model = BradleyTerry(drafts, judges=True).fit(rows, y)
for name, judge in model.judges_.items():
    print(f"{name}: right with probability {judge.skill:.2f} ({judge.skill_low:.2f} to {judge.skill_high:.2f})")
order, probability = model.order(3)
print("the best three:", *order, f"with probability {probability:.2f}")

# %%
# Strengths with 90% intervals, and the probability of each rank.

ranking, ranks = model.ranking(3), model.rank_probabilities()
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
width = np.array([ranking["strength"]]) - np.array([ranking["lower"]])
left.errorbar(ranking["strength"], range(8), xerr=width, fmt="o")
left.set_yticks(range(8), ranking["item"])
left.set(xlabel="strength (logits)")
left.invert_yaxis()
places = [model.items_.tolist().index(item) for item in ranking["item"]]
shown = right.imshow(ranks[places], cmap="Blues", aspect="auto", extent=(0.5, 8.5, 7.5, -0.5))
right.set(xlabel="rank")
right.grid(False)
figure.colorbar(shown, ax=right, label="probability")
figure.tight_layout()

# %%
# Which two to compare next, and who should be asked, to know the order of the best three:

pairs = [(*pair, judge) for pair in itertools.permutations(drafts, 2) for judge in model.judges_]
print(*(pairs[k] for k in model.select(pairs, 3, target=3, random_state=0)), sep="\n")
