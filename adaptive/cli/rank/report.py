"""Report of ``adaptive rank``: the ranking with intervals, probabilities of ranks, what to compare next, judges."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import plots
from adaptive.cli.job import shown
from adaptive.cli.rank.buying import grouped, often
from adaptive.cli.rank.buying import in_words as list_in_words
from adaptive.cli.rank.choice_words import in_words
from adaptive.cli.rank.further import expected, further
from adaptive.cli.rank.model import best_of
from adaptive.cli.understanding import counted

if TYPE_CHECKING:
    from adaptive.cli.job import Job
    from adaptive.cli.rank.model import Choice
    from adaptive.cli.rank.tables import Known
    from adaptive.estimators import BradleyTerry
    from adaptive.loop import SequentialDesign

__all__ = ["write_answers", "write_next", "write_ranking"]

MOST_DRAWN = 30  # items in the figure
JUDGES = 5  # in the terminal


def write_ranking(model: BradleyTerry, job: Job, known: Known, asked: int, choice: Choice, sure: float) -> float:
    """Write ranking.csv, ranks.csv, judges.csv, summary.json and the figure; print what they say. Return how sure."""
    n = len(model.items_)
    k, any_order, what = _looked_for(job, n)
    ranking = model.ranking(k)
    ranking[f"among_best_{k}"] = ranking.pop("among_best")
    job.write_csv("ranking.csv", ranking)
    order, in_order = model.order(k)
    members, of_set = model.top_set(k)
    probability = of_set if any_order else in_order
    places = {item: row for row, item in enumerate(model.items_.tolist())}
    table = model.rank_probabilities()[[places[item] for item in ranking["item"]]]
    job.write_csv("ranks.csv", {"item": ranking["item"], **{str(r + 1): table[:, r].tolist() for r in range(n)}})
    lean = model.position_bias_
    count = len(known.rows) + asked
    print(f"\n{_best_in_words(order.tolist(), in_order, members.tolist(), of_set, n)}, after "
          f"{counted(count, 'comparison')}.")  # fmt: skip
    if k == 1:
        behind = [f"{item} {best:.2f}" for item, best in zip(ranking["item"], ranking["best"], strict=True)
                  if item != order[0] and best >= 0.05]  # fmt: skip
        if behind:
            print(f"It may also be {', '.join(behind[:5])}.")
    likeliest, _ = model.top_set(best_of(job.settings, n))
    said = in_words(choice, known, [str(one) for one in likeliest], shown(job.settings["table"]))
    print(said)
    if lean[1] > 0 or lean[2] < 0:
        side = "first" if lean[0] > 0 else "second"
        chance = 1.0 / (1.0 + np.exp(-abs(lean[0])))
        print(f"The {side} side is favoured: of two equal items it wins {chance:.0%} of the comparisons without a tie.")
    _write_judges(model, job)
    more = None if probability >= sure else further(model, k, sure, job.settings["seed"], any_order=any_order)
    if more is not None:
        print(more.words(sure, " of who they are" if any_order else " of this order" if 1 < k < n else ""))
    job.write_summary({
        "order": order.tolist(), "probability": in_order, "best_set": members.tolist(), "probability_set": of_set,
        "comparisons": count, "asked": asked, "items": n,
        "further_comparisons": {"half": 0, "most": 0} if more is None else more._asdict(),
        "learnt": {"ties": choice.ties, "sides": choice.sides, "judges": choice.judges},
        "evidence_of_judges": choice.gain,
        "position_bias": list(lean) if choice.sides else None,
        "tie_probability": model.tie_probability_ if choice.ties else None,
        "scale": model.scale_, "converged": bool(model.converged_),
    })  # fmt: skip
    best = "All in order" if k == n else what.capitalize()
    _draw(ranking, table, job, k, f"{best}: probability {probability:.2f}")
    return probability


def _looked_for(job: Job, n: int) -> tuple[int, bool, str]:
    """Return how many of n items are looked for, if who they are is enough, and both in words."""
    any_order = bool(job.settings.get("any_order"))
    k = min(job.settings["best"] or n, n)
    what = "the order of all" if k == n else "the best" if k == 1 else f"the best {k}" + " in order" * (not any_order)
    return k, any_order, what


def _best_in_words(order: list[Any], in_order: float, members: list[Any], of_set: float, n: int) -> str:
    """Return the likeliest best, and how probable their order and their set are.

    Examples
    --------
    >>> _best_in_words(["a", "b"], 0.13, ["b", "a"], 0.25, 5)
    'the best 2: a, b (probability 0.25; in this order 0.13)'
    >>> _best_in_words(["a", "c"], 0.13, ["b", "a"], 0.25, 5)
    'the best 2: b, a (probability 0.25; the likeliest order is a, c with 0.13)'
    """
    k = len(order)
    if k in (1, n):
        return f"{'the order of all' if k == n else 'the best'}: {_listed(order)} (probability {_stated(in_order)})"
    same = set(order) == set(members)
    also = "in this order" if same else f"the likeliest order is {_listed(order)} with"
    best = _listed(order if same else members)
    return f"the best {k}: {best} (probability {_stated(of_set)}; {also} {_stated(in_order)})"


def _listed(names: list[Any]) -> str:
    return ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "")


def _stated(probability: float) -> str:
    return f"{probability:.2f}" if probability >= 0.005 else "below 0.01"


def _write_judges(model: BradleyTerry, job: Job) -> None:
    """Write judges.csv, and name those who err more than the others for sure."""
    judges = model.judges_
    if not judges:
        return
    columns = {"judge": list(judges)} | {
        name: [getattr(one, name) for one in judges.values()] for name in next(iter(judges.values()))._fields
    }
    if not model.position_bias:
        columns = {name: column for name, column in columns.items() if not name.startswith("bias")}
    job.write_csv("judges.csv", columns)
    typical = float(np.median([one.skill for one in judges.values()]))
    doubtful = sorted((one.skill, name) for name, one in judges.items() if one.skill_high < typical)
    for _, name in doubtful[:JUDGES]:
        one = judges[name]
        print(
            f"{name} names the item that the others hold to be better in {one.skill:.0%} of comparisons (90% interval "
            f"{one.skill_low:.0%} to {one.skill_high:.0%}); the judge in the middle does in {typical:.0%}."
        )
    if len(doubtful) > JUDGES:
        print(f"{counted(len(doubtful) - JUDGES, 'other judge')} err as much: judges.csv has all {len(judges)}.")
    elif not doubtful and len(judges) > 1:
        print(f"Who of the {len(judges)} judges errs more than others cannot be told yet; judges.csv has all.")


def write_next(listed: list[tuple[tuple[str, ...], float]], model: BradleyTerry, job: Job, sure: float) -> None:
    """Write next.csv: comparisons that would teach most, as ``buying`` chose them together; say what they promise."""
    if not listed:
        return
    lines = grouped(listed)
    columns: dict[str, Any] = {
        "left": [line.left for line in lines], "right": [line.right for line in lines],
        "times": [line.times for line in lines],
    }  # fmt: skip
    if any(line.judges for line in lines):
        columns["judges"] = ["; ".join(line.judges) for line in lines]
    job.write_csv("next.csv", {**columns, "nats": [line.gain for line in lines]})
    print(f"Worth comparing next ({counted(len(listed), 'comparison')}): {list_in_words(lines)}.")
    load = Counter(judge for line in lines for judge in line.judges)
    if len(load) > 1:
        most = max(load.values())
        print(f"{len(load)} people are asked, {'at most ' * (min(load.values()) < most)}{often(most)} each.")
    k, any_order, what = _looked_for(job, len(model.items_))
    after = expected(model, [one for one, _ in listed], k, sure, job.settings["seed"], any_order=any_order)
    print(
        f"With their answers {what} will be known with a probability of {_stated(after.probability)} on average; the "
        f"chance that it will be {sure:g} or more is {_stated(after.reached)}."
    )


def write_answers(design: SequentialDesign, job: Job) -> None:
    """Write answers.csv: every comparison that was asked for, in order."""
    told = design.history_
    left, right = ([label[side] for label in told["label"]] for side in (0, 1))
    winner = [
        a if outcome > 0 else b if outcome < 0 else "tie"
        for a, b, outcome in zip(left, right, told["outcome"], strict=True)
    ]
    nats = [None if np.isnan(score) else score for score in told["score"]]  # a list was chosen together
    judge = {"judge": [label[2] for label in told["label"]]} if told["label"] and len(told["label"][0]) > 2 else {}
    job.write_csv(
        "answers.csv",
        {"step": told["step"], "left": left, "right": right, "winner": winner, **judge, "nats": nats},
    )


def _draw(ranking: dict[str, list[Any]], table: np.ndarray, job: Job, k: int, title: str) -> None:
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
    left.set_title(title, loc="left")
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
