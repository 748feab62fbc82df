"""What Streamlit does not offer openly, reached into here and nowhere else: check it when Streamlit's pin moves.

What a browser sends is taken only as far as a browser of ours would send it, for anybody can send anything. Streamlit
hands a widget's state on as it came: of another type than the widget's, as JSON that cannot be read, as NaN where a
whole number is meant. Each raises in Streamlit's own code, on every later run too. Here such a state counts as not
sent. Uploads are kept by Streamlit for each visitor without a limit over all of them; here they have one. What a button
saves is forgotten by Streamlit at the end of anybody's next run, perhaps before the browser has fetched it; here it is
kept a while. These are set into Streamlit's classes by `install`.

Streamlit pushes an entry to the browser's history for each `st.query_params` that differs from the address before. On
Back and Forward it runs the page with the address of that entry, and writes over the entry instead of adding one:
`is_back_or_forward` and `watch_browser` are for that. `missing` says what another version no longer has.
"""

import math
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from types import SimpleNamespace
from typing import Any

import streamlit as st
from streamlit.elements import spinner
from streamlit.elements.widgets.number_input import NumberInputSerde
from streamlit.logger import get_logger
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.scriptrunner_utils.script_run_context_attr import SCRIPT_RUN_CONTEXT_ATTR_NAME
from streamlit.runtime.state.session_state import Serialized, WStates
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from attnviz.ui import alarms, batched

MOST_UPLOADED = 512 * 1024 * 1024  # bytes of all visitors' files together; `attnviz.server` sets another
NO_ROOM = "application/x-no-room"  # the type of a file that was left out: the others take all the room there is
KEPT = 10  # seconds at least that what nobody's page offers any more can still be saved
_NUMBERS = {"int_value", "double_value"}  # a field for numbers takes either, by its own type
_LOG = get_logger(__name__)
# What is replaced, and what the replacements read.
_USED: dict[Any, tuple[str, ...]] = {
    WStates: ("__getitem__", "states", "widget_metadata"),
    Serialized: ("value",),
    NumberInputSerde: ("deserialize", "value"),
    MemoryUploadedFileManager: ("add_file", "remove_session_files", "_total_bytes"),
    UploadedFileRec: ("file_id", "name", "type", "data"),
    MediaFileManager: (
        *("remove_orphaned_files", "_remove_orphaned_deferred_callables", "_drop_deferred_id"),
        *("_files_by_session_and_coord", "_deferred_callables"),
    ),
    AppSession: (
        *("_handle_clear_cache_request", "_on_scriptrunner_event"),
        *("_call_soon_on_event_loop", "_handle_scriptrunner_event_on_event_loop"),
    ),
    ScriptRunner: ("_run_script", "_pages_manager"),
    ScriptRunContext: ("is_history_navigation",),
}


def install() -> None:
    """Set the guards, once for the server; a second call changes nothing.

    Raises RuntimeError with one sentence for a Streamlit that they do not fit: none of them is set then.
    """
    if said := missing():
        raise RuntimeError(said)
    if not hasattr(WStates.__getitem__, "__wrapped__"):
        WStates.__getitem__ = _readable_only(WStates.__getitem__)
        MemoryUploadedFileManager.add_file = _within_room(MemoryUploadedFileManager.add_file)
        NumberInputSerde.deserialize = _finite_only(NumberInputSerde.deserialize)
        MediaFileManager.remove_orphaned_files = _seldom(MediaFileManager.remove_orphaned_files)
        MediaFileManager._remove_orphaned_deferred_callables = _remove_what_was_orphaned_before  # type: ignore
        AppSession._handle_clear_cache_request = _for_nobody  # type: ignore[method-assign]
        AppSession._on_scriptrunner_event = batched.in_batches(  # type: ignore[method-assign]
            AppSession._on_scriptrunner_event, ScriptRunnerEvent.ENQUEUE_FORWARD_MSG
        )
        alarms.Alarm.carried = SCRIPT_RUN_CONTEXT_ATTR_NAME
        spinner.threading = SimpleNamespace(Timer=alarms.Alarm, Lock=threading.Lock)  # type: ignore[assignment]


def missing() -> str:
    """What the guards use and this Streamlit does not have, in one sentence; "" where it has all."""
    gone = [f"{owner.__name__}.{name}" for owner, names in _USED.items() for name in names if not _has(owner, name)]
    gone += [] if hasattr(spinner, "threading") else ["threading in streamlit.elements.spinner"]
    if not gone:
        return ""
    said = f"Streamlit {st.__version__} has no {', no '.join(gone)}"
    return f"{said}: see to attnviz/ui/streamlit_internals.py, which uses it."


def _has(owner: type, name: str) -> bool:
    """Whether a class or its objects have an attribute of their own: in the class, or set when one is made."""
    return name in vars(owner) or name in owner.__init__.__code__.co_names


def _readable_only(get: Any) -> Any:
    """A widget's value as before; KeyError, which means that there is none, for a state that it cannot be made of."""

    @wraps(get)
    def guarded(states: WStates, name: str) -> Any:
        state, known = states.states.get(name), states.widget_metadata.get(name)
        if not isinstance(state, Serialized) or known is None:
            return get(states, name)
        try:
            if not _is_of(state.value.WhichOneof("value"), known.value_type):
                raise TypeError("another type than the widget's")
            return get(states, name)
        except Exception as error:  # whatever a crafted state does to whatever reads it
            _LOG.debug("A state of %s was left out: %s", name, error)
            raise KeyError(name) from None

    return guarded


