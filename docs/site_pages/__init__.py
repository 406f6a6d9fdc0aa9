"""Pages that are made, not written: the API from docstrings, the papers from the results."""
