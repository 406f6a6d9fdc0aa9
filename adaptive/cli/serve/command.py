"""``adaptive serve``: a test for many people, or a pool that several label together, as pages in a browser."""

from __future__ import annotations

import importlib.util
import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive.cli import progress
from adaptive.cli.ask.keys import EXAMPLE
from adaptive.cli.errors import CommandError
from adaptive.cli.options import DryRun, require_at_least, whole_number
from adaptive.cli.stopping import Stop

__all__ = ["serve", "web_needed"]

AHEAD = 3


def _text(help: str, metavar: str) -> Any:
    return typer.Option(help=help, metavar=metavar, show_default=False)


def serve(
    file: Annotated[
        Path | None, typer.Argument(help="TOML file with the questions of a test.", metavar="FILE.toml",
                                    show_default=False),
    ] = None,
    bank: Annotated[Path | None, _text("What is known of the items, as for `adaptive ask`.", "BANK.csv")] = None,
    label: Annotated[Path | None, _text("A table whose rows are to be labelled.", "POOL.csv")] = None,
    classes: Annotated[str | None, _text("The labels, separated by commas.", "A,B,...")] = None,
    text: Annotated[str | None, _text("The column of texts; the model reads them by TF-IDF.", "COLUMN")] = None,
    image: Annotated[
        str | None, _text("The column of paths of pictures, below the table's folder.", "COLUMN")
    ] = None,
    question: Annotated[str | None, _text("A question that stands above every row.", "TEXT")] = None,
    instructions: Annotated[Path | None, _text("A text file that is shown first and stays at hand.", "FILE")] = None,
    texts: Annotated[
        Path | None, _text("Your own words for the pages of a pool, as in [texts] of a test.", "FILE.toml")
    ] = None,
    one_tap: Annotated[
        bool, typer.Option("--one-tap", help="A tap on a label sends it (default: choose, then send).")
    ] = False,
    exposure: Annotated[
        float | None,
        _text("The largest share of the people who are asked an item of a test, instead of the file's.", "SHARE"),
    ] = None,
    example: Annotated[bool, typer.Option("--example", help="Print a TEST.toml with every key, and stop.")] = False,
    features: Annotated[
        str | None, _text("The columns that the model looks at (default: all but text and image).", "A,B,...")
    ] = None,
    embeddings: Annotated[
        str | None,
        _text("Vectors of the rows from any network, instead of texts or pictures.", "FILE.npy|FILE.parquet:COLUMN"),
    ] = None,
    run: Annotated[Path | None, _text("A run of `adaptive label` to carry on with.", "FOLDER")] = None,
    label_studio: Annotated[
        str | None, _text(
            "The address of a running Label Studio, whose people are shown the tasks that teach most.", "URL")
    ] = None,
    project: Annotated[int, whole_number("The number of its project.")] = 0,
    token_file: Annotated[
        Path | None, _text("A file that holds a personal access token of Label Studio.", "FILE")
    ] = None,
    ahead: Annotated[int, whole_number("The least number of its tasks that are open (default 3).")] = AHEAD,
    webhook: Annotated[
        bool, typer.Option("--webhook", help="Have Label Studio announce answers at --host and --port, to be quicker.")
    ] = False,
    overlap: Annotated[int, whole_number("How many people label each row (default 1).")] = 1,
    skills: Annotated[
        int, whole_number(
            "Learn the errors of at most this many labellers; some rows go to several people (default 0: no).")
    ] = 0,
    stop: Stop = None,
    invite: Annotated[
        int, whole_number(
            "Let people in by invitation only, and write this many links into STORE/invitations.csv (default: "
            "anybody).")
    ] = 0,
    give_up: Annotated[
        int, whole_number("How many people must be unable to tell before a row is set aside (default: as --overlap).")
    ] = 0,
    store: Annotated[
        str | None, _text(
            "Folder of the answers, new or to carry on with (default adaptive-serve-run; with --label-studio "
            "adaptive-label-studio-run), or a database that servers on several machines share.",
            "FOLDER|postgresql://...",
        )
    ] = None,
    workers: Annotated[int, whole_number("How many processes answer (default 1).")] = 1,
    host: Annotated[str, _text("Address to listen on (default: this machine only).", "ADDRESS")] = "127.0.0.1",
    port: Annotated[int, whole_number("Port (default 8000; 0: any that is free).")] = 8000,
    name: Annotated[
        list[str] | None, _text("A name by which browsers call this server; repeatable.", "NAME")
    ] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy in front speaks https to browsers; needs --name.")
    ] = False,
    seed: Annotated[int, whole_number("Seed of ties and draws (default 0).")] = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Carry on with the folder of answers; this happens anyway.")
    ] = True,
    dry_run: DryRun = False,
) -> None:  # fmt: skip
    """Serve a test or a pool as pages: one command, one folder, every answer on disk before the next question.

    Each person who takes a test gets the questions that teach most about them. Labellers share one design, and each has
    a row of their own. Or people stay in their own Label Studio: --label-studio URL --project N --token-file FILE. Type
    the command again to carry on. See also `adaptive export` and `adaptive forget`.
    """
    require_at_least(
        ("seed", seed, 0), ("invite", invite, 0), ("overlap", overlap, 1), ("port", port, 0), ("skills", skills, 0),
        ("ahead", ahead, 1), ("give-up", give_up, 0), ("workers", workers, 1),
    )  # fmt: skip
    if example:
        print(EXAMPLE, end="")
        return
    things = (("FILE.toml", file), ("--label", label), ("--run", run), ("--label-studio", label_studio))
    given = [flag for flag, value in things if value is not None]
    if len(given) != 1:
        raise CommandError(
            "name one thing to serve, a test FILE.toml, --label POOL.csv, --run FOLDER or --label-studio URL; "
            f"got {' and '.join(given) or 'none'}."
        )
    if label_studio is not None:
        own = (
            bank,
            classes,
            image,
            features,
            invite,
            behind_proxy,
            question,
            instructions,
            texts,
            one_tap,
            give_up,
            exposure,
        )
        if any(own):
            raise CommandError(
                "--bank, --classes, --image, --features, --question, --instructions, --texts, --one-tap, --give-up, "
                "--exposure, --invite and --behind-proxy are not about --label-studio, which has its own labels, page "
                "and people."
            )
        if workers > 1 or is_database(store):
            raise CommandError("--workers and a database are about pages of our own, not about --label-studio.")
        if project < 1 or token_file is None:
            raise CommandError("--label-studio needs --project N and --token-file FILE.")
        if embeddings and text:
            raise CommandError("--embeddings and --text both say what the model looks at; give one.")
        from adaptive.cli.serve import studio

        asked = studio.Followed(label_studio, project, token_file, text, embeddings, ahead, overlap, skills,
                                tuple(stop or ()), seed)  # fmt: skip
        if dry_run:
            _end_dry([f"Project {project} of Label Studio at {label_studio} would be followed; nobody was asked yet."])
        with progress.hushed():
            studio.follow(
                asked, Path(store) if store else studio.FOLDER, _webhook(host, port, name) if webhook else None
            )
        return
    if project or token_file or webhook or ahead != AHEAD:
        raise CommandError("--project, --token-file, --ahead and --webhook are about --label-studio.")
    if behind_proxy and not name:
        raise CommandError("--behind-proxy needs the --name by which browsers call the server.")
    if (
        label is None
        and run is None
        and (classes or text or image or features or embeddings or overlap > 1 or skills or stop or give_up)
    ):
        raise CommandError(
            "--classes, --text, --image, --features, --embeddings, --overlap, --skills, --give-up and --stop are "
            "about --label."
        )
    if file is not None and (question or instructions or texts or one_tap):
        raise CommandError(
            "--question, --instructions, --texts and --one-tap are about --label and --run; a test has its own words."
        )
    if file is None and exposure is not None:
        raise CommandError("--exposure is about a test FILE.toml.")
    if embeddings and features:
        raise CommandError("--embeddings and --features both say what the model looks at; give one.")
    if skills and overlap > 1:
        raise CommandError("--skills decides itself how many people get a row; leave --overlap out.")
    if skills and run is not None:
        raise CommandError("--skills needs a pool that was begun with it: adaptive serve --label ... --skills N.")
    if skills and give_up:
        raise CommandError('with --skills "cannot tell" is that person\'s alone; leave --give-up out.')
    if run is not None and (workers > 1 or is_database(store)):
        raise CommandError("--run keeps its answers in the folder of the run; leave --workers and the database out.")
    if workers > 1 and os.name != "posix":
        raise CommandError("--workers is for Linux and macOS.")
    if port > 65535:
        raise CommandError(f"--port must be at most 65535, got {port}.")
    web_needed()
    from adaptive.cli.serve import pools, running, tests

    if file is not None:
        source: Any = tests.survey(file, bank, seed, exposure)
        if invite and source.panel is not None:
            raise CommandError(f"--invite and the [panel] of {file} both say who comes in; leave one out.")
    elif label is not None:
        source = pools.pool(
            label, classes or "", text=text, image=image, features=features, overlap=overlap, seed=seed, stop=stop,
            skills=skills, embeddings=embeddings,
        )  # fmt: skip
    else:
        assert run is not None
        if overlap > 1:
            raise CommandError("--overlap needs a run that was begun with it: adaptive serve --label ... --overlap N.")
        source = pools.of_run(run)
    if file is None:
        source = replace(
            source, question=question or "", instructions=_read(instructions), texts=_texts(texts), one_tap=one_tap
        )
    if give_up:
        source = replace(source, give_up=give_up)
    if dry_run:
        _end_dry(_understood(file, bank, label, run, source))
    place = store or (str(run / "serve") if run is not None else "adaptive-serve-run")
    with progress.hushed():
        running.run(
            source, place, host=host, port=port, names=name or [], behind_proxy=behind_proxy, invite=invite,
            export=f"adaptive export {shlex.quote(shown(place))}", workers=workers,
        )  # fmt: skip


