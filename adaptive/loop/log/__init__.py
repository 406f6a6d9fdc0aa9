"""The log of a design: events as checked lines, written before they count; snapshots; the way back from both."""
