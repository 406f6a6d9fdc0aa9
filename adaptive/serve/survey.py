"""A test that many people take: each session is a design of its own, over one bank that nobody changes.

design(session) = SequentialDesign(respondent, items, stop=rule, random_state=f(seed, session), log=store.log(session))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.loop import SequentialDesign
from adaptive.loop.log.storage import LogBehind, LogError
from adaptive.pool import PoolExhausted
from adaptive.serve.designs import Designs
from adaptive.serve.pages import SKIP, Estimate, Place, choice, texts
from adaptive.serve.panel import Panel
from adaptive.serve.refusals import Refused
from adaptive.serve.rendering import Picture, Shown

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.respondent import Respondent
    from adaptive.loop import EventLog, StoppingRule
    from adaptive.serve.stores.any_store import AnyStore

__all__ = ["Survey", "SurveyDesk", "SurveyItem"]

TRIES = 5  # of an act on a session that another process serves as well


@dataclass(frozen=True)
class SurveyItem:
    """A question.

    Attributes
    ----------
    id : label
        What the bank calls it.
    text : str
    answers : sequence of str
        The words of the answers.
    outcomes : sequence
        What each counts as.

    Examples
    --------
    >>> SurveyItem("q1", "Do you sleep well?", ["no", "yes"], [0, 1]).answers
    ['no', 'yes']
    """

    id: Any
    text: str
    answers: Sequence[str]
    outcomes: Sequence[Any]


@dataclass(frozen=True)
class Survey:
    """A test to serve.

    Attributes
    ----------
    title : str
    items : sequence of SurveyItem
    person : Respondent
        Before the first question.
    stop : StoppingRule or None
    seed : int, default 0
        Of ties and draws; each session has a seed of its own that follows from it.
    lang : str, default "en"
        Of the page.
    texts : dict, optional
        See `adaptive.serve.pages.TEXTS`.
    show_result : bool, default True
        At the end, the estimate or only thanks.
    may_skip : bool, default True
    identity : str
        Changes when what is asked does; a store goes on with the same only.
    panel : Panel, optional
        That people come from; then its links alone let in.

    Examples
    --------
    >>> from adaptive import Questionnaire
    >>> from adaptive.loop import MaxSteps
    >>> bank = Questionnaire().fit([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    >>> items = [SurveyItem(k, text, ["no", "yes"], [0.0, 1.0]) for k, text in enumerate(["Tired?", "Awake?"])]
    >>> survey = Survey("Two questions", items, bank.respondent(), MaxSteps(1))
    >>> len(survey.items), survey.show_result
    (2, True)
    """

    title: str
    items: Sequence[SurveyItem]
    person: Respondent
    stop: StoppingRule | None = None
    seed: int = 0
    lang: str = "en"
    texts: dict[str, str] = field(default_factory=dict)
    show_result: bool = True
    may_skip: bool = True
    identity: str = ""
    panel: Panel | None = None

    def seed_of(self, session: int) -> int:
        """Return the seed of a session's design."""
        return int(np.random.SeedSequence([self.seed, session]).generate_state(1)[0])

    def design(self, session: int, log: EventLog, *, begun: bool = False) -> SequentialDesign:
        """Return a session's design, new or as its log says."""
        ids = [item.id for item in self.items]
        if begun:
            return SequentialDesign.load(log, self.person, ids, stop=self.stop)
        return SequentialDesign(self.person, ids, stop=self.stop, random_state=self.seed_of(session), log=log)


class SurveyDesk:
    """Answers of many people to one test, each in a design of their own.

    Parameters
    ----------
    survey : Survey
    store : AnyStore
    most : int, default 200
        Designs in memory.
    """

    kind = "survey"

    def __init__(self, survey: Survey, store: AnyStore, *, most: int = 200) -> None:
        self.survey, self.store = survey, store
        self.title, self.lang, self.texts = survey.title, survey.lang, texts(survey.texts)
        self.panel, self.question, self.instructions = survey.panel, "", ""  # each item is one itself
        self._items = {item.id: item for item in survey.items}
        store.fact("kind", self.kind)
        store.fact("identity", survey.identity)
        store.fact("seed", str(survey.seed))
        self.designs = Designs(self._opened, most=most)

    def _opened(self, session: int) -> SequentialDesign:
        if not self.store.has_log(session):
            try:
                return self.survey.design(session, self.store.log(session))
            except LogError:  # another process began it just now
                if not self.store.has_log(session):
                    raise
        return self.survey.design(session, self.store.log(session), begun=True)

    @contextmanager
    def _design(self, session: int) -> Iterator[SequentialDesign]:
        """Hold a session's design, as the log has it: another process may have served it since."""
        with self.designs.use(session) as design:
            design.follow()
            yield design

    def _in_turn(self, session: int, act: Callable[[SequentialDesign], Any]) -> Any:
        """Act on a design; once more where another process has written to its log meanwhile."""
        for _ in range(TRIES):
            try:
                with self._design(session) as design:
                    return act(design)
            except LogBehind:
                pass
        raise Refused(503, "This session is in use elsewhere; try again.")

    def place(self, session: int) -> Place:
        return self._in_turn(session, self._place)  # type: ignore[no-any-return]

    def _place(self, design: SequentialDesign) -> Place:
        done = None if design.stop is None else design.stop.fraction_done(design)  # type: ignore[attr-defined]
        common: dict[str, Any] = {"count": len(design.history_["step"]), "last": _last(design)}
        query = None
        if design.stop is None or not design.finished:
            try:
                query = design.ask()
            except PoolExhausted:
                query = None
        if query is None:
            return Place(estimates=self._estimates(design), done=1.0, **common)
        item = self._items[query.labels[0]]
        return Place(
            number=_number(design, query.id), shown=Shown.of_text(item.text), answers=list(item.answers),
            done=done if done is not None else len(design.history_["step"]) / len(self._items),
            may_skip=self.survey.may_skip, **common,
        )  # fmt: skip

    def _estimates(self, design: SequentialDesign) -> list[Estimate]:
        if not self.survey.show_result:
            return []
        taken = design.estimator_
        rows = zip(taken.traits, taken.mean.tolist(), taken.interval(0.95).tolist(), strict=True)
        return [Estimate(str(trait), mean, low, high) for trait, mean, (low, high) in rows]

    def answer(self, session: int, number: str, given: str) -> None:
        self._in_turn(session, lambda design: self._answer(design, number, given))

    def _answer(self, design: SequentialDesign, number: str, given: str) -> None:
        waiting = design.pending
        if not waiting or _number(design, waiting[0].id) != number:
            raise Refused(409, self.texts["stale"])
        item = self._items[waiting[0].labels[0]]
        if given == SKIP and self.survey.may_skip:
            design.skip(waiting[0])
            return
        chosen = choice(given, len(item.answers))
        if chosen < 0:
            raise Refused(422, self.texts["missing"])
        design.tell(waiting[0], [item.outcomes[chosen]])

    def retract(self, session: int, last: str) -> None:
        self._in_turn(session, lambda design: self._retract(design, last))

    def _retract(self, design: SequentialDesign, last: str) -> None:
        if not last or _last(design) != last:
            raise Refused(409, self.texts["stale"])
        design.retract(design.history_["position"][-1])

    def given(self, session: int) -> list[tuple[Shown, str]]:
        with self._design(session) as design:
            history = design.history_
        said = []
        for label, outcome in zip(history["label"], history["outcome"], strict=True):
            item = self._items[label]
            said.append((Shown.of_text(item.text), item.answers[list(item.outcomes).index(outcome)]))
        return said

    def picture(self, session: int, position: int) -> Picture | None:
        return None

    def numbers(self) -> dict[str, Any] | None:
        return None

    def close(self) -> None:
        self.designs.forget_all()


def _number(design: SequentialDesign, query: int) -> str:
    """Names a question, anew whenever an answer to it was taken back: an old form is stale then."""
    return f"{query}.{design.retracted(query)}"


def _last(design: SequentialDesign) -> str:
    """Names the last answer: how many there are, and which events took some back."""
    n = len(design.history_["step"])
    return f"{n}.{design.retracted()}" if n else ""
