"""A payload as the browser receives it."""

from attnviz.kit.wire import Payload


def payload_bytes(payload: Payload) -> list[int]:
    """Its bytes, as an argument for a function of JavaScript."""
    return list(payload.pack())
