"""From a world to act in to a program that acts."""
