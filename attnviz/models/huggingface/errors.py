"""Errors that refuse a model. Every error that this folder raises for a user is a `ModelError`."""

import re

_CLASS_NAME = re.compile(r"^\w+(Error|Exception): ")


class ModelError(ValueError):
    """attnviz cannot load a model, or does not reproduce it exactly; the message is one sentence that says why."""


class NoAttentionInterface(ModelError):  # noqa: N818 - it is a refusal like the others
    """The model bypasses transformers' attention interface, so attnviz cannot replace its attention."""


def describe_failure(error: Exception) -> str:
    """Describe how a model's pass failed: by the message of a ValueError, which is written for users, or else by the
    error's class.
    """
    return f"“{reason(error)}”" if isinstance(error, ValueError) else f"its pass fails with {type(error).__name__}"


def reason(error: Exception) -> str:
    """Return the first line of an error's message, for use in brackets behind attnviz's own sentence.

    If a line ends with a colon, the next line is returned in its place, without the name of an error class.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = next((line for line in lines if not line.endswith(":")), lines[0] if lines else type(error).__name__)
    return _CLASS_NAME.sub("", said)[:200].rstrip(".:")
