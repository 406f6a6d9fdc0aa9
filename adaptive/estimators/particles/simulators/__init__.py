"""Beliefs about a simulator without a likelihood: outcomes simulated for every particle, and their density."""
