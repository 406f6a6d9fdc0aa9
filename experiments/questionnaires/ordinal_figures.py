"""Figures 4.1 and 4.6 to 4.8: how unevenly people answer, what is learnt of thresholds, and predictions from it.

The source's people are not public: the Big-Five markers stand in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import Questionnaire, datasets
from adaptive.plots import PALETTE
from experiments.equivalence import all_of, inside
from experiments.questionnaires.answer_tables import of_hidden
from experiments.questionnaires.shared.people import halves
from experiments.script import Script, command, panels
from experiments.statistics import limits

SEED = 0
SCALE = np.arange(1, 6)


def run(script: Script) -> None:
    """Frequencies of answers, beliefs about thresholds, samples, predictions."""
    frequencies(script)
    split = halves("big_five", 120 if script.quick else 1200, SEED)
    options: dict[str, Any] = {"item_traits": split.traits, "reverse": split.reverse, "categories": (1, 2, 3, 4, 5)}
    model = Questionnaire(trait_noise=1.0, **options).fit(split.train)
    size = f"{len(split.train)} people of the Big-Five set train {split.train.shape[1]} items, trait noise 1"
    thresholds(script, model, size)
    credit = Questionnaire("partial_credit", **options).fit(split.train)
    predictions(script, split, model, credit, size)


def frequencies(script: Script) -> None:
    """Figure 4.1."""
    table = datasets.answers("big_five").dropna()
    values = table.to_numpy()
    shares = {"people": by(values[:2000]), "items": by(values.T)}
    rng = np.random.default_rng(SEED)
    figure, axes = panels(2, 3, 7.5, 4.2)
    for row, (what, share) in zip(axes, shares.items(), strict=True):
        for ax, k in zip(row, rng.choice(len(share), 3, replace=False), strict=True):
            ax.bar(SCALE, share[k], color=PALETTE[0] if what == "people" else PALETTE[1])
            ax.set_title(f"{what[:-1] if what == 'items' else 'person'} {k}", fontsize="small")
            ax.set(ylim=(0, 1), xticks=SCALE)
    for ax in axes[1]:
        ax.set_xlabel("answer")
    for ax in axes[:, 0]:
        ax.set_ylabel("share")
    script.figure(
        figure, "hennig-fig-4.1",
        "How often three people (over their 50 answers) and three items (over 19,668 people) took each of five "
        "answers; Big-Five set, drawn at random.",
    )  # fmt: skip
    if script.quick:
        return
    uneven = {what: float(np.mean(share.max(axis=1) > 0.3)) for what, share in shares.items()}
    bell = {
        what: float(np.mean((np.diff(share[:, :3], axis=1) > 0).all(1) & (np.diff(share[:, 2:], axis=1) < 0).all(1)))
        for what, share in shares.items()
    }
    holds = all(v > 0.5 for v in uneven.values()) and bell["people"] < 0.5
    script.judge(
        "hennig-fig-4.1", holds,
        claim="Very uneven use of the five options; none bell-shaped.",
        target="most take one option more often than 30%; few rise to 3 and fall again",
        value=f"share with an option above 30%: {uneven}; share bell-shaped about 3: {bell}", seed=SEED,
        reason="MyPersonality is not public; this is a stand-in, 2,000 people and 50 items of the Big-Five set."
        + ("" if bell["items"] == 0 else " Some items are bell-shaped here."),
    )  # fmt: skip


def by(values: np.ndarray) -> np.ndarray:
    """(rows, 5) shares of the answers."""
    return np.stack([(values == r).mean(axis=1) for r in SCALE], axis=1)


def thresholds(script: Script, model: Questionnaire, size: str) -> None:
    """Figures 4.6 and 4.7: marginals of three people's and three items' thresholds; samples of one each."""
    belief, bank = model.belief_, model.bank_
    x = np.linspace(-3, 3, 301)
    figure, axes = panels(2, 3, 8.0, 4.2)
    for row, (what, means, covariances) in zip(
        axes, (("person", belief.means, belief.covariances), ("item", bank.means, bank.covariances)), strict=True
    ):
        for ax, k in zip(row, (0, 7, 13), strict=True):
            for level in range(4):
                spread = np.sqrt(covariances[k, level, level])
                density = np.exp(-0.5 * ((x - means[k, level]) / spread) ** 2) / spread / np.sqrt(2 * np.pi)
                ax.plot(x, density, color=PALETTE[level])
            ax.set_title(f"{what} {k}", fontsize="small")
    for ax in axes[1]:
        ax.set_xlabel("threshold")
    script.figure(
        figure, "hennig-fig-4.6", f"Posterior marginals of the four thresholds of three people and items; {size}."
    )
    rng = np.random.default_rng(SEED)
    drawn = {
        "person": rng.multivariate_normal(belief.means[0, :4], belief.covariances[0, :4, :4], 2000),
        "item": rng.multivariate_normal(bank.means[0], bank.covariances[0], 2000),
    }
    figure, axes = panels(1, 2, 6.0, 3.0)
    for ax, (what, samples) in zip(axes[0], drawn.items(), strict=True):
        for sample in samples[:20]:
            ax.plot(np.arange(1, 5), sample, color=PALETTE[0], alpha=0.5, linewidth=0.8)
        ax.set_title(f"{what} 0", fontsize="small")
        ax.set_xlabel("threshold")
    script.figure(figure, "hennig-fig-4.7", f"Twenty samples of the thresholds of a person and an item; {size}.")
    if script.quick:
        return
    people = float(np.sqrt(np.einsum("ull->ul", belief.covariances[:, :4, :4])).mean())
    items = float(np.sqrt(np.einsum("ill->il", bank.covariances)).mean())
    share = np.stack([(model_answers(model) == r).mean(axis=0) for r in range(5)], axis=1)
    widths = np.diff(bank.means, axis=1)
    follow = float(np.corrcoef(widths.ravel(), share[:, 1:4].ravel())[0, 1])
    script.judge(
        "hennig-fig-4.6", items < people / 3 and follow > 0.3,
        claim="Item thresholds are far more certain than personal ones; shapes follow answer habits.",
        target="deviations of items below a third of people's; widths correlate with how often an answer is taken",
        value=f"mean deviation of items {items:.3f}, of people {people:.3f}; correlation {follow:.2f}; {size}",
        seed=SEED,
        reason="MyPersonality is not public; this is a stand-in.",
    )  # fmt: skip
    overlap = {
        what: float(np.mean(one[:, :-1] > rng.permutation(one)[:, 1:], axis=0).max()) for what, one in drawn.items()
    }
    ordered = {what: float(np.mean(np.all(np.diff(one, axis=1) > -0.2, axis=1))) for what, one in drawn.items()}
    script.judge(
        "hennig-fig-4.7", all(v > 0.8 for v in ordered.values()),
        claim="Marginals overlap yet samples stay ordered, up to noise.",
        target="more than 80% of samples ordered up to 0.2, the noise of a threshold",
        value=f"ordered: {ordered}; largest probability that independent marginals would swap: {overlap}; {size}",
        seed=SEED,
        reason="MyPersonality is not public; this is a stand-in.",
    )  # fmt: skip


def model_answers(model: Questionnaire) -> np.ndarray:
    """(people, items) answers from 0, in the direction of the trait."""
    data = model.belief_.data.reversed_for(model.bank_.reverse)
    return data.table()


def predictions(script: Script, split: Any, model: Questionnaire, credit: Questionnaire, size: str) -> None:
    """Figure 4.8: three unseen answers under the full model and partial credit."""
    ours, theirs = model.predict_proba(split.revealed), credit.predict_proba(split.revealed)
    figure, axes = panels(1, 3, 8.0, 2.8)
    for ax, (person, item) in zip(axes[0], ((0, 1), (1, 11), (2, 21)), strict=True):
        ax.bar(SCALE - 0.2, ours[person, item], 0.4, color=PALETTE[0], label="people and items")
        ax.bar(SCALE + 0.2, theirs[person, item], 0.4, color=PALETTE[1], label="partial credit")
        ax.axvline(split.hidden.iloc[person, item], color="#6E6E6E", linestyle=":")
        ax.set_title(f"person {person}, item {split.hidden.columns[item]}", fontsize="small")
        ax.set(xlabel="answer", xticks=SCALE, ylim=(0, 0.6))
    axes[0, 0].set_ylabel("probability")
    axes[0, 2].legend(frameon=False, fontsize="small", loc="upper left")
    script.figure(
        figure, "hennig-fig-4.8",
        f"Predictions of three unseen answers (dotted: what was answered) after 25 of a person's answers; {size}.",
    )  # fmt: skip
    if script.quick:
        return
    gain = of_hidden(split, ours) - of_hidden(split, theirs)
    seen = ~np.isnan(split.hidden.to_numpy())
    entropies = [-np.sum(p * np.log(p), axis=2) for p in (ours, theirs)]
    place = np.where(seen, split.hidden.to_numpy() - 1, 0).astype(int)[..., None]
    ahead = (np.take_along_axis(ours, place, 2) > np.take_along_axis(theirs, place, 2))[..., 0]
    blunter, better = (
        limits(np.average(one, axis=1, weights=seen)) for one in (entropies[0] - entropies[1], ahead.astype(float))
    )
    script.judge(
        "hennig-fig-4.8", all_of((inside(*blunter[1:], most=0.0), inside(*better[1:], least=0.5))),
        claim="The full model is sharper than partial credit, and better on two of three.",
        target="lower mean entropy; better on more than half of all unseen answers: whole 95% intervals over people",
        value={
            "entropy, nats": [float(one[seen].mean()) for one in entropies],
            "entropy less partial credit's": list(blunter),
            "share of unseen answers on which it is better": list(better),
            "gain, nats an answer": float(gain.mean()),
            "unseen answers": int(seen.sum()),
            "of": size,
        },
        seed=SEED,
        reason="MyPersonality is not public; this is a stand-in, counted over all unseen answers instead of three.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
