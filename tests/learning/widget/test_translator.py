"""What the browser makes of a translator's training is what its recording says."""

import io

import numpy as np
import pytest

from attnviz.learning.widget.payload import ShownTranslator, learning_payload, pack_translator
from attnviz.toys.storage import read_recording
from attnviz.toys.translator.recording import TranslatorRecording
from attnviz.tracing.trace import KINDS
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.sent import payload_bytes
from tests.learning.translator import trained

pytestmark = NEEDS_A_BROWSER


@pytest.fixture(scope="module")
def recording() -> TranslatorRecording:
    found = read_recording(io.BytesIO(trained.content()), "run.npz")
    assert isinstance(found, TranslatorRecording)
    return found


@pytest.fixture(scope="module")
def decoded_run(module, recording):
    """Read the run as the widget does, each of its moments with the maps of every sentence."""
    payload = learning_payload([ShownTranslator("one", pack_translator(recording))], None, view={})
    act = """async (script, bytes) => {
      const [run] = (await script.decodePayload(new Uint8Array(bytes))).runs;
      return {...run, moments: run.moments.map((m) => ({...m, mapsOf: m.mapsOf.map((maps) => [...maps])}))};
    }"""
    return module("learning/widget/js/payload.js")(act, payload_bytes(payload))


def test_every_moment_arrives_with_its_curves_and_what_was_written(decoded_run, recording) -> None:
    moments = decoded_run["moments"]
    assert [moment["step"] for moment in moments] == list(recording.steps)
    assert [tuple(moment["wrote"]) for moment in moments] == list(recording.wrote)
    np.testing.assert_array_equal(np.float32([moment["held"] for moment in moments]), recording.held_out_loss)
    for at, name in enumerate(decoded_run["about"]["curves"]):
        found = np.float32([moment["values"][at] for moment in moments])
        np.testing.assert_array_equal(found, recording.scores[name])
    assert decoded_run["about"]["guess"] == pytest.approx(np.log(recording.vocab_size))


def test_each_sentence_has_its_own_maps_rows_and_columns(decoded_run, recording) -> None:
    for at, (line, of_line) in enumerate(zip(recording.lines, recording.maps, strict=True)):
        told = decoded_run["about"]["sentences"][at]
        for kind, said in zip(KINDS, told["kinds"], strict=True):
            assert said["kind"] == kind
            assert len(said["cols"]) == said["nCols"] == len(line.sentence.keys(kind))
            assert len(said["rows"]) == said["nRows"] == len(line.sentence.queries(kind))
        for moment in (0, -1):
            expected = np.concatenate([of_line[kind][moment].ravel() for kind in KINDS])
            np.testing.assert_array_equal(decoded_run["moments"][moment]["mapsOf"][at], expected)
