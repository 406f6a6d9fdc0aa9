"""
What to count, and for how long: PoissonRegression
==================================================

Counts depend on the exposure: who watches for longer counts more. One column says for how long, so a candidate is a
place *and* a time, and its time may be its cost.
"""

import matplotlib.pyplot as plt
import numpy as np

from adaptive import PoissonRegression

rng = np.random.default_rng(0)
truth = np.array([0.8, -0.5])
features, hours = rng.normal(size=(30, 2)), rng.choice([0.5, 1.0, 4.0], 30)
X = np.column_stack([features, hours])
y = rng.poisson(hours * np.exp(features @ truth + 0.4))

model = PoissonRegression(exposure=2).fit(X, y)
for name, mean, std, true in zip(("first", "second"), model.coef_, model.coef_std_, truth, strict=True):
    print(f"{name} weight {mean:+.2f} +- {std:.2f} (truth {true:+.2f})")

# %%
# The same places for half an hour, one hour and four: most information in all, and most for each hour.

places = rng.normal(size=(40, 2))
candidates = np.vstack([np.column_stack([places, np.full(40, time)]) for time in (0.5, 1.0, 4.0)])
best = model.select(candidates)[0]
per_hour = model.select(candidates, cost=candidates[:, 2])[0]
print(f"most information: {candidates[best, 2]:g} hours; most for each hour: {candidates[per_hour, 2]:g} hours")

scores = model.predictive(candidates)
low, high = model.interval(candidates[:40], 0.9)
rate = model.predict(candidates[:40])
order = np.argsort(rate)
figure, ax = plt.subplots(figsize=(7, 3.4))
ax.fill_between(np.arange(40), low[order], high[order], step="mid", alpha=0.3, label="90% of counts to come")
ax.plot(rate[order], label="expected count in half an hour")
ax.set(xlabel="place, by its rate", ylabel="count")
ax.legend()
figure.tight_layout()
