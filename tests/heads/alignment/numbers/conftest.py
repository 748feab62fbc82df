"""A small translator, and its pass over a sentence with a given target."""

from tests.fixtures.red_dog import clean, make_trace, model  # noqa: F401
