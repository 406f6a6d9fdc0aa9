"""Bands of every family: what an interval of nominal .90 covers, after random and after designed answers."""
