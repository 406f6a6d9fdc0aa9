"""Search of game trees: figures of the source, rivals, and which leaf to roll out next."""
