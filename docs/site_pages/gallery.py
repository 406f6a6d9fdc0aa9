"""The front page of the gallery: every example with its picture, made of the examples' own first lines."""

from __future__ import annotations

import ast
import re
from pathlib import Path

__all__ = ["examples_of", "title", "write"]

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

_HEAD = """# Gallery

Short examples that ran when this site was built, each with its picture: one for each estimator, one for each command.
Every one takes seconds, needs nothing but what the package installs (`adaptive-designs[mri]`), and can be taken along
as a script or a notebook from the foot of its page.

```{toctree}
:hidden:

estimators/index
commands/index
```
"""


def title(path: Path) -> str:
    """Return the first line of an example's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n")[0]


def examples_of(estimator: str) -> list[str]:
    """Return the names of the examples whose title has the estimator's."""
    paths = sorted(EXAMPLES.glob("estimators/*.py"))
    return [path.stem for path in paths if re.search(rf"\b{estimator}\b", title(path).rpartition(": ")[2])]


def write(examples: Path, folder: Path) -> None:
    """Write ``index.md``."""
    folder.mkdir(exist_ok=True)
    lines = [_HEAD]
    for section in ("estimators", "commands"):
        lines += [f"## {section.capitalize()}", "", "::::{container} pictures"]
        for path in sorted((examples / section).glob("*.py")):
            name = title(path)
            picture = f"{section}/images/thumb/sphx_glr_{path.stem}_thumb.png"
            lines += [f"[![Picture of the example: {name}]({picture}) {name}]({section}/{path.stem}.rst)", ""]
        lines += ["::::", ""]
    text, target = "\n".join(lines), folder / "index.md"
    if not target.is_file() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")
