"""Why a model is not shown. Everything that this room raises for a reader is a `ModelError`."""


class ModelError(ValueError):
    """A model that cannot be loaded, or not reproduced exactly; the message is one sentence that says why."""


class NoAttentionInterface(ModelError):  # noqa: N818 - it is a refusal like the others
    """The model computes no attention where transformers lets others take its place."""


def reason(error: Exception) -> str:
    """The first line of what an error says, in brackets behind our own sentence."""
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(".") if lines else type(error).__name__
