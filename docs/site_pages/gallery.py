"""The front page of the gallery: every example and every command's page, with its picture and its own first line."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

__all__ = ["examples_of", "one_look", "title", "write"]

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

_HEAD = """# Gallery

Short examples that ran when this site was built: one for each estimator, one for each command. Every one takes seconds
and needs nothing but what the package installs (`adaptive-designs[mri]`). Those of estimators can be taken along as a
script or a notebook from the foot of their pages. Those of laboratories need other packages, and were recorded.

```{toctree}
:hidden:

estimators/index
../laboratories/index
../commands/index
```
"""


def one_look(gallery_conf: dict[str, Any], fname: str) -> None:
    """Give each script of the gallery the look of the figures of commands and results."""
    import matplotlib

    from adaptive.plots.style import PALETTE, SHEET

    matplotlib.rcdefaults()
    matplotlib.rcParams.update(SHEET | {"axes.prop_cycle": matplotlib.cycler(color=PALETTE)})


def title(path: Path) -> str:
    """Return the first line of an example's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n")[0]


def _entry(name: str, picture: str, page: str) -> str:
    return f"[![Picture of the example: {name}]({picture}) {name}]({page})"


def examples_of(estimator: str) -> list[str]:
    """Return the names of the examples whose title has the estimator's."""
    paths = sorted(EXAMPLES.glob("estimators/*.py"))
    return [path.stem for path in paths if re.search(rf"\b{estimator}\b", title(path).rpartition(": ")[2])]


def write(docs: Path) -> None:
    """Write ``gallery/index.md``; pictures of commands are there once their pages were read, which come first."""
    folder = docs / "gallery"
    folder.mkdir(exist_ok=True)
    lines = [_HEAD, "## Estimators", "", "::::{container} pictures"]
    for path in sorted((docs / "examples" / "estimators").glob("*.py")):
        picture = f"estimators/images/thumb/sphx_glr_{path.stem}_thumb.png"
        lines += [_entry(title(path), picture, f"estimators/{path.stem}.rst"), ""]
    lines += ["::::", "", "## Laboratories", "", "::::{container} pictures"]
    for path in sorted((docs / "laboratories").glob("*.py")):
        name = path.with_suffix(".md").read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ")
        picture = f"../../results/figures/ours-laboratory-{path.stem.replace('_', '-')}.png"
        lines += [_entry(name, picture, f"../laboratories/{path.stem}.md"), ""]
    lines += ["::::", "", "## Commands", "", "::::{container} pictures"]
    silent = []
    for path in sorted((docs / "commands").glob("*.md")):
        said = path.read_text(encoding="utf-8")
        name = said.split("\n", 1)[0].removeprefix("# ")
        if "```{picture}" in said:
            lines += [_entry(name, f"../generated/{path.stem}-0.png", f"../commands/{path.stem}.md"), ""]
        elif path.stem != "index":
            silent.append(f"[{name}](../commands/{path.stem}.md)")
    lines += ["::::", "", "And without a picture: " + "; ".join(silent) + ".", ""]
    text, target = "\n".join(lines), folder / "index.md"
    if not target.is_file() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")
