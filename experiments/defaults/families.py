"""Every family's defaults before and after beside the rivals of its field: on how many cells ahead, level, behind.

Made from the tables and claims of the other scripts of this folder, nothing is run. A cell is a set (of people, rows, a
number of labels or roll-outs, as its table has them). By means: which is larger in that table, to its last digit.
Certainly: the paired 95% interval of the default of today less the rival lies on one side of 0, where the claim keeps
intervals. Rivals that other rooms' claims compare (tomotopy, hpfrec, implicit, catsim, LassoCV) have no "before".
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from experiments import claims
from experiments.script import Script, command

SURE = ("certainly ahead", "neither", "certainly behind")
AFTER, BEFORE = "default", "former default"
MEANS = "user's mean times item's"
MARKS = (25, 50, 100, 200, 400)

COLUMNS = {
    "before": ("before: ahead", "level", "behind"), "after": ("after: ahead", "level ", "behind "), "certainly": SURE,
}  # fmt: skip

Record = tuple[str, str, str, float]  # cell, judge, arm, value: the larger the better
Row = dict[str, str]


def plain(cell: tuple[str, ...], arm: str, names: dict[str, str], judges: dict[str, float]) -> Any:
    """Records of a table with a column of arms: ``names`` gives those that count, ``judges`` columns and signs."""

    def records(rows: list[Row]) -> Iterator[Record]:
        for row in rows:
            for judge, sign in judges.items():
                if row[arm] in names and row[judge] not in ("", "nan"):
                    yield ", ".join(row[one] for one in cell), judge, names[row[arm]], sign * float(row[judge])

    return records


def classifiers(rows: list[Row]) -> Iterator[Record]:
    """The scorer was looked at, and stayed."""
    rivals = ("random", "LogisticRegressionCV, random", "LogisticRegressionCV, margin")
    read = plain(("set",), "arm", {one: one for one in rivals} | {"committee, 15% random": AFTER},
                 {"accuracy": 1.0, "log loss": -1.0})  # fmt: skip
    for cell, judge, arm, value in read([row for row in rows if row["set"] != "mean"]):
        yield cell, judge, arm, value
        if arm == AFTER:
            yield cell, judge, BEFORE, value


def processes(rows: list[Row]) -> Iterator[Record]:
    """Means of more classes stand at the mode, others are averaged over nodes; kernels were fixed before."""
    rivals = ("scikit-learn's default", "scikit-learn, kernel learnt", "LogisticRegressionCV", "RidgeCV")
    for kind in ("two classes", "more classes", "numbers"):
        today = "mode" if kind == "more classes" else "integrated"
        own = [row for row in rows if row["outcome"] == kind and row["rows"] == "random"]
        yield from plain(
            ("set", "labels"), "kernel", {one: one for one in rivals} | {today: AFTER, "fixed": BEFORE},
            {"accuracy": 1.0, "error": -1.0, "log loss": -1.0},
        )(own)  # fmt: skip


def pairs(rows: list[Row]) -> Iterator[Record]:
    """Rivals have columns of their own."""
    for row in rows:
        arm = {"defaults": AFTER, "former default": BEFORE}.get(row["arm"])
        if arm is not None:
            yield row["set"], "nats", arm, float(row["nats over popularity"])
            yield row["set"], "rank", arm, float(row[f"rank, popularity^{'0.5' if arm == AFTER else '1'}"])
        if arm == AFTER:
            yield row["set"], "nats", "popularity", 0.0
            yield row["set"], "rank", "popularity", float(row["rank of popularity"])
            yield row["set"], "rank", "least squares", float(row["rank of least squares"])


def counts_of_pairs(rows: list[Row]) -> Iterator[Record]:
    """The rival has a column of its own; the absolute error only stands beside."""
    for row in rows:
        if row["judge"] != "minus absolute error":
            for arm, column in ((AFTER, "default"), (BEFORE, "former"), (MEANS, "rival")):
                yield row["set"], row["judge"], arm, float(row[column])


def trees(rows: list[Row]) -> Iterator[Record]:
    """A cell is a game and a number of roll-outs."""
    names = {"keep_path optimistic": AFTER, "discard optimistic": BEFORE, "UCT 1.4": "UCT 1.4", "flat": "flat"}
    for mark in MARKS:
        for cell, _, arm, value in plain(("game",), "arm", names, {f"right at {mark}": 1.0})(rows):
            yield f"{cell}, {mark}", "moves", arm, value


def photons(rows: list[Row]) -> Iterator[Record]:
    """The rival is the one scale that the other half of the photographs chose."""
    for row in rows:
        arm = {"default": AFTER, "evidence alone": BEFORE}.get(row["scale"])
        if arm is None and row["chosen by half"] == "True":
            arm = "one scale for all"
        if arm is not None:
            yield f"{row['measured by']}, {row['maximum']}", "error", arm, -float(row["error"])


TABLES: dict[str, tuple[str, Callable[[list[Row]], Iterator[Record]]]] = {
    "labels": ("classifiers", classifiers),
    "Gaussian processes": ("processes", processes),
    "counts in time": ("cox", plain(
        ("set",), "arm", {"default": AFTER, "one rate a place": BEFORE, "constant rate": "constant rate",
                          "kernel smoother": "kernel smoother"}, {"nats a count": 1.0})),
    "pairs": ("pairs", pairs),
    "counts of pairs": ("pair-counts", counts_of_pairs),
    "comparisons": ("preferences", plain(
        ("set", "size"), "arm", {"auto": AFTER, "former default": BEFORE, "one ranking": "one ranking"},
        {"bits": -1.0, "share right": 1.0})),
    "games": ("game-trees", trees),
    "sequences": ("sequences", plain(
        ("set",), "arm", {"auto": AFTER, "for each": BEFORE, "1-gram": "1-gram", "2-gram": "2-gram"},
        {"nats": -1.0})),
    "questionnaires": ("questionnaires", plain(
        ("scale",), "model", {"chosen": AFTER, "ordinal": BEFORE, "ridge": "ridge short form"},
        {"nats": 1.0, "error of total": -1.0})),
    "simulators": ("simulators", plain(
        ("simulator",), "arm", {"transformed random_walk 1000": AFTER, "synthetic liu_west 500": BEFORE},
        {"error": -1.0, "log density less exact": 1.0})),
    "photons": ("photons", photons),
    "training of nets": ("nets", plain(
        ("set",), "told, window", {"a tenth, 128": AFTER, "a fortieth, 128": BEFORE},
        {"nats": 1.0, "share of first events right": 1.0})),
    "stops": ("stops", plain(("family", "set"), "stop", {"0.003": AFTER, "former": BEFORE}, {"nats": 1.0})),
}  # fmt: skip
# where a claim keeps "mean +- half width" of the default less a rival: id, path in its value, the sign that is good
CERTAIN = {
    ("counts in time", "nats a count"): ("ours-default-cox", "default less rival", (1.0,)),
    ("pairs", "nats"): ("ours-default-pairs", "defaults less rival", (1.0,)),
    ("pairs", "rank"): ("ours-default-pairs", "defaults less rival", (1.0,)),
    ("counts of pairs", "nats"): ("ours-default-pair-counts", "default less rival", (1.0,)),
    ("counts of pairs", "rank"): ("ours-default-pair-counts", "default less rival", (1.0,)),
    ("comparisons", "bits"): ("ours-default-preferences", "auto less rival", (-1.0, 1.0)),
    ("comparisons", "share right"): ("ours-default-preferences", "auto less rival", (-1.0, 1.0)),
    ("games", "moves"): ("ours-default-game-trees", "right moves minus rival", (1.0,)),
    ("sequences", "nats"): ("ours-default-sequences", "nats more than by default", (1.0,)),
    ("questionnaires", "error of total"): (
        "ours-default-questionnaires", "square error of totals, ridge less chosen", (1.0,)),
}  # fmt: skip
# intervals of today's defaults less rivals in other claims: family, judge, rivals -> id, path to the rival, good sign
ELSEWHERE: dict[tuple[str, str], tuple[tuple[str, ...], str, Callable[[Any, str], list[Any]], float]] = {
    ("topics, halves of documents", "nats"): (
        ("tomotopy lda", "tomotopy dmr", "scikit-learn"), "ours-topic-completion",
        lambda value, rival: [of[rival] for of in value.values() if rival in of], 1.0),
    ("plays, unheard artists", "NDCG@10"): (
        ("hpfrec", "implicit", "popularity"), "ours-counts-ranking",
        lambda value, rival: [value["gain, 95% limits"][rival]], 1.0),
    ("adaptive tests, drawn people", "square error"): (
        ("catsim, by likelihood", "catsim, by expectation"), "ours-adaptive-test-catsim",
        lambda value, rival: [of["difference of squared errors"] for mode, ends in value.items()
                              if mode.startswith(rival.removeprefix("catsim, ")) for of in ends.values()], -1.0),
    ("sparse weights, drawn", "log density"): (
        ("LassoCV",), "ours-hyper-sparse",
        lambda value, rival: [of["student_t"]["density minus LassoCV's"] for of in value.values()], -1.0),
}  # fmt: skip
THEIR_NAMES = {BEFORE: ("former default", "one rate a place", "discard optimistic", "for each")}
INTERVAL = re.compile(r"([+-][\d.]+) \+- ([\d.]+)")


def counted(ours: dict[str, float], theirs: dict[str, float]) -> list[int]:
    """Cells ahead, level and behind."""
    both = [(ours[cell] > theirs[cell]) - (ours[cell] < theirs[cell]) for cell in ours if cell in theirs]
    return [both.count(sign) for sign in (1, 0, -1)]


def certainly(family: str, judge: str, rival: str, known: dict[str, Any]) -> list[int] | None:
    """Intervals of the default less a rival above, across and below 0; None where no claim keeps them."""
    id, key, signs = CERTAIN.get((family, judge), ("", "", (1.0,)))
    if id not in known:
        return None
    at = ("bits", "share right").index(judge) if len(signs) > 1 else 0
    signs_found = []
    for name, said in _flat(known[id]["value"][key]):
        names = (*THEIR_NAMES.get(rival, ()), rival)
        alone = rival in ("ridge short form", MEANS)  # the claim has no other rival
        told = {"pairs": name.endswith(judge), "counts of pairs": f", {judge}" in name}.get(family, True)
        if (alone or any(one in name for one in names)) and told:
            mean, half = (float(one) for one in INTERVAL.findall(said)[at])
            signs_found.append(0 if abs(mean) <= half else 1 if signs[at] * mean > 0 else -1)
    return [signs_found.count(sign) for sign in (1, 0, -1)] if signs_found else None


def _flat(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, one in value.items():
        if isinstance(one, dict):
            yield from ((f"{inner}, {name}", text) for inner, text in one.items())
        else:
            yield name, one


def elsewhere(known: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Lines of rivals that other claims compare, by whole intervals, whose last two numbers are the limits."""
    for (family, judge), (rivals, id, path, sign) in ELSEWHERE.items():
        for rival in rivals:
            ends = [sorted(sign * end for end in one[-2:]) for one in path(known[id]["value"], rival)]
            ahead, behind = sum(low > 0 for low, _ in ends), sum(high < 0 for _, high in ends)
            yield {"family": family, "judge": judge, "rival": rival} | dict(
                zip(SURE, (ahead, len(ends) - ahead - behind, behind), strict=True)
            )


