"""An outsider's list: what is refused, with a status that says so and nothing changed; and markup that stays text."""

import html

import pytest

from adaptive.serve import Pool, Shown, SurveyItem
from adaptive.serve.people import Rate
from adaptive.serve.rendering import Pictures, readable
from tests.serve.conftest import HOST, WORDS

NASTY = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "&lt;b&gt; & &amp; </h2></form>",
    "{{ 7 * 7 }} {% raw %}",
    "abc \u202e fed \u200f (right to left)",
    "javascript:alert(1)\x00\x1b[31m",
]


@pytest.fixture
def two(opened, survey):
    """Anna and Ben, each with one answer; and all that the store holds."""
    browser, store = opened(survey())
    anna, ben = browser(), browser()
    for person in (anna, ben):
        person.begin()
        person.answer(1)

    def kept():
        return [store.rows(f"SELECT * FROM {table}") for table in ("sessions", "events", "leases", "facts")]

    return anna, ben, browser, kept


def cookie_of(browser):
    return next(iter(browser.client.cookies.jar))


def changed(text, place):
    return text[:place] + ("B" if text[place] == "A" else "A") + text[place + 1 :]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda mine, theirs: mine[:-2],
        # its signature's first letter: the last one also holds two bits that mean nothing
        lambda mine, theirs: changed(mine, mine.index(".") + 1),
        lambda mine, theirs: changed(mine, 0),
        lambda mine, theirs: theirs.split(".")[0] + "." + mine.split(".")[1],
        lambda mine, theirs: "IjAwMDAi.AAAA",
        lambda mine, theirs: "",
        lambda mine, theirs: "x" * 3000,
        lambda mine, theirs: mine.split(".")[0],
    ],
    ids=[
        "truncated",
        "changed signature",
        "changed payload",
        "another's payload",
        "forged",
        "empty",
        "long",
        "unsigned",
    ],
)
def test_cookies(two, spoil):
    anna, ben, browser, kept = two
    before, mine, theirs = kept(), cookie_of(anna), cookie_of(ben)
    stranger = browser()
    stranger.client.cookies.set(mine.name, spoil(mine.value, theirs.value))
    form = {**anna.form("/answer"), "answer": "1"}
    for page in (stranger.get(), stranger.get("/answers"), stranger.post("/answer", form)):
        assert page.status_code == 403 and "Item" not in page.text
        stranger.client.cookies.set(mine.name, spoil(mine.value, theirs.value))
    assert kept() == before


def test_a_cookie_that_was_signed_but_belongs_to_nobody(two):
    anna, _, browser, kept = two
    stranger = browser()
    assert stranger.post("/answer", {**anna.form("/answer"), "answer": "1"}).status_code == 403
    assert stranger.get("/answers").status_code == 403 and stranger.get("/numbers").status_code == 403


FORMS = {
    "no token": {"answer": "1", "token": ""},
    "no answer": {"answer": ""},
    "not a number": {"answer": "one"},
    "out of range": {"answer": "3"},
    "negative": {"answer": "-1"},
    "a float": {"answer": "1.0"},
    "another digit": {"answer": "\u0661"},
    "long": {"answer": "1" * 5000},
    "twice": {"answer": ["1", "2"]},
    "forged": {"token": "WzEsImFuc3dlciAxLjAiXQ.AAAA"},
    "long token": {"token": "x" * 5000},
}


@pytest.mark.parametrize("fields", FORMS.values(), ids=FORMS)
def test_forms(two, fields):
    anna, _, _, kept = two
    before, question = kept(), anna.question
    page = anna.post("/answer", {**anna.form("/answer"), "answer": "1", **fields})
    assert 400 <= page.status_code < 500 and kept() == before
    anna.get()
    assert anna.question == question


def test_forms_of_others_and_for_other_things(two):
    anna, ben, browser, kept = two
    before = kept()
    start = anna.form("/start", browser().get())
    for path, form in (
        ("/answer", ben.form("/answer")), ("/retract", ben.form("/retract")), ("/answer", anna.form("/retract")),
        ("/retract", anna.form("/answer")), ("/answer", start), ("/start", anna.form("/answer")),
    ):  # fmt: skip
        assert anna.post(path, {**form, "answer": "1"}).status_code == 403
    assert kept() == before


