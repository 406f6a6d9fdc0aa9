"""A newcomer's path, timed and photographed: from one command to the end of a test, by keyboard, on a phone's width."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from experiments.script import Script, command
from experiments.serve.shared import chromium
from experiments.serve.shared.process import Server

SEED = 0
N_ITEMS, WIDTH, HEIGHT = 20, 320, 640
STATEMENTS = (
    "I make lists.", "I forget names.", "I plan my day.", "I finish what I begin.", "I lose my keys.",
    "I answer letters at once.", "I put things back where they belong.", "I am late.", "I double-check my work.",
    "I leave things to the last minute.", "I keep promises.", "I like order.", "I act before I think.",
    "I pay attention to details.", "I get distracted.", "I follow a schedule.", "I tidy up as I go.",
    "I postpone what is dull.", "I prepare well.", "I know where my papers are.",
)  # fmt: skip
REVERSED = (2, 5, 8, 10, 13, 15, 18)


def run(script: Script) -> None:
    """Write the file, start the command, answer by keyboard, look at every kind of page."""
    n = 4 if script.quick else N_ITEMS
    with tempfile.TemporaryDirectory() as made, chromium.browser() as browser:
        file = _file(Path(made) / "habits.toml", n)
        begun = time.perf_counter()
        with Server(file, "--store", Path(made) / "store") as server:
            context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=2)
            page = context.new_page()
            hosts: set[str] = set()
            page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
            page.goto(server.url)
            photographs = [("Start", page.screenshot())]
            page.keyboard.press("Enter")
            first, spoken = answered(page, photographs, n, begun)
            photographs.append(("The end", page.screenshot()))
            page.get_by_role("link", name="Read my answers").press("Enter")
            page.wait_for_selector("li")
            read = page.locator("li").count()
            wide = page.evaluate("document.documentElement.scrollWidth")
            photographs.append(("Read back", page.screenshot()))
    _draw(script, photographs)
    heard = all(part in spoken for part in ("radiogroup", "radio", "progressbar", "heading", "button"))
    holds = read == n and wide <= WIDTH and heard and len(hosts) == 1
    script.judge(
        "serve-newcomer", holds,
        claim="One command and a file of questions are enough: a test is answered by keyboard alone, on a phone, "
        "and makes sense to a screen reader.",
        target=f"{n} questions by keys and Enter, no wider than {WIDTH} pixels, every control named, no other host",
        value=f"from the command to the first answered question {first:.1f} s; {read} answered by keyboard; {wide} "
        f"pixels wide; a question is read as: {' | '.join(line.strip() for line in spoken.splitlines()[:12])}",
        reason="The keys are pressed by a program: a person reads the questions in between.", seed=SEED,
    )  # fmt: skip


def answered(page: Any, photographs: list[tuple[str, bytes]], n: int, begun: float) -> tuple[float, str]:
    """Answer all questions; return the seconds to the first answer, and what a screen reader is told of a question."""
    first, spoken = 0.0, ""
    for k in range(n):
        page.wait_for_selector("input[name=answer]")
        page.wait_for_load_state()  # the keys
        page.keyboard.press("12345"[k * k % 5])
        if k == 0:
            spoken = page.locator("body").aria_snapshot()
            photographs.append(("A question", page.screenshot()))
        with page.expect_navigation():
            page.keyboard.press("Enter")
        first = first or time.perf_counter() - begun
    return first, spoken


def _file(path: Path, n: int) -> Path:
    items = "".join(
        f'[[items]]\ntext = "{text}"\nreverse = {str(k + 1 in REVERSED).lower()}\n'
        for k, text in enumerate(STATEMENTS[:n])
    )
    words = '["never", "seldom", "sometimes", "often", "always"]'
    path.write_text(
        f'title = "Habits"\nshow_result = true\nanswers = {words}\n'
        f'[texts]\nresult = "{{trait}}: {{mean}} ({{low}} to {{high}})"\n{items}'
    )
    return path


def _draw(script: Script, photographs: list[tuple[str, bytes]]) -> None:
    import io

    from matplotlib import image as images
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.2 * len(photographs), 6.8), layout="constrained")
    axes = figure.subplots(1, len(photographs), squeeze=False)[0]
    for axis, (name, content) in zip(axes, photographs, strict=True):
        axis.imshow(images.imread(io.BytesIO(content)))
        axis.set_title(name)
        axis.set_axis_off()
    script.figure(
        figure, "serve-newcomer", "Pages of `adaptive serve` in Chromium, 320 pixels wide: start, a question with an "
        "answer chosen by a key, the end with its estimate, and the answers to read back.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
