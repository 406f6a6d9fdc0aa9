"""Defaults as experiments: candidates for a parameter beside the simplest rival, on some sets, confirmed on others."""
