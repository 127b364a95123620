"""Benchmarks: one file a table or figure, each run as a module."""
