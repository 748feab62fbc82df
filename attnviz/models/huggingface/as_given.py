"""The model as the user gave it, and the check that attnviz's pass computes the same.

attnviz takes maps from a copy of the model with changed attention: eager, or attnviz's own, without the user's wrapper
and hooks. The check runs the model as it was given once (with its own attention implementation, without
`output_attentions`, with its own `use_cache`, wrapper and hooks) and compares logits or last hidden states. It accepts
only differences that rounding explains.
"""

import copy
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from attnviz.models.huggingface import parity
from attnviz.models.huggingface.errors import ModelError, reason
from attnviz.models.huggingface.network import patches
from attnviz.models.huggingface.network.network import Batch, cache_argument
from attnviz.tracing.rounding import FACTOR, PASSES, RoundOtherwise, largest_magnitude
from attnviz.transformer.device import rounding_unit
from attnviz.transformer.probe import Kind, Site, tell_listener

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_KEPT = ("output_attentions", "output_hidden_states")  # settings of a config that make a pass return more
_COMPUTING = ("torch", "transformers", "peft", "accelerate")  # libraries whose hooks are part of the model
_LONG = 64  # tokens: for a longer text only the last row is compared, because the logits of all rows are large
_PARTLY = 1024  # tokens: for a longer text only the first layers are compared
_WHOLE = 256  # tokens of such a text on which all layers are compared
_ENOUGH = 8  # tokens that suffice to compare two passes of a decoder, whose rows do not depend on later tokens
_IN_STEPS = (
    "transformers makes no causal mask when it runs {name} over a whole target with use_cache=True. The maps are those "
    "of its steps, as generate computes them."
)


@dataclass(frozen=True)
class GivenOutput:
    """Output of a pass of the model as it was given: its logits, or the last hidden states of a model without a head.

    `hidden` are the last hidden states before the head, if the head is a separate module. `cache` is the cache that the
    pass filled.
    """

    output: Tensor
    hidden: Tensor | None = None
    cache: Any = None


@dataclass(frozen=True)
class ShownRows:
    """Output of attnviz's pass, `(batch, length, size)`: logits, or the last hidden states if `are_hidden`."""

    output: Tensor
    are_hidden: bool = False

    @classmethod
    def read(cls, out: Any) -> "ShownRows":
        """Take the logits, or the last hidden states if there are none, from the output of a transformers model."""
        return cls(parity.output_of(out), getattr(out, "logits", None) is None)

    def row(self, item: int, length: int) -> "ShownRows":
        """Return the output for one batch item, without padding."""
        return ShownRows(self.output[item : item + 1, :length], self.are_hidden)


class ShownPass(Protocol):
    """A function that runs attnviz's pass, from which the maps come. It returns logits, or the last hidden states of a
    model without a head.
    """

    def __call__(self, sample: Batch, target: Batch | None, *, last_only: bool = False, until: str = "") -> Tensor:
        """Run the pass over a sample and a target; with `last_only`, it may return only the last row.

        With `until`, the name of a layer, the pass ends there and returns that layer's output.
        """
        ...


