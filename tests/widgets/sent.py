"""A payload as the browser receives it."""


def sent(payload: bytes) -> list[int]:
    """Its bytes, as an argument for a function of JavaScript."""
    return list(payload)
