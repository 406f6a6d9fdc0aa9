"""What can be measured: pools, optimal designs, k-space trajectories, image filters."""
