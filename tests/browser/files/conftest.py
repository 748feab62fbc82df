"""The model and the run whose pictures are written to files."""

from tests.hosts.conftest import model, trace  # noqa: F401
