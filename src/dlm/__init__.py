"""Learn readable, verified first-order logic programs."""
