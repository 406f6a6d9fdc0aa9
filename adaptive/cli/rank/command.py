"""``adaptive rank``: which two to compare next, and what is known of their order."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job, design_in
from adaptive.cli.options import DryRun, Format, Resume, out_folder, require_at_least, stated, whole_number
from adaptive.cli.understanding import counted, table_in_words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from adaptive.cli.rank.model import Choice
    from adaptive.cli.rank.tables import Known
    from adaptive.estimators import BradleyTerry

__all__ = ["rank"]

WORTH = 10  # comparisons on a list
WAYS = ("ask", "module", "here", "answers")


def rank(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(
            help=(
                "Table with a line for each comparison (left, right, winner; or winner, loser; perhaps judge), or "
                "with one column of names."
            ),
            metavar="TABLE", show_default=False,
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(help="Table of all that is to be ranked: names in its first column, features in others, if any.",
                     metavar="FILE"),
    ] = None,
    best: Annotated[
        int, whole_number("Learn the order of the best N; 1: which is best; 0: the order of all (default 0).")
    ] = 0,
    any_order: Annotated[
        bool,
        typer.Option("--any-order", help="Learn who the --best are, not their order: --sure, the number of further "
                     "comparisons and the choice of pairs are about them as a set."),
    ] = False,
    sure: Annotated[
        float,
        typer.Option(help="Stop when that order (or set) is right with this probability (default 0.9).", metavar="P",
                     show_default=False),
    ] = 0.9,
    comparisons: Annotated[int, whole_number("Stop after this many comparisons at the latest (default 1000).")] = 1000,
    ask: Annotated[
        list[str] | None,
        typer.Option(
            help="A shell command that gets two names on standard input, a line each, and prints which won, or tie; "
            "repeatable, for several judges.",
            metavar="COMMAND",
        ),
    ] = None,
    module: Annotated[
        str | None,
        typer.Option(help="A Python function of that text, instead of a command.", metavar="PACKAGE.MODULE:NAME"),
    ] = None,
    here: Annotated[bool, typer.Option("--here", help="Ask a person in the terminal.")] = False,
    answers: Annotated[
        Path | None,
        typer.Option(help="Write the next pairs into this table, and learn the winners that it holds.",
                     metavar="FILE.csv"),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(help="Name of who is asked, so that their skill is learnt (with --no-judges it is not): one for "
                     "each --ask, in their order; with --answers any number (default: those of the table, where their "
                     "skills are learnt, or with --named).",
                     metavar="NAME"),
    ] = None,
    judges: Annotated[
        bool | None,
        typer.Option("--judges/--no-judges", show_default=False,
                     help="Learn how often each judge of the table errs, or count all answers alike (default: what "
                     "makes the table more probable)."),
    ] = None,
    named: Annotated[
        bool,
        typer.Option("--named", help="Say in the list of comparisons who is asked, people of the table or of --judge, "
                     "also where no skills are learnt; nobody compares the same two twice."),
    ] = False,
    cost: Annotated[
        list[float] | None,
        typer.Option(help="What an answer of each --ask, or each --judge, costs, in their order (default 1 each).",
                     metavar="COST"),
    ] = None,
    ties: Annotated[
        bool | None,
        typer.Option("--ties/--no-ties", show_default=False,
                     help="Whether a comparison may come out even (default: as in the table)."),
    ] = None,
    position_bias: Annotated[
        bool | None,
        typer.Option("--position-bias/--no-position-bias", show_default=False,
                     help="Learn how much it helps to be shown on one side (default: where it makes the table more "
                     "probable)."),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Ask no pair twice in one order, because the judge would repeat the answer.")
    ] = False,
    batch: Annotated[int, whole_number(
        "Comparisons chosen together, and so the length of the list in next.csv and of what waits in the --answers "
        "file (default 10; 1 where --ask or --here answer)."
    )] = 0,
    timeout: Annotated[
        float, typer.Option(help="Seconds after which a command is ended (default 300).", metavar="SECONDS",
                            show_default=False)
    ] = 300.0,
    seed: Annotated[int, whole_number("Seed of random choices (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-rank-run")] = Path("adaptive-rank-run"),
    pictures: Format = "png",
    resume: Resume = False,
    dry_run: DryRun = False,
) -> None:  # fmt: skip
    """Rank systems, prompts, pictures or players by comparisons of two at a time, and ask for those that tell most.

    For questions with one answer for everybody: which is best, and in what order. What each person likes is found by
    adaptive prefer. From TABLE alone it writes the ranking with intervals and the probabilities of ranks (ranking.csv,
    ranks.csv and the figure), a list of comparisons to buy (next.csv), and says how many more it may take. With --ask,
    --module, --here or --answers it starts from TABLE and asks for comparisons, until the order of the --best is right
    with probability --sure. It learns ties, a favoured side, and judges who err (judges.csv), where the table shows
    them. Every answer is on disk before the next comparison, and --resume carries on where a run was stopped.
    """
    options = {**locals(), "ask": ask or [], "judge": judge or [], "cost": cost or []}
    job = Job(
        context,
        options,
        aside=("timeout", "answers"),
        free=("sure", "comparisons", "ask", "module", "here"),
        later={"judges": None, "any_order": False, "named": False},
    )
    settings = job.settings
    told = stated(context, ["sure", "comparisons", "ask", "module", "here"])
    now: dict[str, Any] = {**settings, **{name: options[name] for name in told}, "answers": answers, "timeout": timeout}
    if any(now[name] for name in WAYS if name in told or name == "answers"):  # a run may go on in another way
        now |= {name: [] for name in WAYS[:3] if name not in told}
    require_at_least(
        ("best", settings["best"], 0), ("comparisons", now["comparisons"], 1), ("batch", settings["batch"], 0),
        ("seed", settings["seed"], 0),
    )  # fmt: skip
    if not 0 < now["sure"] < 1:
        raise CommandError(f"--sure must be a probability between 0 and 1, got {now['sure']:g}.")
    if not timeout > 0:
        raise CommandError(f"--timeout must be positive, got {timeout:g}.")
    _check_ways(now)
    known, features = _read(job)
    if settings.get("any_order") and not 0 < settings["best"] < len(known.names):
        raise CommandError(
            f"--any-order asks who the best N are: --best must be between 1 and {len(known.names) - 1}, one fewer than "
            f"there are names, got {settings['best']}."
        )
    if settings.get("named") and not known.judged and not settings["judge"]:
        raise CommandError(f"--named: {settings['table']} has no column judge, and no --judge is named.")
    job.understood(f"{counted(len(known.names), 'name')}{known.heading}, {counted(len(known.rows), 'comparison')}")
    if features is not None:
        job.understood(f"{counted(features.shape[1], 'feature')} of each")
    with job:
        _run(job, now, known, features)


def _check_ways(now: dict[str, Any]) -> None:
    ways = [name for name in WAYS if now[name]]
    if len(ways) > 1:
        raise CommandError(f"--{ways[0]} and --{ways[1]} do not go together: somebody answers, one way or the other.")
    asks, judges, costs = len(now["ask"]), now["judge"], now["cost"]
    if asks > 1 and len(judges) != asks:
        raise CommandError(f"several --ask need a --judge each, a name: {asks} and {len(judges)} were given.")
    if asks <= 1 and len(judges) > 1 and (now["ask"] or now["module"] or now["here"]):
        raise CommandError(
            f"one answers, and {len(judges)} --judge were given: ask them through a file, with --answers FILE.csv, or "
            "give each an --ask."
        )
    outright = bool(now["ask"] or now["module"] or now["here"])
    if judges and now.get("judges") is False and outright:
        raise CommandError(
            "--judge with --no-judges names who is asked through a file: add --answers FILE.csv, or leave out one of "
            "the two."
        )
    if now.get("named") and outright:
        raise CommandError("--named is for people who are asked through a file: add --answers FILE.csv.")
    if len(set(judges)) < len(judges):
        raise CommandError("--judge must give everybody another name.")
    if costs and len(costs) != max(asks, len(judges), 1):
        each = "--ask" if asks else "--judge"
        raise CommandError(f"--cost must be given for each {each}: {asks or len(judges)} and {len(costs)} were given.")
    if any(not one > 0 for one in costs):
        raise CommandError(f"--cost must be positive, got {min(costs):g}.")


def _read(job: Job) -> tuple[Known, Any]:
    from adaptive.cli.rank.tables import cells_of, known_of, names_and_features, roles_of

    settings = job.settings
    path = job.file("table", "of comparisons or names")
    names, features = None, None
    if settings["items"] is not None:
        names, features = names_and_features(Path(settings["items"]))
    cells = cells_of(path)
    known = known_of(cells, names, settings["ties"])
    roles = roles_of(cells)
    job.understood(lambda: table_in_words(cells, roles, dict.fromkeys(roles, "ids")))
    job.fix_file("table")
    job.fix_file("items")
    return known, features


def _run(job: Job, now: dict[str, Any], known: Known, features: Any) -> None:
    from adaptive.cli.beside import kept
    from adaptive.cli.rank.model import FEW, Choice, chosen, model_of, pairs_of
    from adaptive.cli.rank.report import write_answers, write_next, write_ranking
    from adaptive.loop import MaxSteps, OrderKnown

    settings = job.settings
    if not known.rows:
        print(f"{len(known.names)} names{known.heading}, nothing known yet.")
    elif not known.judged and not settings["judge"] and settings.get("judges"):
        raise CommandError(f"--judges: {settings['table']} has no column judge, and no --judge is named.")
    asking = bool(now["ask"] or now["module"] or now["here"] or now["answers"])
    begun = (job.log / "answers.jsonl").exists()
    job.doing = f"learning {counted(len(known.rows), 'comparison')}"
    if not asking and not begun and not known.rows:
        raise CommandError("nothing is known of these names: add --ask COMMAND, --here or --answers FILE.")
    choice = Choice(**kept(job, lambda: asdict(chosen(known, features, settings, asking)), "model.json"))
    model = model_of(known, features, choice, named=_by_name(settings))
    if not asking and not begun:
        probability = write_ranking(model, job, known, 0, choice, now["sure"])
        if len(known.rows) < FEW:  # the list is that of a run with --answers, which learns more of a short table
            choice = chosen(known, features, settings, True)
            model = model_of(known, features, choice, named=_by_name(settings))
        write_next(_listed(job, now, model, known, _people(known, choice, settings)), model, job, now["sure"])
        if probability < now["sure"]:
            job.then(job.anew("--answers", "pairs.csv"), "to get a list to fill in, again and again (or --here, --ask)")
        return
    who = _asked(job, now, known, choice)
    pairs = pairs_of(known.names, who)
    costs = _costs(who, settings)
    design = design_in(
        job.log / "answers.jsonl", model, pairs, target=_target(settings), repeat=not settings["once"],
        stop=OrderKnown(now["sure"]) | MaxSteps(now["comparisons"]), random_state=settings["seed"],
        batch_size=settings["batch"] or 1, cost=[costs[pair[2]] for pair in pairs] if costs else None,
    )  # fmt: skip
    with design:
        try:
            _ask(job, now, design, known, who, choice)
        finally:
            write_answers(design, job)
        last: BradleyTerry = design.estimator_
        if design.iteration or known.rows:
            probability = write_ranking(last, job, known, design.iteration, choice, now["sure"])
            if asking and design.finished and probability < now["sure"]:
                print(f"that is less than --sure {now['sure']:g}: to go on, add --resume and a larger --comparisons.")
            if not design.finished and now["answers"] is None:
                write_next(_listed(job, now, last, known, who, design.history_["label"]), last, job, now["sure"])


def _target(settings: dict[str, Any]) -> int | str:
    """Return what is to be known, as the estimator takes it."""
    best: int = settings["best"]
    return f"top-{best}" if settings.get("any_order") and best > 1 else best or "order"


def _by_name(settings: dict[str, Any]) -> bool:
    """True where comparisons say who is asked, even where no skills are learnt."""
    return bool(settings.get("named") or settings["judge"])


def _people(known: Known, choice: Choice, settings: dict[str, Any]) -> list[str] | None:
    """Who may be asked by name: those of --judge, else those of the table; None where it does not matter."""
    if not choice.judges and not _by_name(settings):
        return None
    return settings["judge"] or list(dict.fromkeys(row[2] for row in known.rows))


def _costs(who: list[str] | None, settings: dict[str, Any]) -> dict[str, float]:
    return dict(zip(who or (), settings["cost"], strict=False))


def _listed(
    job: Job, now: dict[str, Any], model: BradleyTerry, known: Known, who: list[str] | None,
    told: Sequence[tuple[str, ...]] = (), waiting: Sequence[tuple[str, ...]] = (), closed: Collection[Any] = (),
    n: int | None = None,
) -> list[tuple[tuple[str, ...], float]]:  # fmt: skip
    """The comparisons to buy, the same ones in next.csv and in the file of --answers; ``told`` are those of the run."""
    from adaptive.cli.rank.buying import buying

    settings, rows = job.settings, [*known.rows, *told]
    n = min(settings["batch"] or WORTH, max(now["comparisons"] - len(told), 0)) if n is None else n
    return buying(
        model, known.names, who, n, target=_target(settings), known=rows if who else (), pending=waiting,
        closed=closed, once=settings["once"], cost=_costs(who, settings),
        seed=settings["seed"] + len(rows) + len(waiting),
    ) if n else []  # fmt: skip


def _asked(job: Job, now: dict[str, Any], known: Known, choice: Choice) -> list[str] | None:
    """Who is asked in this run, as it was begun; None where that does not matter."""
    from adaptive.cli.beside import kept
    from adaptive.cli.rank.asking import ASKED

    people = _people(known, choice, job.settings)
    by_file = bool(now["answers"]) and known.judged and not job.settings["judge"]
    one = people if people is None or by_file or job.settings["judge"] else [ASKED]
    found: list[str] | None = kept(job, lambda: one, "people.json")
    if found != one and (now["ask"] or now["module"]):
        raise CommandError("this run asks people by their names: go on with --answers FILE.csv.")
    return found


def _ask(
    job: Job, now: dict[str, Any], design: Any, known: Known, who: list[str] | None, choice: Choice
) -> None:  # fmt: skip
    from adaptive.cli.outside import PythonFunction, ShellCommand
    from adaptive.cli.rank.asking import ask_here, ask_outside, exchange_file, judges_of

    settings, ties = job.settings, choice.ties

    def choose(n: int, waiting: list[Any]) -> list[tuple[str, ...]]:
        closed = {design.pool[position] for position in design.excluded().tolist()}
        told = design.history_["label"]
        found = _listed(job, now, design.estimator_, known, who, told, waiting, closed, n)
        return [one for one, _ in found]

    if now["here"]:
        ask_here(job, design, ties)
    elif now["answers"] is not None:
        n = min(settings["batch"] or WORTH, max(now["comparisons"] - design.iteration, 0))
        exchange_file(job, design, now["answers"], n, ties, choose)
    elif now["ask"] or now["module"]:
        sources: list[ShellCommand | PythonFunction] = [ShellCommand(one, now["timeout"]) for one in now["ask"]]
        sources = sources or [PythonFunction(now["module"])]
        named = dict(zip(who or ["command"], sources, strict=True))
        ask_outside(job, design, judges_of(named, known.names, ties, settings["batch"] or 1), ties)