def test_bodies_methods_hosts_sites_and_paths(two):
    anna, _, _, kept = two
    before, form = kept(), {**anna.form("/answer"), "answer": "1"}

    async def pieces():
        for _ in range(100):
            yield b"x" * 100_000

    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert anna.post("/answer", content=b"x" * 10**7, headers=kind).status_code == 413
    assert anna.post("/answer", content=pieces(), headers=kind).status_code == 413  # no length is stated
    assert anna.post("/answer", content=b"token=a", headers={**kind, "content-length": "-5"}).status_code == 413
    assert anna.post("/answer", content=b"{}", headers={"content-type": "application/json"}).status_code == 415
    assert anna.post("/answer", files={"token": b"x"}).status_code == 415
    for host in ("evil.example", "localhost.evil.example", "", "127.0.0.1@evil.example"):
        assert anna.get("/", headers={"host": host}).status_code == 421
    assert anna.post("/answer", form, headers={"origin": "https://evil.example"}).status_code == 403
    assert anna.post("/answer", form, headers={"origin": "null"}).status_code == 403
    assert anna.post("/answer", form, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        request = anna.client.build_request(method, f"{HOST}/answer")
        assert anna.portal.call(anna.client.send, request).status_code == 405
    for path in ("/answer", "/retract", "/start"):
        assert anna.get(path).status_code == 405
    for path in ("/static/../application.py", "/static/%2e%2e/store.py", "/static//etc/passwd", "/i/", "/picture/x",
                 "/picture/0", "/store.sqlite", "/i/" + "0" * 32):  # fmt: skip
        assert anna.get(path).status_code == 404
    assert kept() == before


def test_headers(two):
    anna, *_ = two
    pages = [anna.get(), anna.get("/static/style.css"), anna.get("/nothing"), anna.get("/", headers={"host": "evil"})]
    for page in pages:
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert page.headers["x-content-type-options"] == "nosniff" and page.headers["x-frame-options"] == "DENY"
        assert page.headers["cache-control"] == "no-store" and "server" not in page.headers
    text = anna.get().text
    assert "<style" not in text and " style=" not in text and "onclick" not in text and "://" not in text
    assert text.count("<script") == text.count('<script src="/static/keys.js"') == 1


def test_rates_are_per_session(opened, survey, monkeypatch):
    monkeypatch.setitem(Rate.__init__.__kwdefaults__, "clock", lambda: 0.0)  # however long the requests take
    browser, _ = opened(survey(), rate=2.0)
    anna, ben = browser(), browser()
    anna.begin()
    ben.begin()
    assert [anna.get().status_code for _ in range(12)] == [200] * 5 + [429] * 7  # six at once; one came on beginning
    assert ben.get().status_code == 200


@pytest.mark.parametrize("text", NASTY)
def test_markup_of_a_test_is_text(opened, survey, text):
    words = [text, *WORDS[1:]]
    items = [SurveyItem(f"i{k}", text, words, (1, 2, 3)) for k in range(12)]
    browser, _ = opened(survey(title=text, items=items, texts={"answer": text, "introduction": text}))
    anna = browser()
    for page in (anna.get(), anna.begin(), anna.answer(0), anna.get("/answers")):
        assert page.status_code == 200
        _is_text(page.text, text)


@pytest.mark.parametrize("text", NASTY)
def test_markup_of_a_pool_is_text(opened, pool, text):
    for shown in (Shown.of_text(text), Shown.of_row({text: text})):
        browser, store = opened(pool(title=text, shown=lambda position, shown=shown: shown, texts={"skip": text}))
        anna = browser()
        anna.begin(text)
        _is_text(anna.page.text, text)
        anna.answer(1)
        _is_text(anna.get("/numbers").text + anna.get("/answers").text, text)
        store.close()
        for path in store.folder.iterdir():
            path.unlink()


def _is_text(page, text):
    assert "<script>alert" not in page and 'onmouseover="alert' not in page and " onfocus='" not in page
    assert "\x00" not in page and "\x1b" not in page
    assert readable(text) in html.unescape(page)
    assert page.count("<form") == page.count("</form>") and page.count("<h2") == page.count("</h2>")


def test_pictures_come_from_below_one_folder(opened, pool, tmp_path):
    folder = tmp_path / "pictures"
    (folder / "deep").mkdir(parents=True)
    png = b"\x89PNG\r\n\x1a\n" + b"0" * 40
    (tmp_path / "secret.png").write_bytes(png)
    (folder / "deep" / "one.png").write_bytes(png)
    (folder / "page.png").write_bytes(b"<html><script>alert(1)</script>")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    names = ["deep/one.png", "../secret.png", str(tmp_path / "secret.png"), "link.png", "page.png", "deep", "a\x00b",
             "absent.png", "<b>.png"]  # fmt: skip
    pictures = Pictures(folder, names + ["absent.png"] * 21)
    assert [k for k in range(len(names)) if pictures.picture(k)] == [0]
    assert "cannot be shown: it is no picture" in pictures.shown(4).note

    source = pool(shown=pictures.shown, pictures=pictures)
    assert isinstance(source, Pool)
    browser, store = opened(source)
    anna, ben = browser(), browser()
    anna.begin()
    ben.begin()
    leases = dict(store.rows("SELECT session, position FROM leases"))
    mine = {"anna": leases[1], "ben": leases[2]}
    pictures.names[mine["anna"]] = pictures.names[mine["ben"]] = "deep/one.png"
    found = anna.get(f"/picture/{mine['anna']}")
    assert found.status_code == 200 and found.headers["content-type"] == "image/png" and found.content == png
    assert anna.get(f"/picture/{mine['ben']}").status_code == 404  # of somebody else's question
    assert browser().get(f"/picture/{mine['anna']}").status_code == 403
    assert anna.get("/picture/999").status_code == 404
