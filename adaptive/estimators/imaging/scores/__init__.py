"""Log-determinants of candidates, kind by kind: on the grid, of several coils, of trajectories."""