def run(script: Script) -> None:
    """One line for each family, judge and rival."""
    known = {one["id"]: one for one in claims.load()}
    rows: list[dict[str, Any]] = []
    worse: list[str] = []
    for family, (file, records) in TABLES.items():
        with (claims.RESULTS / "tables" / f"default-{file}.csv").open(newline="") as table:
            found: dict[str, dict[str, dict[str, float]]] = {}
            for cell, judge, arm, value in records(list(csv.DictReader(table))):
                found.setdefault(judge, {}).setdefault(arm, {})[cell] = value
        for judge, arms in found.items():
            for rival in (*(one for one in arms if one not in (AFTER, BEFORE)), BEFORE):
                before: list[Any] = counted(arms[BEFORE], arms[rival]) if rival != BEFORE else ["", "", ""]
                after, sure = counted(arms[AFTER], arms[rival]), certainly(family, judge, rival, known)
                rows.append({
                    "family": family, "judge": judge, "rival": rival, "before: ahead": before[0],
                    "level": before[1], "behind": before[2], "after: ahead": after[0], "level ": after[1],
                    "behind ": after[2], **dict(zip(SURE, sure or ("", "", ""), strict=True)),
                })  # fmt: skip
                if rival != BEFORE and after[2] > before[2]:
                    sure_of = "" if sure is None else f", certainly on {sure[2]}"
                    worse.append(f"{family}, {judge}, {rival}: {before[2]} -> {after[2]}{sure_of}")
    rows += [dict.fromkeys(rows[0], "") | row for row in elsewhere(known)]
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "default-families",
        "Defaults before and after beside each rival: cells ahead, level and behind by the means of their tables, and "
        "today's by paired 95% intervals where claims keep them. Rows whose rival is the former default say what the "
        "change did.",
    )  # fmt: skip
    to_rivals = [row for row in rows if row["rival"] != BEFORE]
    of_judge = {
        judge: {
            when: [sum(row[column] or 0 for row in to_rivals if row["judge"] == judge) for column in columns]
            for when, columns in COLUMNS.items()
        }
        for judge in dict.fromkeys(row["judge"] for row in to_rivals)
    }
    totals = {when: np.sum([of[when] for of in of_judge.values()], axis=0).tolist() for when in COLUMNS}
    script.judge(
        "ours-default-families", not worse,
        claim="Beside no rival and by no judge are today's defaults behind on more cells than the former ones were, by "
        f"means, in {len(TABLES)} families.",
        target="behind after at most behind before, line by line",
        value={"lines more behind": len(worse), "ahead, level, behind of rivals": totals, "by judge": of_judge,
               "to the former default": {f"{row['family']}, {row['judge']}": [row["after: ahead"], row["level "],
                                                                               row["behind "]]
                                         for row in rows if row["rival"] == BEFORE}},
        reason=f"More behind: {'; '.join(worse)}." if worse else "",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