class GivenModel:
    """The model as it was given: a copy of its modules that shares the tensors, with the user's wrapper and hooks.

    `part` is the module whose attention is shown: `whole` itself, or the transformers model inside a wrapper.
    """

    def __init__(self, whole: nn.Module, part: nn.Module | None = None) -> None:
        names = {id(module): name for name, module in whole.named_modules(remove_duplicate=False)}
        self.part_name = "" if part is None else names[id(part)]
        self.whole = patches.share_weights(whole)
        for _, module in self._replaced():
            if _is_compiled(module):
                del module.forward
        self._original = whole if self._replaced() else None

    @property
    def part(self) -> Any:
        """The module whose attention attnviz shows."""
        return self.whole.get_submodule(self.part_name)

    def make_shown(self, name: str | None = None) -> Any:
        """Return a copy of the shown part, or of the module `name`, that shares the tensors.

        The copy has neither the user's hooks nor a replaced `forward` that would run the original model.
        """
        shown = patches.share_weights(self.part if name is None else self.whole.get_submodule(name))
        remove_hooks(shown)
        _restore_forwards(shown)
        return shown

    def convert(self, device: torch.device, dtype: torch.dtype) -> "GivenModel":
        """Return a copy of the model and its tensors, converted to a device and a dtype."""
        made = copy.copy(self)
        made.whole = copy.deepcopy(self.whole)
        patches.cast(made.whole, device, dtype)
        return made

    def widen(self) -> "GivenModel":
        """Return a copy of the model and its tensors, converted to float32."""
        made = copy.copy(self)
        made.whole = copy.deepcopy(self.whole).float()
        return made

    @property
    def training_forward(self) -> str | None:
        """The name of a module whose replaced `forward` runs the user's own model in training mode, or None."""
        if self._original is None or not any(module.training for module in self._original.modules()):
            return None
        return self.replaced()

    @torch.inference_mode()
    def run(
        self, sample: Batch, target: Batch | None, *, last_only: bool = False, until: str = "",
        without: Sequence[Callable[["GivenModel"], None]] = (), **how: Any,
    ) -> GivenOutput:  # fmt: skip
        """Run a copy of the model in the way its user would call it, and return the output.

        It is a copy because a run may change a model (a short text changes BigBird). The functions in `without` are
        applied to the copy first; each removes one part, such as the hooks. The pass returns no attention weights and
        no hidden states of layers, even if the model's config asks for them, because they are large for a long text.
        Each layer reports its start to this thread's listener, which shows the progress.
        With `until`, the name of a layer, the pass ends there, and the output is that layer's.
        """
        given = copy.copy(self)
        given.whole = patches.share_weights(self.whole)
        for change in without:
            change(given)
        part = given.part
        asked = (name for name in _KEPT if getattr(part.config, name, False))
        arguments = parity.arguments_of(sample, target) | dict.fromkeys(asked, False) | how
        if last_only and "logits_to_keep" in parity.parameters_of(part):
            arguments["logits_to_keep"] = 1
        inner = _watch_output(part)
        under_head = inner if part.base_model is part else _watch_output(part.base_model)
        _tell_layers(part)
        if until:
            part.get_submodule(until).register_forward_hook(_end_pass)
        try:
            returned = given.whole(**arguments)
        except parity.PassEnded as ended:
            return GivenOutput(ended.output)
        if inner and given.part_name:
            returned = inner[-1]
        hidden = getattr(under_head[-1], "last_hidden_state", None) if under_head else None
        cache = getattr(returned, cache_argument(part) or "past_key_values", None)
        return GivenOutput(parity.output_of(returned), hidden, cache)

    @torch.inference_mode()
    def run_in_steps(self, sample: Batch, target: Batch) -> Tensor:
        """Run the decoder token by token with its own cache, like `generate`."""
        whole, cache, rows = patches.share_weights(self.whole), None, []
        name = cache_argument(self.part)  # also the name of the cache in the output
        for at in range(target.ids.shape[1]):
            fed = Batch(target.ids[:, at : at + 1], target.mask[:, at : at + 1])
            out = whole(**parity.arguments_of(sample, fed), **{name: cache}, use_cache=True)
            cache = getattr(out, name)
            rows.append(parity.output_of(out)[:, -1:])
        return torch.cat(rows, dim=1)

    def hooked(self) -> str | None:
        """Return the name of the first module with a hook of the user's, or None."""
        return next((_module_name(name) for name, module in self.whole.named_modules() if _user_hooks(module)), None)

    def replaced(self) -> str | None:
        """Return the name of the first module whose `forward` was replaced by a foreign function, or None."""
        return next((_module_name(name) for name, _ in self._replaced()), None)

    def _replaced(self) -> list[tuple[str, Any]]:
        return [(name, module) for name, module in self.whole.named_modules() if not _is_own(module)]


