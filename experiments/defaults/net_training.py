"""When nets stop, and how far gradients go back: defaults of `CollaborativeRNN` on eight sets of histories.

Words of addresses, letters, spikes, of few and many people, short and long. A tenth at the end of every history (three
events at least) is predicted; nets are pooled, so that training alone differs. Judges are nats an event and the share
of first events that are the most probable one, paired by split with the former settings (a fortieth of each history
says when to stop, gradients go back 128 events). Four sets choose, four confirm; of the settings that are certainly
ahead over the choosing sets those are taken that are certainly behind on no confirming one, of two that are level
(.0646 and .0644 nats) those that change less.

Full mode: four minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive import CollaborativeRNN
from experiments.defaults.sequence_memories import histories_of
from experiments.script import Script, command
from experiments.statistics import half_width

CHOOSE = ("words, 15, 600", "spikes, 20, 150", "letters, 42, 150", "words, 30, 60")
CONFIRM = ("letters, 15, 400", "words, 42, 150", "spikes, 40, 60", "words, 20, 300")
FORMER = "a fortieth, 128"
ARMS: dict[str, dict[str, Any]] = {
    FORMER: {"validation_fraction": 0.025, "window": 128},
    "a tenth, 128": {"validation_fraction": 0.1, "window": 128},
    "a fortieth, 32": {"validation_fraction": 0.025, "window": 32},
    "a tenth, 32": {"validation_fraction": 0.1, "window": 32},
}
TAKEN = "a tenth, 128"
SPLITS = 6
JUDGES = ("nats", "share of first events right")


def one_split(name: str, arm: str, seed: int) -> dict[str, np.ndarray]:
    """Both judges of one training."""
    kind, users, events = name.split(", ")
    histories = histories_of(kind, int(users), int(events), seed)
    n = {who: len(one) - max(3, len(one) // 10) for who, one in histories.items()}
    items = sorted({event for one in histories.values() for event in one})
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CollaborativeRNN(items=items, random_state=seed, pooled=True, **ARMS[arm])
        model.fit({who: one[: n[who]] for who, one in histories.items()})
        late = {who: one[n[who] :] for who, one in histories.items()}
        first = [model.predict([who])[0] == one[0] for who, one in late.items()]
    return {"judges": np.array([model.score(late), float(np.mean(first))])}


def run(script: Script) -> None:
    """Choose on four sets, confirm on four others."""
    names = ("words, 30, 60",) if script.quick else (*CHOOSE, *CONFIRM)
    splits = 2 if script.quick else SPLITS
    found = {
        (name, arm): np.stack(
            [script.kept("default_nets", one_split, name, arm, seed)["judges"] for seed in range(splits)]
        )
        for name in names
        for arm in ARMS
    }
    rows, behind, said = [], [], {}
    for name in names:
        for arm in ARMS:
            apart = found[name, arm] - found[name, FORMER]
            limits = [(float(one.mean()), float(half_width(one))) for one in apart.T]
            half = "chooses" if name in CHOOSE else "confirms"
            rows.append({
                "set": name, "half": half, "told, window": arm,
                **{judge: round(float(found[name, arm][:, k].mean()), 4) for k, judge in enumerate(JUDGES)},
                **{f"{judge} more{what}": round(value, 4) for judge, both in zip(JUDGES, limits, strict=True)
                   for what, value in zip(("", ", half width"), both, strict=True)},
            })  # fmt: skip
            print(rows[-1], flush=True)
            if arm == TAKEN:
                said[name] = ", ".join(f"{mean:+.4f} +- {half:.4f}" for mean, half in limits)
                if half == "confirms" or script.quick:
                    behind += [f"{name} ({judge})" for judge, (mean, width) in zip(JUDGES, limits, strict=True)
                               if mean + width < 0]  # fmt: skip
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "default-nets",
        "Nets by the share of a history that says when to stop and by the events that gradients go back: nats an "
        f"event, share of first events right, both less those of the former default; {splits} splits, 95% half widths.",
    )  # fmt: skip
    over = {
        arm: {
            half: ", ".join(
                f"{mean:+.4f} +- {width:.4f}"
                for mean, width in (
                    (float(one.mean()), float(half_width(one)))
                    for one in np.mean([found[name, arm] - found[name, FORMER] for name in some], axis=0).T
                )
            )
            for half, some in (("chooses", CHOOSE), ("confirms", CONFIRM))
            if not script.quick
        }
        for arm in ARMS
        if arm != FORMER
    }
    script.judge(
        "ours-default-nets", not behind,
        claim="Nets that stop by a tenth of each history are certainly behind those of the former default, a fortieth, "
        f"on none of {len(CONFIRM)} confirming sets, by nats or by first events.",
        target="no 95% interval over splits below 0",
        value={"more than the former default, nats and first events": said, "mean over sets": over},
        reason=f"Behind on {', '.join(behind)}." if behind else "",
        seed=f"0..{splits - 1}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
