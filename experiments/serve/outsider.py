"""An outsider's hour with a running server: what was tried, what happened, and whether anything changed."""

from __future__ import annotations

import http.client
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from adaptive.serve import Store
from experiments.script import Script, command
from experiments.serve.shared.killing import questionnaire
from experiments.serve.shared.process import Server, Visitor

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Outsider:
    """Raw requests to one server, and two honest people whose sessions are attacked."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.anna, self.ben = Visitor(), Visitor()
        self.before: list | None = None  # what an attempt that begins with an honest answer starts from
        for person in (self.anna, self.ben):
            person.begin(server.url)
            person.answer(server.url, 1)
        self.cookies = [f"{one.name}={one.value}" for one in self.jar(self.anna)[:1] + self.jar(self.ben)[:1]]

    def jar(self, person: Visitor) -> list:
        return [one for handler in person.opener.handlers if hasattr(handler, "cookiejar") for one in handler.cookiejar]

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        try:
            connection.request(method, path, body or None, {k.replace("_", "-"): v for k, v in headers.items()} | FORM)
            return connection.getresponse().status
        except (ConnectionError, http.client.HTTPException):  # refused before all of it was read
            return 0
        finally:
            connection.close()

    def raw(self, content: bytes) -> int:
        """Bytes as they are; the status, 0 where the server hangs up."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=5) as line:
            line.sendall(content)
            try:
                first = line.recv(100).split()
            except OSError:
                return 0
        return int(first[1]) if len(first) > 1 else 0

    def answer(self, cookie: str, form: dict[str, str], **headers: str) -> int:
        return self.send("POST", "/answer", urlencode(form).encode(), Cookie=cookie, **headers)

    def kept(self) -> list:
        with Store(self.folder, write=False) as store:
            return [store.rows(f"SELECT * FROM {table}") for table in ("sessions", "events", "leases", "facts")]


