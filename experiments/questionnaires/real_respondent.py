"""A real respondent replayed: the estimate of five traits, question by question, under the ordinal model.

The source's people are not public: the Big-Five markers stand in. Items are calibrated on other people.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import Questionnaire
from adaptive.plots import PALETTE
from experiments.questionnaires.shared.people import halves
from experiments.script import Script, command, panels

SEED = 0
NAMES = {"E": "extraversion", "N": "neuroticism", "A": "agreeableness", "C": "conscientiousness", "O": "openness"}


def run(script: Script) -> None:
    """One person's path in a figure; many people, to judge."""
    n_train, n_people, n_questions = (60, 2, 5) if script.quick else (600, 100, 20)
    split = halves("big_five", 2 * n_train, SEED)
    model = Questionnaire(
        trait_noise=1.0, item_traits=split.traits, reverse=split.reverse, categories=(1, 2, 3, 4, 5)
    ).fit(split.train)
    answers = split.revealed.fillna(split.hidden)
    answers = answers[answers.notna().all(axis=1)].iloc[:n_people]
    whole, deviation = model.transform(answers, return_std=True)
    size = f"{n_train} people of the Big-Five set train 50 items; trait noise 1"
    draw(script, model, answers, (whole[0], deviation[0]), n_questions, size)
    tests = {
        "information": model.simulate(answers, n_questions),
        "random": model.simulate(answers, n_questions, scorer="random", random_state=SEED),
    }
    if script.quick:
        return
    found = {}
    for name, test in tests.items():
        away = np.abs(test.mean[:, -1] - whole)
        inside = away <= 1.645 * test.std[:, -1]
        found[name] = {
            "inside": round(float(inside.mean()), 3), "mean distance": round(float(away.mean()), 3),
            "mean deviation": round(float(test.std[:, -1].mean()), 3),
        }  # fmt: skip
    ours, theirs = found["information"], found["random"]
    holds = ours["inside"] >= 0.9 and ours["mean deviation"] < theirs["mean deviation"]
    script.judge(
        "ours-questionnaire-real-respondent", holds,
        claim=f"For real people, after {n_questions} of 50 questions the 90% intervals of five traits hold the "
        "estimates from all 50 answers, and are narrower than after as many random ones.",
        target="inside in at least 90%; a smaller mean deviation",
        value=f"{found}; mean deviation after all 50 answers {float(deviation.mean()):.3f}; {len(answers)} held-out "
        f"people x 5 traits; {size}", seed=SEED, reason="MyPersonality is not public; this is a stand-in.",
    )  # fmt: skip


def draw(script: Script, model: Questionnaire, answers: Any, whole: Any, n_questions: int, size: str) -> None:
    """The path of the first person: estimates of five traits with intervals, and those from all answers."""
    person, left = model.respondent(), list(answers.columns)
    for _ in range(n_questions):
        item = left.pop(int(person.select(left)[0]))
        person.partial_fit([item], [answers[item].iloc[0]])
    path = person.path()
    figure, axes = panels(1, 5, 11.0, 2.8)
    for ax, trait, colour, mean, deviation in zip(axes[0], model.bank_.traits, PALETTE, *whole, strict=False):
        ax.fill_between(path["step"], path[f"low:{trait}"], path[f"high:{trait}"], color=colour, alpha=0.2, linewidth=0)
        ax.plot(path["step"], path[f"mean:{trait}"], color=colour)
        ax.axhline(mean, color="#6E6E6E", linestyle=":")
        ax.axhspan(mean - 1.96 * deviation, mean + 1.96 * deviation, color="#6E6E6E", alpha=0.12, linewidth=0)
        own = [k for k, item in zip(path["step"], path["item"], strict=True) if item is not None and item[0] == trait]
        ax.plot(own, np.full(len(own), -2.9), "|", color=colour, markersize=9)
        ax.set(title=NAMES[trait], xlabel="questions", ylim=(-3.1, 3.1))
    axes[0, 0].set_ylabel("trait")
    script.figure(
        figure, "questionnaire-real-respondent",
        f"One real respondent replayed, the next question by information about all five traits: estimates with 95% "
        f"intervals; dotted and grey: from all 50 answers; ticks: questions about the trait. {size}.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
