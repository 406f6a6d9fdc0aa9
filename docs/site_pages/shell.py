"""Shell lines that run when the site is built, with what they print and the pictures that they leave.

    ```{file} questions.toml      a file that the lines need, shown as it is
    ```{made}                     Python that makes such files, folded away
    ```{shell}                    lines, run by bash in the folder of the page; their output follows
    ```{picture} run/curve.png    a picture that was left there; the text says what it shows

A page has one folder, thrown away once it is read, and every process that its lines began is stopped by then. A line
that fails, or takes longer than two minutes, fails the build.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

__all__ = ["setup"]

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 600  # seconds, on a busy machine


class _Page:
    """The folder of the page that is being read."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.processes: list[subprocess.Popen[str]] = []
        self.pictures = 0

    def open(self) -> Path:
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="adaptive-site-"))
            commands = self.folder / ".bin"
            commands.mkdir()
            for name, call in (("adaptive", "-m adaptive"), ("python", "")):
                script = commands / name
                script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {call} "$@"\n')
                script.chmod(0o755)
        return self.folder

    def run(self, lines: list[str], text: str) -> str:
        """Run a command in the folder and return what it prints; what it leaves running ends with the page."""
        folder = self.open()
        environment = os.environ | {
            "PATH": f"{folder / '.bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1", "no_proxy": "127.0.0.1,localhost",
        }  # fmt: skip
        printed = folder / ".printed"
        with printed.open("w") as stream:
            process = subprocess.Popen(
                lines, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=stream, stderr=subprocess.STDOUT,
                text=True, start_new_session=True,
            )  # fmt: skip
            self.processes.append(process)
            assert process.stdin is not None
            process.stdin.write(text)
            process.stdin.close()
            process.wait(LIMIT)
        said = printed.read_text(encoding="utf-8").rstrip()
        if process.returncode:
            raise RuntimeError(f"exit {process.returncode} of {text.strip()!r}:\n{said[-2000:]}")
        return said

    def close(self) -> None:
        for process in self.processes:
            try:
                os.killpg(process.pid, signal.SIGTERM)
            except ProcessLookupError:
                continue
        self.processes, self.pictures = [], 0
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None


PAGE = _Page()


class File(SphinxDirective):
    """A file of the page, written and shown."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content) + "\n"
        path = PAGE.open() / self.arguments[0]
        path.write_text(text, encoding="utf-8")
        return [nodes.caption(path.name, path.name), _block(text, _language(path))]


class Made(SphinxDirective):
    """Files made by Python, whose code is folded away."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content) + "\n"
        PAGE.run([sys.executable, "-"], text)
        summary = self.arguments[0] if self.arguments else "How the table of this page was made"
        opened = nodes.raw("", f"<details><summary>{summary}</summary>", format="html")
        return [opened, _block(text, "python"), nodes.raw("", "</details>", format="html")]


class Shell(SphinxDirective):
    """Lines of a shell, and what they print."""

    has_content = True
    option_spec = {"lines": directives.positive_int}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content) + "\n"
        said = PAGE.run(["bash", "-euo", "pipefail"], text).splitlines()
        most = self.options.get("lines", len(said))
        shown = said if len(said) <= most else [*said[:most], "..."]
        found: list[nodes.Node] = [_block(text, "sh")]
        if shown:
            found.append(_block("\n".join(shown) + "\n", "text", classes=["printed"]))
        return found


class Picture(SphinxDirective):
    """A picture that the lines left; its content says what it shows."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        said = " ".join(self.content)
        if not said:
            raise self.error("a picture needs a text that says what it shows.")
        kept = Path(self.env.srcdir) / "generated" / f"{Path(self.env.docname).name}-{PAGE.pictures}.png"
        PAGE.pictures += 1
        kept.parent.mkdir(exist_ok=True)
        picture = PAGE.open() / self.arguments[0]
        if not picture.is_file():
            there = sorted(path.relative_to(PAGE.open()).as_posix() for path in PAGE.open().rglob("*.png"))
            raise self.error(f"the lines left no {self.arguments[0]}; they left {', '.join(there) or 'no picture'}.")
        shutil.copy(picture, kept)
        image = nodes.image(uri=f"/generated/{kept.name}", alt=said)
        return [nodes.figure("", image, nodes.caption(said, said))]


def _block(text: str, language: str, classes: list[str] | None = None) -> nodes.literal_block:
    return nodes.literal_block(text, text, language=language, classes=classes or [])


def _language(path: Path) -> str:
    return {".toml": "toml", ".py": "python"}.get(path.suffix, "text")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives; the folder of a page goes when it is read."""
    for name, directive in (("file", File), ("made", Made), ("shell", Shell), ("picture", Picture)):
        app.add_directive(name, directive)
    app.connect("doctree-read", lambda *_: PAGE.close())
    atexit.register(PAGE.close)  # of a page that failed half-way
    return {"parallel_read_safe": False, "parallel_write_safe": True}
