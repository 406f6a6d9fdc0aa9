"""Pages of commands: how each is called, what its options mean, how it ends, and the example that runs it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import typer

from adaptive.cli import app
from site_pages.docstrings import as_rst

__all__ = ["page"]

EXAMPLES = Path(__file__).resolve().parents[1] / "commands"
ENDS = (
    "**Ends with** exit code 0 where all went well; 2, and one sentence, where the call cannot work; 1 where the "
    "machine fails, as by a full disk; 130 where it was stopped, and one sentence that says how to go on."
)


def page(callback: Any) -> list[str]:
    """Return the lines of a command's page below its title; none for what is no command."""
    if not inspect.isfunction(callback) or callback not in _commands():
        return []
    name, command = _commands()[callback]
    arguments = [one.metavar for one in command.params if one.param_type_name == "argument"]
    lines = [
        as_rst(inspect.getdoc(callback) or ""),
        "",
        "::",
        "",
        f"    adaptive {' '.join([name, *arguments])} [options]",
    ]
    lines += ["", ".. list-table::", "   :widths: 30 70", ""]
    for one in command.params:
        called = (
            one.metavar if one.param_type_name == "argument" else " ".join([", ".join(one.opts), one.metavar or ""])
        )
        lines += [f"   * - ``{called.strip()}``", f"     - {as_rst(one.help)}"]
    lines += ["", ENDS, "", f"In Python: ``{callback.__module__.rpartition('.')[0]}.{callback.__name__}``.", ""]
    for path in sorted(EXAMPLES.glob("*.md")):
        if re.search(rf"^(.*\| )?adaptive {name} ", path.read_text(encoding="utf-8"), re.MULTILINE):
            lines += [f"**Example:** :doc:`/commands/{path.stem}`.", ""]
    return lines


@cache
def _commands() -> dict[Callable[..., Any], tuple[str, Any]]:
    group: Any = typer.main.get_command(app)
    return {inspect.unwrap(one.callback): (name, one) for name, one in group.commands.items()}
