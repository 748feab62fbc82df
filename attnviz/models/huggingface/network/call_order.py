"""Record the order of a model's attention calls, and of the layers around them, once on loading."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.models.huggingface.errors import ModelError, NoAttentionInterface
from attnviz.models.huggingface.network.forward_pass import AttentionModule, current_pass
from attnviz.transformer.attention import attend
from attnviz.transformer.probe import AttentionCall, Kind, Site

_LAYER_NUMBERS = ("layer_idx", "layer_id", "layer_number")
_SETTING = (bool, int, float, str, tuple, list, type(None))  # types of a module's attributes that are settings


@dataclass
class CallOrder:
    """Observer of the first pass through a stack that records every module that computes attention, in the order of
    calls.
    """

    calls: list[tuple[nn.Module, AttentionCall]] = field(default_factory=list)

    def attend(self, module: nn.Module, call: AttentionCall) -> Tensor:
        """Record the call and compute its context."""
        self.calls.append((module, call))
        return attend(call)

    def on_input(self, module: nn.Module, input_: Tensor) -> None:
        """Ignore the input; only calls are recorded."""

    def on_embedding(self, layer: nn.Module, hidden: Tensor) -> Tensor:
        """Return the layer's input unchanged; only calls are recorded."""
        return hidden

    def on_layer(self, layer: nn.Module, output: Tensor) -> Tensor:
        """Return the layer's output unchanged; only calls are recorded."""
        return output

    def places(self, kind: Kind | None = None, *, src_len: int = 0) -> tuple[AttentionModule, ...]:
        """Assign a site to each recorded call.

        Without `kind`, calls are the encoder's if any query saw a later key, otherwise the decoder's. With a source
        (`src_len` above 0, different from the target's length), a call with `src_len` keys is cross-attention. Raises
        NoAttentionInterface if no attention was computed through attnviz's function.
        """
        if not self.calls:
            raise NoAttentionInterface(
                "The model bypasses the attention interface of transformers, so attnviz cannot read its attention."
            )
        kind = kind or ("encoder_self" if any(_looks_ahead(call) for _, call in self.calls) else "decoder_self")
        places, seen = [], Counter[Kind]()
        for module, call in self.calls:
            here: Kind = "cross" if src_len and call.key.shape[2] == src_len else kind
            places.append(AttentionModule(module, Site(here, seen[here])))
            seen[here] += 1
        return tuple(places)

    def looks_ahead(self, src_len: int) -> bool:
        """Check whether any query of a decoder's self-attention saw a later key."""
        return any(call.key.shape[2] != src_len and _looks_ahead(call) for _, call in self.calls)


def shapes_of(order: CallOrder, places: tuple[AttentionModule, ...]) -> dict[Kind, tuple[int, int]]:
    """Return the numbers of layers and heads of each kind. Raises ModelError if layers of a kind differ in
    their heads.
    """
    heads: dict[Kind, set[int]] = {}
    for place, (_, call) in zip(places, order.calls, strict=True):
        heads.setdefault(place.site.kind, set()).add(call.query.shape[1])
    if uneven := [kind for kind, found in heads.items() if len(found) > 1]:
        raise ModelError(
            f"The layers of this model have different numbers of heads ({uneven[0]}). The pages cannot "
            "show such a model."
        )
    layers = Counter(place.site.kind for place in places)
    return {kind: (layers[kind], *found) for kind, found in heads.items()}  # type: ignore[misc]


def hook(
    network: nn.Module, places: tuple[AttentionModule, ...], *, length_first: Collection[nn.Module] = ()
) -> dict[Kind, tuple[int, ...]]:
    """Add hooks that report the inputs of attention modules and the inputs and outputs of layers to the pass's
    observer.

    `length_first` are attention modules whose input, like that of their layers, is `(length, batch, d_model)`. The
    hooks look up the pass of their own thread, and do nothing if there is none. Returns, for each kind whose stack also
    has layers without attention, the numbers of its attending layers.
    """
    for module in {id(place.module): place.module for place in places}.values():
        is_turned = any(module is other for other in length_first)
        module.register_forward_pre_hook(partial(_attention_pre_hook, is_turned), with_kwargs=True)
    homes = homes_of(network, places)
    stacks = {id(stack): (stack, place.module) for place, (stack, _) in homes.items()}
    for stack, inside in stacks.values():
        if any(layer is inside for layer in stack.children()):
            continue  # a list of attention modules, separate from lists of other parts: no module is a whole layer
        is_turned = any(inside is other for other in length_first)
        for layer in {id(layer): layer for layer in stack.children()}.values():
            layer.register_forward_pre_hook(partial(_layer_pre_hook, is_turned), with_kwargs=True)
            layer.register_forward_hook(partial(_layer_hook, is_turned))
    return _numbers(places, homes)


