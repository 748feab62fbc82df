"""Pictures as HTML files: what is in them, to the digit, and what is refused."""

import re
import sys

import numpy as np
import pytest

import attnviz
from attnviz.hosts.html import one_file
from attnviz.hosts.registry import picture
from attnviz.kit.wire import Payload
from attnviz.tracing.external.from_tensors import from_tensors
from tests.hosts.html.reading import payloads

HOSTILE = "</script><img src=x onerror=alert(1)> {{widgets}} <!--<script>"


def maps(payload: Payload, kind: str) -> np.ndarray:
    """Return all maps of a kind that the Heads picture sends; a causal mask's cells, which are not sent, are 0."""
    (entry,) = (entry for entry in payload.header["exact"] if entry["kind"] == kind)
    (told,) = (told for told in payload.header["kinds"] if told["kind"] == kind)
    shape = told["shape"]
    sent = np.frombuffer(payload.blobs, "<f4", entry.get("seen", int(np.prod(shape))), entry["offset"])
    if "seen" not in entry:
        return sent.reshape(shape)
    mask = told["mask"]
    bits = np.frombuffer(payload.blobs, np.uint8, offset=mask["offset"])
    size = mask["layers"] * mask["heads"] * shape[2] * shape[3]
    seen = np.unpackbits(bits, count=size, bitorder="little").reshape(mask["layers"], mask["heads"], *shape[2:]) > 0
    whole = np.zeros(shape, np.float32)
    whole[np.broadcast_to(seen, shape)] = sent
    return whole


def test_a_file_has_every_weight_of_the_trace_to_the_last_bit(trace, tmp_path) -> None:
    path = trace.to_html(tmp_path / "heads.html", layer=1, head=1)
    (payload,) = payloads(path.read_text(encoding="utf-8"))
    for kind in trace.kinds:
        np.testing.assert_array_equal(maps(payload, kind), trace.attn(kind).numpy())
    assert (payload.header["view"]["layer"], payload.header["view"]["head"]) == (1, 1)
    assert {"off", "words", "plotly"} <= set(payload.header["lacks"])


def test_weights_of_a_long_text_are_rounded_and_the_caption_says_so(trace, monkeypatch) -> None:
    monkeypatch.setattr(one_file, "EXACT", 10)
    shown = picture("heads").of(trace)
    file = one_file.one_file(shown)
    (payload,) = payloads(file)
    assert one_file.ROUNDED in file
    for kind in trace.kinds:
        np.testing.assert_allclose(maps(payload, kind), trace.attn(kind).numpy(), atol=0.51 / 65_535, rtol=0)
    assert payload.header == shown.without_python().payload().header


@pytest.mark.parametrize(("length", "most"), [(16, 260_000), (64, 1_300_000)])
def test_a_file_is_small_enough_to_be_mailed(length, most) -> None:
    logits = np.random.default_rng(0).normal(size=(3, 3, 8, length, length)).astype(np.float32) * 2
    attn = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    attn[1] = np.tril(attn[1]) / np.tril(attn[1]).sum(-1, keepdims=True)
    tokens = [f"word{at}" for at in range(length)]
    own = from_tensors(
        {"encoder_self": attn[0], "decoder_self": attn[1], "cross": attn[2]}, {"src": tokens, "tgt": [*tokens, "end"]}
    )
    assert len(one_file.one_file(picture("heads").of(own)).encode()) <= most


def test_a_hostile_sentence_and_title_stay_text(model) -> None:
    shown = picture("heads").of(model.trace(HOSTILE, to="fr", tgt_text=HOSTILE))
    for file in (one_file.one_file(shown), one_file.one_file(["*a*\n\n<b>b</b>", shown], title=HOSTILE)):
        assert "<img" not in file
        assert file.count("</script>") == file.count("<script") == 3
        assert file.count("<figure ") == file.count("<main>") == 1
    assert "<em>a</em>" in file
    assert "&lt;b&gt;b&lt;/b&gt;" in file


def test_a_file_asks_nothing_of_a_network(trace) -> None:
    file = one_file.one_file(picture("heads").of(trace))
    assert "default-src 'none'" in file
    assert not re.search(
        r"<(link|img|iframe)\b|\b(src|href)=[\"']", re.sub(r"<script.*?</script>", "", file, flags=re.S)
    )


def test_a_page_has_each_widget_once_and_text_between_its_pictures(trace, tmp_path) -> None:
    parts = ["# One", trace, "Two | cells\n--- | ---\na | b", picture("links").of(trace), picture("heads").of(trace)]
    path = attnviz.page(parts, tmp_path / "page.html", title="Three pictures")
    file = path.read_text(encoding="utf-8")
    assert re.findall(r'data-source="(\w+)"', file) == ["heads", "links"]
    assert re.findall(r'<figure data-widget="(\w+)"', file) == ["heads", "links", "heads"]
    assert "<title>Three pictures</title>" in file
    assert file.count("<h1") == 1
    assert file.index("<h1>One</h1>") < file.index("<figure") < file.index("<table>")
    assert len(payloads(file)) == 3


def test_pictures_need_no_markdown_and_text_says_what_it_needs(trace, monkeypatch, tmp_path) -> None:
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    assert trace.to_html(tmp_path / "heads.html").is_file()
    with pytest.raises(ValueError, match="Text on a page needs markdown_it: pip install"):
        attnviz.page(["# One", trace], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_where_no_file_can_be_written_is_said_in_one_sentence(trace, tmp_path) -> None:
    for path, says in (
        (tmp_path / "missing" / "x.html", "does not exist"),
        (tmp_path, r"is a folder\. Please pass the path"),
    ):
        with pytest.raises(ValueError, match=says):
            trace.to_html(path)
    with pytest.raises(ValueError, match="There is no picture 'head'"):
        trace.to_html(tmp_path / "x.html", picture="head")
    with pytest.raises(ValueError, match="layer=9 cannot be shown"):
        trace.to_html(tmp_path / "x.html", layer=9)
    with pytest.raises(ValueError, match="A part of a page must be a picture, a trace or a text in Markdown, not 5"):
        attnviz.page([5], tmp_path / "x.html")
    with pytest.raises(ValueError, match="A page needs at least one picture"):
        attnviz.page(["text"], tmp_path / "x.html")
    assert list(tmp_path.iterdir()) == []


def test_a_text_too_long_for_a_file_is_refused_before_its_maps_are_made(trace, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(one_file, "LONGEST", 3)
    monkeypatch.setattr(one_file, "MANY", 9)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"up to 3 tokens, but this text has \d\. .* one of its 30 heads") as refused:
        trace.to_html("x.html")
    command = re.search(r"trace\.one_layer\(.*\)\.to_html\(.*?\)", str(refused.value))
    assert command is not None
    assert eval(command[0], {"trace": trace}).is_file(), "as it is typed"
    assert "this exports L0 H0:" in str(refused.value), "heads are counted from 0, as on the screen"
