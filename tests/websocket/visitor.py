"""A visitor without a browser: speaks Streamlit's own websocket protocol with a running dashboard.

It opens pages as links do, sends widget states as a browser sends them, or as no browser would, and hands back what the
page then shows. One `Visitor` is one session; many of them at once are a load.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect

LARGEST = 1 << 28  # bytes of one message from the server
_ID = "$$ID-"
_KEPT_RUNS = 2  # a browser forgets a message that it did not need for so long


@dataclass
class Shown:
    """What one run of the script has sent: its elements and blocks by their place, and how long it took."""

    elements: dict[tuple[int, ...], Element] = field(default_factory=dict)
    blocks: dict[tuple[int, ...], Message] = field(default_factory=dict)
    fragments: dict[tuple[int, ...], str] = field(default_factory=dict)  # which part of the page has drawn an element
    seconds: float = 0.0
    received: int = 0  # bytes of all its messages

    def elements_of(self, kind: str) -> list[Any]:
        """All elements of a kind, such as "alert" or "bidi_component", from the top."""
        found = (self.elements[place] for place in sorted(self.elements))
        return [getattr(element, kind) for element in found if element.WhichOneof("type") == kind]

    @property
    def exceptions(self) -> list[str]:
        """The faults that the page shows."""
        return [f"{fault.type}: {fault.message}" for fault in self.elements_of("exception")]

    @property
    def alerts(self) -> list[str]:
        """Notes and refusals, without the marks that keep Markdown from reading them."""
        return [alert.body.replace("\\", "") for alert in self.elements_of("alert")]

    @property
    def has_dialog(self) -> bool:
        """Whether a dialog is open."""
        return any(block.WhichOneof("type") == "dialog" for block in self.blocks.values())

    @property
    def widgets(self) -> dict[str, tuple[str, Any]]:
        """Every widget and component under the key that the page gives it: its kind, and what was sent of it."""
        found: dict[str, tuple[str, Any]] = {}
        for element in self.elements.values():
            if (id_ := id_of(element)).startswith(_ID):
                kind = str(element.WhichOneof("type"))
                found[key_of(id_)] = kind, getattr(element, kind)
        return found


def id_of(element: Element) -> str:
    """Return a widget's or a component's id; "" for other elements."""
    return getattr(getattr(element, element.WhichOneof("type") or "", None), "id", "")


def key_of(id_: str) -> str:
    """Return the key in a widget's id, `$$ID-<hash>-<key>`."""
    return id_.split("-", 2)[2]


