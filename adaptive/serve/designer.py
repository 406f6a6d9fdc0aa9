"""Choosing what is asked, off the path of those who answer: learn what the log says, and keep a few choices in stock.

    design.follow(log)                      every answer, in its order
    stock = design.proposal(n) + the rest   in the light of all that is open; the newest choices first

Of all processes on one store one chooses: who holds the lock. When it ends, another takes it over within a second, and
its design is what the log says.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

from adaptive.loop.log.plain_data import decode, encode
from adaptive.pool import PoolExhausted
from adaptive.serve.progress import SHARE, Progress, from_zero

if TYPE_CHECKING:
    from adaptive.loop import SequentialDesign
    from adaptive.serve.ledger import Ledger
    from adaptive.serve.stores.any_store import AnyStore

__all__ = ["Designer", "Stock"]

LOGGER = logging.getLogger("adaptive.serve")
MOST_AT_ONCE = 8  # chosen together
SLOW = 1.0  # seconds of a choice, twice: the next ones leave what is open out, and look at it no further
ALONE = 20  # so many
POLL = 0.1  # seconds until a look whether others have written
AGAIN = 1.0  # seconds until another attempt to lead
LOOKED = 60.0  # seconds for which a report is made more often after somebody has looked at one
UNASKED = 100  # of the time one part in so many goes into reports that nobody looks at: whether one may stop
FIRST = "progress"  # a fact of the store
REPORT, WANTED = -1, -2  # in the table of the stock: how it goes, and when somebody last looked


class Stock:
    """Choices of what is asked next, as the store has them.

    Parameters
    ----------
    store : AnyStore
    design : int

    Attributes
    ----------
    ANYBODY : str
        Whom the choices are for where they are not somebody's own.

    Examples
    --------
    >>> import tempfile
    >>> from adaptive.serve import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     Stock(store, 0).read()["items"]
    {}
    """

    ANYBODY = ""
    NOTHING: ClassVar[dict[str, Any]] = {"items": {}, "finished": False, "done": None, "n_events": 0}

    def __init__(self, store: AnyStore, design: int) -> None:
        self.store, self.design = store, design

    def read(self) -> dict[str, Any]:
        """Return items (lists, by whom they are for), finished, done (a share or None), n_events that were learnt."""
        found = self.store.rows("SELECT content FROM stock WHERE design = ?", (self.design,))
        return decode(json.loads(found[0][0])) if found else {**self.NOTHING}

    def write(self, content: dict[str, Any]) -> None:
        """Put other choices in the place of those."""
        with self.store.transaction() as run:
            run(
                "INSERT INTO stock VALUES (?, ?) ON CONFLICT (design) DO UPDATE SET content = excluded.content",
                (self.design, json.dumps(encode(content))),
            )


class Designer:
    """The design of a pool, and what it would ask.

    Parameters
    ----------
    begin : callable() -> SequentialDesign
        Replays the log.
    ledger : Ledger
    store : AnyStore
    number : int
        Of the design in the store.
    ahead : int
        Choices in stock for each who is there.
    present : callable() -> collection of int
        Sessions that are there; each gets choices of their own where candidates are somebody's.
    own : collection of int
        Who may be asked where candidates are a row and a person; empty: anybody.
    learnt : callable(design)
        Called after each look that found something.
    keeps : bool, default False
        Whether ``begin`` returns the one design that there is, whose log is its own: it is never closed here.
    """

    def __init__(
        self, begin: Callable[[], SequentialDesign], ledger: Ledger, store: AnyStore, number: int, *, ahead: int,
        present: Callable[[], Collection[int]], own: Collection[int] = (),
        learnt: Callable[[SequentialDesign], None] = lambda design: None, keeps: bool = False,
    ) -> None:  # fmt: skip
        self._begin, self.ledger, self.store = begin, ledger, store
        self.stock, self._report, self._wanted = Stock(store, number), Stock(store, REPORT), Stock(store, WANTED)
        self._reported: dict[str, Any] | None = None
        self._keeps, self._unsure, self._said = keeps, False, ""
        self.ahead, self._present, self._own, self._learnt = ahead, present, own, learnt
        self.progress = Progress()
        self._first: float | None = None  # share done before the first answer
        self._guard = threading.RLock()  # of the design
        self._design: SequentialDesign | None = None
        self._slow, self._alone = False, 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def design(self) -> SequentialDesign:
        """Return the design, having learnt what the log says; for one caller at a time."""
        if self._design is None:
            self._design = self._begin()
        # after a fault the design reads its log again, which nobody may write meanwhile where it is one object
        with self.ledger.guard if self._keeps and self._unsure else nullcontext():
            found = self._design.follow(self.ledger.fetch)
        self._unsure = False
        if found:
            self._learnt(self._design)
        return self._design

    def forget(self) -> None:
        """Close the design: it comes back by replay."""
        with self._guard:
            if self._design is not None and not self._keeps:
                self._design.close()
            self._design, self._unsure = None, True

    # -- choosing -----------------------------------------------------------------------------------------------

    def now(self, who: int, exclude: Sequence[int]) -> list[dict[str, Any]]:
        """Return the best candidate for somebody, chosen now; none where nothing is left."""
        with self._guard:
            design = self.design()
            return [] if design.finished else self._chosen(design, 1, who, exclude, alone=True)

    def step(self) -> bool:
        """Learn what was said, and choose anew if anything has changed; return whether it had."""
        with self._guard:
            with self.ledger.reading():
                known = len(self.ledger.events)
            design = self.design()
            before = self.stock.read()
            if design.finished:
                content = {"items": {}, "finished": True, "n_events": known}
            else:
                content = {"items": self._items(design, before, known), "finished": False, "n_events": known}
            content["done"] = self._done(design)
            if content != before:
                self.stock.write(content)
            return content != before

    def _done(self, design: SequentialDesign) -> float | None:
        """Return how far the rule is from where it was before the first answer; None without one."""
        rule: Any = getattr(design.stop, "fraction_done", None)
        if rule is None:
            return None
        fraction = float(rule(design))
        if self._first is None:
            kept = self.store.facts().get(FIRST)
            if kept is None:
                kept = repr(min(fraction, 0.99) if design.iteration == 0 else 0.0)
                self.store.set_fact(FIRST, kept)
            self._first = float(kept)
        return from_zero(fraction, self._first)

    def _items(self, design: SequentialDesign, before: dict[str, Any], known: int) -> dict[str, list[dict[str, Any]]]:
        """Return what is to be asked next: chosen now where anything has changed, with what is left of before."""
        with self.ledger.reading():
            free, waiting, asked = self.ledger.free.copy(), len(self.ledger.waiting), self.ledger.touched
        there = self._present()
        people: list[int | None] = [one for one in there if one in self._own] if self._own else [None]
        wanted = self.ahead * (1 if self._own else max(1, len(there)))
        items = {}
        for who in people:
            name = Stock.ANYBODY if who is None else str(who)
            left = [one for one in before["items"].get(name, []) if free[(p := one["positions"][0])] and p not in asked]
            if before["n_events"] != known or name not in before["items"]:
                n = min(wanted, max(2, waiting), MOST_AT_ONCE)
                new = self._chosen(design, n, who, sorted(asked) if design.repeat else ())
                places = {one["positions"][0] for one in new}
                left = new + [one for one in left if one["positions"][0] not in places]
            items[name] = left[: max(wanted, 1)]
        return items

    def _chosen(
        self, design: SequentialDesign, n: int, who: int | None, exclude: Sequence[int], *, alone: bool = False
    ) -> list[dict[str, Any]]:
        """Return the best candidates, each as an event of its own; fewer than ``n`` where fewer are left."""
        begun, joint = time.monotonic(), None if alone or self._alone == 0 else False
        try:
            event = design.proposal(n, worker=who, exclude=exclude, joint=joint)
        except PoolExhausted:
            return []
        except ValueError:
            if n == 1:
                raise
            return self._chosen(design, 1, who, exclude, alone=alone)  # n is more than what is left
        slow, self._slow = self._slow, time.monotonic() - begun > SLOW
        # the first choice of all compiles, so that one which is slow says little
        self._alone = ALONE if slow and self._slow else max(0, self._alone - 1)
        drawn, n = event.get("drawn", 0), len(event["positions"])
        how: dict[str, Any] = {key: event[key] for key in ("initial", "joint") if key in event} | {"n": 1}
        found = []
        for k in range(n):
            one = {key: [event[key][k]] for key in ("positions", "labels", "scores", "costs")}
            found.append(one | how | ({"drawn": int(k >= n - drawn)} if "drawn" in event else {}))
        return found

    # -- beside the pages ---------------------------------------------------------------------------------------

    def start(self) -> None:
        """Choose from now on in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="designer", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                if self.store.lead():
                    self.ledger.changed.clear()
                    self.step()
                    self._make_report()
                    self.ledger.changed.wait(POLL)
                else:
                    self.forget()
                    self._stop.wait(AGAIN)
            except Exception as problem:  # the store is away, say: whoever answers goes on meanwhile
                said = f"{type(problem).__name__}: {problem}"
                if said != self._said:  # once, however long it lasts
                    LOGGER.warning("rows are drawn at random until choosing works again (%s)", said)
                self._said = said
                self.forget()
                self._stop.wait(AGAIN)

    def stop(self) -> None:
        """End the thread; a choice that is under way is waited for."""
        self._stop.set()
        self.ledger.changed.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    # -- how it goes --------------------------------------------------------------------------------------------

    def report(self) -> dict[str, Any]:
        """Return the words and the curve of `Progress`: made where one chooses, soon after somebody has looked."""
        if self._thread is None:
            with self._guard:
                return self.progress.of(self.design())
        if time.time() - self._wanted.read().get("at", 0.0) > LOOKED / 10:
            self._wanted.write({"at": time.time()})
        self.ledger.changed.set()
        for _ in range(20):  # the first time; a second later there is one
            found = self._report.read()
            if "words" in found:
                return found
            time.sleep(POLL / 2)
        return dict(Progress.NOTHING)

    def may_stop(self) -> bool:
        """Return whether the last report said so; nothing is made."""
        return bool(self._report.read().get("may_stop", False))

    def _make_report(self) -> None:
        looked = time.time() - self._wanted.read().get("at", 0.0) < LOOKED
        with self._guard:
            report = self.progress.of(self.design(), SHARE if looked else UNASKED)
        if report != self._reported:
            self._report.write(report)
            self._reported = report
