"""The fields of a browser's message are counted before anything is allocated for them."""

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from attnviz.server.sockets import count_fields
from tests.websocket.visitor import state


def test_states_and_what_is_in_them_are_counted() -> None:
    message = BackMsg()
    states = [state("a", string_value="x"), state("b", string_array_value=["x", "y", "z"]), state("c", int_value=-1)]
    message.rerun_script.widget_states.widgets.extend(states)
    assert count_fields(message.SerializeToString(), 100) == 2 + 3 * 3 + 3
    assert count_fields(b"", 100) == 0


def test_counting_ends_at_the_bound_however_deep_it_is_reached() -> None:
    files = state("a")
    for _ in range(100_000):
        files.file_uploader_state_value.uploaded_file_info.add()
    nested, hashes = BackMsg(), BackMsg()
    nested.rerun_script.widget_states.widgets.append(files)
    hashes.rerun_script.cached_message_hashes.extend([""] * 100_000)
    for message in (nested, hashes):
        assert count_fields(message.SerializeToString(), 1_000) == 1_001


@pytest.mark.parametrize("frame", [b"\xff\xff", b"\x0a\x05a", b"\x5a\x04\x0a\x05ab", b"\x0b\x0c", b"\x80" * 12])
def test_what_no_browser_sends_is_refused(frame: bytes) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        count_fields(frame, 100)
