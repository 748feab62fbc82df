"""What a browser sends of a widget: a number counts that follows an empty field before the field is drawn again."""

import importlib

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import WStates

FIELD = WidgetMetadata("field", deserializer=lambda said: said, serializer=lambda said: said, value_type="double_value")


def test_a_number_counts_that_is_sent_after_an_empty_field() -> None:
    importlib.import_module("attnviz.app.streamlit_internals").install()
    assert hasattr(WStates.__getitem__, "__wrapped__")
    states = WStates()
    states.set_widget_metadata(FIELD)
    for sent, read in ((WidgetState(id="field"), None), (WidgetState(id="field", double_value=3.0), 3.0)):
        states.set_widget_from_proto(sent)
        assert states.get("field", "left out") == read
