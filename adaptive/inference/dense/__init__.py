"""What engines that keep matrices are made of: the dense problem, Newton's method, moves, steps of fixed points."""