def _end_dry(lines: list[str]) -> None:
    """Say what was understood, and end."""
    print("\n".join(lines))
    print("A dry run: nothing was computed, nothing was written, and no page was served.")
    raise typer.Exit


def _understood(file: Path | None, bank: Path | None, label: Path | None, run: Path | None, source: Any) -> list[str]:
    """Return what was understood of a test, a table or a run."""
    if file is not None:
        from adaptive.cli.ask.command import in_words
        from adaptive.cli.ask.questionnaire_file import read_questionnaire

        return in_words(read_questionnaire(file), bank)
    of = "the run" if run is not None else "the table"
    lines = [
        f"{source.title}: labels are {', '.join(map(str, source.classes))}; rows are those of {of} {run or label}."
    ]
    if label is not None:
        from adaptive import tables
        from adaptive.cli.serve.pools import TARGET
        from adaptive.cli.understanding import features_in_words

        cells = tables.read_cells(label)
        return [*features_in_words(cells, tables.columns_of(cells, leave_out={TARGET}, max_missing=0.5), {
            TARGET: "labels"}), *lines]  # fmt: skip
    return lines


def is_database(store: str | None) -> bool:
    """Return whether answers go to a database."""
    from adaptive.serve.stores.opening import is_address

    return store is not None and is_address(store)


