"""Report of ``adaptive move``: a table of moves, a picture of the tree, a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adaptive import GameTreeSearch
    from adaptive.cli.job import Job

__all__ = ["table_of_moves", "write"]

SHOWN = 40  # nodes of the picture


def table_of_moves(model: GameTreeSearch) -> dict[str, list[Any]]:
    """Return the legal moves, the most probably best first: value, 90% interval, probability, visits."""
    moves = model.root_moves()
    nodes = [(one,) for one in moves]
    value, interval, probability = model.predict(nodes), model.interval(nodes), model.best_move_proba()
    frame = model.to_frame(most=1_000_000)
    visits = {node[0]: int(count) for node, count in zip(frame["node"], frame["visits"], strict=True) if len(node) == 1}
    best = model.best_move()
    order = sorted(range(len(moves)), key=lambda k: (moves[k] != best, -probability[k], k))
    return {
        "move": [moves[k] for k in order],
        "value": [float(value[k]) for k in order],
        "low": [float(interval[k, 0]) for k in order],
        "high": [float(interval[k, 1]) for k in order],
        "probability": [float(probability[k]) for k in order],
        "games": [visits.get(moves[k], 0) for k in order],
    }


def write(model: GameTreeSearch, game: Any, folder: Job, found: dict[str, Any] | None, flat: Any) -> None:
    """Write moves.csv, tree.png and summary.json, and print the table.

    ``found`` is the search beside counting, ``flat`` the move that counting alone would choose.
    """
    from rich.console import Console
    from rich.table import Table

    from adaptive import plots
    from adaptive.cli import beside

    moves = table_of_moves(model)
    folder.write_csv("moves.csv", moves)
    drawing, axes = plots.figure(7.5, 6.0)
    frame = model.to_frame(most=SHOWN)
    plots.tree_of_values({name: list(frame[name]) for name in frame}, ax=axes)
    axes.set_title(f"The {len(frame)} most visited nodes: values under best play, 90% intervals", fontsize=9)
    folder.draw(drawing, "tree")
    exhausted = not model.boundary(1)
    folder.write_summary(
        {
            "best move": moves["move"][0],
            "probability": moves["probability"][0],
            "games": int(model.n_rollouts_),
            "every end was seen": exhausted,
            "value of the position": float(model.predict([()])[0]),
            "beside the rival": found,
            "best by counting": flat,
        }
    )
    console = Console(highlight=False)
    console.print(game.show(game.start), markup=False)
    table = Table("move", "value", "90% interval", "best with probability", "games")
    for move, value, low, high, probability, games in zip(*moves.values(), strict=True):
        table.add_row(str(move), f"{value:+.2f}", f"{low:+.2f} to {high:+.2f}", f"{probability:.2f}", str(games))
    console.print(table)
    side = "the player who maximises" if game.player(game.start) > 0 else "the player who minimises"
    sure = "every end was seen" if exhausted else f"after {model.n_rollouts_} random games"
    console.print(f"{side} moves; best: {moves['move'][0]} ({sure})")
    if not exhausted:
        beside.say(found, advice=f"it would choose {flat}")
        if flat is not None and flat != moves["move"][0]:
            print(f"by the mean result of its games alone, which looks no further ahead, it would be {flat}")
