"""The sentences above the maps: their tokens, and which of them a row or a column of a kind's map stands for."""

from typing import TYPE_CHECKING, Any

from attnviz.text.display import display_token

if TYPE_CHECKING:
    from attnviz.tracing.trace import Trace
    from attnviz.transformer.probe import Kind

_NAMES: "dict[Kind, str]" = {"encoder_self": "source", "decoder_self": "target"}


def sentence_strip(trace: "Trace") -> dict[str, Any]:
    """One line a sentence, for the Heads component.

    `lines`: name and tokens (`[text, special]`) of each sentence. `axes`: for each kind, which line its query and its
    key axis lie on, and how far token 0 of the axis is from the start of that line: a decoder row stands for the token
    that it puts out, one to the right of the token that goes in.
    """
    lines: list[dict[str, Any]] = []
    axes: dict[str, dict[str, list[int]]] = {}
    for kind in _NAMES:
        if kind not in trace.kinds:
            continue
        tokens = list(trace.query_tokens(kind))
        outputs = trace.output_tokens(kind)
        line = tokens + list(outputs[-1:]) if outputs is not None else tokens
        name = _NAMES[kind] if len(trace.kinds) > 1 else "text"
        lines.append({"name": name, "tokens": [[display_token(token), token.is_special] for token in line]})
        axes[kind] = {"query": [len(lines) - 1, int(outputs is not None)], "key": [len(lines) - 1, 0]}
    if "cross" in trace.kinds:
        axes["cross"] = {"query": axes["decoder_self"]["query"], "key": axes["encoder_self"]["key"]}
    return {"lines": lines, "axes": axes}
