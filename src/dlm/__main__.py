"""``python -m dlm`` is the same as ``dlm``."""

from dlm.cli import main

main()
