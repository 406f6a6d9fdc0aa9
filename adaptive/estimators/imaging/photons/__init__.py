"""Images from counts of photons:  y ~ Poisson(max(0, A u)),  the rate of a pixel or of a pattern never negative."""
