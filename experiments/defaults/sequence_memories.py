"""One memory for all or for each: `CollaborativeRNN` by its defaults against both, and against counting, on real sets.

Words of addresses (of the 300 most frequent, others as one) by president, their letters, and spikes of a cockroach's
neurons by trial; few users and many, short histories and long ones. The last tenth of each history, at least three
events, is predicted, each event given all before it. Rivals: the former default (a memory for each), one for all, and
n-grams whose strength held-out events choose. Beside them users drawn with patterns of their own, of which a memory
for each knows more. Two sets choose, the others confirm.
"""

from __future__ import annotations

import re
import time
import warnings
from itertools import chain
from typing import Any

import numpy as np

from adaptive import CollaborativeRNN, datasets
from adaptive.estimators.sequences.histories import Histories, events_of
from adaptive.estimators.sequences.nets.ngrams import chosen
from adaptive.estimators.sequences.nets.training import Plan
from experiments.script import Script, command
from experiments.sequences.order_two import Population
from experiments.statistics import half_width

CELLS = {  # set -> users, events of each at most; whether it chooses
    ("words", 15, 600): True, ("spikes", 64, 300): True, ("words", 42, 150): False, ("letters", 20, 600): False,
    ("spikes", 20, 150): False, ("letters", 40, 100): False, ("drawn patterns", 40, 400): False,
}  # fmt: skip
ARMS: dict[str, dict[str, Any]] = {"auto": {}, "for each": {"pooled": False}, "for all": {"pooled": True}}
COUNTED = {"1-gram": 1, "2-gram": 2}


def histories_of(name: str, n_users: int, n_events: int, seed: int) -> dict[str, list[str]]:
    """So many users, drawn by the seed, and their first events."""
    if name == "drawn patterns":
        found = Population(n_users, seed).histories([n_events] * n_users)
        return {str(u): [str(event) for event in one] for u, one in enumerate(found)}
    if name == "letters":
        whole: dict[str, list[str]] = {}
        table = datasets.addresses()
        for text, who in zip(table["text"], table["president"], strict=True):
            plain = re.sub(r"[^a-z]+", "_", text[: 2 * n_events].lower())
            whole.setdefault(who, []).extend(plain)
    else:
        whole = datasets.address_words(6000, 300) if name == "words" else datasets.spike_trains()
    users = sorted(whole)
    some = [users[k] for k in np.random.default_rng(seed).permutation(len(users))[:n_users]]
    return {who: whole[who][:n_events] for who in some}


def judged(name: str, n_users: int, n_events: int, seed: int, epochs: int) -> dict[str, Any]:
    """Nats of held-out events by user, of every arm and rival; seconds; whether "auto" took one memory for all."""
    histories = histories_of(name, n_users, n_events, seed)
    n_seen = np.array([len(one) - max(3, len(one) // 10) for one in histories.values()])
    early = {who: one[:n] for (who, one), n in zip(histories.items(), n_seen.tolist(), strict=True)}
    late = {who: one[n:] for (who, one), n in zip(histories.items(), n_seen.tolist(), strict=True)}
    items, found = sorted(set(chain.from_iterable(histories.values()))), {}
    for arm, options in ARMS.items():
        begun = time.process_time()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = CollaborativeRNN(items=items, random_state=seed, max_iter=epochs, **options).fit(early)
        found[f"{arm}, seconds"] = np.array(time.process_time() - begun)
        found[arm] = -np.array([one.mean() for one in model.log_predictive(late)])
        if arm == "auto":
            found["pooled"] = np.array(float(model.posterior_.pooled))
            found["counting"] = np.array(float(any("counting which item" in str(one.message) for one in said)))
    codes = Histories.of(events_of(histories), np.array(items), closed=True).codes
    learn = [one[:n] for one, n in zip(codes, n_seen.tolist(), strict=True)]
    for rival, order in COUNTED.items():
        logs = chosen(order, learn, Plan().trained_on(n_seen), len(items)).log_probabilities(codes)
        found[rival] = -np.array([one[n:].mean() for one, n in zip(logs, n_seen.tolist(), strict=True)])
    return found


def run(script: Script) -> None:
    """Train on every set, compare what is held out."""
    seeds = range(1 if script.quick else 6)
    cells = [("spikes", 6, 40)] if script.quick else list(CELLS)
    found = {
        cell: [script.kept("default_sequences", judged, *cell, seed, 2 if script.quick else 100) for seed in seeds]
        for cell in cells
    }
    rows, behind, counted, said = [], [], [], {}
    for cell, of in found.items():
        nats = {arm: np.array([one[arm].mean() for one in of]) for arm in (*ARMS, *COUNTED)}
        confirms = not CELLS.get(cell, False)
        for arm, values in nats.items():
            less = values - nats["auto"]
            rows.append({
                "set": f"{cell[0]}, {cell[1]} users x {cell[2]}", "half": "confirms" if confirms else "chooses",
                "arm": arm, "nats": round(float(values.mean()), 3), "more than auto": round(float(less.mean()), 3),
                "half width": round(float(half_width(less)), 3) if len(less) > 1 else np.nan,
                "counting no worse, says fit": round(float(np.mean([one["counting"] for one in of])), 2),
                "one for all": round(float(np.mean([one["pooled"] for one in of])), 2) if arm == "auto" else "",
                "seconds": round(float(np.mean([one.get(f"{arm}, seconds", 0.0) for one in of])), 2),
            })  # fmt: skip
            width = float(half_width(less)) if len(less) > 1 else 0.0
            said[f"{rows[-1]['set']}, {arm}"] = f"{less.mean():+.3f} +- {width:.3f}"
            if less.mean() < -width:
                warned = float(np.mean([one["counting"] for one in of]))
                if arm not in COUNTED:
                    behind.append(f"{arm} on {rows[-1]['set']}")
                elif warned < 0.9:
                    counted.append(f"{arm} on {rows[-1]['set']} (said in {warned:.0%} of fits)")
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "default-sequences",
        f"Nats per held-out event, mean over users, {len(seeds)} draws of users (drawn patterns: simulated users): by "
        "the default (auto), a memory for each user (the former default), one for all, and counting; how often auto "
        "took one for all; processor seconds of a fit.",
    )  # fmt: skip
    worst = [name for name in behind if not CELLS.get(_cell(name, cells), False)]
    script.judge(
        "ours-default-sequences", not worst and not counted,
        claim="CollaborativeRNN by its defaults, which choose between a memory for each user and one for all by "
        "held-out events, is certainly behind either of them on no confirming set; where it is behind counting, fit "
        "says so.",
        target="no paired 95% interval over draws of users on the wrong side of 0; or, of counting, nine fits of ten "
        "say so",
        value={"nats more than by default": {name: one for name, one in said.items() if not name.endswith("auto")}},
        reason=f"Behind {'; '.join([*worst, *counted])}." if worst or counted else "",
        seed=f"0..{len(seeds)}",
    )  # fmt: skip


def _cell(name: str, cells: list[tuple[str, int, int]]) -> tuple[str, int, int]:
    return next(cell for cell in cells if name.endswith(f"{cell[0]}, {cell[1]} users x {cell[2]}"))


if __name__ == "__main__":
    command(run, __doc__, __file__)
