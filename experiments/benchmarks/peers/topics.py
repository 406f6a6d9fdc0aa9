"""tomotopy's LDA or DMR on word counts, inside its own environment.

    python topics.py lda|dmr IN.npz OUT.npz TOPICS ITERATIONS ALPHA ETA

ALPHA is the Dirichlet parameter of topics in a document, of dmr the deviation of its weights ("sigma", default 1).
IN holds CSR parts ``train_*`` and ``test_*`` and ``train_group``, ``test_group``; OUT gets the proportions of the test
documents, the topics' words (V, K), and CPU seconds of the iterations.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import tomotopy


def documents(stored, part):
    """Lists of words, numbered by their columns."""
    indptr, indices, data = (stored[f"{part}_{name}"] for name in ("indptr", "indices", "data"))
    for d in range(len(indptr) - 1):
        a, b = indptr[d], indptr[d + 1]
        yield [str(w) for w in np.repeat(indices[a:b], data[a:b].astype(int))]


def main(kind, source, target, topics, iterations, alpha, eta):
    """Train, infer, write."""
    stored = np.load(source)
    V = int(stored["V"])
    options = {"k": topics, "eta": eta, "seed": 0, "rm_top": 0, "min_cf": 0}
    model = tomotopy.DMRModel(sigma=alpha, **options) if kind == "dmr" else tomotopy.LDAModel(alpha=alpha, **options)

    for words, group in zip(documents(stored, "train"), stored["train_group"], strict=True):
        if words:
            model.add_doc(words, metadata=str(group)) if kind == "dmr" else model.add_doc(words)
    start = time.process_time()
    model.train(iterations, workers=1)
    seconds = time.process_time() - start
    proportions = np.full((len(stored["test_indptr"]) - 1, topics), 1.0 / topics)
    held = []
    for d, (words, group) in enumerate(zip(documents(stored, "test"), stored["test_group"], strict=True)):
        made = None
        if words:
            made = model.make_doc(words, metadata=str(group)) if kind == "dmr" else model.make_doc(words)
        if made is not None:
            held.append((d, made))
    found, _ = model.infer([one for _, one in held], iterations=100, workers=1)
    for (d, _), values in zip(held, found, strict=True):
        proportions[d] = values
    words = np.empty((V, topics))
    columns = np.array([int(w) for w in model.used_vocabs])
    for k in range(topics):
        known = np.asarray(model.get_topic_word_dist(k))
        words[:, k] = known.min()  # of a word that no training document has: as of one that the topic lacks
        words[columns, k] = known
    np.savez(target, proportions=proportions, words=words / words.sum(axis=0), seconds=seconds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), *map(float, sys.argv[6:8]))
