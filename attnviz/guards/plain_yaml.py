"""Loaders for YAML of strangers, without anchors: aliases of aliases make a gigabyte of text from 400 bytes.

A mapping merged into others (`<<: [*a, *a]`) doubles with each line as well.
"""

from typing import Any, NoReturn

import yaml
from yaml.scanner import ScannerError

NO_ANCHORS = "anchors (&name) and aliases (*name) are not read: write the text again, or put one with & or * in quotes"


class _WithoutAnchors:
    """The part of a loader that refuses what begins with & or *."""

    def scan_anchor(self, TokenClass: Any) -> NoReturn:  # noqa: N803 - as PyYAML names it
        """Refuse an anchor or an alias. Raises ScannerError."""
        raise ScannerError(None, None, NO_ANCHORS, self.get_mark())  # pyright: ignore[reportAttributeAccessIssue]


class TextLoader(_WithoutAnchors, yaml.BaseLoader):
    """Read texts, lists and mappings; every value is a text, so that `No` is a word."""


class ValueLoader(_WithoutAnchors, yaml.SafeLoader):
    """Read YAML's own plain values: texts, numbers, booleans, dates, lists and mappings."""
