"""A user's own data to typed facts, labelled atoms and problems: Popper folders, tables, databases, triples, values."""
