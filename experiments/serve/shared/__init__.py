"""What the scripts of this subject share, and the tests of `adaptive.serve` with them."""
