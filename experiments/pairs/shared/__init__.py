"""What the experiments with pairs share."""
