"""From the scanner and back: raw scans replayed, plans, what the receiver says of itself."""
