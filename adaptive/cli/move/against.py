"""A game in the terminal: a person's moves are read, the search answers with its best."""

from __future__ import annotations

from typing import Any

import typer

from adaptive.cli.move.command import game_at, searcher

__all__ = ["play_against"]


def play_against(name: str, position: list[int], rollouts: int, seed: int) -> None:
    """Play until the game ends; the person has the first move, ``q`` or the end of input leaves."""
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
    """A legal move, or None."""
    while True:
        try:
            text = typer.prompt("your move").strip()
        except typer.Abort:
            return None
        if text == "q":
            return None
        if text.lstrip("-").isdigit() and int(text) in game.moves(game.start):
            return int(text)
        print(f"{text} is no legal move here.")
