"""Weights that a file holds as planes of bytes are float32 again in the browser."""

import base64

import numpy as np
import pytest

from attnviz.hosts.html import one_file
from attnviz.hosts.registry import picture
from attnviz.models.translator.tiny import tiny_translator


@pytest.mark.parametrize("exact", [1_000_000, 10], ids=["float32", "16 bits"])
def test_the_browser_reads_what_python_wrote(module, monkeypatch, exact) -> None:
    monkeypatch.setattr(one_file, "EXACT", exact)
    made = picture("heads").of(tiny_translator(seed=0).trace("I love you", to="fr", tgt_text="je t'aime")).payload()
    packed, spans = one_file.in_planes(made)
    act = """({ withoutPlanes }, [text, spans]) => {
      const bytes = withoutPlanes(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)), spans);
      return btoa(String.fromCharCode(...bytes));
    }"""
    read = module("kit/js/files/planes.js")(act, [base64.b64encode(packed).decode(), spans])
    found, wanted = base64.b64decode(read), made.pack()
    if exact == 10:
        (offset, count, _), *_ = spans
        assert found != wanted
        numbers = (np.frombuffer(one, "<f4", count, offset) for one in (found, wanted))
        np.testing.assert_allclose(*numbers, atol=0.51 / 65_535, rtol=0)
    else:
        assert found == wanted
