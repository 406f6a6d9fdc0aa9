"""The pages: a GET shows where one is, a POST changes one thing and leads back there.

GET  /             start, question or end          POST /start     begin (or take up an invitation)
GET  /i/SECRET     an invitation                   POST /answer    answer or skip the open question
GET  /answers      one's answers, to read          POST /retract   take back the last one
GET  /numbers      how the labelling goes          GET  /picture/N a picture that one is asked about

Of a test there are POST /api/session and POST /api/answer, too: `adaptive.serve.interface`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from adaptive.loop.log.storage import LogError
from adaptive.serve.gate.admission import UNKNOWN, Admission
from adaptive.serve.gate.guard import Guard
from adaptive.serve.gate.signing import Signer
from adaptive.serve.interface import ROOM, Interface
from adaptive.serve.labelling import LabellingDesk, Pool
from adaptive.serve.pages import Place, bell, bell_x
from adaptive.serve.people import People, Person, Rate
from adaptive.serve.refusals import Refused
from adaptive.serve.rendering import readable
from adaptive.serve.stores.any_store import AnyStore
from adaptive.serve.stores.opening import open_store
from adaptive.serve.survey import Survey, SurveyDesk

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from adaptive.serve.pages import Desk

__all__ = ["LOOPBACK", "application"]

LOGGER = logging.getLogger("adaptive.serve")
HERE = Path(__file__).parent
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
THREADS = 4  # at once; what they do holds Python's lock for most of its time
SAME_FORM = 600.0  # seconds in which a start form begins one session, however often it is sent
YEAR = 365 * 24 * 3600


def application(
    source: Survey | Pool,
    store: AnyStore | str | os.PathLike[str],
    *,
    hosts: Collection[str] = LOOPBACK,
    invitations: bool = False,
    secure: bool = False,
    rate: float = 20.0,
) -> ASGIApp:
    """Return the ASGI application that asks people.

    Parameters
    ----------
    source : Survey or Pool
        A test that each takes alone, or a pool that all label together.
    store : AnyStore, path or str
        Where everything is kept; a path, or the address of a database, is opened (`open_store`), and closed when the
        server stops.
    hosts : collection of str, default the names of this machine for itself
        Names by which browsers may call; requests to others are refused.
    invitations : bool, default False
        Whether only those come in who have a link.
    secure : bool, default False
        Whether browsers reach the server by https only (through a proxy): cookies are sent no other way then.
    rate : float, default 20.0
        Requests per second that one session may make, for longer than a moment.

    Raises
    ------
    StoreError
        If the store cannot be opened, or holds answers to something else.

    Examples
    --------
    >>> import tempfile
    >>> from adaptive import Questionnaire
    >>> from adaptive.serve import Store, Survey, SurveyItem
    >>> bank = Questionnaire().fit([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    >>> items = [SurveyItem(k, text, ["no", "yes"], [0.0, 1.0]) for k, text in enumerate(["Tired?", "Awake?"])]
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     app = application(Survey("Two questions", items, bank.respondent()), store)
    >>> callable(app)  # what an ASGI server such as uvicorn runs
    True
    """
    opened = not isinstance(store, AnyStore)
    kept = store if isinstance(store, AnyStore) else open_store(store)
    try:
        desk: Desk = SurveyDesk(source, kept) if isinstance(source, Survey) else LabellingDesk(source, kept)
        pages = _Pages(desk, kept, invitations, secure, rate)
    except BaseException:
        if opened:
            kept.close()
        raise

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        desk.close()
        if opened:
            kept.close()

    handlers: dict[Any, Any] = {Refused: pages.refused, HTTPException: pages.missing, OSError: pages.fault,
                                LogError: pages.fault, Exception: pages.broken}  # fmt: skip
    origins = source.origins if isinstance(source, Survey) else ()
    return Guard(Starlette(routes=pages.routes(), exception_handlers=handlers, lifespan=lifespan), hosts, origins)


class _Pages:
    """Routes of the application; all that touches a design or the store is done in one of a few threads."""

    def __init__(self, desk: Desk, store: AnyStore, invitations: bool, secure: bool, rate: float) -> None:
        self.desk, self.invitations, self.secure = desk, invitations, secure
        key = store.key()
        self.people, self.signer = People(store), Signer(key)
        # cookies know no ports: two servers on one machine must not take each other's away
        self.cookie = f"adaptive_{hashlib.sha256(key).hexdigest()[:8]}"
        self.rate = Rate(rate, int(3 * rate))
        self.admission = Admission(desk, self.people, invitations, key)
        self.threads = CapacityLimiter(THREADS)
        self.templates = Jinja2Templates(directory=HERE / "templates")
        self.templates.env.finalize = lambda value: readable(value) if type(value) is str else value
        self.templates.env.globals.update(desk=desk, t=desk.texts, bell=bell, bell_x=bell_x)

    def routes(self) -> list[Any]:
        interface = Interface(
            self.desk, self.people, self.signer, self.admission, self.rate, self._work, self._address
        )  # fmt: skip
        return [
            *(interface.routes() if self.desk.kind == "survey" else ()),
            Route("/", self.here),
            Route("/start", self.start, methods=["POST"]),
            Route("/i/{secret}", self.invited),
            Route("/answer", self.answer, methods=["POST"]),
            Route("/retract", self.retract, methods=["POST"]),
            Route("/answers", self.answers),
            Route("/numbers", self.numbers),
            Route("/picture/{position:int}", self.picture),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ]

    # -- who it is ----------------------------------------------------------------------------------------------

    async def _work(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await to_thread.run_sync(function, *arguments, limiter=self.threads)

    def _address(self, request: Request) -> str:
        """The address that asks; behind a proxy what that one says in the last place, empty where it says nothing."""
        if self.secure:
            return request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
        return request.client.host if request.client else ""

    async def _person(self, request: Request) -> Person | None:
        """Who the cookie says it is; None without one."""
        cookie = request.cookies.get(self.cookie)
        if cookie is None:
            return None
        secret = self.signer.secret(cookie)
        person = self.people.known(secret) or await self._work(self.people.find, secret)
        if person is None:
            raise Refused(403, "This browser's cookie is not known here. Begin anew, or open your link again.")
        if not self.rate.allows(person.id):
            raise Refused(429, "Too many requests at once; please wait a moment.")
        return person

    async def _somebody(self, request: Request) -> Person:
        person = await self._person(request)
        if person is None:
            raise Refused(403, "There is no session in this browser. Begin first, or open your link again.")
        return person

    async def _form(self, request: Request, *names: str) -> list[str]:
        if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            raise Refused(415, "That form is not one of these pages.")
        try:
            found = await request.form(max_files=0, max_fields=10)
        except ClientDisconnect:
            raise Refused(400, "The form did not arrive whole; please send it again.") from None
        values = [found.getlist(name) for name in names]
        if any(len(value) > 1 for value in values):
            raise Refused(400, "The form gives one field twice.")
        return [str(value[0]) if value else "" for value in values]

    def _token(self, person: Person, place: str) -> str:
        return self.signer.token(person.id, place)

    def _place_of(self, token: str, person: Person, kind: str) -> str:
        place = self.signer.place(token, person.id)
        if place is None or not place.startswith(kind):
            raise Refused(403, "The form is not one of this session; nothing was changed.")
        return place.removeprefix(kind)

    # -- pages --------------------------------------------------------------------------------------------------

    async def here(self, request: Request) -> Response:
        person, panel = await self._person(request), self.desk.panel
        participant = None if panel is None else panel.participant_of(request.query_params)
        if person is not None and person.begun:
            if participant not in (None, person.participant):
                raise Refused(409, "This browser answers as another participant. Open the link in a private window.")
            return await self._where(request, person)
        if panel is not None:
            return self._start_page(request, self.desk.texts["panel"] if participant is None else "", "", participant)
        return self._start_page(request, self.desk.texts["invitation"] if self.invitations else "")

    def _start_page(self, request: Request, closed: str, secret: str = "", participant: str | None = None) -> Response:
        who = f"start {secret}" if participant is None else f"participant {participant}"
        token = self.signer.token(0, f"{who} {int(time.time())}.{secrets.token_hex(8)}")
        leave = "" if self.desk.panel is None else self.desk.panel.back(participant)
        content: dict[str, Any] = {"secret": secret, "participant": participant or "", "leave": leave}
        return self._page(request, "start.html", closed=closed, token=token, **content)

    async def _where(self, request: Request, person: Person, note: str = "", status: int = 200) -> Response:
        place: Place = await self._work(self.desk.place, person.id)
        back = self._token(person, f"back {place.last}") if place.last else ""
        token = self._token(person, f"answer {place.number}") if place.number else ""
        name = "question.html" if place.number else "end.html"
        panel = self.desk.panel
        leave = "" if panel is None or place.number else panel.back(person.participant)
        return self._page(request, name, status, place=place, token=token, back=back, note=note, leave=leave)

    async def invited(self, request: Request) -> Response:
        secret = request.path_params["secret"]
        person = await self._work(self.people.find, secret)
        if person is None:
            raise Refused(404, UNKNOWN)
        return self._start_page(request, "", secret)  # begins with the form: a look at the link is none

    async def start(self, request: Request) -> Response:
        token, secret, name, participant = await self._form(request, "token", "secret", "name", "participant")
        who = f"participant {participant}" if self.desk.panel is not None else f"start {secret}"
        place = self.signer.place(token, 0) or ""
        if not place.startswith(f"{who} "):
            raise Refused(403, "The form is not one of these pages; nothing was begun.")
        made = int(place.rpartition(" ")[2].partition(".")[0])
        again = token if abs(time.time() - made) < SAME_FORM else ""  # an old form is no way into a session
        known = request.cookies.get(self.cookie) if self.desk.panel is None and not secret else None
        if known is not None and await self._work(self.people.find, self.signer.secret(known)):
            return RedirectResponse("/", 303)
        begin = functools.partial(self.admission.begin, participant=participant, invitation=secret, name=name,
                                  form=again)  # fmt: skip
        secret = await self._work(begin, self._address(request))
        response = RedirectResponse("/", 303)
        response.set_cookie(
            self.cookie, self.signer.cookie(secret), max_age=YEAR, httponly=True, samesite="lax", secure=self.secure
        )
        return response

    async def answer(self, request: Request) -> Response:
        person = await self._somebody(request)
        token, given = await self._form(request, "token", "answer")
        number = self._place_of(token, person, "answer ")
        return await self._change(request, person, self.desk.answer, number, given)

    async def retract(self, request: Request) -> Response:
        person = await self._somebody(request)
        (token,) = await self._form(request, "token")
        return await self._change(request, person, self.desk.retract, self._place_of(token, person, "back "))

    async def _change(self, request: Request, person: Person, change: Callable[..., None], *what: str) -> Response:
        try:
            await self._work(change, person.id, *what)
        except Refused as refusal:
            return await self._where(request, person, refusal.message, refusal.status)
        return RedirectResponse("/", 303)

    async def answers(self, request: Request) -> Response:
        person = await self._somebody(request)
        return self._page(request, "answers.html", given=await self._work(self.desk.given, person.id))

    async def numbers(self, request: Request) -> Response:
        await self._somebody(request)
        numbers = await self._work(self.desk.numbers)
        if numbers is None:
            raise HTTPException(404)
        return self._page(request, "numbers.html", numbers=numbers)

    async def picture(self, request: Request) -> Response:
        person = await self._somebody(request)
        found = await self._work(self.desk.picture, person.id, request.path_params["position"])
        if found is None:
            raise Refused(404, "There is no such picture for this session.")
        return FileResponse(found.path, media_type=found.kind)

    def _page(self, request: Request, name: str, status: int = 200, **content: Any) -> Response:
        return self.templates.TemplateResponse(request, name, content, status_code=status)

    # -- what goes wrong ----------------------------------------------------------------------------------------

    def _error(self, request: Request, status: int, message: str) -> Response:
        if request.url.path.startswith(ROOM):
            return JSONResponse({"error": message}, status)
        return self._page(request, "error.html", status, message=message)

    async def refused(self, request: Request, refusal: Refused) -> Response:
        response = self._error(request, refusal.status, refusal.message)
        if refusal.status == 403 and self.cookie in request.cookies and "cookie" in refusal.message:
            response.delete_cookie(self.cookie)
        return response

    async def missing(self, request: Request, problem: HTTPException) -> Response:
        words = {404: "There is no such page.", 405: "The page does not do that."}
        message = words.get(problem.status_code, "The request was not understood.")
        return self._error(request, problem.status_code, message)

    async def fault(self, request: Request, problem: Exception) -> Response:
        LOGGER.error("%s %s: %s", request.method, request.url.path.split("/")[1], problem)
        kept = "Your last answer could not be kept. " if request.method == "POST" else "The store does not answer. "
        message = f"{kept}Nothing that was kept before is lost. Tell the person who sent you here, and try again later."
        return self._error(request, 503, message)

    async def broken(self, request: Request, problem: Exception) -> Response:
        return self._error(request, 500, "Something went wrong here; nothing that was kept is lost.")
