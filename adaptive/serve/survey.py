"""A test that many people take: each session is a design of its own, over one bank that nobody changes.

design(session) = SequentialDesign(respondent, items, stop=rule, random_state=f(seed, session), log=store.log(session))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.questionnaires.pools import ItemRules
from adaptive.loop import EventLog, SequentialDesign
from adaptive.loop.log.storage import LogBehind, LogError
from adaptive.pool import PoolExhausted
from adaptive.serve.attention import Attention, AttentionItems
from adaptive.serve.designs import Designs
from adaptive.serve.exposure import Exposure
from adaptive.serve.pages import SKIP, Estimate, Place, choice, texts
from adaptive.serve.panel import Panel
from adaptive.serve.progress import from_zero
from adaptive.serve.refusals import Refused
from adaptive.serve.rendering import Picture, Shown

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.respondent import Respondent
    from adaptive.loop import StoppingRule
    from adaptive.loop.query import Query
    from adaptive.serve.stores.any_store import AnyStore

__all__ = ["Survey", "SurveyDesk", "SurveyItem"]

_ATTENTION = "attention "  # begins the number of an attention item
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?")
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
    show_result : bool, default False
        At the end, the estimate or only thanks.
    normed : bool, default False
        Whether traits count in deviations of the people on whom the items were calibrated: a result is then said as a
        place among these.
    may_skip : bool, default True
    one_tap : bool, default False
        Whether a tap on an answer sends it.
    identity : str
        Changes when what is asked does; a store goes on with the same only.
    panel : Panel, optional
        That people come from; then its links alone let in.
    origins : sequence of str, default ()
        Other sites whose pages may use the JSON interface, such as "https://lab.example.org".
    rules : ItemRules, optional
        What comes first, shares of contents, and the largest share of the people who are asked an item.
    attention : sequence of Attention, default ()
        Questions with a right answer, in between.

    Raises
    ------
    ValueError
        If an origin is no site.

    Examples
    --------
    >>> from adaptive import Questionnaire
    >>> from adaptive.loop import MaxSteps
    >>> bank = Questionnaire().fit([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    >>> items = [SurveyItem(k, text, ["no", "yes"], [0.0, 1.0]) for k, text in enumerate(["Tired?", "Awake?"])]
    >>> survey = Survey("Two questions", items, bank.respondent(), MaxSteps(1))
    >>> len(survey.items), survey.show_result
    (2, False)
    """

    title: str
    items: Sequence[SurveyItem]
    person: Respondent
    stop: StoppingRule | None = None
    seed: int = 0
    lang: str = "en"
    texts: dict[str, str] = field(default_factory=dict)
    show_result: bool = False
    normed: bool = False
    may_skip: bool = True
    one_tap: bool = False
    identity: str = ""
    panel: Panel | None = None
    origins: Sequence[str] = ()
    rules: ItemRules | None = None
    attention: Sequence[Attention] = ()

    def __post_init__(self) -> None:
        for one in self.origins:
            if not isinstance(one, str) or not _ORIGIN.fullmatch(one):
                raise ValueError(f'origins must be sites such as "https://lab.example.org", got {one!r}.')

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
        self.one_tap = survey.one_tap
        self._items = {item.id: item for item in survey.items}
        store.fact("kind", self.kind)
        store.fact("identity", survey.identity)
        store.fact("seed", str(survey.seed))
        self.designs = Designs(self._opened, most=most)
        fresh = survey.design(0, EventLog())
        self._first = 0.0 if survey.stop is None else min(0.99, survey.stop.fraction_done(fresh))
        self.attention = AttentionItems(survey.attention, store, 0 if self.panel is None else self.panel.screen_out)
        self.rules = survey.rules or ItemRules([item.id for item in survey.items])
        self.exposure = None if self.rules.exposure is None else Exposure(store)

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
        return self._in_turn(session, lambda design: self._place(design, session))  # type: ignore[no-any-return]

    def _place(self, design: SequentialDesign, session: int) -> Place:
        count = len(design.history_["step"])
        if self.attention.over(session):
            return Place(count=count, done=1.0, screened=True)
        done = None if design.stop is None else design.stop.fraction_done(design)  # type: ignore[attr-defined]
        done = from_zero(done, self._first) if done is not None else count / len(self._items)
        common: dict[str, Any] = {"count": count, "last": _last(design), "done": done}
        finished = design.stop is not None and design.finished
        due = None if finished else self.attention.due(session, count)
        if due is not None:
            said = self.attention.items[due]
            return Place(
                number=f"{_ATTENTION}{due}", shown=Shown.of_text(said.text), answers=list(said.answers),
                may_skip=False, **common,
            )  # fmt: skip
        query = None if finished else self._ask(design, session)
        if query is None:
            return Place(estimates=self._estimates(design), **common | {"done": 1.0})
        item = self._items[query.labels[0]]
        return Place(
            number=_number(design, query.id), shown=Shown.of_text(item.text), answers=list(item.answers),
            may_skip=self.survey.may_skip, **common,
        )  # fmt: skip

    def _ask(self, design: SequentialDesign, session: int) -> Query | None:
        """The question that is open, or the next one that the rules allow."""
        barred: list[int] = []
        if self.rules.any and not design.pending:
            counts, people = self.exposure.of_others(session) if self.exposure else ({}, 0)
            ids = self.rules.items
            asked = [*design.history_["label"], *(ids[k] for k in design.excluded())]
            barred = self.rules.barred(asked, {ids[k]: n for k, n in counts.items()}, people)
        try:
            query = design.ask(exclude=barred)
        except PoolExhausted:
            return None
        if self.exposure:
            self.exposure.count(session, int(query.positions[0]))
        return query

    def _estimates(self, design: SequentialDesign) -> list[Estimate]:
        if not self.survey.show_result:
            return []
        taken = design.estimator_
        rows = zip(taken.traits, taken.mean.tolist(), taken.interval(0.95).tolist(), strict=True)
        return [Estimate(str(trait), mean, low, high, self.survey.normed) for trait, mean, (low, high) in rows]

    def answer(self, session: int, number: str, given: str) -> None:
        self._in_turn(session, lambda design: self._answer(design, session, number, given))

    def _answer(self, design: SequentialDesign, session: int, number: str, given: str) -> None:
        if self.attention.items and self._attended(design, session, number, given):
            return
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

    def _attended(self, design: SequentialDesign, session: int, number: str, given: str) -> bool:
        """Keep an answer to the attention item that is open; False where it is about another question."""
        due = self.attention.due(session, len(design.history_["step"]))
        if self.attention.over(session) or (number.startswith(_ATTENTION) and number != f"{_ATTENTION}{due}"):
            raise Refused(409, self.texts["stale"])
        if due is None or number != f"{_ATTENTION}{due}":
            return False
        chosen = choice(given, len(self.attention.items[due].answers))
        if chosen < 0:
            raise Refused(422, self.texts["missing"])
        self.attention.keep(session, due, chosen)
        return True

    def retract(self, session: int, last: str) -> None:
        self._in_turn(session, lambda design: self._retract(design, session, last))

    def _retract(self, design: SequentialDesign, session: int, last: str) -> None:
        if not last or _last(design) != last or self.attention.over(session):
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

    def heard(self, before: float) -> set[int]:
        found = self.store.rows(
            "SELECT id FROM sessions WHERE begun < ? AND EXISTS (SELECT 1 FROM events WHERE design = sessions.id AND "
            "number = 2)",  # 0 begins the log, 1 is the first question
            (before,),
        )
        return {session for (session,) in found} | self.attention.sessions()

    def close(self) -> None:
        self.designs.forget_all()


def _number(design: SequentialDesign, query: int) -> str:
    """Names a question, anew whenever an answer to it was taken back: an old form is stale then."""
    return f"{query}.{design.retracted(query)}"


def _last(design: SequentialDesign) -> str:
    """Names the last answer: how many there are, and which events took some back."""
    n = len(design.history_["step"])
    return f"{n}.{design.retracted()}" if n else ""
