"""
Rows that are vectors of an encoder
===================================

Texts and pictures become rows through a network that somebody has trained. Here scikit-learn's hashing of letters
stands in for one: it is frozen, too, and ships with the library. Which of two SciPy packages a sentence is from is
learnt from few labels.
"""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import scipy.signal
import scipy.stats
from sklearn.feature_extraction.text import HashingVectorizer

from adaptive import BayesianLogisticRegression, SequentialDesign, embed

texts, y = [], []
for label, package in (("signal", scipy.signal), ("stats", scipy.stats)):
    for name in sorted(package.__all__):
        first = (inspect.getdoc(getattr(package, name)) or "").split("\n\n")[0].replace("\n", " ")
        if len(first) > 20:
            texts.append(first)
            y.append(label)
y = np.array(y)
print(len(texts), "sentences, such as:", texts[7])

# %%
# Any callable that turns a list into vectors is an encoder. With ``cache=FOLDER`` each text is encoded once, however
# often the script runs. A sentence encoder would be
#
# .. code-block:: python
#
#     from sentence_transformers import SentenceTransformer
#
#     encoder = SentenceTransformer("all-MiniLM-L6-v2").encode
hashing = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), n_features=512)


def encoder(part):
    return hashing.transform(part).toarray()


X = embed(texts, encoder)
X = (X - X.mean(axis=0)) / X.std()
print(X.shape, X.dtype)

# %%
# Chosen labels against random ones: five shuffles, two thirds of the sentences to ask about.
n_labels, n_pool = 60, 2 * len(y) // 3
curves = {"auto": [], "random": []}
for seed in range(5):
    order = np.random.default_rng(seed).permutation(len(y))
    pool, test = order[:n_pool], order[n_pool:]
    for scorer, found in curves.items():
        model = BayesianLogisticRegression(classes=["signal", "stats"])
        design = SequentialDesign(
            model, X[pool], lambda query, own=y[pool]: own[query.positions], scorer=scorer, initial=4, random_state=seed
        )
        scores = []
        for _ in range(n_labels // 10):
            design.run(10)
            scores.append(design.estimator_.score(X[test], y[test]))
        found.append(scores)

# %%
figure, ax = plt.subplots(figsize=(5.6, 3.6))
labels = np.arange(10, n_labels + 1, 10)
for found, name in zip(map(np.array, curves.values()), ("chosen", "random"), strict=True):
    ax.plot(labels, 100 * found.mean(axis=0), marker="o", label=name)
    ax.fill_between(labels, 100 * found.min(axis=0), 100 * found.max(axis=0), alpha=0.15)
ax.set(xlabel="labels", ylabel="right on other sentences (%)")
ax.legend(title="lines: means; areas: all five shuffles", fontsize="small", title_fontsize="small")
figure.tight_layout()
for scorer, found in curves.items():
    print(f"{scorer}: {np.mean(found, axis=0)[-1]:.1%} after {n_labels} labels")
