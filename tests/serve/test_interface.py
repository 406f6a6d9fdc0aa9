"""The JSON interface: a test taken by a page of another site, which the test's file names, and by no other."""

import http.server
import threading
from functools import partial

import pytest

from adaptive.serve import Panel, answers_of, sessions_of
from experiments.serve.shared import chromium
from experiments.serve.shared.process import Server

LAB = "https://lab.example.org"
TEST = 'title = "T"\nanswers = ["no", "yes"]\nitems = [{text = "A?"}, {text = "B?"}, {text = "C?"}]\n'


def asked(browser, path, said, **headers):
    """What the server replies to an object in JSON: status, headers, content."""
    page = browser.post(path, json=said, headers=headers)
    return page.status_code, page.headers, page.json()


@pytest.fixture
def lab(survey, opened):
    """A test that pages of a lab may ask; its store."""

    def build(**more):
        browser, store = opened(survey(origins=[LAB], **more))
        return browser(), store

    return build


def test_a_test_is_taken_and_its_questions_are_those_of_the_pages(lab, offline):
    browser, store = lab(show_result=True)
    _, headers, place = asked(browser, "/api/session", {}, origin=LAB)
    assert headers["access-control-allow-origin"] == LAB and "set-cookie" not in headers
    answers, texts = [1, "skip", 0, 2, 1, 0, 1], []
    for given in answers:
        texts.append(place["question"]["text"])
        said = {"session": place["session"], "question": place["question"]["id"], "answer": given}
        status, _, place = asked(browser, "/api/answer", said, origin=LAB)
        assert status == 200
    design = offline(1, answers)
    assert place["question"] is None and place["done"] and place["progress"] == 1.0 and place["answered"] == 6
    assert [one["item"] for one in answers_of(store, 1)] == design.history_["label"]
    assert place["estimates"][0]["mean"] == pytest.approx(design.estimator_.mean[0])
    assert texts[0] == f"Item {design.history_['label'][0][1:]}?"


def test_an_answer_sent_twice_counts_once_and_a_session_goes_on(lab):
    browser, store = lab()
    place = asked(browser, "/api/session", {})[2]
    said = {"session": place["session"], "question": place["question"]["id"], "answer": 1}
    first = asked(browser, "/api/answer", said)[2]
    status, _, second = asked(browser, "/api/answer", said)
    assert status == 409 and second["question"] == first["question"] and "no longer open" in second["error"]
    assert asked(browser, "/api/session", {"session": place["session"]})[2]["question"] == first["question"]
    status, _, found = asked(browser, "/api/answer", said | {"question": first["question"]["id"], "answer": 7})
    assert status == 422 and found["question"] == first["question"] and len(answers_of(store, 1)) == 1


def test_a_participant_has_one_session_and_hears_no_estimate(lab):
    browser, store = lab(panel=Panel("PID", "https://panel.example.org/?who={participant}"))
    assert asked(browser, "/api/session", {})[0] == 403
    assert asked(browser, "/api/session", {"participant": "a b"})[0] == 400
    place = asked(browser, "/api/session", {"participant": "a1"})[2]
    while not place["done"]:
        said = {"session": place["session"], "question": place["question"]["id"], "answer": 0}
        place = asked(browser, "/api/answer", said)[2]
    assert place["leave"] == "https://panel.example.org/?who=a1" and place["estimates"] == []
    assert asked(browser, "/api/session", {"participant": "a1"})[2]["done"]
    assert [one["participant"] for one in sessions_of(store)] == ["a1"]


def test_other_sites_and_strange_requests_are_refused(lab):
    browser, store = lab()
    place = asked(browser, "/api/session", {}, origin=LAB)[2]
    said = {"session": place["session"], "question": place["question"]["id"], "answer": 0}
    for origin in ("https://evil.example", "null", "http://lab.example.org", f"{LAB}.evil.example", "http://[::1"):
        page = browser.post("/api/answer", json=said, headers={"origin": origin})
        assert page.status_code == 403 and "access-control-allow-origin" not in page.headers
        asking = {"origin": origin, "access-control-request-method": "POST"}
        page = browser.portal.call(lambda asking=asking: browser.client.options("/api/answer", headers=asking))
        assert page.status_code != 204 and "access-control-allow-origin" not in page.headers
    asking = {"origin": LAB, "access-control-request-method": "POST", "sec-fetch-site": "cross-site"}
    allowed = browser.portal.call(lambda: browser.client.options("/api/answer", headers=asking))
    assert allowed.status_code == 204 and allowed.headers["access-control-allow-headers"] == "content-type"
    assert browser.post("/start", {}, headers={"origin": LAB}).status_code == 403  # the list is about JSON only
    assert "access-control-allow-origin" not in browser.get("/", headers={"origin": LAB}).headers
    kind = {"content-type": "application/json"}
    for body in (b"", b"[" * 30_000, b"[1]", b'{"session": 3}', b'{"session": "\\ud800"}', b'{"else": "x"}', b"\xff"):
        assert 400 <= browser.post("/api/session", content=body, headers=kind).status_code < 500
    for change in ({"session": "x"}, {"answer": 1.0}, {"answer": True}, {"answer": "1" * 5000}, {"question": "9.9"}):
        assert 400 <= asked(browser, "/api/answer", said | change)[0] < 500
    assert browser.post("/api/answer", said).status_code == 415 and answers_of(store, 1) == []


def test_pools_have_no_interface(pool, opened):
    browser, _ = opened(pool())
    assert asked(browser(), "/api/session", {})[0] == 404


PAGE = """<!doctype html><title>lab</title><p id="said"></p><script>
async function post(path, said) {
  const reply = await fetch("SERVER" + path, {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(said)});
  return reply.json();
}
(async () => {
  let place = await post("/api/session", {}), texts = [];
  while (!place.done) {
    texts.push(place.question.text);
    place = await post("/api/answer", {session: place.session, question: place.question.id, answer: 1});
  }
  document.getElementById("said").textContent = "done " + texts.sort().join(" ");
})().catch(error => { document.getElementById("said").textContent = "refused " + error; });
</script>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.mark.skipif(chromium.found() is None, reason="no Chromium: apt-get install chromium")
def test_a_browser_takes_a_test_from_a_page_of_the_list_and_from_no_other(tmp_path):
    (tmp_path / "lab").mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "lab")) as elsewhere:
        threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
        lab = f"http://localhost:{elsewhere.server_port}"  # another name is another site
        (tmp_path / "test.toml").write_text(TEST + f'[api]\norigins = ["{lab}"]\n')
        with Server(tmp_path / "test.toml", "--store", tmp_path / "store") as server, chromium.browser() as browser:
            (tmp_path / "lab" / "page.html").write_text(PAGE.replace("SERVER", server.url))
            page = browser.new_page()
            for site, says in ((lab, "done A? B? C?"), (lab.replace("localhost", "127.0.0.1"), "refused TypeError")):
                page.goto(f"{site}/page.html")
                page.locator("#said:not(:empty)").wait_for()
                assert page.inner_text("#said").startswith(says)
        elsewhere.shutdown()
