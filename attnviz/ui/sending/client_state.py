"""Validate widget state from the client; drop malformed values.

Streamlit hands a widget's state on as it came: of another type than the widget's, as JSON that cannot be read, as NaN
where a whole number is meant. Each raises in Streamlit's own code, on every later run too. Here such a state counts as
not sent. `attnviz/ui/streamlit_internals.py` sets these into Streamlit's classes, whose names it checks.
"""

import logging
import math
from functools import wraps
from typing import Any

_NUMBERS = {"int_value", "double_value"}  # a field for numbers takes either, by its own type
_LOG = logging.getLogger(__name__)


def drop_malformed(get: Any, sent: type) -> Any:
    """Wrap `get(states, name)`, a widget's value; KeyError, as for a missing one, for a malformed state.

    `sent` is the class of states that came from a browser.
    """

    @wraps(get)
    def get_valid(states: Any, name: str) -> Any:
        state, known = states.states.get(name), states.widget_metadata.get(name)
        if not isinstance(state, sent) or known is None:
            return get(states, name)
        try:
            if not _is_of(state.value.WhichOneof("value"), known.value_type):
                raise TypeError("another type than the widget's")
            value = get(states, name)
        except Exception as error:  # a crafted state may raise anything in the code that reads it
            _LOG.debug("A state of %s was left out: %s", name, error)
            raise KeyError(name) from None
        states.widget_metadata[name] = known  # Streamlit notes what was sent as the type: none, of an empty field
        return value

    return get_valid


def _is_of(field: str | None, wanted: str) -> bool:
    """Check whether a state's field is the widget's; None is a value that was cleared."""
    return field is None or field == wanted or {field, wanted} <= _NUMBERS


def drop_infinite(read: Any) -> Any:
    """Wrap `read(widget, said)`, a number; the widget's own for an infinite one, such as 1e400 in a link: no int can be
    made of it.
    """

    @wraps(read)
    def get_valid(widget: Any, said: float | None) -> Any:
        return widget.value if said is not None and not math.isfinite(said) else read(widget, said)

    return get_valid
