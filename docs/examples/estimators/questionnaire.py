"""
An adaptive test: Questionnaire
===============================

A bank of items is calibrated on the answers of four hundred people (simulated). A new person then gets the item that
says most about their trait, and the test ends when it is known well enough.
"""

import matplotlib.pyplot as plt
import numpy as np

from adaptive import Questionnaire, SequentialDesign
from adaptive.loop import MaxSteps, TargetDeviation

rng = np.random.default_rng(0)
difficulty, slope = np.linspace(-2.5, 2.5, 25), rng.uniform(0.8, 2.2, 25)


def answers(trait):
    return (rng.random((len(trait), 25)) < 1 / (1 + np.exp(-slope * (trait[:, None] - difficulty)))).astype(float)


bank = Questionnaire("two_parameter").fit(answers(rng.standard_normal(400)))

# %%
# A person one deviation above the mean, asked by information until their trait is known to .4, or 15 items were asked.

person = answers(np.array([1.0]))[0]
traits = []
design = SequentialDesign(
    bank.respondent(),
    list(range(25)),
    lambda query: person[query.positions],
    stop=TargetDeviation(0.4) | MaxSteps(15),
    callbacks=[lambda one, event: traits.append((one.estimator_.mean[0], one.estimator_.std[0]))],
    random_state=0,
).run()
mean, std = np.array(traits)[1::2].T  # every second event is an answer
figure, ax = plt.subplots(figsize=(6.8, 3.4))
ax.errorbar(np.arange(1, len(mean) + 1), mean, yerr=1.645 * std, marker="o", capsize=3)
ax.axhline(1.0, color="black", linestyle=":", label="truth")
ax.set(xlabel="answers", ylabel="trait, with 90% interval")
ax.legend()
figure.tight_layout()
print("asked:", design.history_["position"])
