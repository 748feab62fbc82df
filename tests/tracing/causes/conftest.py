"""A small translator, and traces of its passes over one target."""

from tests.fixtures.red_dog import make_trace, model  # noqa: F401
