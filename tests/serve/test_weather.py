"""Hostile weather: half requests, thousands of begins, forms sent twice, names that deceive, readers that stay."""

import csv
import socket
import sqlite3
import threading
import time
import urllib.request

import httpx
import pytest
import uvicorn

from adaptive.cli import run
from adaptive.serve import Store, answers_of, sessions_of
from adaptive.serve.export import forget, named_in
from adaptive.serve.gate import connections
from adaptive.serve.gate.admission import AT_ONCE, NEARBY, Admission
from adaptive.serve.gate.connections import Limits, guarded, most_files
from adaptive.serve.people import EMPTY, People, Rate
from adaptive.serve.refusals import Refused
from adaptive.serve.stores.faults import StoreError
from experiments.serve.shared.process import DIRECT, Server, Visitor
from tests.serve.conftest import HOST

# -- connections ---------------------------------------------------------------------------------------------------


async def app(scope, receive, send):
    """Replies with the body that it got."""
    if scope["type"] != "http":
        return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def listening():
    """Serve an echo within limits; returns what opens a connection to it."""
    running, opened = [], []

    def serve(**limits):
        config = uvicorn.Config(app, port=0, log_level="error", lifespan="off", http=guarded(Limits(**limits)))
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]

        def connect(said=b""):
            one = socket.create_connection(("127.0.0.1", port), timeout=20)
            one.sendall(said)
            opened.append(one)
            return one

        return connect

    yield serve
    for one in opened:
        one.close()
    for server, thread in running:
        server.should_exit = server.force_exit = True
        thread.join()


WHOLE = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nab"


def served(one):
    one.sendall(WHOLE)
    found = b""
    while not found.endswith(b"\r\n\r\nab"):
        more = one.recv(1000)
        assert more, "closed"
        found += more
    return found.startswith(b"HTTP/1.1 200")


def closed(one):
    """Whether the other side has ended it, waiting as long as it takes."""
    try:
        return one.recv(1000) == b""
    except ConnectionError:
        return True


def test_half_requests_end_and_a_further_byte_prolongs_nothing(listening):
    connect = listening(head=0.4, body=0.4)
    good = connect()
    assert served(good)
    halves = [connect(b"GET / HT"), connect(b""), connect(WHOLE[:-1]), connect(WHOLE[:30])]
    begun = time.monotonic()
    for _ in range(3):
        time.sleep(0.1)
        halves[0].sendall(b"X")
        halves[3].sendall(b"X")
        assert served(good)  # kept alive meanwhile
    assert all(map(closed, halves)) and time.monotonic() - begun < 10


def test_those_that_wait_make_room_and_whole_requests_do_not(listening, monkeypatch):
    for limits in ({"of_address": 10}, {"of_address": None, "in_all": 10}):
        monkeypatch.setattr(connections, "is_nearby", lambda address, limits=limits: limits["of_address"] is None)
        connect = listening(**limits)
        good = connect()
        assert served(good)
        halves = [connect(b"GET / HT") for _ in range(30)]
        assert served(connect())
        for one in halves[:15]:
            assert closed(one)


def test_files_are_as_many_as_there_may_be():
    assert most_files() >= 1024


def test_450_half_requests_keep_nobody_out(tmp_path):
    (tmp_path / "test.toml").write_text(
        'title = "T"\nanswers = ["no", "yes"]\nitems = [{text = "A?"}, {text = "B?"}]\n'
    )
    with Server(tmp_path / "test.toml", "--store", tmp_path / "store") as server:
        halves = []
        try:
            for _ in range(450):
                one = socket.create_connection(("127.0.0.1", server.port), timeout=10)
                one.sendall(b"POST /answer HTTP/1.1\r\nHost: localhost\r\n")
                halves.append(one)
            visitor = Visitor()
            visitor.begin(server.url)
            visitor.answer(server.url, 1)
            assert visitor.question
            for origin in ("http://[::1", "null", "http://evil.example"):
                request = urllib.request.Request(server.url + "/answer", b"a=b", {"Origin": origin})
                with pytest.raises(urllib.error.HTTPError) as refused:
                    DIRECT.open(request, timeout=30)
                assert refused.value.code == 403
                refused.value.close()
        finally:
            for one in halves:
                one.close()
        with Store(tmp_path / "store", write=False) as store:
            assert len(answers_of(store, 1)) == 1


# -- begins --------------------------------------------------------------------------------------------------------


def test_ten_thousand_begins_of_one_address_keep_no_other_out(survey, opened, monkeypatch):
    monkeypatch.setitem(Rate.__init__.__kwdefaults__, "clock", lambda: 0.0)  # however long they take
    browser, store = opened(survey())
    desk = type("Desk", (), {"panel": None, "texts": {}, "heard": staticmethod(lambda before: set())})
    admission = Admission(desk, People(store), False, b"k" * 32)

    def begun(address, n):
        taken = 0
        for k in range(n):
            try:
                admission.begin(address, form=f"{address} {k}")
                taken += 1
            except Refused as refusal:
                assert refusal.status == 429
        return taken

    store.connection.execute("PRAGMA synchronous=OFF")  # hundreds of sessions in a moment
    assert begun("192.0.2.1", 10_000) == AT_ONCE and begun("192.0.2.2", 3) == 3
    assert begun("2001:db8::1", AT_ONCE) + begun("2001:db8::ffff", 5) == AT_ONCE  # one network
    assert begun("127.0.0.1", 500) == begun("", 500) == NEARBY[1]  # by the clock of this test they come at once
    assert browser().begin().status_code == 200


