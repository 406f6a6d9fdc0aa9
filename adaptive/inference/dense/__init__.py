"""Parts of engines that keep matrices: the dense problem, Newton's method, moves, steps of fixed points."""
