"""Worlds to act in, as Gymnasium environments. No torch."""
