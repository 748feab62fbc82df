"""A small vision model and one of its images, for tests and documentation of the picture Hide patches."""

from functools import cache

from attnviz.models.catalogue import load
from attnviz.models.example_images import draw_example
from attnviz.models.protocol import LoadedModel
from attnviz.tracing.trace import Trace


@cache
def example_run() -> tuple[LoadedModel, Trace]:
    """Return the toy that reads digits, and its trace of one."""
    model = load("toy:digits")
    return model, model.trace(draw_example("digit-3"))
