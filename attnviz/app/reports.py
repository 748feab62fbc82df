"""Validated values that components report about the visitor's choices. A client can send anything."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.kit.browser_view import Shape, from_view, is_of

TEXT, NUMBER, SITE = str, int, (int, str)  # a layer or a head may also be "mean"
SWITCH = (bool, int)


def reported_view(key: str, state: type, name: str = "view") -> dict[str, Any] | None:
    """Return the values that the component `key` reports for the fields of `state`; None if the report is malformed."""
    said = st.session_state.get(key)
    return from_view(state, said.get(name)) if isinstance(said, Mapping) else None


def reported_value(key: str, name: str, fields: Mapping[str, Shape]) -> dict[str, Any] | None:
    """Return the fields that the component `key` reports under `name`; None unless all `fields` have their type.

    Other fields are left out. A value that is larger than any that our components send counts as malformed.
    """
    said = st.session_state.get(key)
    found = said.get(name) if isinstance(said, Mapping) else None
    if not isinstance(found, Mapping) or not all(
        field in found and is_of(found[field], shape) for field, shape in fields.items()
    ):
        return None
    return {field: found[field] for field in fields}
