"""``adaptive ask``: an adaptive test that a person takes in the terminal."""

from adaptive.cli.ask.command import ask

__all__ = ["ask"]
