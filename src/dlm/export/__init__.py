"""A program in other languages: one file a target. No torch."""
