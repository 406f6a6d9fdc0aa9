"""Parts of engines that multiply with operators only: the double loop, least squares, samples in place of V."""