def remove_hooks(model: nn.Module) -> None:
    """Remove the user's hooks; hooks of torch, transformers, peft and accelerate stay."""
    for module in model.modules():
        for kept, hook in _user_hooks(module):
            del kept[hook]


@dataclass
class GivenCheck:
    """Compares attnviz's pass with the model as it was given, when a model is opened and for longer texts.

    A text that is longer than all texts compared so far is compared once. If it is short, or if the output of attnviz's
    pass is not available, it is compared at the next power of two of its length, with its tokens repeated; then all
    texts up to that length are shown without another pass. If that comparison fails, because the model computes long
    texts differently, the text itself is compared. A long text whose output is available costs only one more pass, of
    the model as it was given.

    For a text of more than `_PARTLY` tokens one more pass would double the wait. If all layers agree on its first
    `_WHOLE` tokens, only the first layers read the whole text: those up to the layer `first_layers`, which include one
    of each kind.
    """

    given: GivenModel
    run_shown: ShownPass
    layers: int = 1
    first_layers: str = ""
    longest: int = 0
    notes: tuple[str, ...] = ()
    _lock: Any = field(default_factory=Lock, repr=False)

    def check(self, sample: Batch, target: Batch | None, shown: Tensor, *, is_decoder: bool) -> Any:
        """Compare both passes when the model is opened, on the first row of the sample, without its padding.

        Padding would hide differences, because transformers runs its fused kernels without a mask only if nothing is
        padded. `shown` is the output of attnviz's pass over the whole sample. The last token of a decoder's text is
        left out, so that a decoding step can read it with the cache that the pass filled; that cache is returned, if
        there is one. If the check cannot run, this adds a note. Raises ModelError for a difference that rounding does
        not explain.
        """
        sample, target = _first_row(sample), None if target is None else _first_row(target)
        if is_decoder:
            sample = sample.cut(max(1, min(_ENOUGH, sample.ids.shape[1] - 1)))
        if (where := self.given.training_forward) is not None:
            self._note_unchecked(
                f"`forward` of {where} was replaced by a function that runs the original model, which is in training "
                "mode (call its eval() before loading)"
            )
            return None
        own = None
        try:
            own = self._compare_passes(sample, target, shown[:1, : (sample if target is None else target).ids.shape[1]])
        except _CannotRun as error:
            self._note_unchecked(f"one more pass fails ({error})")
        remove_hooks(self.given.whole)  # the hooks change nothing, so they need not run again
        return None if own is None else own.cache

    def check_longer(self, sample: Batch, target: Batch | None, most: int, shown: ShownRows | None = None) -> None:
        """Compare both passes for a text that is longer than any before.

        `most` is the model's maximum length, `shown` the output of attnviz's pass over this text, if available.
        """
        if (length := _length(sample, target)) <= self.longest or self.given.training_forward is not None:
            return
        with self._lock:
            if length <= self.longest or (length > _PARTLY and self._first_layers_agree(sample)):
                return
            if shown is None or length <= _LONG:
                agrees = self._compare_repeated(sample, target, most)
            else:
                agrees = self._passes_agree(sample, target, shown)
            if agrees:
                return
            try:
                self._compare_passes(sample, target)
            except _CannotRun as error:
                self._note_unchecked(f"one more pass fails ({error})")

    def _first_layers_agree(self, sample: Batch) -> bool:
        """Check whether both passes agree after the first layers on this text, and after all layers on a part of it.

        This takes less time than comparing all layers on a long text.
        """
        if not self.first_layers or self.given.part_name or self.given.replaced() is not None:
            return False
        try:
            if self.longest < _WHOLE:
                self._compare_passes(sample.cut(_WHOLE), None)
            own = self.given.run(sample, None, until=self.first_layers).output
            found = self.run_shown(sample, None, until=self.first_layers)
        except Exception:  # any type; the comparison of all layers raises it with the reason
            return False
        if agrees := _differ_nowhere(found, own, _tolerance(own, self.layers)):
            self.longest = sample.ids.shape[1]
        return agrees

    def _passes_agree(self, sample: Batch, target: Batch | None, shown: ShownRows) -> bool:
        """Check whether one pass of the model as it was given agrees with attnviz's output, up to one rounding per
        layer.
        """
        try:
            own = self.given.run(sample, target, last_only=True)
        except Exception:  # any type; `_compare_passes` raises it with the reason
            return False
        rows = own.hidden if shown.are_hidden else own.output
        if rows is None or rows.shape[0] != 1:
            return False
        found = shown.output[:, -1:] if rows.shape[1] == 1 else shown.output
        if agrees := _differ_nowhere(found, rows, _tolerance(rows, self.layers)):
            self.longest = _length(sample, target)
        return agrees

    def _compare_repeated(self, sample: Batch, target: Batch | None, most: int) -> bool:
        """Repeat a text's tokens up to the next power of two, and compare both passes on the longer text.

        Return False if they differ or fail.
        """
        length = _length(sample, target)
        reached = min(max(most, length), 1 << (length - 1).bit_length())
        try:
            self._compare_passes(
                _repeat_tokens(sample, reached), None if target is None else _repeat_tokens(target, reached)
            )
        except (ModelError, _CannotRun):  # this failure says nothing about the text itself
            return False
        return True

    def _compare_passes(self, sample: Batch, target: Batch | None, shown: Tensor | None = None) -> GivenOutput:
        """Compare both passes and return the output of the model as it was given.

        Raises ModelError for a difference, and _CannotRun if one of the passes fails.
        """
        length = _length(sample, target)
        last_only = length > _LONG
        output = ShownOutput(lambda: self.run_shown(sample, target, last_only=last_only), self.layers, shown)
        try:
            own = self.given.run(sample, target, last_only=last_only)
            said = output.difference(own.output)
        except Exception as error:  # any type: no memory for another pass, or an error in the model
            raise _CannotRun(reason(error)) from error
        if said is not None:
            self._explain_difference(output, said, sample, target)
        self.longest = max(self.longest, length)
        return own

    def to(self, device: torch.device, dtype: torch.dtype) -> None:
        """Move the model as it was given to a device and dtype, together with the shown model."""
        patches.cast(self.given.whole, device, dtype)

    def _note_unchecked(self, why: str) -> None:
        beyond = f" for texts of more than {self.longest} tokens" if self.longest else ""
        self._add_note(f"Not checked against the model as it was given{beyond}, because {why}.")

    def _add_note(self, note: str) -> None:
        if note not in self.notes:
            self.notes = (*self.notes, note)

    def _explain_difference(self, comparison: "ShownOutput", said: str, sample: Batch, target: Batch | None) -> None:
        """Raise ModelError with the cause of a difference.

        Parts of the given model (hooks, a replaced `forward`, …) are removed one after another until the rest computes
        what is shown. If the model's own decoding steps compute what is shown, add a note instead.
        """
        given, taken = self.given, []
        for cause, change in _causes(given):
            taken.append(change)
            try:
                if comparison.difference(given.run(sample, target, without=taken).output) is None:
                    raise ModelError(f"{cause} ({said}).")
            except ModelError:
                raise
            except Exception:  # the model cannot run without this part, so the part is not shown to be the cause
                continue
        if target is not None and self._steps_agree(comparison, sample, target):
            self._add_note(_IN_STEPS.format(name=type(given.part).__name__))
            return
        raise ModelError(f"attnviz does not reproduce this model as it was given: {said}.")

    def _steps_agree(self, comparison: "ShownOutput", sample: Batch, target: Batch) -> bool:
        try:
            return comparison.difference(self.given.run_in_steps(sample, target)) is None
        except Exception:  # a model that cannot decode step by step
            return False


