"""Streams: topics that change half-way, discounted counts, and how many documents one pass needs.

Corpus B: documents of the model, whose topics are drawn anew after half of the stream; single passes that keep all
counts, or .95 of them every 500 documents, and a batch on the first 1,000, each scored on the documents that come
next, before these are learnt (figures 5.11 and 5.12). Newsgroups in two blocks, computing first, then all others, stand
in for a corpus that changes. How many documents of corpus A one pass needs to reach a batch. Profiles of authors: how
many topics hold 95% of what is forecast of each (figure 5.6).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from adaptive import MetadataTopicModel
from adaptive.plots import PALETTE
from experiments.script import Script, command, panels
from experiments.topics.shared.corpora import cut, drawn, real

BLOCK = 500
DECAYS = (1.0, 0.95, 0.7)


def along(counts: Any, group: np.ndarray, K: int, decay: float, batch: int, quick: bool) -> np.ndarray:
    """Completion of each block before it is learnt; of a batch (``batch`` > 0) that learns no more."""
    model = MetadataTopicModel(
        K, learning="single_pass", word_decay=decay, decay_every=BLOCK, random_state=0, max_iter=3 if quick else 60
    )
    scores = []
    for start in range(0, counts.shape[0], BLOCK):
        block = slice(start, start + BLOCK)
        if start > 0:
            scores.append(model.score(counts[block], group[block]))
        if batch and start == 0:
            model.set_params(learning="batch").fit(counts[:batch], group[:batch])
        elif not batch:
            model.partial_fit(counts[block], group[block])
    return np.array(scores)


def corpus_b(n: int) -> tuple[Any, np.ndarray]:
    """Two corpora of the same authors with topics of their own, one after the other."""
    first, second = drawn(n, seed=0), drawn(n, seed=1)
    return sp.csr_array(sp.vstack([first["counts"], second["counts"]])), np.concatenate(
        [first["group"], second["group"]]
    )


def news(quick: bool) -> tuple[Any, np.ndarray]:
    """Computing groups, then all others, at 20 words."""
    counts, group, _ = real("newsgroups")
    counts = cut(counts, 20)
    order = np.random.default_rng(0).permutation(len(group))
    computing = np.char.startswith(group.astype(str), "comp.")[order]
    order = np.concatenate([order[computing], order[~computing]])
    return counts[order], group[order]


def few_topics(counts: Any, group: np.ndarray, K: int, max_iter: int) -> float:
    """Share of groups of which five topics hold 95% of the forecast at its mean."""
    model = MetadataTopicModel(K, random_state=0, max_iter=max_iter).fit(counts, group)
    mean = model.posterior_.mean
    scores = mean[:1] + mean[1:]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = -np.sort(-shares / shares.sum(axis=1, keepdims=True), axis=1)
    return float(np.mean(shares[:, :5].sum(axis=1) >= 0.95))


def needed(quick: bool) -> dict[str, float]:
    """Completion of 1,000 documents of corpus A after one pass over so many others, and after a batch of 4,000."""
    sizes = (500, 1000) if quick else (1000, 2000, 4000, 8000, 16_000)
    made = drawn(sizes[-1] + 1000)
    counts, group, test = made["counts"], made["group"], slice(sizes[-1], None)
    model, found = MetadataTopicModel(10, learning="single_pass", random_state=0), {}
    for start, end in zip((0, *sizes), sizes, strict=False):
        model.partial_fit(counts[start:end], group[start:end])
        found[f"one pass over {end}"] = model.score(counts[test], group[test])
    batch = MetadataTopicModel(10, random_state=0, max_iter=3 if quick else 60)
    for n_starts in (1, 5):
        batch.set_params(n_init=n_starts).fit(counts[: sizes[len(sizes) // 2]], group[: sizes[len(sizes) // 2]])
        found[f"batch of {sizes[len(sizes) // 2]}, starts {n_starts}"] = batch.score(counts[test], group[test])
    return found


def run(script: Script) -> None:
    """Both streams, and profiles."""
    warnings.simplefilter("ignore")
    half = 2000 if script.quick else 10_000
    streams = {"corpus B": (*corpus_b(half), 10, half)}
    if not script.quick:
        counts, group = news(script.quick)
        streams["Newsgroups"] = (counts, group, 20, int(np.sum(np.char.startswith(group.astype(str), "comp."))))
    figure, axes = panels(1, len(streams))
    found: dict[str, dict[str, np.ndarray]] = {}
    for ax, (name, (counts, group, K, _)) in zip(axes[0], streams.items(), strict=True):
        found[name] = {f"one pass, {decay:g}": along(counts, group, K, decay, 0, script.quick) for decay in DECAYS}
        found[name]["batch of the first 1,000"] = along(counts, group, K, 1.0, 1000, script.quick)
        for colour, (label, scores) in zip(PALETTE, found[name].items(), strict=False):
            ax.plot(BLOCK * np.arange(1, len(scores) + 1), scores, color=colour, label=label)
        ax.set(title=name, xlabel="documents seen", ylabel="completion, nats a word")
    axes[0, -1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    script.figure(figure, "hennig-fig-5.12", "Completion of the next 500 documents along two streams that "
                  "change. One run of each stream: there is no interval to draw.")  # fmt: skip
    b = found["corpus B"]
    changed = half // BLOCK
    recovered = min(changed + 3000 // BLOCK, 2 * changed - 2)
    before = {name: float(scores[changed - 3 : changed - 1].mean()) for name, scores in b.items()}
    after = {name: float(scores[recovered : recovered + 3].mean()) for name, scores in b.items() if len(scores)}
    best = max((name for name in after if name.startswith("one pass, 0")), key=lambda name: after[name])
    value = {"before": before, "3,000 after": after}
    script.judge(
        "hennig-sys-stream-discount", after[best] > after["one pass, 1"] + 0.02,
        claim="Discounted counts follow topics that change; kept counts do so less.",
        target="after 3,000 documents of new topics, 0.02 nats a word better than without discount", value=value,
        seed=0,
    )  # fmt: skip
    script.judge(
        "hennig-fig-5.12", all(float(s["one pass, 1"][-4:].mean()) > float(s["batch of the first 1,000"][-4:].mean())
                               for s in found.values()),
        claim="Learning along the stream adapts where the corpus changes; a batch of its first 1,000 does not.",
        target="better at the end of both streams",
        value={n: {m: float(v[-4:].mean()) for m, v in s.items()} for n, s in found.items()}, seed=0,
    )  # fmt: skip
    script.judge(
        "hennig-fig-5.11", all(float(s["one pass, 0.95"].mean()) > float(s["batch of the first 1,000"].mean())
                               for s in found.values()),
        claim="One pass over all beats many passes over the first 1,000 documents, on average over the stream.",
        target="better on both streams",
        value={n: {m: float(v.mean()) for m, v in s.items()} for n, s in found.items()},
        seed=0,
    )  # fmt: skip
    lengths = needed(script.quick)
    passes = [value for name, value in lengths.items() if name.startswith("one")]
    batches = [value for name, value in lengths.items() if name.startswith("batch")]
    script.judge(
        "ours-topics-one-pass", passes[-1] >= batches[0],
        claim="One pass over four times as many documents completes as well as a batch.",
        target="one pass over 16,000 documents of corpus A no worse than a batch of 4,000", value=lengths, seed=0,
        reason="Topics that a single pass mixes at its start hardly come apart later.",
    )  # fmt: skip
    corpus = drawn(half // 2)
    shares = {"corpus A": few_topics(corpus["counts"], corpus["group"], 10, 3 if script.quick else 60)}
    sparse = drawn(half // 2, two_topics=True)
    shares["authors of two topics"] = few_topics(sparse["counts"], sparse["group"], 10, 3 if script.quick else 60)
    if not script.quick:
        counts, group, _ = real("addresses")
        shares["addresses by president"] = few_topics(counts, group, 40, 60)
    script.judge(
        "hennig-fig-5.6", min(shares.values()) >= 0.9,
        claim="For nine authors of ten, five topics hold 95% of what is forecast.",
        target="share of authors 0.9 or more: corpus A, authors of two topics each (10 topics), presidents (40 topics)",
        value=shares, reason="" if min(shares.values()) >= 0.9 else "Holds where authors write on few topics, as the "
        "source's do; authors of corpus A, and presidents in their addresses, write on more than five.", seed=0,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
