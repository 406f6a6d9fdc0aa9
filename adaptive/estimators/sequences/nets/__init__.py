"""Recurrent nets for what comes next, with a memory of each user's own: closed gradients, users and members at once."""
