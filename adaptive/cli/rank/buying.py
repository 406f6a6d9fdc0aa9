"""A list of comparisons to buy: chosen together, a pair as often as it is worth it, a person never twice the same."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from adaptive.cli.understanding import counted

if TYPE_CHECKING:
    from adaptive.estimators import BradleyTerry

__all__ = ["Line", "buying", "grouped", "in_words", "often"]

PAIRS = 30  # the best alone, of which a list is chosen
TIMES = 4  # that a pair may be listed at first; twice as often where it is, until no pair would be listed more often
PEOPLE = 30  # of each pair, the best
SHOWN = 5  # pairs in the terminal
NAMED = 4  # people of each


class Line(NamedTuple):
    """A pair on the list.

    Attributes
    ----------
    left, right : str
    times : int
    judges : list of str
        Who is to be asked; empty where it does not matter.
    gain : float
        Nats that its comparisons teach about what is asked for, each beside those before it.
    """

    left: str
    right: str
    times: int
    judges: list[str]
    gain: float


def buying(
    model: BradleyTerry, names: Sequence[str], judges: Sequence[str] | None, n: int, *, target: int | str,
    known: Sequence[Sequence[str]] = (), pending: Sequence[tuple[str, ...]] = (), closed: Collection[Any] = (),
    once: bool = False, cost: Mapping[str, float] | None = None, seed: int = 0,
) -> list[tuple[tuple[str, ...], float]]:  # fmt: skip
    """Return up to n comparisons that together teach most, with the nats of each.

    Parameters
    ----------
    model : BradleyTerry
    names : list of str
    judges : list of str, optional
        Who may be asked; none of them is asked about two items that they have compared. Where the model learns no
        skills they are given out evenly.
    n : int
    target : int or str
        As ``BradleyTerry.predictive`` takes it.
    known : list of (left, right, judge)
        Comparisons of judges so far.
    pending : list of comparisons
        Asked already, and not answered.
    closed : set of comparisons
        Not to be asked, as they stand.
    once : bool
        No comparison twice.
    cost : mapping from judges to prices, optional
        Then it is the gain for each unit of its price that counts.
    seed : int
    """
    seen = Counter(frozenset(row[:2]) for row in (*known, *pending))
    told = {(frozenset(row[:2]), *row[2:]) for row in (*known, *pending) if len(row) > 2}
    told |= set() if once else {(frozenset(row[:2]), *row[2:]) for row in closed}

    people = _most_skilled(model, judges)
    alike = judges is not None and not model.judges

    def turned(pair: Sequence[str]) -> tuple[str, str]:  # either is first equally often
        left, right = sorted(pair)
        return (left, right) if seen[frozenset(pair)] % 2 == 0 else (right, left)

    def asked(pair: tuple[str, ...]) -> list[tuple[str, ...]]:
        every = [(*pair, *who) for who in people]
        return [one for one in every if one not in closed and (frozenset(pair), *one[2:]) not in told]

    ways = [
        way for pair in itertools.combinations(names, 2)
        for way in (itertools.permutations(pair) if once else [turned(pair)])
    ]  # fmt: skip
    open_ones = {way: every for way in ways if (every := asked(way))}
    if not open_ones:
        return []
    how: dict[str, Any] = {"target": target, "random_state": seed}
    best = list(open_ones)
    if len(best) > PAIRS:
        alone = [one[0] for one in open_ones.values()]
        best = [best[position] for position in model.select(alone, PAIRS, joint=False, **how).tolist()]
    how["pending"] = list(pending) or None
    # of whose answers count alike anybody stands for all who may be asked
    short = [one for way in best for one in open_ones[way][: 1 if alike else PEOPLE]]
    most = {one: 1 if once or (judges and not alike) else len(open_ones[one[:2]]) if alike else n for one in short}
    times = {one: min(TIMES, most[one]) for one in short}
    while True:
        listed = [one for one in short for _ in range(times[one])]
        if cost:
            how["cost"] = [cost[one[2]] for one in listed]
        places, gains = model.select(listed, min(n, len(listed)), return_scores=True, **how)
        chosen = [listed[place] for place in places.tolist()]
        often = Counter(chosen)
        more = [one for one in short if often[one] == times[one] < most[one]]
        if not more:
            break
        times |= {one: min(2 * times[one], most[one]) for one in more}
    worth = list(zip(chosen, gains.tolist(), strict=True))
    if alike:
        worth = _given_out(worth, open_ones, Counter(row[2] for row in pending))
    found: list[tuple[tuple[str, ...], float]] = []
    for one, gain in worth:
        found.append((one if once else (*turned(one[:2]), *one[2:]), gain))
        seen[frozenset(one[:2])] += 1
    return found


def _given_out(
    worth: Sequence[tuple[tuple[str, ...], float]], open_ones: Mapping[Any, Sequence[tuple[str, ...]]],
    load: Counter[str],
) -> list[tuple[tuple[str, ...], float]]:  # fmt: skip
    """Return the comparisons, each by whoever has the fewest so far; those that nobody may be asked are left out."""
    found: list[tuple[tuple[str, ...], float]] = []
    given: set[tuple[frozenset[str], str]] = set()
    for one, gain in worth:
        pair = frozenset(one[:2])
        free = [each for each in open_ones[one[:2]] if (pair, each[2]) not in given]
        if free:
            chosen = min(free, key=lambda each: load[each[2]])
            given.add((pair, chosen[2]))
            load[chosen[2]] += 1
            found.append((chosen, gain))
    return found


def _most_skilled(model: BradleyTerry, judges: Sequence[str] | None) -> list[tuple[str, ...]]:
    """Judges as the ends of comparisons, the most skilled first; of nobody in particular an empty end."""
    if judges is None:
        return [()]
    skills = {name: one.skill for name, one in model.judges_.items()} if hasattr(model, "belief_") else {}
    return [(judge,) for judge in sorted(judges, key=lambda one: -skills.get(one, 0.0))]


def grouped(comparisons: Sequence[tuple[tuple[str, ...], float]]) -> list[Line]:
    """Return a line for each pair, in the order of their gains.

    Examples
    --------
    >>> grouped([(("a", "b"), 0.2), (("c", "a"), 0.15), (("b", "a"), 0.1)])[0]
    Line(left='a', right='b', times=2, judges=[], gain=0.3)
    """
    lines: dict[frozenset[str], Line] = {}
    for one, gain in comparisons:
        pair = frozenset(one[:2])
        before = lines.get(pair, Line(one[0], one[1], 0, [], 0.0))
        lines[pair] = before._replace(
            times=before.times + 1, judges=[*before.judges, *one[2:]], gain=round(before.gain + gain, 12)
        )
    return sorted(lines.values(), key=lambda line: -line.gain)


def in_words(lines: Sequence[Line], file: str = "next.csv") -> str:
    """Return the list for the terminal.

    Examples
    --------
    >>> in_words([Line("a", "b", 2, [], 0.3), Line("a", "c", 1, ["x"], 0.1)])
    'a or b, twice; a or c, once (ask x)'
    """
    texts = [
        f"{line.left} or {line.right}, {often(line.times)}" + (f" (ask {_few(line.judges)})" if line.judges else "")
        for line in lines[:SHOWN]
    ]
    more = len(lines) - SHOWN
    return "; ".join(texts) + (f"; {counted(more, 'more pair')} in {file}" if more > 0 else "")


def _few(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def often(times: int) -> str:
    """Return a number of times as a word.

    Examples
    --------
    >>> [often(times) for times in (1, 2, 3)]
    ['once', 'twice', '3 times']
    """
    return {1: "once", 2: "twice"}.get(times, f"{times} times")
