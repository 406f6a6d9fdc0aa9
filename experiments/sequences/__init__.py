"""Sequences: a net with a memory for each user beside counting, factors and hidden states; whom to ask; calibration."""
