"""
Plays of users and items: PoissonFactorization
==============================================

Which pair of a user and an item to ask about, what to show to a user, and how sure that is. Plays are simulated.
"""

import matplotlib.pyplot as plt
import numpy as np

from adaptive import PoissonFactorization

rng = np.random.default_rng(0)
users, items = rng.normal(size=(60, 2)), rng.normal(size=(40, 2))
rates = np.exp(np.clip(0.8 * users @ items.T, None, 3))
pairs = np.unique(np.column_stack([rng.integers(0, 60, 900), rng.integers(0, 40, 900)]), axis=0)
plays = rng.poisson(rates[pairs[:, 0], pairs[:, 1]])

model = PoissonFactorization(2, random_state=0).fit(pairs, plays)
print("show user 3:", model.recommend(3, 3).tolist())

# %%
# User 60 is new, and nothing is known of them. Each answer about an item narrows what is believed of all the others.

taste = np.array([1.2, -0.8])
asked, deviations = [], []
for _ in range(8):
    item = int(model.user(60).select(np.arange(40), exclude=asked)[0])
    count = rng.poisson(np.exp(np.clip(0.8 * taste @ items[item], None, 3)))
    model = model.partial_fit([(60, item)], [count])
    asked.append(item)
    deviations.append(np.sqrt(model.predictive([(60, k) for k in range(40)]).variance).mean())
print("asked about:", asked)

figure, ax = plt.subplots(figsize=(6.4, 3.4))
ax.plot(np.arange(1, 9), deviations, marker="o")
ax.set(xlabel="answers of the new user", ylabel="mean deviation of the log rate", ylim=(0, None))
figure.tight_layout()
