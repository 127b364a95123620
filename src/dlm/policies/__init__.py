"""From a world to act in to a program that acts well: learners, and the runs that they have turns in."""
