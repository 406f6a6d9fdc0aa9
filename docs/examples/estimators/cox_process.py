"""
The rate of events over time: CoxProcess
========================================

Events come in bursts. The process learns their rate, with a band, from counts in bins; bins that were not watched
simply do not appear. Where is the next hour of watching best spent?
"""

import matplotlib.pyplot as plt
import numpy as np

from adaptive import CoxProcess

rng = np.random.default_rng(1)
times = np.sort(np.concatenate([rng.uniform(0, 24, 30), rng.normal(9, 1, 45), rng.normal(18, 0.7, 25)]))
times = times[(times >= 0) & (times < 24)]
X, y = CoxProcess.binned(times, (0, 24), 48)
watched = (X[:, 0] < 11) | (X[:, 0] > 15)  # nobody was there from eleven to three
model = CoxProcess().fit(X[watched], y[watched])

# %%
# Inside the gap the band opens; there the next bin is chosen.

grid = np.linspace(0, 24, 200)[:, None]
rate, low, high = model.intensity(grid)
position = model.select(X, mask=~watched)[0]
figure, ax = plt.subplots(figsize=(8, 3.6))
ax.fill_between(grid[:, 0], low, high, alpha=0.3, label="90% band")
ax.plot(grid, rate, label="rate")
ax.plot(times, np.zeros_like(times), "|", color="black", label="events")
ax.axvspan(11, 15, color="0.85", zorder=0, label="not watched")
ax.axvline(X[position, 0], color="C1", linestyle="--", label="watch next")
ax.set(xlabel="hour", ylabel="events in half an hour")
ax.legend(fontsize=8)
figure.tight_layout()
print(f"watch next: {X[position, 0]:.2f} h")
