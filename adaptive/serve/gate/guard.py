"""Guard before every page: hosts and sizes are looked at before a body is read; headers say what is allowed.

Pure ASGI, so that a body of 10 MB is refused by its length and never held.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.responses import PlainTextResponse, Response

from adaptive.serve.interface import ROOM
from adaptive.serve.refusals import Refused

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "MOST_BYTES", "Guard"]

MOST_BYTES = 64 * 1024
MOST_HEADERS = 16 * 1024
MOST_PATH = 1000
TOO_LARGE = "The form is too large."
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


class Guard:
    """Refuses strange hosts, requests from other sites, and large bodies; adds the headers.

    Parameters
    ----------
    app : ASGI application
    hosts : collection of str
        Names, without ports, by which browsers may call this server.
    origins : collection of str, default ()
        Other sites whose pages may use the JSON interface.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], origins: Collection[str] = ()) -> None:
        self.app, self.hosts, self.origins = app, {host.lower() for host in hosts}, {one.lower() for one in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        guest = self._guest(scope)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in (HEADERS | _shared(guest)).items()]
                kept = [pair for pair in message.get("headers", []) if pair[0].decode().lower() not in HEADERS]
                message["headers"] = [*kept, *own]
            await send(message)

        refusal = self._refusal(scope, guest)
        if refusal is not None:
            await refusal(scope, receive, with_headers)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > MOST_BYTES:
                raise Refused(413, TOO_LARGE)
            return message

        await self.app(scope, counted, with_headers)

    def _guest(self, scope: Scope) -> str:
        """The other site whose page asks, where it may use the interface; else empty."""
        found = [value.decode("latin-1").lower() for name, value in scope["headers"] if name.lower() == b"origin"]
        return found[0] if len(found) == 1 and scope["path"].startswith(ROOM) and found[0] in self.origins else ""

    def _refusal(self, scope: Scope, guest: str) -> Response | None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        hosts = [value for name, value in scope["headers"] if name.lower() == b"host"]
        host = headers.get("host", "")
        if len(hosts) != 1 or _name(host) not in self.hosts:
            return _said(421, "This server does not answer to that name.")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEADERS:
            return _said(431, "The headers are too large.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > MOST_BYTES:
            return _said(413, TOO_LARGE)
        if len(scope.get("raw_path") or scope["path"].encode()) > MOST_PATH:
            return _said(414, "There is no such page.")
        if guest and scope["method"] == "OPTIONS":
            return Response(status_code=204)
        if scope["method"] == "POST" and not guest and not _same_site(headers, host):
            return _said(403, "The form came from another site.")
        return None


def _same_site(headers: dict[str, str], host: str) -> bool:
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:  # "http://[::1"
        return False


def _shared(guest: str) -> dict[str, str]:
    """Headers by which a browser lets the page of another site read what is said."""
    if not guest:
        return {}
    return {
        "access-control-allow-origin": guest, "access-control-allow-methods": "POST",
        "access-control-allow-headers": "content-type", "access-control-max-age": "600", "vary": "origin",
    }  # fmt: skip


def _name(host: str) -> str:
    """The name of a Host header, without its port."""
    name, _, port = host.rpartition(":")
    return (name if name and port.isdecimal() and (host.count(":") == 1 or "]" in name) else host).lower()


def _said(status: int, message: str) -> Any:
    return PlainTextResponse(message, status)
