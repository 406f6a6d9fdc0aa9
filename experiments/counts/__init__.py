"""Counts: rates of disasters and spikes, photon images, factorisations of pairs, and what is worth counting next."""
