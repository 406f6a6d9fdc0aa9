"""Pages that people answer: how a newcomer fares, what replayed people and simulated labellers get, what holds."""
