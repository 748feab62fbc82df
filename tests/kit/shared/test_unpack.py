"""The browser reads what `attnviz.kit.wire` packs, wherever in a message it lies."""

import numpy as np
import pytest

from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.views import colour
from attnviz.kit.wire import Blobs, Payload
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.sent import payload_bytes

pytestmark = NEEDS_A_BROWSER

# A message holds the payload at some offset; typed views ask for multiples of four.
AT_OFFSET = """([bytes, before]) => {
  const message = new Uint8Array(before + bytes.length + 3).fill(255);
  message.set(bytes, before);
  return message.subarray(before, before + bytes.length);
}"""


@pytest.fixture(scope="module")
def unpack(module):
    return module("kit/js/unpack.js")


def test_arrays_and_texts_arrive_whatever_offset_and_header_they_have(unpack) -> None:
    draws = np.random.default_rng(2)
    floats, words, small = np.float32(draws.normal(size=7)), draws.integers(0, 65536, 5, "u2"), np.arange(3, dtype="u1")
    act = f"""({{ unpack }}, [bytes, before, cut]) => {{
      const whole = ({AT_OFFSET})([bytes, before]);
      const {{ header, array }} = unpack(cut ? [whole.subarray(0, cut), whole.subarray(cut)] : whole);
      const arrays = [[Float32Array, 7], [Uint16Array, 5], [Uint8Array, 3]];
      return [header.text, ...arrays.map(([Type, count], i) => [...array(Type, header.at[i], count)])];
    }}"""
    for before in range(5):
        for text in ("", "a", "ab", "abc", "爱🧑‍🚀", "\ud800", '"</script>\u2028'):
            blobs = Blobs()
            at = [blobs.add(part) for part in (small, floats, words)]
            payload = Payload({"text": text, "at": [at[1], at[2], at[0]]}, blobs.join())
            cut = len(payload.pack_header()) if before % 2 else 0  # in two parts, as in a notebook
            said = unpack(act, [payload_bytes(payload), before, cut])
            if text != "\ud800":  # Playwright cannot bring a lone surrogate back
                assert said[0] == text
            assert np.array_equal(np.float32(said[1]), floats)
            assert said[2:] == [words.tolist(), small.tolist()]


def test_the_scales_of_a_payload_are_those_of_python(unpack) -> None:
    blobs = Blobs()
    payload = payload_of(common_header("cross", ["cross"], blobs), {}, blobs)
    act = f"""({{ unpack, scalesIn }}, given) => {{
      const {{ light, dark }} = scalesIn(unpack(({AT_OFFSET})(given)));
      return [light.sequential, light.diverging, dark.sequential, dark.diverging].map((scale) => [...scale]);
    }}"""
    ours = [colour.SEQUENTIAL_LIGHT, colour.DIVERGING_LIGHT, colour.SEQUENTIAL_DARK, colour.DIVERGING_DARK]
    assert unpack(act, [payload_bytes(payload), 1]) == [np.ravel(scale).tolist() for scale in ours]
