"""Copy the weights of `torch.nn.Transformer` into our modules, so that the outputs of both can be compared."""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn

from attnviz.transformer.config import ModelConfig
from attnviz.transformer.transformer import Transformer

Weights = Mapping[str, Tensor]
OUR_EPS = 1e-5  # the default of nn.LayerNorm
_ATTENTION = {"encoder": {"self_attention": "self_attn"}}
_ATTENTION["decoder"] = _ATTENTION["encoder"] | {"cross_attention": "multihead_attn"}
_LINEAR = {"feed_forward.W_1": "linear1", "feed_forward.W_2": "linear2"}


def from_torch(theirs: nn.Transformer, *, vocab_size: int) -> Transformer:
    """Copy `theirs` into our model, without positions and with an embedding of zeros, because `nn.Transformer` has
    neither.

    Raises ValueError for options that our model cannot express: different numbers of encoder and decoder layers,
    sequence-first tensors, another activation than ReLU, no biases, or another eps in the layer norms.
    """
    weights = theirs.state_dict()
    config = _config(theirs, weights, vocab_size)
    with torch.device("meta"):  # no storage, and no use of the global random numbers
        model = Transformer(config)
    renamed = {"embedding.weight": torch.zeros(vocab_size, config.d_model)}
    for stack in ("encoder", "decoder"):
        renamed |= {f"{stack}.norm.{part}": weights[f"{stack}.norm.{part}"] for part in ("weight", "bias")}
        for layer in range(config.n_layers):
            place = f"{stack}.layers.{layer}."
            renamed |= {place + name: weight for name, weight in _layer(weights, place, stack)}
    model.load_state_dict({name: weight.clone() for name, weight in renamed.items()}, assign=True)
    return model.requires_grad_(False).eval()


def _config(theirs: nn.Transformer, weights: Weights, vocab_size: int) -> ModelConfig:
    layers = [len({name.split(".")[2] for name in weights if name.startswith(f"{s}.layers")}) for s in _ATTENTION]
    first = theirs.encoder.get_submodule("layers.0")
    assert isinstance(first, nn.TransformerEncoderLayer)  # nn.Transformer consists of these
    if layers[0] != layers[1]:
        raise ValueError(f"Encoder and decoder need the same number of layers, not {layers[0]} and {layers[1]}.")
    if not theirs.batch_first:
        raise ValueError("The nn.Transformer must be made with batch_first=True.")
    if first.activation is not nn.functional.relu:
        raise ValueError("The feed-forward network must use ReLU.")
    if first.linear1.bias is None:
        raise ValueError("The nn.Transformer must be made with bias=True.")
    if first.norm1.eps != OUR_EPS:
        raise ValueError(f"The layer norms must use eps={OUR_EPS}, not {first.norm1.eps}.")
    return ModelConfig(
        vocab_size,
        d_model=theirs.d_model,
        n_heads=theirs.nhead,
        n_layers=layers[0],
        d_ff=len(weights["encoder.layers.0.linear1.weight"]),
        norm_first=bool(first.norm_first),
        positions=False,
    )


def _layer(weights: Weights, place: str, stack: str) -> Iterator[tuple[str, Tensor]]:
    """Yield one layer's weights under our names."""
    attention = _ATTENTION[stack]
    sublayers = [f"{name}_sublayer.norm" for name in (*attention, "feed_forward")]
    renamed = _LINEAR | {name: f"norm{index}" for index, name in enumerate(sublayers, start=1)}
    renamed |= {f"{ours}.W_o": f"{name}.out_proj" for ours, name in attention.items()}
    for part in ("weight", "bias"):
        for ours, name in renamed.items():
            yield f"{ours}.{part}", weights[f"{place}{name}.{part}"]
        for ours, name in attention.items():
            # PyTorch stacks the three projections in one matrix; within each, the heads lie in the same order.
            stacked = weights[f"{place}{name}.in_proj_{part}"].chunk(3)
            yield from ((f"{ours}.{w}.{part}", piece) for w, piece in zip(("W_q", "W_k", "W_v"), stacked, strict=True))
