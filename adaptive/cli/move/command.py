"""``adaptive move``: values of the legal moves of a position, from random games, with intervals.

Every random game starts where the search learns most by its optimistic policy; all of them stand in a log, from which a
run that was stopped goes on.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adaptive.cli import progress
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job, design_in
from adaptive.cli.options import DryRun, Format, Resume, out_folder, require_at_least, require_one_of, whole_number
from adaptive.pool import PoolExhausted

if TYPE_CHECKING:
    from adaptive import GameTreeSearch, SequentialDesign

__all__ = ["GAMES", "move"]

GAMES = ("tic_tac_toe", "connect_four", "go")


def move(
    context: typer.Context,
    game: Annotated[
        str, typer.Option(help="tic_tac_toe, connect_four or go (9x9) (default tic_tac_toe).", metavar="GAME")
    ] = "tic_tac_toe",
    position: Annotated[
        str, typer.Option(help="Moves played already, such as 0,4,8 (default: none).", metavar="MOVES")
    ] = "",
    rollouts: Annotated[int, whole_number("Random games to play (default 500).")] = 500,
    play: Annotated[bool, typer.Option("--play", help="Play a game against it in the terminal.")] = False,
    seed: Annotated[int, whole_number("Seed of the random games (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-move-run")] = Path("adaptive-move-run"),
    pictures: Format = "png",
    resume: Resume = False,
    dry_run: DryRun = False,
) -> None:
    """Which move is best here, and how sure is that?

    The command plays random games from the nodes of the tree that matter. It shows each legal move with its value under
    best play, a 90% interval and the probability that it is the best. It writes moves.csv, tree.png (the tree with
    beliefs), summary.json, and a log from which --resume continues a run that was stopped. The squares of tic-tac-toe
    are 0 to 8, and the columns of Connect Four 0 to 6. The points of Go are 0 to 80, row by row, and 81 is a pass.
    """
    job = Job(context, locals(), aside=["play"])
    require_at_least(("rollouts", rollouts, 1), ("seed", seed, 0))
    require_one_of(GAMES, game=game)
    if play:
        play_against(game, _moves(position), rollouts, seed)
        return
    settings = job.settings
    searched = game_at(settings["game"], _moves(settings["position"]))
    legal = ", ".join(map(str, searched.moves(searched.start)))
    job.understood(f"{settings['game']} after {len(_moves(settings['position']))} moves; legal moves: {legal}",
                   f"{settings['rollouts']:,} random games are played.")  # fmt: skip
    with job:
        job.doing = "playing random games,"
        with _design(searched, settings, job.log / "games.jsonl") as design, suppress(PoolExhausted):  # every end seen
            job.progress = lambda: f" after {design.iteration} of {settings['rollouts']} games"
            design.run(max(settings["rollouts"] - design.iteration, 0))
        from adaptive.cli import beside
        from adaptive.cli.move.beside_frequencies import beside_frequencies, most_won
        from adaptive.cli.move.report import write

        history = design.history_
        games = [tuple(node) for node in history["label"]], history["outcome"]
        found = beside.kept(job, lambda: beside_frequencies(searcher(searched, settings["seed"]), *games))
        write(design.estimator_, searched, job, found, most_won(searched, *games))
        job.then(job.anew("--rollouts", str(4 * settings["rollouts"])), "for half the uncertainty")


def play_against(name: str, position: list[int], rollouts: int, seed: int) -> None:
    """Play a game in the terminal: the person has the first move, ``q`` or the end of input leaves."""
    moves = list(position)
    game = game_at(name, moves)
    person = game.player(game.start)
    while game.result(game.start) is None:
        print(game.show(game.start))
        if game.player(game.start) == person:
            chosen = _ask(game)
            if chosen is None:
                print("left.")
                return
        else:
            model = searcher(game, seed).search(rollouts)
            chosen = model.best_move()
            print(f"I play {chosen}: best with probability {model.best_move_proba().max():.2f}.")
        moves.append(chosen)
        if game.result(game.play(game.start, chosen)) is not None:
            game.start = game.play(game.start, chosen)
            break
        game = game_at(name, moves)
    print(game.show(game.start))
    result = game.result(game.start)
    print("a draw." if result == 0 else "you win." if result == person else "I win.")


def _ask(game: Any) -> int | None:
    """Return a legal move, or None."""
    while True:
        try:
            with progress.hushed():
                text = typer.prompt("your move").strip()
        except typer.Abort:
            return None
        if text == "q":
            return None
        if text.lstrip("-").isdigit() and int(text) in game.moves(game.start):
            return int(text)
        print(f"{text} is no legal move here.")


def game_at(name: str, moves: list[int]) -> Any:
    """Return the game after these moves; CommandError where one is illegal, or the game is over."""
    from designs.games import ConnectFour, Go, TicTacToe

    kind: Any = {"tic_tac_toe": TicTacToe, "connect_four": ConnectFour, "go": Go}[name]
    try:
        game = kind(moves)
    except ValueError as error:
        raise CommandError(f"--position: {error}") from None
    if game.result(game.start) is not None:
        raise CommandError("--position: the game is over; there is no move to choose.")
    return game


def searcher(game: Any, seed: int) -> GameTreeSearch:
    """Return the search of a game."""
    from adaptive import GameTreeSearch

    return GameTreeSearch(game, results=game.results, score_variance=1.0, random_state=seed)


def _moves(text: str) -> list[int]:
    try:
        return [int(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise CommandError(f"--position must be numbers such as 0,4,8, got {text}.") from None


def _design(game: Any, settings: dict[str, Any], log: Path) -> SequentialDesign:
    import numpy as np

    from adaptive.estimators.game_trees.playing import random_rollout

    def measure(query: Any) -> list[tuple[float, int]]:
        (node,) = query.candidates
        state = game.start
        for one in node:
            state = game.play(state, one)
        generator = np.random.default_rng([settings["seed"], design.iteration])
        outcome = random_rollout(game, state, game.depth - len(node), generator)
        return [(outcome.result, outcome.length or 0)]

    def next_node(tree: GameTreeSearch) -> list[tuple[int, ...]]:
        return [tree.descend()]

    seed = settings["seed"]
    design = design_in(log, searcher(game, seed), next_node, measure, scorer="random", random_state=seed)
    return design
