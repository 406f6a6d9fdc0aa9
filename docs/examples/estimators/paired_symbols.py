"""
Whom to show what, from plays alone: PairedSymbols
==================================================

A stream says who took what, and never what was refused; here two in three pairs were. Users, items and what they like
are simulated: a pair is kept by the odds that the user takes the item.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from adaptive import PairedSymbols

rng = np.random.default_rng(0)
users, items = rng.normal(size=(150, 2)), rng.normal(size=(40, 2))
odds = 1 / (1 + np.exp(1 - 1.5 * users @ items.T))
drawn = np.column_stack([rng.integers(0, 150, 40000), rng.integers(0, 40, 40000)])
stream = drawn[rng.random(40000) < odds[drawn[:, 0], drawn[:, 1]]]

model = PairedSymbols(2, censored_ratio=2.0, random_state=0).fit(stream)
print(f"{len(stream)} pairs; show user 3:", model.recommend(3, 3).tolist())

# %%
# What the model believes of pairs, beside the odds they were drawn with. Their order is right; the odds themselves are
# drawn to the middle, since what was refused is guessed.

pairs = np.array([(u, i) for u in range(150) for i in range(40)])
believed = model.predict_proba(pairs)[:, 1]
edges = np.quantile(believed, np.linspace(0, 1, 13))
middle = [believed[(low <= believed) & (believed <= high)].mean() for low, high in pairwise(edges)]
truth = [odds.ravel()[(low <= believed) & (believed <= high)].mean() for low, high in pairwise(edges)]

# %%
# Showing a pair tells what the stream cannot: a refusal. Which pairs are worth it - those that teach, or those that are
# probably taken?

for scorer in "information_gain", "thompson":
    shown = pairs[model.select(pairs, 40, scorer=scorer, joint=False, random_state=0)]
    print(f"{scorer}: {odds[shown[:, 0], shown[:, 1]].mean():.0%} of 40 pairs would be taken")

figure, ax = plt.subplots(figsize=(4.6, 4.2))
ax.plot([0, 1], [0, 1], color="0.6")
ax.plot(middle, truth, marker="o")
ax.set(xlabel="odds that the model believes", ylabel="odds the pairs were drawn with", xlim=(0, 1), ylim=(0, 1))
figure.tight_layout()
