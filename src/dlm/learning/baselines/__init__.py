"""The paper's opponents, on the shared wiring, data and evaluation; see docs/baselines.md."""
