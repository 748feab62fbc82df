"""Parts of Streamlit that it does not offer openly, used here and nowhere else: check them when Streamlit's pin
moves.

Streamlit has these faults, which functions here mend:

- It does not validate a widget's state that a browser sent. A state of another type, JSON that cannot be parsed, or NaN
  for a whole number raises in Streamlit's own code, in every later run too. Here such a state counts as not sent
  (`drop_malformed`).
- It does not limit the size of all visitors' uploads together. Here there is a limit.
- It deletes the file of a download button at the end of any visitor's next run, perhaps before the browser has fetched
  the file. Here the file is kept for a while (`sweep_seldom`).
- It refers to messages that the browser has evicted since its request (`sending/client_cache.py`).
- It runs fragments of a page that the visitor has left, after which the browser empties the page that it shows
  (`_leave_out_left_pages`).
- It drops a choice in a fragment that the session does not have, such as the first choice after the server has been
  restarted. Here the whole page runs (`run_page_without_fragment`).

`install` replaces functions of Streamlit's classes by ours, in eight places.

Streamlit pushes an entry to the browser's history for each `st.query_params` that differs from the address before. On
Back and Forward it runs the page with the address of that entry, and writes over the entry instead of adding one:
`is_back_or_forward` detects that. `missing_names` and `missing_for_server` list what another version no longer has.
"""

import importlib
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any
from urllib.parse import quote

import streamlit as st
from google.protobuf.message import DecodeError
from streamlit import config, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.scriptrunner_utils.shared_run_state import SharedRunState
from streamlit.runtime.state.session_state import Serialized, WStates
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from attnviz.app.sending import client_cache
from attnviz.places import APP

MOST_UPLOADED = 512 * 1024 * 1024  # bytes of all visitors' files together; `attnviz.server` sets another
NO_ROOM = "application/x-no-room"  # the type of a file that was left out: the others take all the room there is
_ONCE_A_RUN = ("widget_ids_this_run", "widget_user_keys_this_run")  # elements that a run has drawn
# What is replaced, and what the replacements read.
_USED: dict[Any, tuple[str, ...]] = {
    WStates: ("__getitem__", "states", "widget_metadata"),
    Serialized: ("value",),
    MemoryUploadedFileManager: ("add_file", "remove_session_files", "_total_bytes"),
    UploadedFileRec: ("file_id", "name", "type", "data"),
    MediaFileManager: (
        *("remove_orphaned_files", "_remove_orphaned_deferred_callables", "_drop_deferred_id"),
        *("_files_by_session_and_coord", "_deferred_callables"),
    ),
    AppSession: (
        "_handle_clear_cache_request",
        *("flush_browser_queue", "_pages_manager", "request_rerun", "has_fragment"),
    ),
    ScriptRunner: ("_run_script", "_pages_manager", "_session_id"),
    RerunData: ("cached_message_hashes", "fragment_id_queue", "page_script_hash"),
    PagesManager: ("current_page_script_hash",),
    Runtime: ("_session_mgr",),
    WebsocketSessionManager: ("_session_storage", "get_active_session_info"),
    MemorySessionStorage: ("_cache",),
    ScriptRunContext: ("is_history_navigation", "shared"),
    SharedRunState: _ONCE_A_RUN,
}
# What only a server that many share uses, in modules of Streamlit that others need not load.
_OF_SERVER = {
    "config": ("_main_script_path",),
    "auth_util": ("encode_provider_token", "get_cookie_with_chunks"),
    "web.bootstrap": ("load_config_options",),
    "web.server.starlette.starlette_app_utils": ("decode_signed_value",),
    "web.server.starlette.starlette_server_config": ("USER_COOKIE_NAME",),
}
_FILE = "attnviz/app/streamlit_internals.py"
BACK_MESSAGE = BackMsg.DESCRIPTOR  # what a browser's messages are made of
KEPT = 10  # seconds at least in which a file can still be saved after its page is gone
_NUMBERS = {"int_value", "double_value"}  # a field for numbers takes either, by its own type
_LOG = logging.getLogger(__name__)


