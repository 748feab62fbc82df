"""Functions that draw our widgets on a Streamlit page.

A widget draws a `Payload` (`attnviz.kit.*.payload`). The visitor's choice is then in
``st.session_state[key]["view"]`` (for the mask laboratory in ``["edit"]``), and is read through `attnviz.app.reports`.
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
    """Do nothing. Streamlit keeps a component's state only if it has a callback."""


def _bytes_to_send(payload: Payload, key: str) -> bytes:
    """Return the bytes that were sent last if the browser needs nothing new, and the packed `payload` otherwise.

    After a choice of the visitor only the view in the header differs, and the browser knows the view already. Streamlit
    does not send equal bytes again, which saves megabytes for the maps of a long text. The header's view has the number
    of the newest choice that this run has received, so that the browser can tell an answer from an older message.
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


def _bytes_again(key: str) -> bytes:
    """Return the bytes that were sent last, and note that the browser has the view that it reports."""
    drawn = st.session_state[f"_attnviz_{key}_drawn"]
    counted = reported_value(key, "view", {"seq": NUMBER})
    if counted and counted["seq"] > drawn["seq"]:
        drawn.update(view=_drop_seq(st.session_state[key]["view"]), seq=counted["seq"])
    return drawn["packed"]


def _drop_seq(view: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in view.items() if name != "seq"}


def _view(drawn_by: str | Widget, payload: Payload, key: str, on_change: OnChange) -> dict[str, Any]:
    result = widget(drawn_by)(key=key, data=_bytes_to_send(payload, key), on_view_change=on_change)
    persistent.catch_up(key, on_change)
    return result


def picture(drawn: Picture, payload: Payload, *, key: str = "", on_change: OnChange) -> None:
    """Draw a picture under the session key `key`, by default the picture's name."""
    _view(drawn.drawn_by, payload, key or drawn.name, on_change)


def picture_again(drawn: Picture, *, on_change: OnChange) -> None:
    """Draw a picture with the bytes that were sent last: the browser has painted the visitor's choice by itself."""
    widget(drawn.drawn_by)(key=drawn.name, data=_bytes_again(drawn.name), on_view_change=on_change)


def stepper(payload: Payload, *, key: str = "stepper", on_change: OnChange, on_open: OnChange = _do_nothing) -> None:
    """Draw the training pass on the left and the decoding steps on the right.

    The browser has the data of every step, so the slider and the play button need no round trip. Python receives each
    choice shortly after. In the run after a click on “Open step …”, ``st.session_state[key]["open"]`` holds its `step`.
    """
    data = _bytes_to_send(payload, key)
    widget("stepper")(key=key, data=data, on_view_change=on_change, on_open_change=on_open)
    persistent.catch_up(key, on_change)


def reply(payload: Payload, *, key: str, on_change: OnChange, on_take: OnChange, on_have: OnChange) -> None:
    """Draw a reply from messages, each with the tokens that were added since the message before.

    In the run after a click on an alternative, ``st.session_state[key]["take"]`` holds its `position` and `id`. If the
    browser has missed an earlier message, `on_have` runs, and ``["have"]`` holds which reply it has and how much of it.
    The widget is drawn repeatedly while the model writes (`streamlit_internals.drawn_again`).
    """
    counted = reported_value(key, "view", {"seq": NUMBER})
    data = payload.with_view({**payload.header["view"], "seq": (counted or {"seq": 0})["seq"]}).pack()
    widget(_REPLY)(key=key, data=data, on_view_change=on_change, on_take_change=on_take, on_have_change=on_have)


def learning(payload: Payload, *, key: str = "learning", on_change: OnChange) -> None:
    """Draw one or two training runs of a toy. The browser has all recorded steps, and plays them."""
    _view("learning", payload, key, on_change)


def learning_feed(payload: Payload, *, key: str = "learning-feed", on_change: OnChange) -> None:
    """Send the recorded steps of training runs in progress to the page's `learning` widget; draw nothing."""
    widget("learning_feed")(key=key, data=payload.pack(), on_have_change=on_change)


def mask_lab(payload: Payload, *, key: str = "mask-lab", on_change: OnChange) -> None:
    """Draw linked maps of one head's scores, masked scores, weights and context, and a mask that can be painted.

    After an edit `on_change` runs. `st.session_state[key]["edit"]` then holds the edit: `paint` is the painted mask as
    text, `row` the pinned row or None, `zoom` the visible window as text, and `seq` the number of the edit. `bake` asks
    to turn the rules into paint, so that the painted mask alone describes the mask.
    """
    widget("mask_lab")(key=key, data=payload.pack(), on_edit_change=on_change)
    persistent.catch_up(key, on_change)


def row_guess(data: Mapping[str, Any], *, key: str) -> None:
    """Draw a row of weights that the visitor guesses by setting a bar for each of the keys in `data`.

    `data` also has the `guess` to start with, the `truth` to which the bars then move (or None), and whether the guess
    is `closed` and can no longer be changed. Its `words` are the texts of the widget: the label of the `group`, the
    text for `scaled` values, and the sentence that has `told` the truth.

    ``st.session_state[key]["guess"]["weights"]`` holds the lengths of the bars in thousandths.
    """
    widget("row_guess")(key=key, data=dict(data), on_guess_change=_do_nothing)