def _is_of(field: str | None, wanted: str) -> bool:
    """Whether a state's field is the widget's; None is a value that was cleared."""
    return field is None or field == wanted or {field, wanted} <= _NUMBERS


def _finite_only(read: Any) -> Any:
    """A number as before; the widget's own for one without end, such as 1e400 in a link: no int can be made of it."""

    @wraps(read)
    def guarded(widget: NumberInputSerde, said: float | None) -> Any:
        return widget.value if said is not None and not math.isfinite(said) else read(widget, said)

    return guarded


def _within_room(add: Any) -> Any:
    """Keep a visitor's newest file alone, and nothing of it where all files together would take too much room."""

    @wraps(add)
    def guarded(files: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        files.remove_session_files(session_id)
        if files._total_bytes + len(file.data) > MOST_UPLOADED:
            file = replace_content(file)
        add(files, session_id=session_id, file=file)

    return guarded


def replace_content(file: UploadedFileRec) -> UploadedFileRec:
    """A file's name without what it held."""
    return UploadedFileRec(file_id=file.file_id, name=file.name, type=NO_ROOM, data=b"")


def _seldom(sweep: Any) -> Any:
    """Forget what nobody's page offers any more, but not at the end of every run of every visitor."""

    @wraps(sweep)
    def guarded(files: MediaFileManager) -> None:
        if time.monotonic() - vars(files).get("swept", -math.inf) >= KEPT:
            vars(files)["swept"] = time.monotonic()
            sweep(files)

    return guarded


def _remove_what_was_orphaned_before(files: MediaFileManager) -> None:
    """Forget what makes a file for a button when no page has had that button for two sweeps.

    While a page runs, the button that is still seen counts for none: Streamlit would forget it at once.
    """
    offered = {file for places in files._files_by_session_and_coord.values() for file in places.values()}
    orphans = files._deferred_callables.keys() - offered
    for file in orphans & vars(files).get("orphans", set()):
        files._drop_deferred_id(file)
    vars(files)["orphans"] = orphans


def _for_nobody(session: AppSession) -> None:
    """One visitor's message would empty the caches of all: no control here sends it."""


def around_runs(around: Callable[[Callable[[], str]], AbstractContextManager[None]]) -> None:
    """Have each run of each visitor happen inside `around(page)`; `page()` says at its end which page it was, as in an
    address, "" for the welcome.
    """
    run: Any = ScriptRunner._run_script

    @wraps(run)
    def guarded(runner: ScriptRunner, asked: Any) -> None:
        with around(lambda: _page(runner._pages_manager)):
            run(runner, asked)

    ScriptRunner._run_script = guarded  # type: ignore[method-assign]


def _page(pages: Any) -> str:
    return pages.get_pages().get(pages.current_page_script_hash, {}).get("url_pathname", "")


def is_back_or_forward() -> bool:
    """Whether this run was asked for by Back or Forward: then the address holds, whatever was chosen since."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


# What runs in the browser, once for each load of a page; the server's policy allows this text alone.
#
# Streamlit's own script adds an entry where the browser is on another page than the run that it hears from. Where Back
# is pressed again before a run has begun, that run is of a page left behind: the entry would bring it back, with the
# next page's choices in its address. Until something is chosen, only Back and Forward change the page.
#
# A choice that was sent when the server died is not sent again: Streamlit asks the next server for a run only where it
# had heard that one had begun. Its own key for that, R, is pressed where nothing was heard since, or sent just before.
SCRIPT = """
if (!window.attnvizHeld) {
  const push = history.pushState;
  let held = null;
  window.attnvizHeld = true;
  window.addEventListener("popstate", () => (held = location.pathname));
  document.addEventListener("pointerdown", ({ button }) => button < 3 && (held = null), true);
  document.addEventListener("keydown", ({ altKey, metaKey }) => altKey || metaKey || (held = null), true);
  history.pushState = function (state, title, address) {
    if (held === null || new URL(address, location.href).pathname === held) push.call(this, state, title, address);
  };

  const send = WebSocket.prototype.send, sockets = new WeakSet();
  let asked = null, isHeard = true, isLost = false;
  WebSocket.prototype.send = function (message) {
    send.call(this, message);
    [asked, isHeard, isLost] = [performance.now(), false, false];
    if (sockets.has(this)) return;
    sockets.add(this);
    this.addEventListener("message", () => (isHeard = true));
    this.addEventListener("close", () => (isLost = asked !== null && (!isHeard || performance.now() - asked < 1000)));
  };
  new MutationObserver(([{ target }]) => {
    if (target.dataset.testConnectionState !== "CONNECTED") return;
    const press = (kind) => isLost && document.dispatchEvent(new KeyboardEvent(kind, { key: "r" }));
    setTimeout(() => (press("keyup"), press("keydown")), 100);
  }).observe(document.querySelector("[data-testid='stApp']"), { attributeFilter: ["data-test-connection-state"] });
}
"""


def watch_browser() -> None:
    """Keep the page that Back or Forward has led to, and what was chosen when the connection was lost."""
    st.html(f"<script>{SCRIPT}</script>", unsafe_allow_javascript=True)