def attempts(out: Outsider) -> dict[str, Callable[[], int]]:
    """What is tried, each returning a status."""
    mine, theirs = out.cookies
    form = {**(out.anna.form("/answer") or {}), "answer": "1"}
    name, _, value = mine.partition("=")
    stale = {**form, "token": form["token"]}
    other = {**(out.ben.form("/answer") or {}), "answer": "1"}
    slow = (
        f"POST /answer HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {mine}\r\n".encode()
        + b"Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    return {
        "no cookie": lambda: out.send("POST", "/answer", urlencode(form).encode()),
        "a cookie cut short": lambda: out.answer(mine[:-3], form),
        "a cookie with another's id and one's own signature": lambda: out.answer(
            f"{name}={theirs.partition('=')[2].split('.')[0]}.{value.split('.')[1]}", form
        ),
        "a cookie signed with an empty key": lambda: out.answer(f"{name}=IjAwIg.AAAAAAAAAAAAAAAAAAAAAAAAAAA", form),
        "another's form with one's own cookie": lambda: out.answer(mine, other),
        "one's own form with another's cookie": lambda: out.answer(theirs, form),
        "a form without token": lambda: out.answer(mine, {"answer": "1"}),
        "a token for taking back, to answer": lambda: out.answer(
            mine, {**(out.anna.form("/retract") or {}), "answer": "1"}
        ),
        "an answer out of range": lambda: out.answer(mine, {**form, "answer": "7"}),
        "an answer that is SQL": lambda: out.answer(mine, {**form, "answer": "1; DROP TABLE events"}),
        "a session that is SQL": lambda: out.send("GET", "/i/'%20OR%20'1'='1"),
        "a form from another site": lambda: out.answer(mine, form, Origin="https://evil.example"),
        "a form that says it comes from another site": lambda: out.answer(mine, form, Sec_Fetch_Site="cross-site"),
        "another Host": lambda: out.send("GET", "/", Host="evil.example"),
        "two Hosts": lambda: out.raw(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n"),
        "X-Forwarded-Host": lambda: 200 if out.send("GET", "/", X_Forwarded_Host="evil.example") == 200 else 0,
        "a body of 10 MB": lambda: out.send("POST", "/answer", b"x" * 10**7, Cookie=mine),
        "a body of 10 MB in pieces, its length unsaid": lambda: out.raw(
            slow + (b"8000\r\n" + b"x" * 0x8000 + b"\r\n") * 3 + b"0\r\n\r\n"
        ),
        "a length below zero": lambda: out.raw(
            b"POST /answer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n"
        ),
        "a header of 100 kB": lambda: out.raw(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 10**5 + b"\r\n\r\n"),
        "not HTTP": lambda: out.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n"),
        "methods not ours": lambda: out.send("PUT", "/answer", b"a=b", Cookie=mine),
        "an upgrade to a web socket": lambda: out.send(
            "GET", "/answer", Upgrade="websocket", Connection="Upgrade", Sec_WebSocket_Key="x", Cookie=mine
        ),
        "a path out of the static folder": lambda: out.send("GET", "/static/%2e%2e/%2e%2e/store.py"),
        "a file of the system": lambda: out.send("GET", "/static//etc/passwd"),
        "the store and the key": lambda: max(out.send("GET", "/store.sqlite"), out.send("GET", "/key")),
        "a picture of a test that has none": lambda: out.send("GET", "/picture/0", Cookie=mine),
        "how others fare": lambda: out.send("GET", "/numbers", Cookie=mine),
        "another's answers": lambda: out.send("GET", "/answers"),
        "guessing 50 invitations": lambda: max(out.send("GET", f"/i/{k:032x}") for k in range(50)),
        "a form sent again after it was taken": lambda: _again(out, mine, stale),
        "JSON from the page of another site": lambda: out.send(
            "POST", "/api/session", b"{}", Origin="https://evil.example", Sec_Fetch_Site="cross-site"
        ),
        "leave of a browser for another site's page": lambda: out.send(
            "OPTIONS", "/api/session", Origin="https://evil.example", Access_Control_Request_Method="POST"
        ),
        "an answer in JSON to another's session": lambda: out.raw(
            _in_json(b'{"session": "IjAw.AA", "question": "0.0", "answer": 1}')
        ),
        "JSON of 20,000 brackets": lambda: out.raw(_in_json(b"[" * 20_000)),
        "an origin that is none": lambda: out.answer(mine, form, Origin="http://[::1"),
        "a path of 5,000 digits": lambda: out.send("GET", "/picture/" + "9" * 5000, Cookie=mine),
        "450 half requests": lambda: _half(out),
        "500 requests in a row": lambda: max(out.send("GET", "/", Cookie=theirs) for _ in range(500)),
    }


EXPECTED = {
    "X-Forwarded-Host": {200},
    "450 half requests": {200},
    "a form sent again after it was taken": {409},
    "500 requests in a row": {429},
    "not HTTP": {0, 400},
    "a header of 100 kB": {0, 400, 431},
    "a body of 10 MB": {0, 413},
}


def _in_json(body: bytes) -> bytes:
    head = b"POST /api/answer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def _half(out: Outsider) -> int:
    """Half a request on each of 450 connections; the status that others get meanwhile."""
    halves = []
    try:
        for _ in range(450):
            halves.append(socket.create_connection(("127.0.0.1", out.server.port), timeout=20))
            halves[-1].sendall(b"POST /answer HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        return out.send("GET", "/")
    finally:
        for one in halves:
            one.close()


def _again(out: Outsider, cookie: str, form: dict[str, str]) -> int:
    assert out.answer(cookie, form) == 303
    assert out.send("GET", "/", Cookie=cookie) == 200  # the next question is asked
    out.before = out.kept()
    return out.answer(cookie, form)


def run(script: Script) -> None:
    """Try everything; after each, look whether the store is what it was."""
    rows = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with Server(questionnaire(folder / "test.toml", 20), "--store", folder / "store") as server:
            out = Outsider(server, folder / "store")
            for tried, attempt in attempts(out).items():
                before = out.kept()
                status = attempt()
                before, out.before = out.before or before, None
                unchanged = out.kept() == before
                held = unchanged and status in EXPECTED.get(tried, range(400, 500))
                rows.append(
                    (tried, status or "hung up", "nothing" if unchanged else "something", "yes" if held else "NO")
                )
            alive = out.send("GET", "/") == 200
            files = {path.name: oct(path.stat().st_mode & 0o777) for path in (folder / "store").iterdir()}
            private = all(mode.endswith("00") for mode in files.values())
    script.table(
        {name: [row[k] for row in rows] for k, name in enumerate(("tried", "status", "changed", "held"))},
        "serve-outsider", "What an outsider tried on a running server of two people, the status that came back, and "
        "what changed in the store. Where a status is no refusal nothing was given away: the page was one's own.",
    )  # fmt: skip
    failed = [row[0] for row in rows if row[3] == "NO"]
    script.judge(
        "serve-outsider", not failed and alive and private,
        claim="An outsider gets nothing, changes nothing and stops nothing.",
        target="every attempt of the list refused, the store unchanged, the server alive, files for the owner only",
        value=f"{len(rows)} attempts, {len(failed)} not held{': ' + ', '.join(failed) if failed else ''}; server "
        f"{'alive' if alive else 'gone'}; files {files}",
        reason="Tested by a list and a program, not by somebody paid to break in; https and many machines at once are "
        "the proxy's job.", seed=0,
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
