"""What engines that multiply with operators only are made of: the double loop, least squares, samples in place of V."""
