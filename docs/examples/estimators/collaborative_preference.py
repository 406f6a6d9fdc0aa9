"""
What people like, from comparisons: CollaborativePreference
===========================================================

People say which of two items they like better. What they share is learnt from all of them, so that a few well chosen
comparisons tell the ranking of somebody new. People and items are simulated: two kinds of taste, twelve items.
"""

import matplotlib.pyplot as plt
import numpy as np

from adaptive import CollaborativePreference

rng = np.random.default_rng(0)
items = rng.normal(size=(12, 2))
tastes = rng.normal(size=(80, 2))
rows = np.array([(user, *rng.choice(12, 2, replace=False)) for user in range(80) for _ in range(10)])
margin = np.einsum("nd,nd->n", tastes[rows[:, 0]], items[rows[:, 1]] - items[rows[:, 2]])
y = np.where(margin + 0.5 * rng.normal(size=len(rows)) > 0, 1, -1)

model = CollaborativePreference(2, tol=1e-3, random_state=0).fit(rows, y)
print("show person 3:", model.recommend(3, 3).tolist())

# %%
# Somebody new is asked. Every question is the pair of items whose answer says most about which item is best:

taste = np.array([1.2, -0.8])
pairs = [(i, j) for i in range(12) for j in range(i)]
person = model.user("somebody new")
for number in range(1, 9):
    first, second = pairs[int(person.select(pairs)[0])]
    won = 1 if taste @ (items[first] - items[second]) > 0 else -1
    person = person.partial_fit([(first, second)], [won])
    print(f"{number}. {first} or {second}? {first if won == 1 else second}")

# %%
# The ranking at the end; utilities are in units of the noise of a comparison, against the mean of all items:

ranking = person.ranking()
names, mean = ranking["item"][::-1], np.array(ranking["utility"][::-1])
below, above = mean - ranking["lower"][::-1], ranking["upper"][::-1] - mean
truth = (items - items.mean(axis=0)) @ taste / 0.5
figure, ax = plt.subplots(figsize=(6.4, 3.8))
ax.errorbar(mean, range(12), xerr=[below, above], fmt="o", capsize=3, label="believed")
ax.plot(truth[names], range(12), "x", color="black", label="the truth")
ax.set(yticks=range(12), yticklabels=[f"item {name}" for name in names], xlabel="utility, with 90% interval")
ax.legend()
figure.tight_layout()