def _looks_ahead(call: AttentionCall) -> bool:
    q_len, k_len = call.query.shape[2], call.key.shape[2]
    if call.mask is None:
        return q_len > 1
    return bool(call.mask.expand(-1, -1, q_len, k_len).triu(k_len - q_len + 1).any())


def homes_of(network: nn.Module, places: tuple[AttentionModule, ...]) -> dict[AttentionModule, tuple[nn.Module, int]]:
    """Return the stack of each attention module, and the number of its layer in the stack.

    The layer is the outermost numbered module around the attention module that holds no other attention module of its
    kind. In XLM, which numbers the attention modules and not the layers, it is the attention module itself.
    """
    modules = dict(network.named_modules())
    names = {id(module): name for name, module in modules.items()}
    others = {
        kind: {names[id(p.module)] for p in places if p.site.kind == kind} for kind in {p.site.kind for p in places}
    }
    found: dict[AttentionModule, tuple[nn.Module, int]] = {}
    for place in places:
        parts = names[id(place.module)].split(".")
        prefixes = [parts[: at + 1] for at, part in enumerate(parts) if part.isdigit()]
        kind = others[place.site.kind]
        alone = (p for p in prefixes if sum(f"{name}.".startswith(f"{'.'.join(p)}.") for name in kind) == 1)
        if (prefix := next(alone, None)) is None:
            raise ModelError("The model's attention is not in numbered layers.")
        found[place] = modules[".".join(prefix[:-1])], int(prefix[-1])
    return found


def last_new_layer(network: Any, places: tuple[AttentionModule, ...]) -> str:
    """Return the name of the first layer up to which the stack has a layer of each kind; "" if that is the last layer.

    Layers are of one kind if their classes and settings are equal; their weights and their numbers may differ. Only a
    model with one stack, whose layers are transformers' own and run once each, has such a layer.
    """
    homes = homes_of(network, places)
    (stack, *others), run = {id(stack): stack for stack, _ in homes.values()}.values(), [at for _, at in homes.values()]
    layers = list(stack.children())
    modules = [module for layer in layers for module in layer.modules()]
    is_own = all(type(module).__module__.partition(".")[0] in ("transformers", "torch") for module in modules)
    if others or run != sorted({*run}) or any(place.module in layers for place in places) or not is_own:
        return ""
    types = getattr(network.config.get_text_config(), "layer_types", None) or [""] * len(layers)
    kinds = [(sort, _settings(layer)) for sort, layer in zip(types, layers, strict=False)]
    last = max((kinds.index(kind) for kind in kinds), default=0)
    named = (name for name, module in network.named_modules() if module is layers[last])
    return next(named) if last < len(layers) - 1 == len(kinds) - 1 else ""


def _settings(layer: nn.Module) -> list[tuple[str, type, dict[str, str]]]:
    """Return the name, the class and the settings of each module of a layer, except for the layer's number."""

    def of(module: nn.Module) -> dict[str, str]:
        values = ((key, value) for key, value in vars(module).items() if key not in _LAYER_NUMBERS)
        return {key: repr(value) for key, value in values if isinstance(value, _SETTING)}

    return [(name, type(module), of(module)) for name, module in layer.named_modules()]


