"""The site: five questions with a stop-watch from its start page, screens at two widths, ten points beside two peers'.

    .ci/docs && python -m experiments.house.site

Looks at ``docs/build/html`` (built before), with headless Chromium for the pictures. Clicks are counted on the built
pages: the shortest way by links from the start page. Minutes are those of reading the way to the answer at 200 words a
minute, plus the computing as timed on a busy machine; wrong turns were noted by the one reader, who had written the
pages (a language model working as an engineer): a lower bound of what a newcomer needs. What that reader tripped over
was mended then: a block of code that took an import from the block before.

The peers' sites were judged from their sources and stored pages: scikit-activeml's ``docs/conf.py`` at 001966e, PyLops'
at 0ba25d7 and its gallery of version 2.7.1; a point is "better", "worse" or "alike" from our side.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections import deque
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from experiments.artifacts import captioned
from experiments.script import ROOT, Script, command

BUILT = ROOT / "docs" / "build" / "html"
QUESTIONS: dict[str, tuple[str, float, int]] = {  # question -> the page that answers it, minutes, wrong turns
    "Which scorer for my labels?": ("guide/scorers.html", 0.6, 0),
    "Does design pay for my scan?": ("guide/images.html", 1.0, 0),
    "Rerun figure 3.7 (quick mode)": ("papers/nickisch.html", 0.9, 0),
    "Add a likelihood": ("guide/extending.html", 1.7, 1),
    "Resume after a crash": ("guide/resuming.html", 1.9, 0),
}
PAGES = {
    "start": "index.html",
    "gallery": "gallery/index.html",
    "api": "api/names/adaptive.ImageReconstructor.html",
    "source": "papers/nickisch.html",
}
WIDTHS = {"wide": (1280, 900), "phone": (320, 700)}
POINTS = {  # point: beside scikit-activeml, beside PyLops, why
    "a start page that names the jobs": ("better", "alike", "three jobs with a command each; PyLops opens with one"),
    "examples with pictures": ("worse", "worse", "23; they have some sixty and some ninety"),
    "one example per public method or operator": ("worse", "worse", "one per estimator and command, not per scorer"),
    "long tutorials": ("worse", "worse", "one complete scan; PyLops has twenty-two, scikit-activeml notebooks"),
    "code of the guide is run": ("better", "better", "guide and gallery here; their prose is not run"),
    "an API page for every name, tested": ("better", "better", "a test fails where one is missing"),
    "works offline, nothing fetched": ("better", "better", "scikit-activeml takes jQuery, both MathJax from elsewhere"),
    "what did not work is said": ("better", "better", "verdicts, a table of promises with what was not shown"),
    "coming from other libraries": ("better", "alike", "five pages; PyLops compares with SciPy in prose"),
    "formulas typeset": ("worse", "worse", "plain text here, for the sake of pages without a network"),
}


def clicks(root: Path, start: str = "index.html") -> dict[str, int]:
    """Return for every page the fewest links that lead to it from the start."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("check_built", ROOT / "docs" / "check_built.py")
    assert spec is not None and spec.loader is not None
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    found, queue = {start: 0}, deque([start])
    while queue:
        name = queue.popleft()
        page = checker.Page((root / name).read_text(encoding="utf-8"))
        for link in page.links:
            path = unquote(urlsplit(link).path)
            target = ((root / name).parent / path).resolve() if path else root / name
            if target.suffix == ".html" and target.is_file() and target.is_relative_to(root):
                other = target.relative_to(root).as_posix()
                if other not in found:
                    found[other] = found[name] + 1
                    queue.append(other)
    return found


def screen(page: Path, width: int, height: int) -> Any:
    """Return the picture of a page in a window of this size, by headless Chromium."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        frame, shot = Path(folder) / "frame.html", Path(folder) / "shot.png"
        style = "margin:0;overflow:hidden"  # a frame, since windows are at least 500 pixels wide
        frame.write_text(
            f'<body style="{style}"><iframe src="{page.as_uri()}" width="{width}" height="{height}" '
            f'style="border:0"></iframe></body>'
        )
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=4000"]
        size = f"--window-size={max(width, 600)},{height + 150}"
        browser = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
        subprocess.run(
            [browser, *options, size, f"--screenshot={shot}", frame.as_uri()],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        return Image.open(shot).convert("RGB").crop((0, 0, width, height))


def write_screens(script: Script) -> list[str]:
    """Write the pictures of four kinds of pages at two widths beside their captions."""
    names = []
    for kind, page in PAGES.items():
        for word, (width, height) in WIDTHS.items():
            name = f"ours-site-screens-{kind}-{word}"
            path = captioned(
                script.results / "figures" / f"{name}.png",
                f"The {kind} page of the site in a window of {width} by {height} pixels, by headless Chromium.",
            )
            screen(BUILT / page, width, height).quantize(64).save(path, optimize=True)
            names.append(name)
    return names


def run(script: Script) -> None:
    """Count, take pictures, judge."""
    table = {
        "point": list(POINTS),
        "beside scikit-activeml": [row[0] for row in POINTS.values()],
        "beside PyLops": [row[1] for row in POINTS.values()],
        "why": [row[2] for row in POINTS.values()],
    }
    script.table(table, "ours-site-beside-peers", "Ten points of our site beside scikit-activeml's and PyLops'.")
    for peer, column in (("scikit-activeml", 0), ("PyLops", 1)):
        words = [row[column] for row in POINTS.values()]
        script.judge(
            f"ours-site-beside-{peer.lower()}",
            words.count("better") > words.count("worse"),
            claim=f"Of ten points more are better than worse beside {peer}'s site.",
            target="more better than worse",
            value={
                word: [point for point, row in POINTS.items() if row[column] == word] for word in dict.fromkeys(words)
            },
            reason="Judged by whoever wrote ours, from the peer's sources and stored pages; worse where examples, "
            "tutorials and formulas are concerned.",
        )
    if script.quick:
        return
    ways = clicks(BUILT.resolve())
    script.judge(
        "ours-site-questions",
        all(minutes <= 2 and ways.get(page, 99) <= 2 for page, minutes, _ in QUESTIONS.values()),
        claim="From the start page five questions are answered in two minutes and two clicks each.",
        target="at most 2 minutes, 2 clicks",
        value={
            question: {"minutes": minutes, "wrong turns": turns, "clicks": ways.get(page)}
            for question, (page, minutes, turns) in QUESTIONS.items()
        },
        reason="One trial each, by whoever wrote the pages: a lower bound for a newcomer.",
    )
    names = write_screens(script)
    script.judge(
        "ours-site-screens",
        len(names) == len(PAGES) * len(WIDTHS),
        claim="Start page, gallery, API and source pages are whole at 1280 and at 320 pixels.",
        target="each looked at: no text cut off, tables scroll inside themselves",
        value={"pages": list(PAGES), "widths": [width for width, _ in WIDTHS.values()]},
        reason="Looked at by whoever wrote them.",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
