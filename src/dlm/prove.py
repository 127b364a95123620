"""Whether two programs are equal on all structures up to some size, by an answer set solver."""