class Visitor:
    """One connection to the dashboard at `address` (`http://127.0.0.1:…`), as a context.

    As a browser it keeps large messages for two runs, and says which it has: those come as a hash. `headers` go with
    the handshake, such as a cookie.

    Raises TimeoutError where a run takes longer than `patience` seconds, ConnectionClosed where the server hangs up.
    """

    def __init__(self, address: str, *, patience: float = 60.0, headers: Mapping[str, str] | None = None) -> None:
        self._host, self._patience, self._headers = urlsplit(address).netloc, patience, dict(headers or {})
        self._kept: dict[str, tuple[int, Any]] = {}
        self._runs = self._received_bytes = 0
        self._stack = ExitStack()
        self._socket: ClientConnection | None = None
        self._query, self._page = "", ""
        self.session_id = ""
        self.shown = self._before = Shown()

    def __enter__(self) -> Self:
        protocol: Any = "streamlit"
        stream = f"ws://{self._host}/_stcore/stream"
        headers, patience = self._headers, self._patience
        connection = connect(
            stream, subprotocols=[protocol], max_size=LARGEST, additional_headers=headers, open_timeout=patience
        )
        self._socket = self._stack.enter_context(connection)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._socket = None

    def open(self, page: str = "", query: str | Mapping[str, str] = "") -> Shown:
        """Open a page as a link does; `query` is the text behind the question mark, or parameters."""
        self._page = page
        self._query = query if isinstance(query, str) else urlencode(query)
        return self.send()

    def choose(self, key: str, **value: Any) -> Shown:
        """Choose something in the widget under `key`. As in a browser, the fragment that has drawn it runs alone."""
        name = self.shown.widgets[key][1].id
        (place,) = [place for place, element in self.shown.elements.items() if id_of(element) == name]
        return self.send(state(name, **value), fragment=self.shown.fragments[place])

    def send(self, *states: WidgetState, fragment: str = "") -> Shown:
        """Send widget states, valid or not; return the page after the run that they start, of a `fragment` alone if one
        is named.
        """
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        message.rerun_script.query_string = self._query
        message.rerun_script.page_name = self._page
        message.rerun_script.widget_states.widgets.extend(states)
        message.rerun_script.cached_message_hashes.extend(self._kept)
        return self.tell(message)

    def tell(self, message: BackMsg) -> Shown:
        """Send a message and wait for the run that it starts."""
        started = time.perf_counter()
        self._received_bytes = 0
        self._connection.send(message.SerializeToString())
        self._before, self.shown = self.shown, Shown()
        for told in self._messages_of_run():
            self._take(told)
        self.shown.seconds = time.perf_counter() - started
        self.shown.received = self._received_bytes
        self._runs += 1
        self._kept = {name: kept for name, kept in self._kept.items() if self._runs - kept[0] < _KEPT_RUNS}
        return self.shown

    def ask(self, message: BackMsg, answer: str) -> Any:
        """Send a message that starts no run; what is answered under that name."""
        self._connection.send(message.SerializeToString())
        deadline = time.monotonic() + self._patience
        while True:
            told = self._receive(deadline)
            if told.WhichOneof("type") == answer:
                return getattr(told, answer)

    def rerun(self, *states: WidgetState) -> bytes:
        """Build the frame that `send` would send."""
        message = BackMsg()
        message.rerun_script.query_string = self._query
        message.rerun_script.page_name = self._page
        message.rerun_script.widget_states.widgets.extend(states)
        return message.SerializeToString()

    def pass_over(self, seconds: float) -> int:
        """Ignore all messages for so many seconds; return how many runs have finished."""
        runs, deadline = 0, time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                runs += self._receive(deadline).WhichOneof("type") == "script_finished"
            except TimeoutError:
                break
        return runs

    def tell_raw(self, frame: bytes | str) -> None:
        """Send a frame that is no message."""
        self._connection.send(frame)

    def state(self, key: str, **value: Any) -> WidgetState:
        """Make a state of the widget under `key`, made of the named field: `state("model-shown", string_value="x")`."""
        return state(self.shown.widgets[key][1].id, **value)

    @property
    def _connection(self) -> ClientConnection:
        if self._socket is None:
            raise RuntimeError("Nobody is connected: use the visitor in a with statement.")
        return self._socket

    def _messages_of_run(self) -> Iterator[ForwardMsg]:
        deadline = time.monotonic() + self._patience
        is_begun = False
        while True:
            message = self._receive(deadline)
            kind = message.WhichOneof("type")
            is_begun = is_begun or kind == "new_session"
            yield message
            # A run that asks for another one right away finishes early, and the next one begins.
            if is_begun and kind == "script_finished":
                if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    return
                is_begun = False

    def _receive(self, deadline: float) -> ForwardMsg:
        message = ForwardMsg()
        frame: Any = self._connection.recv(timeout=max(0.0, deadline - time.monotonic()))
        self._received_bytes += len(frame)
        message.ParseFromString(frame)
        return message

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            kept = self._before if message.metadata.run.fragment_ids else Shown()  # of the rest of the page
            self.shown = Shown(dict(kept.elements), dict(kept.blocks), dict(kept.fragments))
            self.session_id = message.new_session.initialize.session_id
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "delta":
            if message.metadata.cacheable:
                self._kept[message.hash] = self._runs, message.delta
            self._draw(tuple(message.metadata.delta_path), message.delta)
        elif kind == "ref_hash":
            delta = self._kept[message.ref_hash][1]
            self._kept[message.ref_hash] = self._runs, delta
            self._draw(tuple(message.metadata.delta_path), delta)

    def _draw(self, place: tuple[int, ...], delta: Any) -> None:
        self.shown.fragments[place] = delta.fragment_id
        if delta.WhichOneof("type") == "new_element":
            self.shown.elements[place] = delta.new_element
        elif delta.WhichOneof("type") == "add_block":
            self.shown.blocks[place] = delta.add_block


def state(id_: str, **value: Any) -> WidgetState:
    """Make a widget's state: `state(id, int_value=3)`, `state(id, string_array_value=["a"])`, or of no value at all.

    A list of files stands for a file uploader's state.
    """
    made = WidgetState(id=id_)
    for name, content in value.items():
        if name.endswith("array_value"):
            getattr(made, name).data.extend(content)
        elif name == "file_uploader_state_value":
            made.file_uploader_state_value.uploaded_file_info.extend(content)
        elif name == "string_trigger_value":
            made.string_trigger_value.data = content
        else:
            setattr(made, name, content)
    return made
