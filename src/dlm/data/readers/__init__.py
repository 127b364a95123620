"""Facts from files, and back: folders of CSV or Parquet tables, Prolog facts, DuckDB databases."""

from dlm.data.readers.reading import read_facts
from dlm.data.writing import write_facts

__all__ = ["read_facts", "write_facts"]
