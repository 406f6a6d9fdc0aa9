"""Report of ``adaptive rank``: the ranking with intervals, probabilities of ranks, what to compare next, judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import plots
from adaptive.cli.rank.model import pairs_of
from adaptive.cli.understanding import counted

if TYPE_CHECKING:
    from adaptive.cli.job import Job
    from adaptive.cli.rank.tables import Known
    from adaptive.estimators import BradleyTerry
    from adaptive.loop import SequentialDesign

__all__ = ["write_answers", "write_next", "write_ranking"]

MOST_DRAWN = 30  # items in the figure
WORTH = 10  # pairs in next.csv
JUDGES = 5  # in the terminal


def write_ranking(model: BradleyTerry, job: Job, target: int | str, known: Known, asked: int) -> None:
    """Write ranking.csv, ranks.csv, judges.csv, summary.json and the figure; print what they say."""
    n = len(model.items_)
    k = min(target, n) if isinstance(target, int) else n
    ranking = model.ranking(k)
    ranking[f"among_best_{k}"] = ranking.pop("among_best")
    job.write_csv("ranking.csv", ranking)
    order, probability = model.order(target)
    places = {item: row for row, item in enumerate(model.items_.tolist())}
    table = model.rank_probabilities()[[places[item] for item in ranking["item"]]]
    job.write_csv("ranks.csv", {"item": ranking["item"], **{str(r + 1): table[:, r].tolist() for r in range(n)}})
    lean = model.position_bias_
    _write_judges(model, job)
    job.write_summary({
        "order": order.tolist(), "probability": probability, "comparisons": len(known.rows) + asked, "asked": asked,
        "items": n, "position_bias": list(lean), "tie_probability": model.tie_probability_,
        "scale": model.scale_, "converged": bool(model.converged_),
    })  # fmt: skip
    _draw(ranking, table, job, k, probability)
    what = "the order of all" if k == n else "the best" if k == 1 else f"the best {k}, in order"
    shown = ", ".join(map(str, order[:10])) + (", ..." if len(order) > 10 else "")
    count = len(known.rows) + asked
    sure = f"{probability:.2f}" if probability >= 0.005 else "below 0.01"
    print(f"\n{what}: {shown} (probability {sure}, after {counted(count, 'comparison')}).")
    if lean[1] > 0 or lean[2] < 0:
        side = "first" if lean[0] > 0 else "second"
        chance = 1.0 / (1.0 + np.exp(-abs(lean[0])))
        print(f"The {side} side is favoured: of two equal items it wins {chance:.0%} of the comparisons without a tie.")


def _write_judges(model: BradleyTerry, job: Job) -> None:
    judges = model.judges_
    if not judges:
        return
    columns = {"judge": list(judges)} | {
        name: [getattr(one, name) for one in judges.values()] for name in next(iter(judges.values()))._fields
    }
    job.write_csv("judges.csv", columns)
    for name, one in sorted(judges.items(), key=lambda pair: pair[1].skill)[:JUDGES]:
        print(f"{name}: believed right in {one.skill:.0%} ({one.skill_low:.0%} to {one.skill_high:.0%}), "
              f"by {counted(one.comparisons, 'comparison')}")  # fmt: skip
    if len(judges) > JUDGES:
        print(f"These are the {JUDGES} who err most; judges.csv has all {len(judges)}.")


def write_next(model: BradleyTerry, job: Job, target: int | str, names: list[str], judges: list[str] | None) -> None:
    """Write next.csv: the pairs that would teach most, chosen together."""
    pairs = pairs_of(names, judges)
    chosen, gains = model.select(
        pairs, min(WORTH, len(pairs)), target=target, random_state=job.settings["seed"], return_scores=True
    )
    listed = [pairs[position] for position in chosen.tolist()]
    columns: dict[str, Any] = {"left": [one[0] for one in listed], "right": [one[1] for one in listed]}
    if judges is not None:
        columns["judge"] = [one[2] for one in listed]
    job.write_csv("next.csv", {**columns, "nats": gains.tolist()})
    print("worth comparing next: " + "; ".join(f"{one[0]} or {one[1]}?" for one in listed[:3]))


def write_answers(design: SequentialDesign, job: Job) -> None:
    """Write answers.csv: every comparison that was asked for, in order."""
    told = design.history_
    left, right = ([label[side] for label in told["label"]] for side in (0, 1))
    winner = [
        a if outcome > 0 else b if outcome < 0 else "tie"
        for a, b, outcome in zip(left, right, told["outcome"], strict=True)
    ]
    judge = {"judge": [label[2] for label in told["label"]]} if told["label"] and len(told["label"][0]) > 2 else {}
    job.write_csv(
        "answers.csv",
        {"step": told["step"], "left": left, "right": right, "winner": winner, **judge, "nats": told["score"]},
    )


def _draw(ranking: dict[str, list[Any]], table: np.ndarray, job: Job, k: int, probability: float) -> None:
    """Strengths with intervals beside the probabilities of ranks."""
    from matplotlib.ticker import MaxNLocator

    shown = min(MOST_DRAWN, len(ranking["item"]))
    drawing, left = plots.figure(9.0, 1.6 + 0.27 * shown)
    drawing.clear()
    left, right = drawing.subplots(1, 2, sharey=True, width_ratios=[1.25, 1.0])
    for row in range(shown):
        colour = plots.PALETTE[0] if row < k else "0.5"
        left.plot([ranking["lower"][row], ranking["upper"][row]], [row, row], color=colour, linewidth=2, alpha=0.5)
        left.plot(ranking["strength"][row], row, "o", color=colour)
    left.set_yticks(range(shown), [str(item) for item in ranking["item"][:shown]])
    left.set(xlabel="strength against the mean of all, in logits\n(90% intervals)")
    best = "All in order" if k == len(table) else "The best" if k == 1 else f"The best {k} in order"
    left.set_title(f"{best}: probability {probability:.2f}", loc="left")
    picture = right.imshow(table[:shown, :shown], cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto",
                           extent=(0.5, shown + 0.5, shown - 0.5, -0.5))  # fmt: skip
    right.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    right.set(xlabel="rank", xlim=(0.5, shown + 0.5))
    right.set_title("Probability of each rank", loc="left")
    right.tick_params(left=False)
    right.grid(False)
    drawing.colorbar(picture, ax=right, label="probability")
    left.set_ylim(shown - 0.5, -0.5)
    job.draw(drawing, "ranking")