def cycle_names(network: nn.Module, places: tuple[AttentionModule, ...]) -> dict[Kind, tuple[str, ...]]:
    """Return names for the calls of each kind whose layers run in cycles, such as "L0 cycle 1".

    HRM-text runs two stacks, `L_module` and `H_module`, in turn. ALBERT, which runs one module for many layers, has no
    cycles.
    """
    homes, names = homes_of(network, places), {id(module): name for name, module in network.named_modules()}
    found: dict[Kind, tuple[str, ...]] = {}
    kinds: set[Kind] = {place.site.kind for place in places}
    for kind in kinds:
        own = [homes[place] for place in places if place.site.kind == kind]
        calls = [f"{_initial(names[id(stack)])}{number}" for stack, number in own]
        again = [call for call, following in pairwise(calls) if call == following]
        if len(set(calls)) < len(calls) and not again:
            found[kind] = tuple(f"{call} cycle {1 + calls[:at].count(call)}" for at, call in enumerate(calls))
    return found


def _initial(name: str) -> str:
    """Return the first letter of the name of the module that contains a list of layers: L for
    `model.L_module.layers`.
    """
    return next((part[0].upper() for part in reversed(name.split(".")) if part not in ("layers", "layer")), "L")


def _numbers(
    places: tuple[AttentionModule, ...], homes: dict[AttentionModule, tuple[nn.Module, int]]
) -> dict[Kind, tuple[int, ...]]:
    """Return the numbers of the attending layers of each kind whose stack has layers without attention."""
    numbers: dict[Kind, tuple[int, ...]] = {}
    kinds: set[Kind] = {place.site.kind for place in places}
    for kind in kinds:
        own = [homes[place] for place in places if place.site.kind == kind]
        layers = {id(stack): len(list(stack.children())) for stack, _ in own}
        if len({(id(stack), number) for stack, number in own}) < sum(layers.values()):
            numbers[kind] = tuple(number for _, number in own)
    return numbers


def first_input(args: tuple, kwargs: dict[str, Any]) -> Tensor:
    """Return the first input of an attention module or a layer, which FSMT names `query`."""
    return args[0] if args else kwargs["hidden_states"] if "hidden_states" in kwargs else kwargs["query"]


def _attention_pre_hook(is_turned: bool, module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
    if (run := current_pass()) is not None:
        given = first_input(args, kwargs)
        run.on_input(module, given.transpose(0, 1) if is_turned else given)


def _layer_pre_hook(
    is_turned: bool, layer: nn.Module, args: tuple, kwargs: dict[str, Any]
) -> tuple[tuple, dict[str, Any]] | None:
    if (run := current_pass()) is None:
        return None
    hidden = first_input(args, kwargs)
    if (changed := _change_stream(layer, hidden, lambda one: run.on_embedding(layer, one), is_turned)) is hidden:
        return None
    return ((changed, *args[1:]), kwargs) if args else (args, kwargs | {"hidden_states": changed})


def _layer_hook(is_turned: bool, layer: nn.Module, args: tuple, output: Any) -> Any:
    if (run := current_pass()) is None:
        return None
    hidden = output if isinstance(output, torch.Tensor) else output[0]
    if (changed := _change_stream(layer, hidden, lambda one: run.on_layer(layer, one), is_turned)) is hidden:
        return None
    return changed if isinstance(output, torch.Tensor) else (changed, *output[1:])


def _change_stream(
    layer: nn.Module, hidden: Tensor, tell: Callable[[Tensor], Tensor], is_turned: bool = False
) -> Tensor:
    """Apply `tell` to hidden states `(batch, length, d_model)`, or `(length, batch, d_model)` if `is_turned`.

    Gemma 3n carries several streams, one of which a layer attends in (AltUp): `tell` is applied to this stream only.
    DeepSeek-V4 mixes the input of attention from four streams; none of them is the residual stream, so `tell` is not
    applied.
    """
    if hidden.dim() == 3:
        one = hidden.transpose(0, 1) if is_turned else hidden
        if (changed := tell(one)) is one:
            return hidden
        return changed.transpose(0, 1) if is_turned else changed
    active: int | None = getattr(getattr(layer, "config", None), "altup_active_idx", None)
    if active is None:
        return hidden
    one = hidden[active]
    if (changed := tell(one)) is one:
        return hidden
    return torch.stack([changed if at == active else stream for at, stream in enumerate(hidden)])
