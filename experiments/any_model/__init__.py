"""Models that a user brings: instruments, sources, wrong models, two steps ahead, an honest loop."""
