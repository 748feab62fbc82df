"""The parts of a checkpoint's layers, read from its modules and from the values of one pass."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.models.huggingface.checkpoint_facts import positions_of
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.huggingface.network.call_order import homes_of
from attnviz.models.huggingface.network.network import embedding_of
from attnviz.models.huggingface.replay import ReplayedModel
from attnviz.models.plans import (
    FeedForwardPlan,
    LayerPlan,
    NormPlace,
    StackPlan,
    Structure,
    bare_stacks,
    kind_plans,
)
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind, Stack

# Config flags, and architectures, for attention and feed-forward that read the same input.
_PARALLEL_FLAGS = ("parallel_attn", "use_parallel_residual", "new_decoder_architecture")
_ALWAYS_PARALLEL = ("gptj", "codegen", "cohere", "cohere2", "phi")
_MIXERS = ("mamba", "ssm", "mixer", "recurrent", "deltanet", "conv", "linearattention")
_ACTIVE = ("num_experts_per_tok", "top_k_experts", "num_selected_experts")
_CLOSE = 2e-2  # tolerance for a variance of 1: larger than a norm's epsilon and half-precision errors
_Home = tuple[Kind, int, nn.Module, int]  # a site's kind and layer, its stack, and its layer's number in the stack


def checkpoint_structure(trace: TraceLike, model: Any) -> Structure:
    """Return the structure of a checkpoint; `trace` is any trace of it without interventions."""
    network = model.torch_module
    plain = isinstance(model, HuggingFaceModel)
    stacks = _stacks(trace, model) if plain and not trace.weights_only else bare_stacks(trace)
    embedding = embedding_of(network)
    scores = network.get_output_embeddings() if hasattr(network, "get_output_embeddings") else None
    return Structure(
        stacks,
        kind_plans(trace),
        d_model=next(iter(trace.layers.values())).shape[-1] if plain and trace.layers else None,  # type: ignore[attr-defined]
        vocabulary=_vocabulary(model, embedding),
        positions=positions_of(network, model).get("positions", ""),
        is_tied=None if scores is None else scores.weight is embedding,
        ends=_ends(model),
    )


def _vocabulary(model: Any, embedding: Tensor | None) -> int | None:
    """Return the number of entries in a model's vocabulary; None for a model that reads images."""
    if model.inputs.is_image:
        return None
    return model.text.vocab_size if embedding is None else embedding.shape[0]


def _ends(model: HuggingFaceModel | ReplayedModel) -> Any:
    if not model.writes_logits:
        return ""
    return "masked" if model.family == "encoder" else "tokens"


def _stacks(trace: Any, model: HuggingFaceModel) -> tuple[StackPlan, ...]:
    places = (*model.network.encoder_places, *model.network.places)
    found = homes_of(model.torch_module, places)
    own = [(place.site.kind, place.site.layer, *found[place], place.module) for place in places]
    stacks = []
    for plan in bare_stacks(trace):
        kinds = {kind for layer in plan.layers for kind, _ in layer.sites}
        here = [home for home in own if home[0] in kinds]
        stacks.append(_stack(trace, model, plan.stack, here))
    return tuple(stacks)


def _stack(trace: Any, model: HuggingFaceModel, stack: Stack, here: list[Any]) -> StackPlan:
    sites: dict[int, list[tuple[Kind, int]]] = {}
    modules: dict[int, nn.Module] = {}
    attention = {id(home[4]) for home in here}
    for kind, layer, around, number, _ in here:
        at = trace.layer_number(kind, layer)
        sites.setdefault(at, []).append((kind, layer))
        modules[at] = (
            around[number] if isinstance(around, nn.ModuleList) else dict(around.named_children())[str(number)]
        )
    around = here[0][2]
    count = max(*(at + 1 for at in modules), len({at for name, at in trace.layers if name == stack and at >= 0}))
    width = trace.layers[stack, -1].shape[-1] if (stack, -1) in trace.layers else None
    layers = []
    for at in range(count):
        module = modules.get(at) or dict(around.named_children()).get(str(at))
        layers.append(_layer(model, module, at, tuple(sites.get(at, ())), attention, width))
    told = sorted(modules)[min(1, len(modules) - 1)]  # ModernBERT's first layer has no norm: its embedding has one
    norm = _norm_place(trace, stack, sites[told], told, modules[told])
    ends = norm != "after" and _has_norm_beside(model.torch_module, around)
    return StackPlan(stack, tuple(layers), norm, ends_normed=ends)


def _layer(
    model: HuggingFaceModel,
    module: nn.Module | None,
    number: int,
    sites: tuple[tuple[Kind, int], ...],
    attention: set[int],
    width: int | None,
) -> LayerPlan:
    if module is None:
        return LayerPlan(number, sites)
    network = _feed_forward(model.torch_module.config, module, attention, width)
    if not sites:
        return LayerPlan(number, sites, network, beside=_replacement_mixer(module))
    is_parallel = _is_parallel(model.torch_module.config)
    own_norms = is_parallel and sum(map(_is_norm, module.children())) > 1
    return LayerPlan(number, sites, network, _mixer(module), is_parallel, own_norms)