def test_a_proxy_says_whose_address_it_is(survey, opened):
    browser, _ = opened(survey(), secure=True)
    assert browser().begin().status_code in (200, 403)  # the cookie goes by https only
    one = browser()
    for k, status in ((1, 303), (2, 303)):
        page = one.get("/", headers={"x-forwarded-for": f"203.0.113.9, 198.51.100.{k}"})
        assert page.status_code == 200
        form = one.form("/start")
        client = httpx.AsyncClient(transport=one.client._transport, base_url=HOST)
        said = one.portal.call(lambda client=client, form=form: client.post("/start", data=form))
        assert said.status_code == status


def test_a_form_that_is_sent_twice_begins_one_session(survey, opened, monkeypatch):
    browser, store = opened(survey())
    anna, again = browser(), browser()
    anna.get()
    form = anna.form("/start")
    anna.post("/start", form)
    again.post("/start", form)  # before the cookie was there
    anna.answer(2)
    assert again.get() is not None and again.question == anna.question and len(sessions_of(store)) == 1
    other = browser()
    other.begin()
    assert len(sessions_of(store)) == 2
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3600)
    browser().post("/start", form)  # whoever finds an old form
    assert len(sessions_of(store)) == 3


def test_sessions_that_say_nothing_end_and_those_that_said_something_stay(survey, pool, opened, tmp_path):
    for source, folder in ((survey(), tmp_path / "survey"), (pool(ahead=0), tmp_path / "pool")):
        browser, store = opened(source, folder)
        anna, ben, cleo = browser(), browser(), browser()
        for one in (anna, ben, cleo):
            one.begin()
        anna.answer(1)
        now = [time.time()]
        people = People(store, clock=lambda now=now: now[0])
        heard = {1} if folder.name == "pool" else None
        desk_heard = (lambda before, heard=heard: heard) if heard else _desk_of(anna).heard
        now[0] += EMPTY - 60
        secret = _secret(store, cleo)
        assert people.sweep(desk_heard) == 0 and people.find(secret) is not None  # she looks at it again
        now[0] += 120
        people._swept = 0.0
        assert people.sweep(desk_heard) == 1
        assert [one["session"] for one in sessions_of(store)] == [1, 3]
        if folder.name == "survey":
            assert store.rows("SELECT DISTINCT design FROM events ORDER BY design") == [(1,), (3,)]


def _desk_of(browser):
    return browser.client._transport.app.app.routes[0].endpoint.__self__.desk


def _secret(store, browser):
    from adaptive.serve.gate.signing import Signer

    cookie = next(iter(browser.client.cookies.jar))
    return Signer(store.key()).secret(cookie.value)


# -- names, exports, forgetting ------------------------------------------------------------------------------------


def test_names_that_deceive_are_told_apart(pool, opened, capsys):
    browser, store = opened(pool(ahead=0))
    for name in ("Anna", "an\u200bna", "Ａnna\u202e", "session 1", "=1+1", "\u2066"):
        one = browser()
        one.begin(name)
        one.answer(0)
    store.close()
    assert run(["export", str(store.folder)]) == 0
    capsys.readouterr()
    with (store.folder / "export" / "labels.csv").open(newline="", encoding="utf-8") as stream:
        rows = [(row["session"], row["annotator"]) for row in csv.DictReader(stream)]
    assert [name for _, name in rows] == ["Anna", "anna (2)", "Ａnna (3)", "session 1 (2)", "'=1+1", "session 6"]
    assert [session for session, _ in rows] == list("123456")


def test_forgetting_says_what_still_names_a_session(survey, opened, capsys):
    browser, store = opened(survey())
    anna, ben = browser(), browser()
    for one in (anna, ben):
        one.begin()
        one.answer(1)
    store.close()
    assert run(["export", str(store.folder)]) == 0 and "answers of 2 sessions" in capsys.readouterr().out
    assert run(["forget", str(store.folder), "1"]) == 0
    told = capsys.readouterr().out
    assert "Session 1 is forgotten" in told and "sessions.csv" in told and "export.json" in told
    assert run(["export", str(store.folder)]) == 0
    with Store(store.folder) as again:
        assert named_in(again, 1) == [] and named_in(again, 2) != []
        with pytest.raises(StoreError, match="nor anything left of one"):
            forget(again, 1)
    capsys.readouterr()


def test_forgetting_is_not_said_while_others_read(survey, opened, monkeypatch):
    browser, store = opened(survey())
    anna = browser()
    anna.begin()
    anna.answer(1)
    reader = sqlite3.connect(store.path)
    reader.execute("BEGIN")
    reader.execute("SELECT COUNT(*) FROM events").fetchone()
    anna.answer(1)  # now the log has lines that the reader must not lose
    store.connection.execute("PRAGMA busy_timeout=50")
    with pytest.raises(StoreError, match="another program reads the store"):
        forget(store, 1)
    reader.rollback()
    reader.close()
    assert forget(store, 1) > 0
    log = store.path.with_name("store.sqlite-wal")
    assert not log.exists() or b"Item" not in log.read_bytes()
    assert sessions_of(store) == []


@pytest.mark.parametrize("path", ["/picture/" + "9" * 5000, "/picture/" + "9" * 900, "/%00", "/i/%00", "/static/%00",
                                  "/static/" + "a" * 900, "/i/" + "a" * 900, "/%ff%fe"])  # fmt: skip
def test_malformed_paths_are_refused(survey, opened, path):
    browser, _ = opened(survey())
    anna = browser()
    anna.begin()
    assert 400 <= anna.get(path).status_code < 500
    assert anna.post("/answer", {}, headers={"origin": "http://[::1"}).status_code == 403
