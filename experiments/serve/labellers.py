"""Three simulated labellers on one pool, one slow, one who errs, beside one labeller and beside random rows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.plots.style import style
from adaptive.serve import Pool, Shown, Store
from adaptive.serve.labelling import LabellingDesk
from experiments.drawing import BAND, with_interval
from experiments.script import Script, command, panels

N_POOL, N_LABELS, ERRS = 200, 40, 0.10
SPEEDS = (1.0, 1.0, 1 / 3)  # answers per unit of time: the second errs, the third is slow
WAYS = ("one labeller", "three, one at a time", "three at once", "random rows, three at once")


def run(script: Script) -> None:
    """Twenty paired repetitions of four ways to label."""
    n, n_labels = (1, 8) if script.quick else (20, N_LABELS)
    found = [script.kept("labellers", repetition, seed, n_labels) for seed in range(n)]
    curves = {way: np.array([one[way] for one in found], dtype=float) for way in WAYS}
    figure, axes = panels(1, 1, 6.0, 3.6)
    for k, (way, curve) in enumerate(curves.items()):
        look = style("random" if way == WAYS[3] else way, k) | {"marker": ""}
        with_interval(axes[0, 0], np.arange(1, n_labels + 1), 100 * (1 - curve.T), label=way, **look)
    axes[0, 0].set(xlabel="labels", ylabel="errors on held-out rows (%)", ylim=(0, None))
    axes[0, 0].legend(frameon=False)
    script.figure(
        figure, "serve-labellers", f"Breast cancer, {N_POOL} rows to label. {BAND} over {n} repetitions. Three "
        "labellers have a query each, the second errs in 10% of its answers, the third takes three times as long; 'one "
        "at a time' is the same people and errors with nothing pending. Simulated people, real rows.",
    )  # fmt: skip
    late = {way: curve[:, -n_labels // 3 :].mean(axis=1) for way, curve in curves.items()}
    gain, low, high = _paired(late[WAYS[2]] - late[WAYS[3]])
    level = 0.95
    needed = {way: _needed(curve, level) for way, curve in curves.items()}
    script.judge(
        "serve-labellers", low > 0,
        claim="Three labellers at once, one of whom errs, need fewer labels than with random rows.",
        target="accuracy over the last third of the labels above that of random rows (95% paired interval above 0)",
        value=f"{100 * gain:+.2f} points ({100 * low:+.2f} to {100 * high:+.2f}), {n} repetitions; labels to a mean "
        f"accuracy of {level:.0%}: " + ", ".join(f"{way} {number or 'never'}" for way, number in needed.items()),
        reason="A wrong label weighs more on rows that a design chose than on random ones.",
        seed=list(range(n)),
    )  # fmt: skip
    cost, low, high = _paired(late[WAYS[1]] - late[WAYS[2]])
    people, p_low, p_high = _paired(late[WAYS[0]] - late[WAYS[1]])
    script.judge(
        "serve-pending-cost", high < 0.01,
        claim="Two queries that are always pending cost little, since each is chosen in the light of the others.",
        target="less than one point of accuracy over the last third of the labels (95% paired interval)",
        value=f"pending {100 * cost:+.2f} points ({100 * low:+.2f} to {100 * high:+.2f}); the labeller who errs, with "
        f"nothing pending, {100 * people:+.2f} ({100 * p_low:+.2f} to {100 * p_high:+.2f})",
        reason="" if high < 0.01 else f"{n} repetitions leave an interval wider than the target.", seed=list(range(n)),
    )  # fmt: skip


def repetition(seed: int, n_labels: int) -> dict[str, Any]:
    """Accuracy on held-out rows after each label, for each way."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    X, y = StandardScaler().fit_transform(X)[order], y[order]
    return {way: labelled(way, X[:N_POOL], y[:N_POOL], X[N_POOL:], y[N_POOL:], seed, n_labels) for way in WAYS}


def labelled(way: str, X: Any, y: Any, X_test: Any, y_test: Any, seed: int, n_labels: int) -> list[float]:
    """Let the people of one way answer through the desk of the pages, at their speeds."""
    three = way != WAYS[0]
    scorer = "random" if way == WAYS[3] else "auto"

    def begin(log: Any, begun: bool) -> SequentialDesign:
        model = BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode")
        if begun:
            return SequentialDesign.load(log, model, X)
        return SequentialDesign(model, X, scorer=scorer, random_state=seed, log=log, initial=4)

    rng = np.random.default_rng(1000 + seed)
    curve = []
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        store.rows("PRAGMA synchronous=OFF")  # a simulation: nobody's answers are lost
        desk = LabellingDesk(Pool("", begin, [0, 1], lambda position: Shown.of_text(position), ahead=0), store)
        speeds = np.array(SPEEDS if three else SPEEDS[:1])
        due = rng.exponential(1 / speeds)  # when each is ready with the query at hand
        open_queries: dict[int, Any] = {}
        while len(curve) < n_labels:
            who = int(np.argmin(due))
            if way != WAYS[1]:
                for other in range(len(speeds)):  # everybody has a query, answered or not
                    if other not in open_queries:
                        open_queries[other] = desk.place(other + 1)
            else:
                open_queries[who] = desk.place(who + 1)
            place = open_queries.pop(who)
            position = int(place.shown.text)
            wrong = three and who == 1 and rng.random() < ERRS
            desk.answer(who + 1, place.number, str(int(y[position]) ^ int(wrong)))
            due[who] += rng.exponential(1 / speeds[who])
            probabilities = desk.designer.design().estimator_.predictive(X_test).probabilities
            curve.append(float(np.mean(np.argmax(probabilities, axis=1) == y_test)))
    return curve


def _paired(differences: np.ndarray) -> tuple[float, float, float]:
    """Mean and 95% interval of paired differences."""
    from scipy import stats

    mean, n = float(differences.mean()), len(differences)
    if n < 2:
        return mean, mean, mean
    width = float(stats.t.ppf(0.975, n - 1) * differences.std(ddof=1) / np.sqrt(n))
    return mean, mean - width, mean + width


def _needed(curve: np.ndarray, level: float) -> int | None:
    reached = np.flatnonzero(curve.mean(axis=0) >= level)
    return int(reached[0]) + 1 if len(reached) else None


if __name__ == "__main__":
    command(run, __doc__, __file__)