def _is_parallel(config: Any) -> bool:
    text = config.get_text_config()
    return text.model_type in _ALWAYS_PARALLEL or any(getattr(text, flag, False) is True for flag in _PARALLEL_FLAGS)


def _mixer(layer: nn.Module) -> str:
    """Return the name of the class that mixes tokens in a layer in addition to attention, or ""."""
    names = (type(child).__name__ for child in layer.children())
    return next((name for name in names if any(part in name.lower() for part in _MIXERS)), "")


def _replacement_mixer(layer: nn.Module) -> str:
    """Return the name of the class that a layer has in place of attention: a child that is neither norm nor
    feed-forward.
    """
    other = [
        type(child).__name__
        for name, child in layer.named_children()
        if not _is_norm(child) and not _is_network(name, type(child).__name__)
    ]
    return _mixer(layer) or (other[0] if other else type(layer).__name__)


def _is_network(name: str, kind: str) -> bool:
    return any(part in f"{name} {kind}".lower() for part in ("mlp", "feed", "ffn", "moe", "dropout"))


def _feed_forward(config: Any, layer: nn.Module, attention: set[int], width: int | None) -> FeedForwardPlan | None:
    """Return the plan of a layer's feed-forward network, found by the sizes of linear maps outside attention.

    Its maps go from `width` features to others and back. Return None if the sizes are ambiguous.
    """
    maps = [_sizes(module) for module in _outside(layer, attention) if _sizes(module) is not None]
    shapes = [shape for shape in maps if shape is not None]
    experts, wide = _experts(layer)
    active = next((n for key in _ACTIVE if isinstance(n := getattr(config.get_text_config(), key, None), int)), 0)
    if experts:
        return FeedForwardPlan(wide, True, experts, active) if wide else FeedForwardPlan(None, False, experts, active)
    inner = [given for given, made in shapes if made == width and any(_widens(one, width, given) for one in shapes)]
    known = sorted({size for size in inner if size != width} or set(inner))
    if len(known) != 1:
        return None
    ups = sum(shape == (width, known[0]) for shape in shapes) - (known[0] == width)
    return FeedForwardPlan(known[0], is_gated=(width, 2 * known[0]) in shapes or ups > 1)


def _widens(shape: tuple[int, int], width: int | None, inner: int) -> bool:
    return shape[0] == width and shape[1] in (inner, 2 * inner)


def _outside(layer: nn.Module, attention: set[int]) -> Iterator[nn.Module]:
    """Yield all modules of a layer except attention modules and their submodules."""
    for child in layer.children():
        if id(child) not in attention:
            yield child
            yield from _outside(child, attention)


def _sizes(module: nn.Module) -> tuple[int, int] | None:
    """Return the input and output size of a linear map, or None for another module."""
    if isinstance(module, nn.Linear):
        return module.in_features, module.out_features
    if type(module).__name__ == "Conv1D":  # GPT-2's class, whose weight is transposed
        given, made = module.weight.shape  # type: ignore[union-attr]
        return int(given), int(made)
    return None


def _experts(layer: nn.Module) -> tuple[int, int | None]:
    """Return the number of experts of a layer, and their `d_ff` if their weights are stored in one tensor."""
    for name, module in layer.named_modules():
        if name.rpartition(".")[2] != "experts":
            continue
        if isinstance(module, nn.ModuleList | nn.ModuleDict):
            return len(module), None
        down = [part for key, part in module.named_parameters() if part.dim() == 3 and "down" in key]
        held = [part for part in module.parameters() if part.dim() == 3]
        if held:
            return held[0].shape[0], min(down[0].shape[1:]) if down else None
    return 0, None


def _norm_place(trace: Any, stack: Stack, sites: list[tuple[Kind, int]], number: int, module: nn.Module) -> NormPlace:
    """Find where a layer's norms are, from the values of a pass.

    The input of attention is compared with the residual stream, and the layer's output is checked for a norm.
    """
    if (stack, number - 1) not in trace.layers or (stack, number) not in trace.layers:
        return ""
    stream, read = trace.layers[stack, number - 1], trace.call(*sites[0]).input_
    norms = [part for part in module.modules() if _is_norm(part)]
    if read is None or not norms:
        return ""
    if read.shape != stream.shape or not torch.equal(read, stream):
        return "both" if sum(map(_is_norm, module.children())) >= 2 * len(sites) + 2 else "before"
    made = trace.layers[stack, number]
    return "after" if any(_made_by(norm, made) for norm in norms) else "output"


def _is_norm(module: nn.Module) -> bool:
    return "norm" in type(module).__name__.lower()


def _made_by(norm: nn.Module, made: Tensor) -> bool:
    """Check whether a norm produced these values: without its gain and bias, their mean square is 1."""
    gain, bias = getattr(norm, "weight", None), getattr(norm, "bias", None)
    if gain is None or gain.shape[0] != made.shape[-1]:
        return False
    plain = (made.double() - (0 if bias is None else bias.cpu().double())) / gain.cpu().double()
    return bool((plain.square().mean(-1) - 1).abs().median() < _CLOSE)


def _has_norm_beside(network: nn.Module, stack: nn.Module) -> bool:
    """Check whether a norm follows the last layer: a sibling, with any name, of the list of layers."""
    return any(stack in one.children() and any(map(_is_norm, one.children())) for one in network.modules())
