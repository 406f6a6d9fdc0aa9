"""``adaptive export`` and ``adaptive forget``: what people said as tables, and a person taken out for good."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.options import DryRun
from adaptive.cli.serve.command import web_needed
from adaptive.cli.understanding import counted
from adaptive.files import plain_cell, write_csv, write_file

if TYPE_CHECKING:
    from adaptive.serve.stores.any_store import AnyStore

__all__ = ["export", "forget"]


def export(
    folder: Annotated[
        str, typer.Argument(help="The folder or database that `adaptive serve` had as --store.", metavar="FOLDER|postgresql://...")
    ],
    file: Annotated[
        Path | None, typer.Argument(help="The questionnaire, for estimates of the people.", metavar="FILE.toml",
                                    show_default=False),
    ] = None,
    bank: Annotated[
        Path | None, typer.Option(help="The bank with which it was served.", metavar="BANK.csv", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the tables (default FOLDER/export).", metavar="FOLDER")
    ] = None,
    backup: Annotated[
        Path | None, typer.Option(help="Copy the store itself to this new file instead.", metavar="FILE",
                                  show_default=False),
    ] = None,
    dry_run: DryRun = False,
) -> None:  # fmt: skip
    """Write out what people answered, also while the server runs.

    The tables are sessions.csv and answers.csv (in order, with times), and export.json holds both.

    For a test there is also table.csv, with a row for each person and a column for each item, as `adaptive calibrate`
    reads it. With FILE.toml there is estimates.csv. If the test has items of attention, there is attention.csv, and
    sessions.csv counts the wrong answers and says who was screened out.

    For a pool there are also labels.csv, which labelling.read_csv reads,
    cannot_tell.csv, and with --skills people.csv: the skill of each person, its interval, the agreement with the others
    and the minutes.
    """
    web_needed()
    from adaptive.loop import LogError
    from adaptive.serve import Store, StoreError, open_store

    where = out
    try:
        with open_store(folder, write=False) as store:
            if backup is not None and not dry_run:
                if not isinstance(store, Store):
                    raise CommandError("copy a database with its own program, pg_dump.")
                where = backup
                store.backup(backup)
                print(f"{backup} is a copy of the store.")
                return
            where = out or store.folder / "export"
            if dry_run:
                print(_in_words(store))
                print(f"A dry run: nothing was written. Without --dry-run it goes to {where}.")
                return
            written = _write(store, where, file, bank)
    except (StoreError, LogError) as problem:
        raise CommandError(str(problem)) from None
    except OSError as problem:
        raise CommandError(f"{where or 'the export'} cannot be written: {problem.strerror or problem}.") from None
    print(written)


def _in_words(store: AnyStore, session: int | None = None) -> str:
    """Say what a store holds, or of one session."""
    from adaptive.serve import sessions_of

    sessions = [one for one in sessions_of(store) if session in (None, one["session"])]
    what = "a test" if store.facts().get("kind") == "survey" else "a pool"
    if session is None:
        return f"{store.name} holds {counted(len(sessions), 'session')} of {what}."
    if not sessions:
        raise CommandError(f"{store.name} has no session {session}.")
    return f"Session {session} of {what}, begun by {sessions[0]['name'] or 'somebody without a name'}."


def _write(store: AnyStore, out: Path, file: Path | None, bank: Path | None) -> str:
    from adaptive.serve import answers_of, sessions_of
    from adaptive.serve.export import attention_of, passes_of
    from adaptive.serve.labelling import DESIGN

    sessions, facts = sessions_of(store), store.facts()
    survey = facts.get("kind") == "survey"
    answers: list[dict[str, Any]] = []
    for design in [session["session"] for session in sessions] if survey else [DESIGN]:
        answers += answers_of(store, design)
    out.mkdir(parents=True, exist_ok=True)
    of_panel = ("participant",) if any(session["participant"] for session in sessions) else ()
    attended = attention_of(store)
    of_attention = ("attention_wrong", "screened_out") if attended else ()
    named = [session | {"name": plain_cell(session["name"])} | _attention(session, attended) for session in sessions]
    write_csv(out / "sessions.csv", _columns(named, ("session", "name", "begun", *of_panel, *of_attention)))
    if attended:
        said_so = [one | {"answer": plain_cell(one["answer"])} for one in attended]
        write_csv(out / "attention.csv", _columns(said_so, ("time", "session", "item", "answer", "correct")))
    write_csv(out / "answers.csv", _columns(answers, ("time", "session", "query", "position", "item", "answer")))
    content: dict[str, Any] = {"facts": facts, "sessions": sessions, "answers": answers}
    content |= {"attention": attended} if attended else {}
    if survey:
        items = list(dict.fromkeys(answer["item"] for answer in answers))
        table: dict[str, Any] = {"session": [session["session"] for session in sessions]}
        said = {(answer["session"], answer["item"]): answer["answer"] for answer in answers}
        table |= {str(item): [said.get((number, item)) for number in table["session"]] for item in items}
        write_csv(out / "table.csv", table)
        if file is not None:
            content["estimates"] = _estimates(store, sessions, file, bank)
            write_csv(out / "estimates.csv", _columns(content["estimates"], tuple(content["estimates"][0])))
    else:
        names = _names(sessions)
        columns = {
            "query": "query", "position": "position", "id": "item", "answer": "answer",
        }  # fmt: skip
        rows_of = _rows(store, answers)
        table = {name: [answer[key] for answer in answers] for name, key in columns.items()}
        table["position"] = [rows_of[answer["position"]] for answer in answers]
        if store.facts().get("people"):
            table["id"] = [answer["item"][0] for answer in answers]
            write_csv(out / "people.csv", _people(store, answers, names))
        table["annotator"] = [
            plain_cell(names.get(answer["session"], f"session {answer['session']}")) for answer in answers
        ]
        table["session"] = [answer["session"] for answer in answers]
        write_csv(out / "labels.csv", table)
        passes = passes_of(store)
        for one in passes:
            one["annotator"] = plain_cell(names.get(one["session"], f"session {one['session']}"))
            one["position"] = _row(store, one["position"])
        write_csv(out / "cannot_tell.csv", _columns(passes, ("time", "session", "annotator", "position")))
    write_file(out / "export.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return f"{out} holds {counted(len(answers), 'answer')} of {counted(len(sessions), 'session')}."


def _attention(session: dict[str, Any], attended: list[dict[str, Any]]) -> dict[str, Any]:
    """Count the attention items that a session got wrong; say whether its test ended for that."""
    own = [one for one in attended if one["session"] == session["session"]]
    return {"attention_wrong": sum(not one["correct"] for one in own), "screened_out": any(one["ended"] for one in own)}


def _estimates(store: AnyStore, sessions: list[dict[str, Any]], file: Path, bank: Path | None) -> list[dict[str, Any]]:
    """The estimates of the people, by replay of what they answered."""
    from adaptive.cli.serve.tests import survey
    from adaptive.serve import StoreError

    served = survey(file, bank, int(store.facts().get("seed", 0)))
    if store.facts().get("identity") != served.identity:
        raise StoreError(f"{file} is not the test that {store.folder} holds answers to (or give its --bank).")
    rows = []
    for session in sessions:
        number = session["session"]
        if not store.has_log(number):
            continue
        taken = served.design(number, store.log(number), begun=True).estimator_
        ends = taken.interval(0.95).tolist()
        for trait, mean, std, (low, high) in zip(taken.traits, taken.mean, taken.std, ends, strict=True):
            rows.append(
                {"session": number, "answers": len(taken.items), "trait": str(trait), "mean": float(mean),
                 "std": float(std), "low": low, "high": high}
            )  # fmt: skip
    return rows or [dict.fromkeys(("session", "answers", "trait", "mean", "std", "low", "high"))]


def _rows(store: AnyStore, answers: list[dict[str, Any]]) -> dict[int, int]:
    """Rows of the table by positions of the design."""
    return {answer["position"]: _row(store, answer["position"]) for answer in answers}


def _row(store: AnyStore, position: int) -> int:
    """Row of the table that a candidate is about, which may be a row and a person."""
    people = int(store.facts().get("people", 0))
    return position // people if people else position


def _people(store: AnyStore, answers: list[dict[str, Any]], names: dict[int | None, str]) -> dict[str, list[Any]]:
    """A row for everybody who has labelled: skill as it was last believed, agreement with the others, minutes."""
    from adaptive.serve.labelling import SKILLS

    believed = json.loads(store.facts().get(SKILLS, "{}"))
    rows_of, by_row = _rows(store, answers), dict[int, list[dict[str, Any]]]()
    for answer in answers:
        by_row.setdefault(rows_of[answer["position"]], []).append(answer)
    found: list[dict[str, Any]] = []
    for session in sorted({answer["session"] for answer in answers}):
        own = [answer for answer in answers if answer["session"] == session]
        beside = [
            other["answer"] == answer["answer"]
            for answer in own
            for other in by_row[rows_of[answer["position"]]]
            if other["session"] != session
        ]
        times = [answer["time"] for answer in own if answer["time"] is not None]
        row: dict[str, Any] = {"session": session, "annotator": plain_cell(names.get(session, f"session {session}"))}
        skill = believed.get(str(session), {})
        row |= {"skill": skill.get("mean"), "low": skill.get("low"), "high": skill.get("high")}
        row["labels"] = len(own)
        row["agreement"] = round(sum(beside) / len(beside), 3) if beside else None
        row["minutes"] = round((max(times) - min(times)) / 60.0, 1) if times else None
        found.append(row)
    return {name: [row[name] for row in found] for name in found[0]} if found else {"session": []}


def _names(sessions: list[dict[str, Any]]) -> dict[int | None, str]:
    """Names of annotators: no two alike, not even to the eye, as an answer is known by its row and its annotator."""
    from adaptive.serve.rendering import plain_name, same_name

    names: dict[int | None, str] = {None: "adaptive label"}  # of a run: what was answered there
    taken = {"adaptive label", *(f"session {session['session']}" for session in sessions)}
    for session in sessions:
        own = f"session {session['session']}"
        given = plain_name(session["name"] or "") or own
        name, k = given, 1
        while same_name(name) in taken and name != own:
            k += 1
            name = f"{given} ({k})"
        names[session["session"]] = name
        taken.add(same_name(name))
    return names


def _columns(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}


def forget(
    folder: Annotated[
        str,
        typer.Argument(
            help="The folder or database that `adaptive serve` had as --store.", metavar="FOLDER|postgresql://..."
        ),
    ],
    session: Annotated[int, typer.Argument(help="The number of the session in sessions.csv.", metavar="SESSION")],
    dry_run: DryRun = False,
) -> None:
    """Remove a person's session and answers to a test for good, also from the free pages of the file. The labels of a
    pool stay, under a number that belongs to nobody. You have to delete earlier copies (backups, exports) yourself; the
    command lists those in the folder that still name the session. The server must be stopped, and nothing else may read
    the store.
    """
    web_needed()
    from adaptive.serve import StoreError, open_store
    from adaptive.serve import forget as remove
    from adaptive.serve.export import named_in

    try:
        if dry_run:
            with open_store(folder, write=False) as store:
                print(_in_words(store, session))
            print("A dry run: nothing was removed.")
            return
        with open_store(folder) as store:
            if not store.lead():
                raise CommandError(f"{store.name} is in use by a server; stop that one first.")
            gone = remove(store, session)
            named = named_in(store, session)
    except (StoreError, OSError) as problem:
        raise CommandError(str(problem)) from None
    print(f"Session {session} is forgotten ({counted(max(0, gone - 1), 'event')}).")
    if named:
        print(f"It is still named in {', '.join(map(str, named))}: write the exports anew, or delete them.")
