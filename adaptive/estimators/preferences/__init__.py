"""Beliefs about what people prefer: comparisons of two items, everybody's utilities, one person for the loop."""
