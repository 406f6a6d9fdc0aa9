"""Beliefs about what comes next: histories of users, an ensemble of nets or draws of users' own matrices."""