def install() -> None:
    """Install the guards in Streamlit's classes, once per server.

    Raises RuntimeError, with a message of one sentence, for a Streamlit that lacks a name that the guards need. No
    guard is installed then.
    """
    if said := missing_names():
        raise RuntimeError(said)
    if not hasattr(WStates.__getitem__, "__wrapped__"):
        WStates.__getitem__ = drop_malformed(WStates.__getitem__, Serialized)
        MemoryUploadedFileManager.add_file = _limit_room(MemoryUploadedFileManager.add_file)
        MediaFileManager.remove_orphaned_files = sweep_seldom(MediaFileManager.remove_orphaned_files)
        MediaFileManager._remove_orphaned_deferred_callables = remove_orphans  # type: ignore
        AppSession._handle_clear_cache_request = _ignore  # type: ignore[method-assign]
        AppSession.request_rerun = run_page_without_fragment(AppSession.request_rerun)  # type: ignore[method-assign]
        AppSession.flush_browser_queue = client_cache.note_sent(AppSession.flush_browser_queue)  # type: ignore
        run: Any = client_cache.drop_evicted(ScriptRunner._run_script, _connection)
        ScriptRunner._run_script = _leave_out_left_pages(run)  # type: ignore[method-assign]


@contextmanager
def drawn_again() -> Iterator[None]:
    """Allow elements with the same keys to be drawn again in this run, inside this context.

    Each element replaces the one drawn before in the same place, and the browser keeps its component.
    """
    shared: Any = getattr(get_script_run_ctx(), "shared", None)
    if shared is None:
        yield
        return
    known = {name: getattr(shared, name) for name in _ONCE_A_RUN}
    try:
        for name, names in known.items():
            setattr(shared, name, type(names)())
        yield
    finally:
        for name, names in known.items():
            setattr(shared, name, names)


def has_server() -> bool:
    """Check whether Streamlit's server runs in this process.

    It does not if a page's script is imported or run alone.
    """
    return runtime.exists()


def missing_names() -> str:
    """Return a sentence with the names that the guards need and this Streamlit lacks; "" if it has all of them."""
    gone = [f"{owner.__name__}.{name}" for owner, names in _USED.items() for name in names if not _has(owner, name)]
    return _missing_sentence(gone) if gone else ""


def _missing_sentence(names: Sequence[str]) -> str:
    return f"Streamlit {st.__version__} has no {', no '.join(names)}: change {_FILE}, which uses it."


def _has(owner: type, name: str) -> bool:
    """Check whether a class defines an attribute itself, as a class attribute, a dataclass field, or in `__init__`."""
    known = {*vars(owner), *getattr(owner, "__dataclass_fields__", ())}
    return name in known or name in owner.__init__.__code__.co_names


def _limit_room(add: Any) -> Any:
    """Wrap `add_file` so that only a visitor's newest upload is kept.

    The file is kept without its content if all visitors' files together would exceed the limit.
    """

    @wraps(add)
    def replacement(files: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        files.remove_session_files(session_id)
        if files._total_bytes + len(file.data) > MOST_UPLOADED:
            file = replace_content(file)
        add(files, session_id=session_id, file=file)

    return replacement


def replace_content(file: UploadedFileRec) -> UploadedFileRec:
    """Return a file without its content."""
    return UploadedFileRec(file_id=file.file_id, name=file.name, type=NO_ROOM, data=b"")


def _ignore(session: AppSession) -> None:
    """Ignore a message that would empty the caches of all visitors. No control of our pages sends that message."""


def run_page_without_fragment(request: Any) -> Any:
    """Wrap `request(session, asked)` so that a choice in a fragment that the session lacks runs the whole page.

    Requests that a fragment repeats by itself are left to Streamlit, which drops them.
    """

    @wraps(request)
    def replacement(session: AppSession, asked: Any) -> None:
        if asked and asked.fragment_id and not asked.is_auto_rerun and not session.has_fragment(asked.fragment_id):
            asked.ClearField("fragment_id")
        request(session, asked)

    return replacement


def _leave_out_left_pages(run: Any) -> Any:
    """Wrap `run(runner, asked)` so that it does not run fragments of a page that is no longer this session's page.

    A fragment with `run_every` may ask for its next run while the visitor is led to another page. The message that
    begins this run would name the page that was left, and the browser would empty the page that it shows: fragments
    there then raise "Bad delta path". This is left out once a Streamlit ignores such runs itself.
    """

    @wraps(run)
    def replacement(runner: ScriptRunner, asked: Any) -> None:
        now = runner._pages_manager.current_page_script_hash
        if not asked.fragment_id_queue or asked.page_script_hash in ("", now):
            run(runner, asked)

    return replacement


def _connection(runner: ScriptRunner) -> object:
    """Return Streamlit's client object for the browser of a runner.

    A browser that reconnects gets a new one.
    """
    server: Any = runtime.get_instance() if runtime.exists() else None
    sessions = getattr(server, "_session_mgr", None)  # a page's test has a server without it
    info = sessions.get_active_session_info(runner._session_id) if sessions is not None else None
    return None if info is None else info.client


def around_runs(around: Callable[[Callable[[], str]], AbstractContextManager[None]]) -> None:
    """Execute each run of each visitor inside the context manager `around(page)`.

    At the end of the run, `page()` returns the page's name in the address, which is "" for the welcome page.
    """
    run: Any = ScriptRunner._run_script

    @wraps(run)
    def replacement(runner: ScriptRunner, asked: Any) -> None:
        with around(lambda: _page(runner._pages_manager)):
            run(runner, asked)

    ScriptRunner._run_script = replacement  # type: ignore[method-assign]


def _page(pages: Any) -> str:
    return pages.get_pages().get(pages.current_page_script_hash, {}).get("url_pathname", "")


async def forget_gone_sessions() -> None:
    """End the expired sessions of visitors who have left.

    Streamlit ends them only when another visitor comes or goes. Until then each session has three files open.
    """
    storage: Any = runtime.get_instance()._session_mgr._session_storage  # type: ignore[attr-defined]
    for _, gone in storage._cache.expire():
        gone.session.shutdown()


def is_back_or_forward() -> bool:
    """Check whether Back or Forward started this run.

    The page then follows the address, and not the session's choices.
    """
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def missing_for_server() -> str:
    """Return a sentence with the names that the functions below need and this Streamlit lacks; "" if it has all."""
    gone = [f"{module}.{name}" for module, names in _OF_SERVER.items() for name in names if not _is_in(module, name)]
    return _missing_sentence(gone) if gone else ""


def _is_in(module: str, name: str) -> bool:
    try:
        return hasattr(importlib.import_module(f"streamlit.{module}"), name)
    except ImportError:
        return False


def is_running() -> bool:
    """Check whether this process already serves a dashboard. Streamlit's runtime can start once per process."""
    return runtime.exists()


def set_options(options: Mapping[str, Any]) -> None:
    """Set Streamlit options, which override those in its config file.

    Raises RuntimeError if an option is not accepted.
    """
    from streamlit.web import bootstrap

    config._main_script_path = str(APP / "dashboard.py")  # beside it lies the file of options
    bootstrap.load_config_options({name.replace(".", "_"): value for name, value in options.items()})
    for name, value in options.items():
        if name not in config.get_config_options() or config.get_option(name) != value:
            raise RuntimeError(f"Streamlit {st.__version__} did not take {name}: change {_FILE}.")


def keep_quiet_outside_pages() -> None:
    """Silence Streamlit's warnings about calls outside a page, such as those made while the model is warmed up."""
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)


