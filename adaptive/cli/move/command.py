"""``adaptive move``: values of the legal moves of a position, from random games, with intervals.

Every random game starts where the search learns most by its optimistic policy; all of them stand in a log, from which a
run that was stopped goes on.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.options import Format, Resume, out_folder, require_at_least, stated, whole_number
from adaptive.cli.run_folder import RunFolder

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
) -> None:
    """Which move is best here, and how sure is that?

    Plays random games from the nodes of the tree that matter and shows each legal move with its value under best play,
    a 90% interval and the probability that it is the best. Writes moves.csv, tree.png (the tree with beliefs),
    summary.json, and a log from which --resume continues a run that was stopped. Squares of tic-tac-toe are 0 to 8,
    columns of Connect Four 0 to 6, points of Go 0 to 80, row by row, and 81 is a pass.
    """
    require_at_least(("rollouts", rollouts, 1), ("seed", seed, 0))
    if game not in GAMES:
        raise CommandError(f"--game must be one of {', '.join(GAMES)}, got {game}.")
    if play:
        from adaptive.cli.move.against import play_against  # house: to play is one way to run the command

        play_against(game, _moves(position), rollouts, seed)
        return
    wanted: dict[str, Any] = {"game": game, "position": position, "rollouts": rollouts, "seed": seed}
    folder = RunFolder(out, "move", wanted, given=stated(context, wanted), resume=resume, pictures=pictures)
    settings = folder.settings
    searched = game_at(settings["game"], _moves(settings["position"]))
    with folder:
        design = _design(searched, settings, folder)
        try:
            with design:
                _run(design, settings["rollouts"])
        except KeyboardInterrupt:
            raise CommandError(
                f"stopped after {design.iteration} of {settings['rollouts']} games; continue with: "
                f"adaptive move --out {folder.path} --resume",
                130,
            ) from None
        from adaptive.cli.move.report import write

        write(design.estimator_, searched, folder)


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


def _design(game: Any, settings: dict[str, Any], folder: RunFolder) -> SequentialDesign:
    import numpy as np

    from adaptive import SequentialDesign
    from adaptive.estimators.game_trees.playing import random_rollout
    from adaptive.loop import LogError

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

    options: dict[str, Any] = {"scorer": "random", "random_state": settings["seed"]}
    log, model = folder.log / "games.jsonl", searcher(game, settings["seed"])
    try:
        if log.exists():
            design = SequentialDesign.load(log, model, next_node, measure, **options)
        else:
            design = SequentialDesign(model, next_node, measure, log=log, **options)
    except LogError as error:
        raise CommandError(str(error)) from None
    return design


def _run(design: SequentialDesign, rollouts: int) -> None:
    from adaptive.loop import PoolExhausted

    with suppress(PoolExhausted):  # every end was seen
        design.run(max(rollouts - design.iteration, 0))
