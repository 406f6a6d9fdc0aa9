"""Five questions of a first visit, answered within the first screen of the README and of the site's start page.

    python -m experiments.house.first_screen

What is it, for whom, what do I type, what do I get, when does it not pay? For each there is a phrase of the page, and a
real Chromium says how far below the top of the page that phrase ends. The window is 1280 x 800 pixels. Both pages are
set in their Markdown alone, in a column as wide as GitHub's (838 pixels) and as the site's (832), 16 pixels a letter,
with the picture of the README and without the site's bar of 66 pixels, which is added. On GitHub a list of files comes
first, so that "first" begins there at the README.

The phrases were picked by the session that wrote them. That they can be seen is measured; that a stranger finds in
them what is asked is not.
"""

from __future__ import annotations

from html import escape

from markdown_it import MarkdownIt

from experiments.script import ROOT, Script, command
from experiments.serve.shared import chromium

WIDTH, HEIGHT = 1280, 800  # pixels
PAGES = {"README": ("README.md", 838, 0), "start page": ("docs/index.md", 832, 66)}  # file, column, bar above it
ANSWERS = {
    "what is it": "decides what to measure next",
    "for whom": "people who pay for every answer",
    "what do I type": "/adaptive classify",
    "what do I get": "fewer answers tell as much",
    "when does it not pay": "does not pay",
}
FOOT = """phrase => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.textContent.replace(/\\n/g, " ").indexOf(phrase);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at); range.setEnd(node, at + phrase.length);
    return range.getBoundingClientRect().bottom;
  }
  return null;
}"""


def feet(page: str, browser: object) -> dict[str, float | None]:
    """Return how many pixels below the top each answer ends; None where it is missing."""
    name, column, bar = PAGES[page]
    text = (ROOT / name).read_text(encoding="utf-8").replace("::::", "")
    style = (
        f"body {{ width: {column}px; margin: {bar + 16}px auto; font: 16px/1.5 sans-serif; }} img {{ width: 100%; }}"
    )
    where = escape((ROOT / name).as_uri())
    tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})  # type: ignore[attr-defined]
    tab.goto((ROOT / name).parent.as_uri())  # so that pictures of files may be shown
    tab.set_content(f"<base href='{where}'><style>{style}</style>{MarkdownIt().render(text)}", wait_until="load")
    found = {question: tab.evaluate(FOOT, phrase) for question, phrase in ANSWERS.items()}
    tab.close()
    return {question: None if foot is None else round(foot) for question, foot in found.items()}


def run(script: Script) -> None:
    """Both pages."""
    if script.quick and chromium.found() is None:
        print("no Chromium: nothing was looked at")
        return
    with chromium.browser() as browser:
        found = {page: feet(page, browser) for page in PAGES}
    script.table(
        {"question": list(ANSWERS), "phrase": list(ANSWERS.values())}
        | {f"{page}, pixels": [found[page][one] for one in ANSWERS] for page in PAGES},
        "first-screen-questions",
        f"Five questions of a first visit, the phrase that answers each, and the pixels from the top of the page to "
        f"that phrase's foot in a window of {WIDTH} x {HEIGHT}.",
    )
    below = sum(foot is None or foot > HEIGHT for one in found.values() for foot in one.values())
    script.judge(
        "ours-first-screen-questions", below == 0, kind="must hold",
        claim="The first screen of the README and of the site's start page answers five questions: what it is, for "
        "whom, what to type, what one gets, and when it does not pay.",
        target=f"all ten phrases end within {HEIGHT} pixels", value={**found, "phrases below the screen": below},
        reason="The phrases were picked by the session that wrote them: that they are seen is measured, and not what "
        "a stranger makes of them.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
