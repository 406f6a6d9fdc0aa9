"""Beliefs about a model that a user brings: weighted particles, and what they say of outcomes."""
