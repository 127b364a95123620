"""Facts from and to files: folders of CSV or Parquet tables, Prolog facts, DuckDB databases."""

from dlm.data.readers.reading import read_facts

__all__ = ["read_facts"]
