"""In a real Chromium: by keyboard alone, without JavaScript, on a phone's width, for a screen reader."""

from importlib.resources import files

import pytest
from playwright.sync_api import expect

from adaptive import serve
from adaptive.serve import Store, answers_of, sessions_of
from adaptive.serve.pages import Place
from experiments.serve.shared import chromium
from experiments.serve.shared.process import Server

pytestmark = pytest.mark.skipif(chromium.found() is None, reason="no Chromium: apt-get install chromium")

expect.set_options(timeout=30_000)  # milliseconds
TEST = """title = "Habits & <b>lists</b>"
answers = ["never", "sometimes", "often"]
items = [{text = "I make lists."}, {text = "<script>document.title='x'</script>"}, {text = "I forget names."},
         {text = "I plan my day."}, {text = "I finish what I begin."}]
stop = {questions = 4}
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "test.toml").write_text(TEST)
    with Server(folder / "test.toml", "--store", folder / "store") as server, chromium.browser() as browser:
        yield server, browser, folder / "store"


def test_hints_of_keys_are_there_where_keys_are(served):
    server, browser, _ = served
    for options, there in (
        ({}, True),
        ({"has_touch": True, "is_mobile": True}, False),
        ({"java_script_enabled": False}, False),
    ):
        context = browser.new_context(**options)
        tab = context.new_page()
        tab.goto(server.url)
        tab.get_by_role("button", name="Begin").click()
        tab.locator("#question").wait_for()
        tab.wait_for_load_state()  # the style
        assert tab.locator("kbd").first.is_visible() == there == tab.locator("p.key").is_visible(), options
        context.close()


def test_one_tap_answers_by_touch_and_by_key(served, tmp_path):
    (tmp_path / "test.toml").write_text("one_tap = true\n" + TEST)
    with Server(tmp_path / "test.toml", "--store", tmp_path / "store") as server:
        context = served[1].new_context(viewport={"width": 320, "height": 640}, has_touch=True)
        tab = context.new_page()
        tab.goto(server.url)
        tab.get_by_role("button", name="Begin").tap()
        first = tab.locator("h2").inner_text()
        with tab.expect_navigation():
            tab.get_by_role("button", name="often").tap()
        expect(tab.locator("h2")).not_to_have_text(first)
        tab.wait_for_load_state()  # the keys
        with tab.expect_navigation():
            tab.keyboard.press("1")
        tab.wait_for_load_state()
        with Store(tmp_path / "store", write=False) as store:
            assert [one["answer"] for one in answers_of(store, 1)] == [3, 1]
        assert tab.evaluate("document.documentElement.scrollWidth") <= 320
        context.close()


@pytest.fixture
def page(served):
    """A new person on a phone; whatever the browser complains of is an error, as is any request to another host."""
    server, browser, _ = served
    context = browser.new_context(viewport={"width": 320, "height": 640})
    tab = context.new_page()
    wrong = []
    tab.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("request", lambda r: None if r.url.startswith(server.url) else wrong.append(r.url))
    tab.goto(server.url)
    tab.locator("button:focus").wait_for()  # as a person would see it; no script is evaluated: the pages forbid it
    yield tab
    assert wrong == []
    context.close()


def test_by_keyboard_alone(page, served):
    page.keyboard.press("Enter")  # the button has the focus
    for key in ("3", "ArrowDown", "1", "0"):
        page.locator("#question:focus").wait_for()  # given with the first picture of the page: no answer has it
        page.wait_for_load_state()  # the keys
        if key == "ArrowDown":
            page.keyboard.press("Tab")
        page.keyboard.press(key)  # 0 is the tenth of three: nothing
        if key == "0":
            assert page.evaluate("document.querySelector('input:checked')") is None
            page.keyboard.press("Tab")
            page.keyboard.press("Space")
        with page.expect_navigation():
            page.keyboard.press("Enter")
    assert "Thank you" in page.inner_text("h2") and page.title() == "Habits & <b>lists</b>"
    with Store(served[2], write=False) as store:
        latest = sessions_of(store)[-1]["session"]  # whatever was tested before
        assert [one["answer"] for one in answers_of(store, latest)] == [3, 2, 1, 1]
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # take back the last answer
    page.wait_for_selector("input[name=answer]")
    page.wait_for_load_state()  # the keys
    page.go_back()
    page.reload()
    expect(page.locator("input[name=answer]")).to_have_count(3)


def test_fits_a_phone_and_is_read_aloud(page):
    page.keyboard.press("Enter")
    page.wait_for_selector("input[name=answer]")
    page.wait_for_load_state()  # the keys
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    small = page.evaluate(
        "[...document.querySelectorAll('button, .choice')].filter(e => e.getBoundingClientRect().height < 44).length"
    )
    assert small == 0 and page.get_attribute("html", "lang") == "en"
    snapshot = page.locator("body").aria_snapshot()
    assert 'radiogroup "I make lists."' in snapshot and 'radio "never"' in snapshot
    assert (
        'progressbar "done"' in snapshot
        and page.get_attribute("#done", "value") == "0"
        and 'button "Answer"' in snapshot
        and 'heading "I make lists."' in snapshot
    )
    assert page.evaluate("[...document.querySelectorAll('input:not([type=hidden])')].every(e => e.labels.length)")
    for ink, paper in page.evaluate(_COLOURS):
        assert _contrast(ink, paper) >= 4.5


def test_a_digit_chooses_the_answer_that_shows_it(served):
    tab = served[1].new_page()
    keys = Place(answers=["0", "1", "2", "10"]).keys
    tab.set_content("".join(f'<input type="radio" name="answer" value="{k}" data-key="{key}">'
                            for k, key in enumerate(keys)))  # fmt: skip
    tab.add_script_tag(path=files(serve) / "static" / "keys.js")
    for key, chosen in (("1", "1"), ("0", "0"), ("2", "2"), ("9", "2")):
        tab.keyboard.press(key)
        assert tab.locator("input:checked").get_attribute("value") == chosen
    tab.close()


_COLOURS = """[...document.querySelectorAll('h1, h2, p, label, button, a, kbd')].map(e => {
  let paper = e; while (getComputedStyle(paper).backgroundColor === 'rgba(0, 0, 0, 0)') paper = paper.parentElement;
  const numbers = text => text.match(/[0-9.]+/g).slice(0, 3).map(Number);
  return [numbers(getComputedStyle(e).color), numbers(getComputedStyle(paper).backgroundColor)]; })"""


def _contrast(one, other):
    """The ratio of luminances of WCAG 2."""

    def light(colour):
        linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    a, b = sorted((light(one), light(other)))
    return (b + 0.05) / (a + 0.05)


def test_without_javascript_and_with_a_double_click(served):
    server, browser, folder = served
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.url)
    page.get_by_role("button", name="Begin").click()
    first = page.locator("h2").inner_text()
    page.get_by_label("often").check()
    page.get_by_role("button", name="Answer", exact=True).dblclick()
    page.wait_for_timeout(500)  # the second click overtakes the page of the first
    for _ in range(60):  # until the answer has arrived
        page.goto(server.url)
        if page.locator("h2").inner_text() != first:
            break
        page.wait_for_timeout(500)
    expect(page.locator("h2")).not_to_have_text(first)
    page.get_by_role("link", name="Read my answers").click()
    expect(page.locator("li")).to_have_count(1)
    page.get_by_role("link", name="Back to the question").click()
    page.get_by_role("button", name="Skip this question").click()
    page.get_by_role("button", name="Take back the last answer").click()
    expect(page.locator("h2")).to_have_text(first)
    context.close()
