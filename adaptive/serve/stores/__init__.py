"""Stores: everything that people said, in a folder (SQLite), or in a database that servers share (PostgreSQL)."""
