"""K-space: lines, spirals and phase encodes by information gain, beside everything simpler."""
