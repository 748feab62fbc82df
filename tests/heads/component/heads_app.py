"""The Heads component on random maps, and on tokens that try to be more than text; also as a page of Streamlit's.

A query may say `n` (tokens), `budget` (bytes of exact maps) and `row`; with `deep` a small untrained model of that many
layers and heads is shown instead.
"""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st
import torch

from attnviz.analysis.metric_table import head_metrics
from attnviz.app import mount
from attnviz.heads.heads_state import HeadsState
from attnviz.heads.payload import heads_payload
from attnviz.heads.sentences import sentence_strip
from attnviz.hosts.registry import picture
from attnviz.kit.browser_view import to_view, with_declaration
from attnviz.kit.wire import Payload
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.maps import EagerMaps
from attnviz.maps.selection import select as shown_of
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.trace import Trace

LAYERS, HEADS = 3, 2
SOURCE = ("A", "<b>bold</b>", "$x$", "&lt;", "مرحبا", "U+200B", "red", "<eos>")
TARGET = ("Un", "**gros**", "爱", ":red[x]", "שלום", "<img src=x onerror=alert(1)>", "<eos>")
START = to_view(HeadsState("cross", 1, 0, tint="entropy"))
OTHER = to_view(HeadsState("encoder_self", 0, 1, row=2, tint="none"))


def maps(n: int | None = None) -> dict[str, EagerMaps]:
    """Kind -> random maps; `n` tokens on both sides, or as many as the samples have."""
    source = [SOURCE[i % len(SOURCE)] for i in range(n or len(SOURCE))]
    target = [TARGET[i % len(TARGET)] for i in range(n or len(TARGET))]
    inputs = ["<bos>", *target[:-1]]
    steps = tuple(RowLabel(one, other, (i,)) for i, (one, other) in enumerate(zip(inputs, target, strict=True)))
    words = tuple(RowLabel(text, None, (i,)) for i, text in enumerate(source))
    causal = torch.ones(len(target), len(target), dtype=torch.bool).tril()
    random = torch.Generator().manual_seed(7)
    return {
        "encoder_self": _kind("encoder_self", words, source, random),
        "decoder_self": _kind("decoder_self", steps, inputs, random, causal),
        "cross": _kind("cross", steps, source, random),
    }


def _kind(kind, rows, keys, random, mask=None) -> EagerMaps:
    mask = torch.ones(len(rows), len(keys), dtype=torch.bool) if mask is None else mask
    scores = 3 * torch.randn(LAYERS, HEADS, *mask.shape, generator=random)
    attn = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    return EagerMaps(
        kind, mask[None, None], rows, tuple(ColLabel(text, (i,)) for i, text in enumerate(keys)), attn=attn
    )


def metrics(shown: dict[str, EagerMaps]) -> pd.DataFrame:
    """One made-up metric a head."""
    sites = [(kind, layer, head) for kind in shown for layer in range(LAYERS) for head in range(HEADS)]
    table = pd.DataFrame(sites, columns=["kind", "layer", "head"])
    return table.assign(entropy=[((3 * i) % 7) / 7 for i in range(len(table))])


def strip(shown: dict[str, EagerMaps]) -> dict[str, Any]:
    """Make the strip of both sentences."""
    source = [[row.input, row.input == "<eos>"] for row in shown["encoder_self"].rows]
    target = [["<bos>", True], *([row.output, row.output == "<eos>"] for row in shown["cross"].rows)]
    axes = {
        "encoder_self": {"query": [0, 0], "key": [0, 0]},
        "decoder_self": {"query": [1, 1], "key": [1, 0]},
        "cross": {"query": [1, 1], "key": [0, 0]},
    }
    return {"lines": [{"name": "source", "tokens": source}, {"name": "target", "tokens": target}], "axes": axes}


def make_maps(asked: Any) -> tuple[dict[str, EagerMaps], pd.DataFrame, dict[str, Any]]:
    """Make the maps, metrics and sentences that the address asks for."""
    if "deep" not in asked:
        shown = maps(int(asked["n"]) if "n" in asked else None)
        return shown, metrics(shown), strip(shown)
    trace = deep_trace(int(asked["deep"]))
    shown = {kind: shown_of(trace, kind) for kind in trace.kinds}
    return shown, head_metrics(shown, trace), sentence_strip(trace)


def deep_trace(size: int) -> Trace:
    """Run a sentence through a model of `size` layers x `size` heads."""
    model = tiny_translator(seed=0, n_layers=size, n_heads=size)
    return model.trace("machine learning is fun.", to="fr", tgt_text="un petit chien rouge")


def view_of(asked: Mapping[str, str]) -> dict[str, Any]:
    """Return the view that a query asks for."""
    return START | {"row": int(asked["row"]) if "row" in asked else None}


def payload_of(asked: Mapping[str, str], view: dict[str, Any]) -> Payload:
    """Make the payload that a query asks for."""
    shown, numbers, sentences = make_maps(asked)
    budget = int(asked.get("budget", 2_000_000))
    return with_declaration(heads_payload(shown, numbers, view=view, strip=sentences, budget=budget), HeadsState)


def main() -> None:
    """Draw the component, and what it reported last as JSON."""
    st.set_page_config(layout="wide")
    asked = st.query_params.to_dict()
    # What the page holds of the view, as the address does on the Heads page.
    view = st.session_state.setdefault("held", view_of(asked))
    if st.button("other view"):
        view = st.session_state["held"] = OTHER
    mount.picture(picture("heads"), payload_of(asked, view), on_change=_adopt)
    st.text(json.dumps(view))


def _adopt() -> None:
    st.session_state["held"] = dict(st.session_state["heads"]["view"])


if __name__ == "__main__":
    main()
