"""Options that the commands share, and what they have in common to check."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Any

import typer

from adaptive.cli.errors import CommandError

__all__ = [
    "DryRun",
    "Format",
    "Jobs",
    "MaxMissing",
    "Resume",
    "out_folder",
    "require_at_least",
    "require_one_of",
    "require_share",
    "stated",
    "whole_number",
]


def whole_number(text: str) -> Any:
    """A whole number; its default stands in the text, as typer's way of showing it changes from version to version."""
    return typer.Option(help=text, metavar="N", show_default=False)


def out_folder(default: str) -> Any:
    """Folder of a run."""
    return typer.Option(
        help=f"Folder for the results and the log (default {default}).", metavar="FOLDER", show_default=False
    )


Resume = Annotated[
    bool, typer.Option("--resume", help="Continue the run in --out from its log, with the options that it had.")
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Say what was understood of the input, and stop before anything is computed."),
]
Jobs = Annotated[int, whole_number("Worker processes; results do not depend on it (default: one per core).")]


Format = Annotated[
    str,
    typer.Option(
        "--format", help="Format of the pictures: png, pdf or svg (default png).", metavar="KIND", show_default=False
    ),
]
MaxMissing = Annotated[
    float,
    typer.Option(
        help="Leave out columns of which a larger share is missing, from 0 to 1 (default 0.5).",
        metavar="SHARE",
        show_default=False,
    ),
]


def stated(context: typer.Context, names: Iterable[str]) -> list[str]:
    """Which of the options were written on the command line, as against their defaults."""
    return [name for name in names if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"]


def require_at_least(*bounds: tuple[str, int, int]) -> None:
    """Refuse the first (option, value, least) whose value is less."""
    for name, value, least in bounds:
        if value < least:
            raise CommandError(f"--{name} must be at least {least}, got {value}.")


def require_one_of(allowed: Collection[str], **values: str) -> None:
    """Refuse the first option that is none of the words."""
    for name, value in values.items():
        if value not in allowed:
            raise CommandError(f"--{name} must be one of {', '.join(allowed)}, got {value!r}.")


def require_share(**values: float) -> None:
    """Refuse the first option that is not between 0 and 1."""
    for name, value in values.items():
        if not 0 <= value <= 1:
            raise CommandError(f"--{name.replace('_', '-')} must be a share from 0 to 1, got {value:g}.")
