"""Report of ``adaptive evaluate``: scores with their bands, how they came about, and what is odd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.evaluate.calibration import LEVEL
from adaptive.cli.evaluate.drift import contaminated, earlier_scores, signs

if TYPE_CHECKING:
    from adaptive.cli.evaluate.asking import Run
    from adaptive.cli.evaluate.calibration import Calibration
    from adaptive.cli.job import Job
    from adaptive.tables import Responses

__all__ = ["notes_on", "write"]

SHOWN = 3  # contaminated items that are printed


def notes_on(known: Calibration, there: bool) -> list[str]:
    """Remarks before anybody is asked."""
    n_items, teachers, judges = len(known.items), len(known.teachers), len(known.judges)
    how = "learnt before" if there else "kept for other runs"
    said = [f"{n_items} items from {teachers} systems, {_model(known)} ({how})"]
    if known.same:
        said.append(
            f"the band is of {judges} systems that taught the items, too, as there are few or they are of one family: "
            "it is a little too narrow."
        )
    share = np.nanmean(known.teachers.scores, axis=0)
    none, all_ = int((share == 0).sum()), int((share == 1).sum())
    if none or all_:
        said.append(
            f"{_items(none)} answered correctly by no earlier system, {all_} by all. "
            "These tell nothing yet (items.csv)."
        )
    return said


def _model(known: Calibration) -> str:
    n = len(known.learnt.bank_.traits)
    return f"{known.learnt.response_model} model of {'one ability' if n == 1 else f'{n} abilities'}"


def _items(n: int) -> str:
    return "1 item was" if n == 1 else f"{n} items were"


def write(runs: Sequence[Run], known: Calibration, earlier: Responses, job: Job) -> None:
    """Write all results and print what a person wants to know."""
    seed, others = job.settings["seed"], earlier_scores(earlier)
    results: list[dict[str, Any]] = []
    paths = {run.name: _path(run, known) for run in runs}
    print()
    for run in runs:
        result, lines = _result(run, known, others, seed)
        results.append(result)
        print("\n".join(lines))
    columns = (
        "system",
        "score",
        "low",
        "high",
        "error",
        "items",
        "of",
        "random_error",
        "chosen_error",
        "fit",
        "outside",
        "better",
    )
    job.write_csv("results.csv", {name: [one.get(name) for one in results] for name in columns})
    _write_asked(runs, earlier, known, job)
    job.write_csv("path.csv", {
        name: [value for run in runs for value in paths[run.name][name]]
        for name in ("system", "items", "item", "answer", "score", "low", "high", "error")
    })  # fmt: skip
    _write_items(known, job)
    aside = [(run.name, item, why) for run in runs for item, why in run.aside.items()]
    if aside:
        job.write_csv(
            "aside.csv", {name: [one[k] for one in aside] for k, name in enumerate(("system", "item", "why"))}
        )
        print(f"{_items(len(aside))} not answered and set aside, such as {aside[0][1]!r}: {aside[0][2]}")
    found = contaminated(known, earlier)
    if found["item"]:
        job.write_csv("contaminated.csv", found)
        first = [f"{item} ({family}, {difference:+.2f})" for family, item, difference, _ in
                 zip(*found.values(), strict=True)][:SHOWN]  # fmt: skip
        print(
            f"{len(found['item'])} times an item is much easier for one family than its score says: {', '.join(first)}"
        )
    _draw(runs, paths, others, job)
    job.write_summary({
        "systems": results, "level": LEVEL, "model": _model(known), "earlier systems": len(earlier),
        "calibrated by": len(known.teachers), "held out for the band": 0 if known.same else len(known.judges),
        "items": len(known.items), "set aside": [list(one) for one in aside],
    })  # fmt: skip


def _result(run: Run, known: Calibration, others: np.ndarray, seed: int) -> tuple[dict[str, Any], list[str]]:
    """The result of a system, as data and as lines."""
    person, n = run.design.estimator_, run.design.iteration
    score, low, high, error = known.standing(person)
    result: dict[str, Any] = {"system": run.name, "score": score, "low": low, "high": high, "error": error, "items": n,
                              "of": len(known.items)}  # fmt: skip
    lines = [
        f"{run.name}: {score:.1f} of 100, with {LEVEL:.0%} probability between {low:.1f} and {high:.1f}, from {n} of "
        f"{len(known.items)} items; error {error:.1f}"
    ]
    if n:
        chosen, random = known.errors_on_judges(n, seed)
        result |= {"chosen_error": chosen, "random_error": random}
        who = f"{len(known.judges)} systems {'of the table' if known.same else 'held out'}"
        lines.append(
            f"  {who} were off by {chosen:.1f} after as many items chosen so, by {random:.1f} after as many drawn at "
            "random"
        )
    lines.append(f"  higher than {np.mean(others < score):.0%} of {len(others)} earlier systems")
    parts = _parts(known)
    if len(parts) > 1:
        result["benchmarks"] = {}
        for name, items in parts.items():
            part = known.part(person, items)
            result["benchmarks"][name] = part._asdict() | {"items": len(items)}
            lines.append(f"  {name}: {part.score:.1f}, between {part.low:.1f} and {part.high:.1f} ({len(items)} items)")
    said, numbers = signs(run, known)
    return result | numbers, lines + [f"  {one}" for one in said]


def _parts(known: Calibration) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item, benchmark in zip(known.items, known.teachers.benchmarks, strict=True):
        found.setdefault(benchmark or "other", []).append(item)
    return found


def _path(run: Run, known: Calibration) -> dict[str, list[Any]]:
    """Score and band after each item."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("system", "items", "item", "answer", "score", "low", "high", "error")
    }
    history, person = run.design.history_, known.respondent()
    for step, (item, answer) in enumerate(zip(history["label"], history["outcome"], strict=True), 1):
        person.partial_fit([item], [answer])
        row = (run.name, step, item, run.transcript.scores[item], *known.standing(person))
        for name, value in zip(columns, row, strict=True):
            columns[name].append(value)
    return columns