class _CannotRun(Exception):  # noqa: N818 - it becomes a note, not an error
    """The shown pass or the given model's pass fails, so they cannot be compared; the message says why."""


def _causes(given: GivenModel) -> Iterator[tuple[str, Callable[[GivenModel], None]]]:
    """Yield possible causes why the given model computes something else than attnviz's pass.

    Each is a sentence, and a function that removes the cause from a copy of the model.
    """
    if (where := given.hooked()) is not None:
        yield (
            f"A hook on {where} changes what this model computes, but attnviz does not run hooks that "
            "were added to a model. Please remove the hook (call remove() on its handle)",
            lambda copied: remove_hooks(copied.whole),
        )
    if (where := given.replaced()) is not None:
        yield (
            f"`forward` of {where} was replaced by a function that computes something else, which "
            "attnviz cannot show. Please restore the `forward` of the class",
            lambda copied: _restore_forwards(copied.whole),
        )
    if any(getattr(module, "attention_type", "") == "block_sparse" for module in given.whole.modules()):
        yield (
            "For a text of this length, the model attends only within blocks "
            "(attention_type='block_sparse'), which attnviz does not show. Please pass a shorter "
            "text, for which the model uses full attention",
            lambda copied: patches.attend_fully(copied.whole),
        )
    if given.part_name:
        inner, wrapper = type(given.part).__name__, type(given.whole).__name__
        yield (
            f"{wrapper} computes something else than the {inner} in it, whose attention attnviz shows",
            _remove_wrapper,
        )
    if (own := given.part.config._attn_implementation) != "eager":
        yield (
            f"With its attention implementation {own!r} this model computes something else than with "
            "'eager', whose weights attnviz shows. Please load the model with "
            "attn_implementation='eager', then hand it over",
            lambda copied: patches.set_attention(copied.whole, "eager"),
        )