def login_cookie(cookies: Mapping[str, str], secret: str) -> bytes:
    """Return the JSON in the cookie that Streamlit signs after a login; b"" without a cookie signed by this server."""
    from streamlit.auth_util import get_cookie_with_chunks
    from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

    def read_signed(name: str) -> bytes | None:
        return decode_signed_value(secret, name, cookies[name].encode("latin-1")) if name in cookies else None

    return get_cookie_with_chunks(read_signed, USER_COOKIE_NAME) or b""


def login_address() -> str:
    """Return the path at which Streamlit redirects a visitor to the login provider."""
    from streamlit.auth_util import encode_provider_token

    return f"/auth/login?provider={quote(encode_provider_token('default'))}"


def is_poll(frame: bytes) -> bool:
    """Check whether a WebSocket frame asks for the automatic rerun of one fragment, which is far less work than
    a run.
    """
    try:
        asked = BackMsg.FromString(frame).rerun_script
    except DecodeError:
        return False
    return asked.is_auto_rerun and bool(asked.fragment_id)


def sweep_seldom(sweep: Any) -> Any:
    """Wrap `sweep(files)`, which forgets files that no page offers, so that it runs at most every `KEPT` seconds."""

    @wraps(sweep)
    def sweep_rarely(files: Any) -> None:
        if time.monotonic() - vars(files).get("swept", -math.inf) >= KEPT:
            vars(files)["swept"] = time.monotonic()
            sweep(files)

    return sweep_rarely


def remove_orphans(files: Any) -> None:
    """Remove the functions that make download buttons' files if no page has had the button for two sweeps.

    Streamlit would remove such a function after one sweep, although a page that is running may be about to draw the
    button again.
    """
    offered = {file for places in files._files_by_session_and_coord.values() for file in places.values()}
    orphans = files._deferred_callables.keys() - offered
    for file in orphans & vars(files).get("orphans", set()):
        files._drop_deferred_id(file)
    vars(files)["orphans"] = orphans


def drop_malformed(get: Any, sent: type) -> Any:
    """Wrap `get(states, name)`, which returns a widget's value, so that a malformed state counts as missing.

    The wrapper raises KeyError for it. `sent` is the class of states that came from a browser.
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
    """Check whether a state's protobuf field is the one that the widget expects; None is a value that was cleared."""
    return field is None or field == wanted or {field, wanted} <= _NUMBERS
