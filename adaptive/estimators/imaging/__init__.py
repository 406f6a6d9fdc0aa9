"""Images: what was measured, the model of it, its posterior, and what further blocks would tell."""
