"""YAML loaders for untrusted text, which refuse anchors.

With aliases of aliases, or with merges (`<<: [*a, *a]`), 400 bytes of YAML can grow to a gigabyte of text.
"""

from typing import Any, NoReturn

import yaml
from yaml.scanner import ScannerError

NO_ANCHORS = (
    "anchors (&name) and aliases (*name) are not read; please write the text again, or put one with & or * in quotes"
)


class _WithoutAnchors:
    """Mixin for a YAML loader that refuses anchors (&) and aliases (*)."""

    def scan_anchor(self, TokenClass: Any) -> NoReturn:  # noqa: N803 - as PyYAML names it
        """Refuse an anchor or an alias. Raises ScannerError."""
        raise ScannerError(None, None, NO_ANCHORS, self.get_mark())  # pyright: ignore[reportAttributeAccessIssue]


class TextLoader(_WithoutAnchors, yaml.BaseLoader):
    """Load texts, lists and mappings. Every value stays a text, so that `No` is a word and not False."""


class ValueLoader(_WithoutAnchors, yaml.SafeLoader):
    """Load YAML's plain values: texts, numbers, booleans, dates, lists and mappings."""
