"""The verbs of the library. The command line calls them, and nothing beneath them."""
