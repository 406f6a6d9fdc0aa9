"""
What each of many users does next: CollaborativeRNN
===================================================

Thirty users visit places in patterns of their own. What comes next is predicted user by user; then the net names those
whose next visit would tell most. Users are simulated: each visits six places in an order of their own, nine times in
ten.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive import CollaborativeRNN

warnings.simplefilter("ignore", ConvergenceWarning)  # some epochs are enough here
rng = np.random.default_rng(0)
places = np.array(["home", "work", "shop", "gym", "cafe", "park"])


def visits(follows, n):
    """n places, each what follows the one before, nine times in ten."""
    at = [int(rng.integers(6))]
    for _ in range(n - 1):
        at.append(int(follows[at[-1]] if rng.random() < 0.9 else rng.integers(6)))
    return places[at].tolist()


follows = [rng.permutation(6) for _ in range(30)]
lengths = [120] * 20 + [4, 8, 15, 25, 40] * 2
histories = {f"user {u}": visits(f, n) for u, (f, n) in enumerate(zip(follows, lengths, strict=True))}
model = CollaborativeRNN(8, n_members=3, learning_rate=0.02, max_iter=30, random_state=0).fit(histories)
print("user 3 is at", histories["user 3"][-1], "and goes next to", model.predict(["user 3"])[0])

# %%
# How probable were the next twenty visits of everybody, each given those before it?

later = {}
for (user, items), f in zip(histories.items(), follows, strict=True):
    at = int(np.flatnonzero(places == items[-1])[0])
    steps = []
    for _ in range(20):
        at = int(f[at] if rng.random() < 0.9 else rng.integers(6))
        steps.append(places[at])
    later[user] = steps
nats = np.array([-one.mean() for one in model.log_predictive(later)])
print("nats of well known users:", nats[:20].mean().round(2), "of others:", nats[20:].mean().round(2))

# %%
# Whose next visit is worth observing? The answer is about what the members of the ensemble disagree on:

users = list(histories)
chosen, gains = model.select(users, 3, joint=False, return_scores=True)
for position, gain in zip(chosen, gains, strict=True):
    print(f"{users[position]}, {lengths[position]} visits so far: {gain:.2f} nats")
model.partial_fit([users[k] for k in chosen], [later[users[k]][0] for k in chosen])

# %%
# Nats by how long a history is; somebody without one would cost log 6, dotted:

figure, ax = plt.subplots(figsize=(6.4, 3.4))
ax.plot(lengths, nats, "o", alpha=0.6)
ax.axhline(np.log(6), color="black", linestyle=":", label="log 6: nothing is known")
ax.set(xscale="log", xlabel="visits so far", ylabel="nats a visit")
ax.legend(loc="upper center")
ax.set_xticks([4, 8, 15, 25, 40, 120], ["4", "8", "15", "25", "40", "120"])
ax.minorticks_off()
figure.tight_layout()
