"""Pulseq sequences to put plans into, and a simulator that runs them."""