def _remove_wrapper(given: GivenModel) -> None:
    given.whole, given.part_name = given.part, ""


class ShownOutput:
    """The output of attnviz's pass, and by how much rounding can change it, which is measured only if needed."""

    def __init__(self, run: Callable[[], Tensor], layers: int = 1, found: Tensor | None = None) -> None:
        self._run, self._layers = run, layers
        self._in_batch = found  # the output in a batch with another row, which may differ (experts of a fixed capacity)
        self._found: Tensor | None = None
        self._moves: list[Tensor] = []  # how far each row moved, for each pass with other roundings so far
        self._generator = torch.Generator().manual_seed(0)

    @torch.inference_mode()
    def difference(self, own: Tensor) -> str | None:
        """Describe a difference from the model's own output that rounding does not explain; None if there is none.

        How far rounding moves the output is measured only if the difference is larger than one rounding per layer
        explains, and with no more passes than needed.
        """
        allowed = _tolerance(own, self._layers)
        if self._in_batch is not None and _differ_nowhere(self._in_batch, own, allowed):
            return None
        if self._found is None:
            self._found = self._run()
        found, rows = self._found, min(self._found.shape[1], own.shape[1])
        if rows == 1:  # one of the passes returned only the last row
            found, own, allowed = found[:, -1:], own[:, -1:], allowed[:, -1:]
        if found.shape != own.shape:
            return f"its outputs have shape {tuple(own.shape)} and not {tuple(found.shape)}"
        if _differ_nowhere(found, own, allowed):
            return None
        most = allowed
        for spread in self._spreads(self._found.float(), rounding_unit(own.dtype, own.device.type)):
            most = allowed + FACTOR * spread[:, -rows:]
            if _differ_nowhere(found, own, most):
                return None
        difference = largest_magnitude(found.float() - own.float())
        worst = int((difference - most).argmax())
        return (
            f"its outputs differ by {float(difference.flatten()[worst]):.1e}, more than the "
            f"{float(most.flatten()[worst]):.1e} that rounding explains"
        )

    def _spreads(self, found: Tensor, epsilon: float) -> Iterator[Tensor]:
        """Repeat the pass with random rounding; yield after each repetition how far each row of the output has moved at
        most.
        """
        for count in range(1, PASSES + 1):
            if len(self._moves) < count:
                with RoundOtherwise(epsilon, self._generator):
                    moved = self._run().float()
                self._moves.append(largest_magnitude(moved - found))
            yield torch.stack(self._moves[:count]).amax(dim=0)


