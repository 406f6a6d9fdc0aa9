"""Long histories: how many users to learn from side by side, chosen by held-out events, and the 2-gram beside it.

A batch of users is gone through from the first event to the last before the next batch is looked at. Of eight
presidents with 6,000 words each the items' rows have been taught by these alone for a hundred steps, then by others.
"""

from __future__ import annotations

from typing import Any

from experiments.script import Script, command
from experiments.sequences.event_runs import by_counting, by_net
from experiments.sequences.next_events import SIZES
from experiments.statistics import half_width

LABEL, RATE = "C-GRU 32", 0.01  # of words; the rate that held-out events chose for ko-tab-3.11


def run(script: Script) -> None:
    """Eight users at a time, as is the default, and all."""
    name, label = ("spikes", "C-GRU 8") if script.quick else ("words", LABEL)
    n_events, max_iter = (60, 1) if script.quick else SIZES[name]
    sizes = (8, 64) if script.quick else (8, 42)
    pairs = script.kept("next_events", by_counting, name, "2-gram", n_events, int(script.quick))["errors"]
    nets: dict[int, dict[str, Any]] = {
        size: script.kept("next_events", by_net, name, label, RATE, n_events, max_iter, size) for size in sizes
    }
    best = min(nets, key=lambda size: float(nets[size]["held"]))
    apart = pairs - nets[best]["errors"]
    half = half_width(apart)
    ahead = [round(float(apart.mean() - half), 3), round(float(apart.mean() + half), 3)]
    script.judge(
        "ours-sequences-side-by-side", best == sizes[1] and ahead[0] > 0,
        claim="Where histories are long, a net learns best from all users side by side; then a memory for each user "
        "is ahead of the 2-gram on words by president.",
        target="held-out events choose all 42 out of 8 and 42 at a time; 95% interval over users of 2-gram less C-GRU "
        "above 0",
        value={
            "2-gram": round(float(pairs.mean()), 3),
            "C-GRU, users at a time": {str(size): round(float(one["errors"].mean()), 3) for size, one in nets.items()},
            "held-out events": {str(size): round(float(one["held"]), 3) for size, one in nets.items()},
            "CPU seconds": {str(size): round(float(one["seconds"] * one["epochs"]), 1) for size, one in nets.items()},
            "2-gram less C-GRU, 95%": ahead,
        },
        reason="42 presidents with their first 6,000 words, the data, rivals and errors of ko-tab-3.11; 32 "
        "components, one rate, one seed. A batch runs from its first event to its last, so that for long the rows of "
        "items learn from few users. In separate trials 2 at a time (rate 0.003) had 4.95, and 21 at a time with 64 "
        "components 4.62.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