def shown(place: str) -> str:
    """Return the place of a store without its password."""
    from adaptive.serve.stores.postgres import without_password

    return without_password(place) if is_database(place) else place


def _read(path: Path | None) -> str:
    """Return the instructions of a file."""
    try:
        return "" if path is None else path.read_text(encoding="utf-8-sig").replace("\r\n", "\n").strip()
    except (OSError, UnicodeDecodeError):
        raise CommandError(f"{path} is no text file in UTF-8 (--instructions).") from None


def _texts(path: Path | None) -> dict[str, str]:
    """Return the texts of a file: its keys, or those of its [texts]."""
    import tomllib

    from adaptive.serve.pages import texts

    if path is None:
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        found = content.get("texts", content)
        texts(found if isinstance(found, dict) else content)
    except (OSError, UnicodeDecodeError):
        raise CommandError(f"{path} is no text file in UTF-8 (--texts).") from None
    except (ValueError, RecursionError) as problem:
        raise CommandError(f"{path}: {problem}") from None
    return found


def _webhook(host: str, port: int, names: list[str] | None) -> Any:
    """Return what opens the address at which Label Studio announces what has changed."""
    web_needed()
    from adaptive.cli.serve import running

    def opened() -> tuple[str, Any]:
        listening = running.listen(host, port)
        return f"http://{running.bracketed((names or [host])[0])}:{listening.getsockname()[1]}", listening

    return opened


def web_needed() -> None:
    """Say in one line what to install where the extra is absent."""
    for module in ("starlette", "jinja2", "uvicorn", "itsdangerous", "python_multipart"):
        if importlib.util.find_spec(module) is None:
            raise CommandError(f"pages need {module}: pip install 'adaptive-designs[web]'.")