def lesson_window(
    data: Mapping[str, Any], *, key: str, on_open: OnChange, on_return: OnChange, on_heard: OnChange
) -> None:
    """Connect two browser windows: a lesson's panel, and the picture that belongs to it.

    `data` has the `name` of the connection, the `role` of this window ("panel" or "picture"), whether it `isLinked` to
    another window, the `address` of the panel, the `words` of its buttons and lines, and this window's newest `text`
    with its number `revision`. If the other window sends a text with a higher number, `on_heard` runs and finds the
    text in ``st.session_state[key]["heard"]``. `on_open` is called when the panel's window was opened, and `on_return`
    when the visitor wants the picture back in this window.
    """
    widget("lesson_window")(
        key=key, data=dict(data), on_open_change=on_open, on_return_change=on_return, on_heard_change=on_heard,
        on_fresh_change=_do_nothing,
    )  # fmt: skip


def class_seat(data: Mapping[str, Any], *, key: str) -> None:
    """Store this browser's seat in a class, which is the role and token with which it takes part.

    `data` has the class's `code`, the role and token to `keep`, and in `left` a token to delete. The stored code, role
    and token are in ``st.session_state[key]["seat"]``.
    """
    widget("class_seat")(key=key, data=dict(data), on_seat_change=_do_nothing)


def copy_link(query: str, *, of_step: str) -> None:
    """Draw a button that copies a link to the picture, and one that adds the picture to a lesson.

    `query` is the query of the link, `of_step` the same query without default values.
    """
    widget("copy_link")(key="copy-link", data={"query": query, "ofStep": of_step})


def given_image() -> None:
    """Take an image that is pasted or dropped anywhere on the page, and hand it to the upload in the top bar."""
    widget("given_image")(key="given-image")


def draft_keeper(
    text: str, *, revision: int, is_known: bool, done: list[str], key: str, on_change: OnChange, on_caret: OnChange
) -> None:
    """Store the draft of a lesson, and the names of finished lessons (`done`), in the visitor's browser. Draw nothing.

    `revision` counts the draft's changes. If the browser has a newer draft or more finished lessons, or if the server
    does not know the browser's draft yet (`is_known` is False), `on_change` runs. ``st.session_state[key]["kept"]``
    then holds the draft's `text` as JSON and its `revision`; ``["done"]`` holds the names of all finished lessons, as
    JSON in `text`. When the caret has moved to another step or another key of the draft, `on_caret` runs, and
    ``["caret"]`` holds the caret's `line`.
    """
    data = {"text": text, "revision": revision, "isKnown": is_known, "done": done}
    widget("draft_keeper")(
        key=key, data=data, on_kept_change=on_change, on_done_change=on_change, on_caret_change=on_caret
    )
    persistent.catch_up(key, on_change)


def model_drawing(payload: Payload, *, key: str, on_go: OnChange) -> None:
    """Draw a model, animated with the values of one run.

    In the run after a click on a part, ``st.session_state[key]["go"]`` holds the `page` and the `query` of the part's
    address.
    """
    widget("model_drawing")(key=key, data=payload.pack(), on_go_change=on_go)


def screen(data: Mapping[str, Any], *, key: str, on_change: OnChange, on_drawing: OnChange) -> None:
    """Draw the line that replaces menu and top bar on a narrow screen, and two buttons.

    The buttons present the picture alone, and open the drawing of the model. `data` has the line's text as `summary`,
    whether there is a sentence to run as `runs`, whether the picture is presented as `present`, and the number of the
    newest choice that this run has received as `seq`.
    """
    widget("screen")(key=key, data=dict(data), on_present_change=on_change, on_drawing_change=on_drawing)
    persistent.catch_up(key, on_change)


def rail(pages: Sequence[Mapping[str, Any]], current: str, *, key: str, on_go: OnChange) -> None:
    """Draw the menu. Each entry of `pages` has a title (`page`), an `address`, an `icon`, and the names of the address
    parameters that it shares with the open page (`shared`); `current` is the open page.

    In the run after a click, ``st.session_state[key]["go"]`` holds the `page` that was clicked.
    """
    widget("rail")(key=key, data={"pages": list(pages), "current": current}, on_go_change=on_go)
    persistent.catch_up(key, on_go)


def picture_tools(chart: str, *, name: str, caption: list[str]) -> None:
    """Draw buttons that save the Plotly figure with the key `chart`, in the browser.

    They replace Plotly's own tool bar, which appears only under the pointer, offers one format at a time, and cannot be
    reached by the keyboard. Files are called `name`, and have `caption` below the picture.
    """
    widget("picture_tools")(key=f"{chart}-save", data={"chart": chart, "name": name, "caption": caption})


def scroll_when_opened(key: str, *, is_open: bool) -> None:
    """Scroll to the container with this `key` after a click has opened it below the picture.

    Without scrolling, the click would seem to have done nothing. If a link opened the container, the page does not
    scroll. Call this in every run, before the container is drawn.
    """
    memory = f"_attnviz_opened_{key}"
    was_open, times = st.session_state.get(memory, (is_open, 0))
    times += is_open and not was_open
    st.session_state[memory] = is_open, times
    if times:
        widget("brought_up")(key=f"{key}-brought-up", data={"target": key, "times": int(times)})