def _write_asked(runs: Sequence[Run], earlier: Responses, known: Calibration, job: Job) -> None:
    benchmark = dict(zip(earlier.items, earlier.benchmarks, strict=True))
    rows = [
        (run.name, item, run.transcript.scores[item], step, nats)
        for run in runs
        for item, step, nats in zip(run.design.history_["label"], run.design.history_["step"],
                                    run.design.history_["score"], strict=True)
    ]  # fmt: skip
    columns: dict[str, list[Any]] = {"system": [one[0] for one in rows], "item": [one[1] for one in rows],
                                     "score": [one[2] for one in rows]}  # fmt: skip
    if any(benchmark.values()):
        columns["benchmark"] = [benchmark[one[1]] for one in rows]
    columns |= {"step": [one[3] for one in rows], "nats": [None if np.isnan(one[4]) else one[4] for one in rows]}
    job.write_csv("asked.csv", columns)


def _correlation(item: np.ndarray, others: np.ndarray) -> float | None:
    """Discrimination of an item: its correlation with the score on the other items."""
    if len(item) < 3 or not item.std() or not others.std():
        return None
    return float(np.corrcoef(item, others)[0, 1])


def _write_items(known: Calibration, job: Job) -> None:
    scores = known.teachers.scores
    seen = ~np.isnan(scores)
    others = np.nansum(scores, axis=1, keepdims=True) - np.where(seen, scores, 0.0)
    others = others / np.maximum(seen.sum(axis=1, keepdims=True) - seen, 1)
    apart = [_correlation(scores[there, j], others[there, j]) for j, there in enumerate(seen.T)]
    job.write_csv("items.csv", {
        "item": list(known.items), "benchmark": list(known.teachers.benchmarks),
        "answers": seen.sum(axis=0).tolist(), "share_right": np.nanmean(scores, axis=0).tolist(), "correlation": apart,
    })  # fmt: skip


def _draw(runs: Sequence[Run], paths: dict[str, dict[str, list[Any]]], others: np.ndarray, job: Job) -> None:
    """Scores with their bands against items asked; beside them the scores of earlier systems."""
    from adaptive import plots

    drawing, whole = plots.figure(7.5, 4.2)
    whole.remove()
    ax, beside = drawing.subplots(1, 2, sharey=True, width_ratios=[4, 1])
    for k, run in enumerate(runs):
        path, colour = paths[run.name], plots.PALETTE[k % len(plots.PALETTE)]
        ax.plot(
            path["items"], path["score"], color=colour, label=run.name, marker="o" if len(path["items"]) < 2 else ""
        )
        ax.fill_between(path["items"], path["low"], path["high"], color=colour, alpha=0.2, linewidth=0)
        if path["score"]:
            beside.axhline(path["score"][-1], color=colour, linewidth=1.5)
    ax.set(xlabel="items asked", ylabel="score on all items, points", ylim=(0, 100))
    of = f"{runs[0].name}: score" if len(runs) == 1 else "Scores"
    ax.set_title(f"{of} after each item, with {LEVEL:.0%} bands")
    if len(runs) > 1:
        ax.legend(frameon=False, fontsize="small")
    beside.hist(others, bins=np.linspace(0, 100, 41).tolist(), orientation="horizontal", color="0.75")
    beside.set_title("earlier systems", fontsize="medium")
    beside.set_xlabel(f"of {len(others)}")
    job.draw(drawing, "score")
