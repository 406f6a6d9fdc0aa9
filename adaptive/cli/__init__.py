"""The command ``adaptive``: every sub-command is a module or a folder of this package.

Bad input ends in one line on stderr and exit code 2; Ctrl-C in one line that says how to go on, and exit code 130.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import metadata
from typing import Any

import typer

from adaptive.cli import (
    ask,
    calibrate,
    classify,
    counts,
    evaluate,
    example,
    kspace,
    label,
    move,
    photograph,
    prefer,
    rank,
    recommend,
    sequences,
    serve,
    topics,
)
from adaptive.cli.ask.keys import keys_help
from adaptive.cli.errors import CommandError, warnings_in_one_line
from adaptive.cli.example import help_of
from adaptive.cli.progress import Progress
from adaptive.tables.cells import TableError

__all__ = ["app", "main"]

app = typer.Typer(
    name="adaptive",
    help="Choose the measurements that teach most: active learning and experimental design.",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
COMMANDS: dict[Callable[..., Any], str | None] = {  # and what stands at the end of their help
    kspace.kspace: None,
    label.label: None,
    classify.classify: None,
    photograph.photograph: None,
    counts.counts: None,
    recommend.recommend: None,
    move.move: None,
    calibrate.calibrate: None,
    evaluate.evaluate: None,
    ask.ask: keys_help(),
    serve.serve: keys_help(),
    serve.export: None,
    serve.forget: None,
    topics.topics: None,
    prefer.prefer: None,
    rank.rank: None,
    sequences.sequences: None,
    example.example: None,
}
for command, epilog in COMMANDS.items():
    app.command(help=help_of(command.__name__, inspect.getdoc(command) or ""), epilog=epilog)(command)

# typer carries its own click since 0.2x, so its classes are found through the one that typer exports
_ClickError: Any = typer.BadParameter.__mro__[2]


def _version(asked: bool) -> None:
    if asked:
        print(f"adaptive-designs {metadata.version('adaptive-designs')}")
        raise typer.Exit


@app.callback()
def _adaptive(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Choose the measurements that teach most: active learning and experimental design."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command and leave the process with its exit code.

    Parameters
    ----------
    arguments : list of str, optional
        What stands behind ``adaptive``; default that of the process.

    Raises
    ------
    SystemExit
        Always, with the exit code: 0 where all went well, 2 where the call was wrong.

    Examples
    --------
    >>> try:
    ...     main(["move", "--rollouts", "none"])
    ... except SystemExit as left:
    ...     left.code
    2
    """
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run the command with ``arguments`` and return its exit code."""
    try:
        with warnings_in_one_line(), Progress():
            result = typer.main.get_command(app)(
                args=arguments or ["--help"], prog_name="adaptive", standalone_mode=False
            )
    except CommandError as error:
        return _fail(str(error), error.exit_code)
    except TableError as error:
        return _fail(str(error), 2)
    except _ClickError as error:  # an unknown option, a number that is none
        message = " ".join(error.format_message().split())
        if "unexpected extra argument" in message:
            message = f"{message.removesuffix('.')}: files and values follow their options."
        where = getattr(getattr(error, "ctx", None), "command_path", "adaptive")
        return _fail(f"{message}{'' if message.endswith(('.', '?')) else '.'} See {where} --help.", 2)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted.", 130)
    return result if isinstance(result, int) else 0


def _fail(message: str, exit_code: int) -> int:
    print(f"adaptive: {message}", file=sys.stderr)
    return exit_code
