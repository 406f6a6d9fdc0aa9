"""Pairs and preferences: streams of pairs, what to show, what to compare."""
