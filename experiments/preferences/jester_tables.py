"""Jester in the place of MovieLens: what an iteration of EM costs, a cap on pairs, and a covariance that is free.

Comparisons are of a person's best rated jokes with the worst rated ones, as in Ko (2017), 3.2; four of each person
are held out. There are no features of jokes: GPVU is users' factors over independent items.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from adaptive import CollaborativePreference, datasets
from adaptive.estimators.preferences.inference.learning import updated
from adaptive.estimators.preferences.inference.people import COARSE, added_up, propagate
from experiments.preferences.rankings import bits, rated
from experiments.script import Script, command, panels

COMPONENTS, HELD = 5, 4
CAPPED = 15  # iterations of which caps are judged
ENDS = 7  # best and worst jokes of a person: 49 pairs


def drawn(seed: int, n_people: int, n_pairs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Comparisons of ``n_people``, at most ``n_pairs`` each to learn from, and four each to predict."""
    ratings, rng = datasets.jester(), np.random.default_rng(seed)
    rows, y = rated(ratings, rng.permutation(len(ratings))[:n_people], ENDS, rng)
    order = rng.permutation(len(rows))
    order = order[np.argsort(rows[order, 0], kind="stable")]
    starts = np.flatnonzero(np.diff(rows[order, 0], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    test, learn = order[rank < HELD], order[(rank >= HELD) & (rank < HELD + n_pairs)]
    return rows[learn], y[learn], rows[test], y[test]


def fitted(rows: np.ndarray, y: np.ndarray, seed: int, **options: Any) -> CollaborativePreference:
    """The model, of however many iterations it takes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = {"prior_people": 0.0, "tol": 1e-4} | options  # maximum likelihood, as in the thesis
        return CollaborativePreference(COMPONENTS, random_state=seed, **given).fit(rows, y)


def compared(seed: int, n_people: int, n_pairs: int, max_iter: int) -> dict[str, Any]:
    """Bits per held-out comparison of low rank and of a full covariance."""
    rows, y, test, won = drawn(seed, n_people, n_pairs)
    found = {}
    for covariance in ("low_rank", "full"):
        model = fitted(rows, y, seed, covariance=covariance, max_iter=max_iter)
        found[covariance] = np.array([bits(model.log_predictive(test, won))])
    return found


def capped(seed: int, n_people: int, cap: int, max_iter: int) -> dict[str, Any]:
    """Bits per held-out comparison after every third iteration, each with at most ``cap`` pairs of a person."""
    rows, y, test, won = drawn(seed, n_people, ENDS * ENDS - HELD)
    after = np.arange(3, max_iter + 1, 3)
    found = [bits(fitted(rows, y, seed, max_pairs=cap, max_iter=int(n), tol=0.0).log_predictive(test, won))
             for n in after]  # fmt: skip
    return {"after": after, "bits": np.array(found)}


def seconds(n_people: int, n_pairs: int) -> dict[str, Any]:
    """CPU seconds of one E-step and one M-step, the third iteration's."""
    rows, y, _, _ = drawn(0, n_people, n_pairs)
    model = fitted(rows, y, 0, max_iter=2, tol=0.0)
    belief = model.belief_
    known, prior, n_users = belief.data.known, belief.posterior, len(belief.data.users)
    sites, begun = (belief.pi * 0.0, belief.nu * 0.0), time.process_time()
    solved = propagate(prior, known, belief.settings.rule, sites, tol=COARSE)
    between = time.process_time()
    updated(prior, *added_up(solved, n_users, len(prior)))
    return {"pairs": np.array(len(rows)), "E": np.array(between - begun), "M": np.array(time.process_time() - between)}


def run(script: Script) -> None:
    """Table 3.8, table 3.9 and figure 3.5."""
    n_people, n_seeds, max_iter = (40, 1, 5) if script.quick else (300, 3, 160)
    sizes = (5, 15) if script.quick else (5, 15, 45)
    times = [script.kept("jester_times", seconds, n_people if script.quick else 2000, n) for n in sizes]
    e, m, n = ([float(one[key]) for one in times] for key in ("E", "M", "pairs"))
    growth = float(np.log(e[-1] / e[0]) / np.log(n[-1] / n[0]))
    script.judge(
        "ko-tab-3.8", growth > 1.0 and max(m) < max(e) and m[-1] < 3.0 * m[0] + 0.1,
        claim="With more pairs of each person the E-step grows faster than their number, while the M-step hardly does.",
        target="power of the E-step's growth above 1; M-step below three times its time at the fewest pairs",
        value={"pairs": [int(one) for one in n], "E seconds": [round(one, 3) for one in e],
               "M seconds": [round(one, 3) for one in m], "power": round(growth, 2)},
        reason="Jester, 2,000 people, 100 jokes, one thread. The work grows with the cube of a person's pairs only up "
        "to the items that they compared (14 here); beyond these the smaller space is taken.",
    )  # fmt: skip
    table: dict[str, Any] = {}
    for n_pairs in sizes:
        found = [script.kept("jester_rank", compared, seed, n_people, n_pairs, max_iter) for seed in range(n_seeds)]
        table[str(n_pairs)] = {key: np.array([float(one[key][0]) for one in found]) for key in ("low_rank", "full")}
    gaps = {key: one["full"] - one["low_rank"] for key, one in table.items()}
    worst = min(float(gap.mean()) for gap in gaps.values())
    value = {f"{key} pairs": {name: round(float(values.mean()), 4) for name, values in one.items()}
             for key, one in table.items()}  # fmt: skip
    size = f"Jester, {n_people} people, {n_seeds} draws, {COMPONENTS} components, at most {max_iter} iterations; bits."
    script.judge(
        "ko-tab-3.9", worst >= 0.0, claim="A low rank is never worse than an unconstrained covariance.",
        target="mean error of low rank at most that of the full covariance at every size", value=value,
        reason=size + " No features; MovieLens (1.5k to 9.5k movies) has more to overfit.",
    )  # fmt: skip
    script.judge(
        "ko-sys-npca", float(gaps[str(sizes[0])].mean()) > 0.0,
        claim="An unconstrained covariance overfits where comparisons are few.",
        target="its error above that of low rank at the fewest pairs", value=value, reason=size,
    )  # fmt: skip
    caps = (5, 10) if script.quick else (5, 10, 20, 45)
    curves = {cap: [script.kept("jester_caps", capped, seed, n_people, cap, 6 if script.quick else CAPPED)
                    for seed in range(1 if script.quick else 2)] for cap in caps}  # fmt: skip
    last = {cap: float(np.mean([one["bits"][-1] for one in found])) for cap, found in curves.items()}
    stable = {cap: value for cap, value in last.items() if cap >= 10}
    script.judge(
        "ko-fig-3.5", max(stable.values()) - min(stable.values()) < 0.02,
        claim="Within a stable range the error does not depend on the cap on pairs per person.",
        target="caps of 10 and more within 0.02 bits of each other",
        value={str(cap): round(value, 4) for cap, value in last.items()},
        reason=f"Jester, {n_people} people with {ENDS * ENDS - HELD} comparisons each, 2 draws, {CAPPED} iterations, "
        "after which EM has not settled; the lower the cap, the slower it is. An M-step knows only its sample: 3,000 "
        "comparisons with 10 pairs from each of 300 people. The source's smallest set has 715 people with 260 pairs "
        "each.",
    )  # fmt: skip
    figure, axes = panels(1, 1, 6.0, 3.4)
    for k, (cap, found) in enumerate(curves.items()):
        curve = np.mean([one["bits"] for one in found], axis=0)
        axes[0, 0].plot(found[0]["after"], curve, color=str(0.75 - 0.25 * k), label=f"at most {cap}")
    axes[0, 0].set(xlabel="iterations", ylabel="bits per held-out comparison")
    axes[0, 0].legend(fontsize=8)
    script.figure(figure, "jester-caps", f"Jester, {n_people} people: error over iterations for caps on pairs.")


if __name__ == "__main__":
    command(run, __doc__, __file__)
