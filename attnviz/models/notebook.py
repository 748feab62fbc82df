"""The two-line description of a model in a notebook: its sizes, and its methods."""

from attnviz.models.inputs import Inputs
from attnviz.models.protocol import Model

_FAMILIES = {Inputs.PAIR: "encoder", Inputs.PROMPT: "decoder", Inputs.IMAGE: "vision encoder"}
_ASKS = {
    Inputs.TRANSLATION: "text, to=, tgt_text=",
    Inputs.SOURCE_AND_TARGET: "text, tgt_text=",
    Inputs.PAIR: "text, pair",
    Inputs.PROMPT: "text, new_tokens=",
    Inputs.IMAGE: "image",
}


def two_line_summary(model: Model) -> str:
    """Return a model's name, kind and size, and how to call it, in two lines."""
    shapes = ", ".join(f"{kind} {layers} x {heads}" for kind, (layers, heads) in model.shapes.items())
    size = f"{model.n_parameters / 1e6:,.1f} M parameters, {str(model.dtype).removeprefix('torch.')} on {model.device}"
    writes = f", writes {', '.join(model.languages)}" if model.inputs.has_language else ""
    asked = [f".trace({_ASKS[model.inputs]})", *([".stepwise(text)"] if model.writes else [])]
    return (
        f"<{type(model).__name__} {model.name!r}: {_FAMILIES.get(model.inputs, 'encoder-decoder')}, {shapes} "
        f"(layers x heads){writes}, {size}\n {', '.join(asked)}; trace.attn(kind, layer=, head=)>"
    )
