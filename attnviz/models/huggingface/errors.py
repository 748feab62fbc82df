"""Why a model is not shown. Everything that this room raises for a reader is a `ModelError`."""


class ModelError(ValueError):
    """A model that cannot be loaded, or not reproduced exactly; the message is one sentence that says why."""