def _tolerance(own: Tensor, layers: int) -> Tensor:
    """Return how far each row of the output may move if each layer rounds once.

    Roundings in float32 add up like the square root of the number of layers.
    """
    times = math.sqrt(layers) if own.dtype is torch.float32 else 1.0
    return FACTOR * rounding_unit(own.dtype, own.device.type) * times * largest_magnitude(own.float())


def _differ_nowhere(found: Tensor, own: Tensor, allowed: Tensor) -> bool:
    """Check that outputs `(1, length, size)` agree within each row's tolerance; NaN never agrees."""
    return found.shape == own.shape and bool(((found.float() - own.float()).abs() <= allowed.unsqueeze(-1)).all())


def _first_row(batch: Batch) -> Batch:
    return batch.cut(int(batch.mask[0].sum()))


def _length(sample: Batch, target: Batch | None) -> int:
    return max(sample.ids.shape[1], 0 if target is None else target.ids.shape[1])


def _repeat_tokens(batch: Batch, length: int) -> Batch:
    """Return the first row of a batch, with its tokens repeated up to a length."""
    times = -(-length // batch.ids.shape[1])
    repeated = (None if part is None else part[:1].repeat(1, times)[:, :length]
                for part in (batch.ids, batch.mask, batch.segments))  # fmt: skip
    return Batch(*repeated)  # type: ignore[arg-type]


def _module_name(name: str) -> str:
    return name or "the model"


def _user_hooks(module: nn.Module) -> list[tuple[Any, int]]:
    """Return the user's hooks of a module, each as the dictionary that holds it and its key."""
    return [(hooks, key) for kind in _HOOKS for hooks in (getattr(module, kind),) for key, hook in list(hooks.items())
            if str(getattr(hook, "__module__", None)).partition(".")[0] not in _COMPUTING]  # fmt: skip


def _is_own(module: nn.Module) -> bool:
    """Check whether a module's `forward` is that of its class, or a function bound to the module.

    Copying a module rebinds such a function, and a partial of the module, to the copy; any other function would run the
    original module.
    """
    forward = vars(module).get("forward")
    bound = (getattr(forward, "__self__", None), *getattr(forward, "args", ()))
    return forward is None or any(one is module for one in bound)


def _is_compiled(module: nn.Module) -> bool:
    """Check whether a module's `forward` is the class's own, compiled by torch.compile."""
    original = getattr(vars(module).get("forward"), "_torchdynamo_orig_callable", None)
    return getattr(original, "__func__", original) is type(module).forward


def _restore_forwards(model: nn.Module) -> None:
    for module in model.modules():
        if not _is_own(module):
            del module.forward


def _watch_output(part: nn.Module) -> list[Any]:
    """Return a list that collects the results of a module's `forward`, even if a wrapper calls `forward` directly."""
    returned, forward = [], part.forward

    @functools.wraps(forward)
    def watched(*args: Any, **kwargs: Any) -> Any:
        returned.append(forward(*args, **kwargs))
        return returned[-1]

    part.forward = watched
    return returned


def _tell_layers(part: nn.Module) -> None:
    """Make each layer of a model report to this thread's listener, which shows the progress of the pass."""
    lists = [name for name, module in part.named_modules() if isinstance(module, nn.ModuleList)]
    for name in lists:
        if any(name.startswith(f"{other}.") for other in lists):  # a list inside a layer
            continue
        counted, kind = itertools.count(), "encoder_self" if "encoder" in name else "decoder_self"
        for layer in part.get_submodule(name).children():
            layer.register_forward_pre_hook(functools.partial(_tell_layer, counted, kind))


def _end_pass(layer: nn.Module, args: Any, output: Any) -> None:
    raise parity.PassEnded(output if isinstance(output, Tensor) else output[0])


def _tell_layer(counted: Iterator[int], kind: Kind, layer: nn.Module, args: Any) -> None:
    tell_listener(Site(kind, next(counted)))
