"""Templates of pages, by jinja2."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dlm.errors import require_packages

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["open_templates"]


def open_templates(folder: Path, *, html: bool, extra: str, purpose: str) -> Environment:
    """The templates in a folder, of HTML or of plain text. A name that a template does not get is an error."""
    require_packages("jinja2", extra=extra, purpose=purpose)
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
