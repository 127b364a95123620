"""What every run has: its folder, its checkpoints, and the learners at work."""
