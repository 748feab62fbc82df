"""Widgets on a Streamlit page: each function draws one, and says which session key its choice is found under.

What a widget draws from is a `Payload` (`attnviz.kit.*.payload`); the visitor's choice is in
``st.session_state[key]["view"]`` (the mask laboratory's in ``["edit"]``), read through `attnviz.app.reports`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.components import widget
from attnviz.app.reports import NUMBER, reported_value
from attnviz.kit.bundle import Widget, widget_pages
from attnviz.kit.picture import Picture
from attnviz.kit.wire import Payload

OnChange = Callable[[], None]
_REPLY = Widget(
    "reply", widget_pages()["reply"], terms=("Heads", "Decoding"), python_only=("layer", "head", "take")
)  # no other host draws it


def _do_nothing() -> None:
    """Do nothing: Streamlit keeps a component's state only with a callback."""


def _bytes_to_send(payload: Payload, key: str) -> bytes:
    """Return the last bytes again, where the browser holds all of `payload`; else `payload`'s.

    After each choice of the visitor only the view in the header differs, and that the browser knows already: the same
    bytes again cost nothing, where a long text's maps are megabytes. The header's view carries the number of the newest
    choice that this run has heard of, so that the browser can tell an answer from something older.
    """
    counted = reported_value(key, "view", {"seq": NUMBER})  # a view that no component of ours sends is none
    in_view = st.session_state[key]["view"] if counted else None
    memory = f"_attnviz_{key}_drawn"
    drawn = st.session_state.get(memory)
    header = payload.header
    view, seq = _drop_seq(header["view"]), (counted or {"seq": 0})["seq"]
    if in_view and drawn and drawn["id"] == header["id"]:
        held = _drop_seq(in_view) if seq > drawn["seq"] else drawn["view"]
        if all(name in held and held[name] == value for name, value in view.items()):
            drawn.update(view=held, seq=seq)
            return drawn["packed"]
    packed = payload.with_view({**view, "seq": seq}).pack()
    st.session_state[memory] = {"id": header["id"], "view": view, "seq": seq, "packed": packed}
    return packed


def _drop_seq(view: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in view.items() if name != "seq"}


def _view(drawn_by: str | Widget, payload: Payload, key: str, on_change: OnChange) -> dict[str, Any]:
    result = widget(drawn_by)(key=key, data=_bytes_to_send(payload, key), on_view_change=on_change)
    persistent.catch_up(key, on_change)
    return result


def picture(drawn: Picture, payload: Payload, *, key: str = "", on_change: OnChange) -> None:
    """Draw a picture; its session key is the picture's name, if no other is given."""
    _view(drawn.drawn_by, payload, key or drawn.name, on_change)


def stepper(payload: Payload, *, key: str = "stepper", on_change: OnChange, on_open: OnChange = _do_nothing) -> None:
    """Draw the training table on the left, one decoding step after another on the right.

    The browser holds every step's data, so that slider and play button need no round trip; Python hears a moment after
    each choice. In the run after a click on “Open step …” ``st.session_state[key]["open"]`` holds its `step`.
    """
    data = _bytes_to_send(payload, key)
    widget("stepper")(key=key, data=data, on_view_change=on_change, on_open_change=on_open)
    persistent.catch_up(key, on_change)


def reply(payload: Payload, *, key: str, on_change: OnChange, on_take: OnChange, on_have: OnChange) -> None:
    """Draw a reply, from messages that each bring what was added to it.

    In the run after a click on an alternative ``st.session_state[key]["take"]`` holds its `position` and `id`. Where
    the browser lacks what came before a message, `on_have` runs, and ``["have"]`` holds how much of which reply it has.
    Drawn again while the reply is written (`streamlit_internals.drawn_again`).
    """
    counted = reported_value(key, "view", {"seq": NUMBER})
    data = payload.with_view({**payload.header["view"], "seq": (counted or {"seq": 0})["seq"]}).pack()
    widget(_REPLY)(key=key, data=data, on_view_change=on_change, on_take_change=on_take, on_have_change=on_have)


def learning(payload: Payload, *, key: str = "learning", on_change: OnChange) -> None:
    """One or two runs of a toy, moment by moment; the browser holds all moments, and plays them."""
    _view("learning", payload, key, on_change)


def learning_feed(payload: Payload, *, key: str = "learning-feed", on_change: OnChange) -> None:
    """Brings the moments of live runs to the `learning` widget of the page; draws nothing."""
    widget("learning_feed")(key=key, data=payload.pack(), on_have_change=on_change)


def switches(payload: Payload, *, key: str = "switches", on_change: OnChange) -> None:
    """Every head as a switch, and what the model does without those that are off."""
    _view("switches", payload, key, on_change)


def compared(payload: Payload, *, key: str = "compared", on_change: OnChange) -> None:
    """Draw two runs side by side: the heads that changed most, and the maps of one of them with their difference."""
    _view("compared", payload, key, on_change)


def patching(payload: Payload, *, key: str = "patching", on_change: OnChange) -> None:
    """Draw what patches between two runs restore, as matrices whose cells can be patched."""
    _view("patching", payload, key, on_change)


def attribution(payload: Payload, *, key: str = "attribution", on_change: OnChange) -> None:
    """Draw a logit as bars of what adds to it, a head's bar opened, and the logit lens."""
    _view("attribution", payload, key, on_change)


def mask_lab(payload: Payload, *, key: str = "mask-lab", on_change: OnChange) -> None:
    """Scores, masked scores, weights and context of one head, linked, and a mask to paint.

    After an edit `on_change` runs; `st.session_state[key]["edit"]` then holds what was edited: `paint` is the painted
    mask as text, `row` the pinned row or None, `zoom` the window as text, `seq` counts edits, and `bake` asks for the
    rules to be given up, because the paint now says all that they said.
    """
    widget("mask_lab")(key=key, data=payload.pack(), on_edit_change=on_change)
    persistent.catch_up(key, on_change)


