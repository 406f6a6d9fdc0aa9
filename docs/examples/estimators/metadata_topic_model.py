"""
Topics that follow their authors: MetadataTopicModel
====================================================

Documents of two authors, whose topics are forecast from who wrote them. One look at an author's profile says what to
expect of the next document, and ``reader`` which document to read next.
"""

import matplotlib.pyplot as plt
import numpy as np

from adaptive import MetadataTopicModel

words = ["vine", "barrel", "cellar", "oak", "engine", "wheel", "brake", "gear", "score", "goal", "match", "team"]
topics = np.repeat(np.eye(3), 4, axis=1) * 0.23 + 0.02 / 3
habits = {"Anna": [0.8, 0.1, 0.1], "Ben": [0.1, 0.45, 0.45]}
rng = np.random.default_rng(0)
authors = np.array(["Anna", "Ben"] * 60)
counts = np.array([rng.multinomial(25, rng.dirichlet(8 * np.array(habits[a])) @ topics / 1.0) for a in authors])

model = MetadataTopicModel(3, random_state=0).fit(counts, authors)
for k, component in enumerate(model.components_):
    print(f"topic {k}:", ", ".join(words[j] for j in np.argsort(-component)[:4]))

# %%
# The forecast of each author, with 90% intervals:

figure, ax = plt.subplots(figsize=(6.4, 3.2))
for offset, author in ((-0.2, "Anna"), (0.2, "Ben")):
    profile = model.profile(f"0={author}")
    half = 100 * 1.645 * profile.proportion_deviations
    ax.bar(np.arange(3) + offset, 100 * profile.proportions, 0.38, yerr=half, capsize=3, label=author)
ax.set_xticks(range(3), [f"topic {k}" for k in range(3)])
ax.set_ylabel("share of the words to come (%)")
ax.legend()
figure.tight_layout()
