"""A small translator, and two sentences of equal length with the same target."""

from tests.fixtures.red_dog import changed_trace, clean, make_trace, model  # noqa: F401
