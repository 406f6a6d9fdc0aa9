"""The house itself: its site."""
