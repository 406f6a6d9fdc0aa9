"""Tools of the scripts on defaults."""