def row_guess(data: Mapping[str, Any], *, key: str) -> None:
    """Draw a row of weights to be guessed, a bar for each of the `keys` that `data` has.

    It begins as the `guess`; with a `truth` it moves from there to that. One that is `closed` shows the guess, and
    is not drawn any more. Without these they are None, and False. `words` are what it says: its `group`, the
    `scaled` numbers, and the `told` truth.

    ``st.session_state[key]["guess"]["weights"]`` holds how long the bars are, in thousandths.
    """
    widget("row_guess")(key=key, data=dict(data), on_guess_change=_do_nothing)


def lesson_window(
    data: Mapping[str, Any], *, key: str, on_open: OnChange, on_return: OnChange, on_heard: OnChange
) -> None:
    """Connect a lesson's panel in a window of its own and the window with its picture.

    `data` has the line's `name`, the `role` of this window ("panel" or "picture"), whether it `isLinked` to another,
    the `address` of the panel alone, the `words` of its buttons and lines, and the newest `text` of this window with
    its number, `revision`. What the other window has told with a higher number, `on_heard` finds in
    ``st.session_state[key]["heard"]``. `on_open` is called when the panel's window was opened, `on_return` when the
    picture is asked for in this one.
    """
    widget("lesson_window")(
        key=key, data=dict(data), on_open_change=on_open, on_return_change=on_return, on_heard_change=on_heard,
        on_fresh_change=_do_nothing,
    )  # fmt: skip


def class_seat(data: Mapping[str, Any], *, key: str) -> None:
    """Keep this browser's seat in a class. `data` has the class's `code`, the role and token to `keep`, and `left`, a
    token to forget. The kept code, role and token are in ``st.session_state[key]["seat"]``.
    """
    widget("class_seat")(key=key, data=dict(data), on_seat_change=_do_nothing)


def copy_link(query: str, *, of_step: str) -> None:
    """Draw a button that copies a link to the picture, and one that adds it to a lesson: `query` is the query of this
    page's address, `of_step` the same query without defaults.
    """
    widget("copy_link")(key="copy-link", data={"query": query, "ofStep": of_step})


def draft_keeper(
    text: str, *, revision: int, is_known: bool, done: list[str], key: str, on_change: OnChange, on_caret: OnChange
) -> None:
    """Keep the draft of a lesson, and the names of lessons that are `done`, in the visitor's browser, or bring them
    from there. Draw nothing.

    `revision` counts the draft's changes. If the browser has a newer draft or more lessons done, or if its draft is not
    known yet (`is_known`), `on_change` runs. ``st.session_state[key]["kept"]`` then holds the draft's `text`, which is
    JSON, and its `revision`; ``["done"]`` holds the names of all lessons done, as JSON in `text`. If the caret comes to
    rest in another step or on another key, `on_caret` runs, and ``["caret"]`` holds the caret's `line`.
    """
    data = {"text": text, "revision": revision, "isKnown": is_known, "done": done}
    widget("draft_keeper")(
        key=key, data=data, on_kept_change=on_change, on_done_change=on_change, on_caret_change=on_caret
    )
    persistent.catch_up(key, on_change)


def model_drawing(payload: Payload, *, key: str, on_go: OnChange) -> None:
    """Draw a model, which plays one run's numbers by itself.

    In the run after a click on a part ``st.session_state[key]["go"]`` holds the `page` and the `query` of its address.
    """
    widget("model_drawing")(key=key, data=payload.pack(), on_go_change=on_go)


def screen(data: Mapping[str, Any], *, key: str, on_change: OnChange, on_drawing: OnChange) -> None:
    """Draw the line that replaces menu and bar on a narrow screen, the switch that presents the picture alone, and the
    button that asks for the drawing of the model.

    `data` has `summary`, what the line reads, `runs`, whether there is a sentence to run, `present`, and `seq`, the
    number of the newest choice that this run has heard of.
    """
    widget("screen")(key=key, data=dict(data), on_present_change=on_change, on_drawing_change=on_drawing)
    persistent.catch_up(key, on_change)


def rail(pages: Sequence[Mapping[str, str]], current: str, *, key: str, on_go: OnChange) -> None:
    """Draw the menu: of each page its title (`page`), `address` and `icon`, but for the welcome; `current` is open.

    In the run after a click ``st.session_state[key]["go"]`` holds the `page` that was clicked.
    """
    widget("rail")(key=key, data={"pages": list(pages), "current": current}, on_go_change=on_go)
    persistent.catch_up(key, on_go)


def picture_tools(chart: str, *, name: str, caption: list[str]) -> None:
    """Buttons that save the Plotly figure whose key is `chart`, without a server and without Plotly's own tool bar.

    That bar shows on hover only, knows one format at a time and is not reached by the keyboard. Files are called
    `name`, and have `caption` below the picture.
    """
    widget("picture_tools")(key=f"{chart}-save", data={"chart": chart, "name": name, "caption": caption})


def scroll_when_opened(key: str, *, is_open: bool) -> None:
    """Scroll to the container whose key is `key` when it has just been opened below the picture.

    Else the click would seem to have done nothing. A link that opens it scrolls nowhere. Called in every run, before
    the container is drawn.
    """
    memory = f"_attnviz_opened_{key}"
    was_open, times = st.session_state.get(memory, (is_open, 0))
    times += is_open and not was_open
    st.session_state[memory] = is_open, times
    if times:
        widget("brought_up")(key=f"{key}-brought-up", data={"target": key, "times": int(times)})
