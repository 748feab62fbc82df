"""Errors that refuse a model. Every error that this folder raises for a user is a `ModelError`."""

import re

_CLASS_NAME = re.compile(r"^\w+(Error|Exception): ")


class ModelError(ValueError):
    """attnviz cannot load a model, or does not reproduce it exactly; the message is one sentence that says why."""


class NoAttentionInterface(ModelError):  # noqa: N818 - named like the other refusals
    """The model bypasses transformers' attention interface, so attnviz cannot replace its attention."""


def describe_failure(error: Exception) -> str:
    """Describe why a model's pass failed: with the message of a ValueError, otherwise with the name of the error's
    class.
    """
    return f"“{reason(error)}”" if isinstance(error, ValueError) else f"its pass fails with {type(error).__name__}"


def reason(error: Exception) -> str:
    """Return the first line of an error's message, to quote in brackets after attnviz's own sentence.

    If the line ends with a colon, the next line is used instead. The name of an error class is removed.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = next((line for line in lines if not line.endswith(":")), lines[0] if lines else type(error).__name__)
    return _CLASS_NAME.sub("", said)[:200].rstrip(".:")
