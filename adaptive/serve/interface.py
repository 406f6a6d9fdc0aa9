"""A test for pages of one's own, in JSON: another site's page asks, this server chooses and keeps.

POST /api/session  {}                                            begin; with {"participant": ...}, {"invitation": ...}
                   {"session": ...}                              or where a session is
POST /api/answer   {"session": ..., "question": ..., "answer": 0}  the answer's place in the list, or "skip"

Both reply with the session's place: {"session", "question": {"id", "text", "answers", "may_skip"} or null, "answered",
"progress", "done"}; at the end "estimates" where they are shown, "screened", and "leave", the panel's address.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adaptive.serve.refusals import Refused

if TYPE_CHECKING:
    from adaptive.serve.gate.admission import Admission
    from adaptive.serve.gate.signing import Signer
    from adaptive.serve.pages import Desk, Place
    from adaptive.serve.people import People, Person, Rate

__all__ = ["ROOM", "Interface"]

ROOM = "/api/"
STRANGE = "The request must be an object in JSON, of texts and whole numbers."


class Interface:
    """The two routes.

    Parameters
    ----------
    desk : Desk
    people : People
    signer : Signer
        A session is named by what its cookie would hold.
    admission : Admission
    rate : Rate
        Of requests of one session.
    work : callable(function, *arguments) -> awaitable
        Runs what touches the store in a thread.
    address_of : callable(request) -> str
    """

    def __init__(
        self, desk: Desk, people: People, signer: Signer, admission: Admission, rate: Rate,
        work: Callable[..., Awaitable[Any]], address_of: Callable[[Request], str],
    ) -> None:  # fmt: skip
        self.desk, self.people, self.signer, self.admission, self.rate = desk, people, signer, admission, rate
        self._work, self._address_of = work, address_of

    def routes(self) -> list[Route]:
        return [
            Route(f"{ROOM}session", self.session, methods=["POST"]),
            Route(f"{ROOM}answer", self.answer, methods=["POST"]),
        ]

    async def session(self, request: Request) -> Response:
        """Begin, or say where a session is."""
        said = await _said(request, "session", "participant", "invitation")
        token = said.get("session")
        if token is None:
            secret = await self._work(self._begin, self._address_of(request), said)
            token = self.signer.cookie(secret)
        return await self._where(token, await self._person(token))

    def _begin(self, address: str, said: dict[str, Any]) -> str:
        panel, participant = self.desk.panel, said.get("participant", "")
        if panel is not None and participant:
            participant = panel.participant_of({panel.participant: participant}) or ""
        return self.admission.begin(address, participant=participant, invitation=said.get("invitation", ""))

    async def answer(self, request: Request) -> Response:
        """Keep an answer; reply with what comes next."""
        said = await _said(request, "session", "question", "answer")
        if said.keys() != {"session", "question", "answer"}:
            raise Refused(422, "An answer needs its session, its question and what was answered.")
        token, person = said["session"], await self._person(said["session"])
        try:
            await self._work(self.desk.answer, person.id, said["question"], str(said["answer"]))
        except Refused as refusal:
            return await self._where(token, person, refusal.message, refusal.status)
        return await self._where(token, person)

    async def _person(self, token: str) -> Person:
        secret = self.signer.secret(token)
        person = self.people.known(secret) or await self._work(self.people.find, secret)
        if person is None or not person.begun:
            raise Refused(403, "The session is not known here.")
        if not self.rate.allows(person.id):
            raise Refused(429, "Too many requests at once; please wait a moment.")
        return person

    async def _where(self, token: str, person: Person, error: str = "", status: int = 200) -> Response:
        place: Place = await self._work(self.desk.place, person.id)
        question = {"id": place.number, "text": place.shown.text if place.shown else "", "answers": place.answers,
                    "may_skip": place.may_skip}  # fmt: skip
        reply: dict[str, Any] = {"session": token, "question": question if place.number else None}
        reply |= {"answered": place.count, "progress": place.done, "done": not place.number}
        if not place.number:
            panel = self.desk.panel
            reply["estimates"] = [
                {"trait": one.trait, "mean": one.mean, "low": one.low, "high": one.high} for one in place.estimates
            ]
            reply["screened"] = place.screened
            reply["leave"] = "" if panel is None else panel.back(person.participant)
        return JSONResponse(reply | ({"error": error} if error else {}), status)


async def _said(request: Request, *names: str) -> dict[str, Any]:
    """The body, as far as it is what is known here."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise Refused(415, STRANGE)
    try:
        said = json.loads(await request.body())
    except (ValueError, RecursionError, ClientDisconnect):
        raise Refused(400, STRANGE) from None
    if not isinstance(said, dict) or not set(said) <= set(names):
        raise Refused(422, f"The request must be a JSON object, with no fields but {', '.join(names)}.")
    for name, value in said.items():
        if not (_is_text(value) or (name == "answer" and type(value) is int)):
            raise Refused(422, STRANGE)
    return said


def _is_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(value.encode() or True)
    except UnicodeEncodeError:  # half of a pair
        return False
