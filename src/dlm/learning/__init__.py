"""From a task to a verified program: learners, pruning, verification, runs. Torch only where it trains."""
