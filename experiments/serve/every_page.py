"""Every page of `adaptive serve`: on a phone and a desk, light and dark, by keyboard, as a screen reader has it."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

from experiments.script import Script, command
from experiments.serve.shared import chromium
from experiments.serve.shared.process import Server

WIDTHS, SCHEMES = (320, 1280), ("light", "dark")
ITEMS = (
    "I make lists.",
    "I plan my day.",
    "I keep promises.",
    "I like order.",
    "I tidy up as I go.",
    "I prepare well.",
)
ROWS = ("A slow, warm film about two sisters and a boat.", "Nobody in it says a thing that anybody would say.",
        "The last ten minutes are worth the first hundred.", "Loud.")  # fmt: skip
TEST = """title = "Orderly or not"
answers = ["never", "sometimes", "often"]
ITEMS
[stop]
questions = 4
"""
PANEL = """[panel]
participant = "PROLIFIC_PID"
done = "https://app.prolific.com/submissions/complete?cc=C1"
consent = "We keep your answers for ten years, without your name.\\n\\nYou may stop at any time."
[[attention]]
text = "To show that you are reading, please choose 'sometimes'."
right = "sometimes"
after = 2
"""

# of a page: how far it is too wide, the smallest contrast of words, the smallest control, controls without a name
LOOK = """() => {
  const linear = c => c <= 10 ? c / 3294.6 : ((c / 255 + .055) / 1.055) ** 2.4;
  const light = rgb => { const [r, g, b] = rgb.map(linear); return .2126 * r + .7152 * g + .0722 * b; };
  const numbers = text => text.match(/[0-9.]+/g).slice(0, 3).map(Number);
  const seen = [...document.querySelectorAll('h1, h2, h3, p, label, button, a, kbd, td, th, li, summary')]
    .filter(e => e.checkVisibility() && e.innerText.trim());
  const contrast = seen.map(e => { let paper = e;
    while (getComputedStyle(paper).backgroundColor === 'rgba(0, 0, 0, 0)') paper = paper.parentElement;
    const [a, b] = [light(numbers(getComputedStyle(e).color)), light(numbers(getComputedStyle(paper).backgroundColor))]
      .sort((x, y) => x - y);
    return (b + .05) / (a + .05); });
  const controls = [...document.querySelectorAll('button, .choice, input[type=text]')].filter(e => e.checkVisibility());
  const inputs = [...document.querySelectorAll('input:not([type=hidden])')];
  return {wide: document.documentElement.scrollWidth - innerWidth, contrast: Math.min(...contrast),
    small: Math.min(...controls.map(e => e.getBoundingClientRect().height), 99),
    unnamed: inputs.filter(e => !e.labels.length).length + [...document.querySelectorAll('button, a')]
      .filter(e => !e.innerText.trim()).length};
}"""

# what Tab should come to, in order: of a group of radios one
STOPS = """() => { const groups = new Set();
  return [...document.querySelectorAll('a, button, input:not([type=hidden]), summary')].filter(e => e.checkVisibility())
    .filter(e => e.type !== 'radio' || !groups.has(e.name) && groups.add(e.name)).length; }"""
FOCUS = """() => { const e = document.activeElement;
  if (!e || e === document.body || e.id === 'question' || e.tagName === 'H2') return null;
  e.dataset.seen = 1;
  return getComputedStyle(e).outlineStyle !== 'none' && parseFloat(getComputedStyle(e).outlineWidth) >= 2; }"""


class Looker:
    """Looks at pages and keeps what it saw."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.found: dict[str, list[Any]] = {
            name: [] for name in ("page", "too wide", "contrast", "smallest control", "without a name", "by Tab")
        }
        self.seen: dict[tuple[str, int, str], bytes] = {}
        self.spoken: list[str] = []

    def look(self, name: str, page: Any) -> None:
        """Photograph a page in all ways, and walk through it by Tab."""
        page.wait_for_load_state()
        looks = []
        for width in WIDTHS:
            for scheme in SCHEMES:
                page.set_viewport_size({"width": width, "height": 700})
                page.emulate_media(color_scheme=scheme)
                looks.append(page.evaluate(LOOK))
                self.seen[name, width, scheme] = page.screenshot(full_page=True)
        stops, shown, reached = page.evaluate(STOPS), True, set()
        for _ in range(stops + 2):
            page.keyboard.press("Tab")
            ring = page.evaluate(FOCUS)
            if ring is not None:
                reached.add(page.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
                shown &= ring
        self.found["page"].append(name)
        self.found["too wide"].append(max(0, *(one["wide"] for one in looks)))
        self.found["contrast"].append(round(min(one["contrast"] for one in looks), 1))
        self.found["smallest control"].append(round(min(one["small"] for one in looks)))
        self.found["without a name"].append(max(one["unnamed"] for one in looks))
        self.found["by Tab"].append(f"{len(reached)} of {stops}{'' if shown else ', unseen'}")
        self.spoken.append(f"{name}\n{page.locator('body').aria_snapshot()}\n")


def run(script: Script) -> None:
    """Serve a test and two pools, and look at each page that there is."""
    looker = Looker(script)
    with tempfile.TemporaryDirectory() as made, chromium.browser() as browser:
        folder = Path(made)
        _tests(looker, browser, folder)
        _pools(looker, browser, folder)
    _draw(script, looker)
    if script.results.is_dir() and script.quick:
        (script.results / "spoken.txt").write_text("\n".join(looker.spoken))
        for (name, width, scheme), content in looker.seen.items():
            (script.results / f"{name.replace(' ', '-')}-{width}-{scheme}.png").write_bytes(content)
    script.table(looker.found, "serve-every-page", "Every page of `adaptive serve` at 320 and 1,280 pixels, light and "
                 "dark: pixels too wide, smallest contrast of words, height of the smallest control (pixels), controls "
                 "without a name, and how many of the controls Tab comes to with a visible ring.")  # fmt: skip
    found = looker.found
    reached = all(one.split(" of ")[0] == one.split(" of ")[1] for one in found["by Tab"])
    fits = not any(found["too wide"]) and min(found["contrast"]) >= 4.5 and min(found["smallest control"]) >= 44
    holds = fits and reached and not any(found["without a name"])
    script.judge(
        "serve-every-page", holds,
        claim="Every page fits a phone and a desk, light and dark, has words of enough contrast, controls of a size to "
        "hit, each with a name, and each reached by Tab.",
        target="0 pixels too wide, contrast at least 4.5, controls at least 44 pixels high, all named, all reached",
        value={"pages": len(found["page"]), "too wide": max(found["too wide"]), "contrast": min(found["contrast"]),
               "smallest control": min(found["smallest control"])},
        reason="A program measured and photographed the pages, and one person looked at them; no user of a screen "
        "reader was asked.",
        seed=0,
    )  # fmt: skip


def _tests(looker: Looker, browser: Any, folder: Path) -> None:
    """A test of a panel with all that it may have, and one that a tap answers."""
    from adaptive import Questionnaire

    items = "items = [" + ", ".join(f'{{id = "i{k}", text = "{text}"}}' for k, text in enumerate(ITEMS)) + "]"
    thresholds = [[-1.0, 0.5 + k / 10] for k in range(len(ITEMS))]
    bank = Questionnaire.from_parameters(
        [1.6] * len(ITEMS), thresholds=thresholds, items=[f"i{k}" for k in range(len(ITEMS))], response_model="graded"
    )
    bank.to_bank(folder / "bank.csv")
    whole = TEST.replace("ITEMS", items)
    (folder / "panel.toml").write_text("show_result = true\n" + whole + PANEL)
    (folder / "tap.toml").write_text("one_tap = true\n" + whole)
    with Server(folder / "panel.toml", "--bank", folder / "bank.csv", "--store", folder / "a") as server:
        page = browser.new_page()
        page.goto(server.url)
        looker.look("closed", page)
        page.goto(f"{server.url}/nothing")
        looker.look("no such page", page)
        page.goto(f"{server.url}/?PROLIFIC_PID=5f2c")
        looker.look("consent", page)
        page.get_by_role("button").click()
        looker.look("question", page)
        for k in range(5):
            if k == 2:
                looker.look("attention", page)
            page.get_by_role("radio", name="sometimes").check()
            page.get_by_role("button", name="Answer", exact=True).click()
            page.wait_for_load_state()
        looker.look("result", page)
        page.get_by_role("link", name="Read my answers").click()
        looker.look("answers", page)
    with Server(folder / "tap.toml", "--store", folder / "b") as server:
        page = browser.new_page()
        page.goto(server.url)
        looker.look("start", page)
        page.get_by_role("button").click()
        looker.look("one tap", page)
        for _ in range(4):
            page.get_by_role("button", name="often").click()
            page.wait_for_load_state()
        looker.look("thanks", page)


def _pools(looker: Looker, browser: Any, folder: Path) -> None:
    """Texts with instructions and a curve, and rows of a table."""
    (folder / "texts.csv").write_text("text\n" + "\n".join(f'"{ROWS[k % 4]} ({k})"' for k in range(12)) + "\n")
    (folder / "rows.csv").write_text("age,height,city\n" + "\n".join(f"{20 + k},{1.5 + k / 20},Bonn" for k in range(9)))
    (folder / "how.txt").write_text("Say whether its author liked the film.\n\nIrony counts as what is meant.")
    said = ("--question", "Did its author like the film?", "--instructions", folder / "how.txt")
    with Server("--label", folder / "texts.csv", "--classes", "yes,no", "--text", "text", *said,
                "--store", folder / "c") as server:  # fmt: skip
        page = browser.new_page()
        page.goto(server.url)
        looker.look("labeller's start", page)
        page.get_by_label("Your name").fill("Anna")
        page.get_by_role("button").click()
        page.wait_for_load_state()
        page.get_by_text("Instructions").click()
        looker.look("text", page)
        for k in range(8):
            page.get_by_role("radio", name="yes" if k % 3 else "no").check()
            page.get_by_role("button", name="Answer", exact=True).click()
            page.wait_for_load_state()
        page.get_by_role("link", name="How it goes").click()
        page.wait_for_load_state()
        for _ in range(20):  # the report is made beside the pages
            if page.locator("polyline").count():
                break
            page.wait_for_timeout(500)
            page.reload()
        looker.look("how it goes", page)
    with Server("--label", folder / "rows.csv", "--classes", "yes,no", "--store", folder / "d") as server:
        page = browser.new_page()
        page.goto(server.url)
        page.get_by_role("button").click()
        looker.look("row", page)


def _draw(script: Script, looker: Looker) -> None:
    from matplotlib import image as images
    from matplotlib.figure import Figure

    names = looker.found["page"]
    figure = Figure(figsize=(12.0, 2.3 * len(names)), layout="constrained")
    axes = figure.subplots(len(names), 4, squeeze=False, width_ratios=[1, 1, 2, 2])
    for row, name in zip(axes, names, strict=True):
        ways = [(width, scheme) for width in WIDTHS for scheme in SCHEMES]
        for axis, (width, scheme) in zip(row, ways, strict=True):
            axis.imshow(images.imread(io.BytesIO(looker.seen[name, width, scheme])))
            axis.set_axis_off()
            axis.set_title(f"{name}, {width}, {scheme}", fontsize="small")
    script.figure(figure, "serve-every-page", "Every page of `adaptive serve` in Chromium, 320 and 1,280 pixels wide, "
                  "in light and in dark colours.")  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
