"""The interface of every model, so that analyses and pages do not depend on where a model comes from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.models.inputs import Inputs
from attnviz.text.tokens import Token
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.trace import Trace
from attnviz.transformer.beam import Hypothesis
from attnviz.transformer.probe import Kind, Probe

_FAMILIES = {Inputs.PAIR: "encoder", Inputs.PROMPT: "decoder", Inputs.IMAGE: "vision encoder"}
_ASKS = {
    Inputs.TRANSLATION: "text, to=, tgt_text=",
    Inputs.SOURCE_AND_TARGET: "text, tgt_text=",
    Inputs.PAIR: "text, pair",
    Inputs.PROMPT: "text, new_tokens=",
    Inputs.IMAGE: "image",
}


@reads_arguments
@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """One step of decoding: its input, the row of attention that it computed, and the token that was chosen.

    `prefix` is every token fed so far, `token` the choice, and `logits` `(vocab_size,)` the scores from which it was
    chosen. `trace` is small: its decoder queries are the rows computed in this step (the newest one with a cache, the
    whole prefix without); its encoder rows were computed once, before the first step, and are shared. In a beam search,
    `hypotheses` are the sentences after this step, finished ones first, each group best first, and `best` are the
    tokens of the first of them; the items of `trace` are the hypotheses before this step, and prefix, token and logits
    belong to the best of these. `seconds` is the duration of the step.
    """

    index: int
    prefix: tuple[Token, ...]
    token: Token
    logits: Tensor
    trace: Trace
    hypotheses: tuple[Hypothesis, ...] = ()
    seconds: float = 0.0
    best: tuple[Token, ...] = ()

    def __repr__(self) -> str:
        """Describe the step for a notebook: its input and its output."""
        fed, maps = self.prefix[-1].text, ", ".join(self.trace.kinds)
        return (
            f"<Step {self.index}: {fed!r} → {self.token.text!r}; {maps}; .attn(kind, layer=, head=), .logits, .trace>"
        )

    def attn(self, kind: Kind, *, layer: int | None = None, head: int | None = None) -> Tensor:
        """Return weights like `Trace.attn`; `[..., -1, :]` is the row that belongs to this step."""
        return self.trace.attn(kind, layer=layer, head=head)


@runtime_checkable
class Stepping(Protocol):
    """A decoder that reads tokens and returns the logits of the next one; it belongs to one run."""

    def step(self, ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """Feed the next ids `(batch,)`, or several `(batch, length)`, and return the logits `(batch, vocab_size)` after
        them.
        """
        ...

    def select_rows(self, rows: Tensor, /) -> None:
        """Keep only these batch rows, in this order."""
        ...


@runtime_checkable
class ExplainsSteps(Protocol):
    """A model that can compare transformers' own decoding steps with transformers' single pass."""

    def explain_steps(self, ids: Sequence[int]) -> str:
        """Describe how transformers' own steps over the ids of a text differ from its single pass; "" if they agree."""
        ...


@runtime_checkable
class StopRules(Protocol):
    """The ids that end a text, and the ids that are never generated."""

    @property
    def ends(self) -> frozenset[int]:
        """The ids that end a text."""
        ...

    def forbid(self, logits: Tensor) -> Tensor:
        """Return the logits with minus infinity for ids that are never generated."""
        ...


@dataclass(frozen=True)
class TextGenerator:
    """Everything needed to generate a text.

    `prompt_ids` `(batch, length)` are fed first, whatever the model chooses; `positions` is the model's number of
    positions, or None if it has no limit.
    """

    stepper: Stepping
    prompt_ids: Tensor
    vocabulary: StopRules
    positions: int | None = None

    @property
    def max_new_tokens(self) -> float:
        """The most tokens that can be generated; the last one is not fed."""
        return float("inf") if self.positions is None else max(1, self.positions - self.prompt_ids.shape[1] + 1)


@runtime_checkable
class Model(Protocol):
    """A model that turns sentences into traces: the built-in translator, a toy, or a transformers checkpoint."""

    name: str
    writes: bool  # whether it generates text; an encoder does not

    @property
    def model_id(self) -> str:
        """The id of the model's current weights."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that the model can write; none for a checkpoint whose tokenizer has no languages."""
        ...

    @property
    def inputs(self) -> Inputs:
        """The model's input fields: source, language and target; source and target; a prompt; or a text and a second
        one.
        """
        ...

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that the model computes, encoder first."""
        ...

    @property
    def shapes(self) -> dict[Kind, tuple[int, int]]:
        """Numbers of layers and heads for each kind of attention."""
        ...

    @property
    def n_parameters(self) -> int:
        """Number of parameters."""
        ...

    @property
    def device(self) -> torch.device:
        """The device on which the model runs."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """The dtype in which the model computes."""
        ...

    @property
    def vocabulary(self) -> StopRules:
        """The ids that end a text, and the ids that are never generated."""
        ...

    @property
    def stepwise(self) -> Callable[..., Iterator[Step]]:
        """Decode one token at a time and record each step."""
        ...

    @property
    def trace(self) -> Callable[..., Trace]:
        """Run the model on the input fields that `inputs` names, and record every site."""
        ...

    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """Run and record one pass over the sentences of `trace`, with the probe and then the trace's interventions
        applied.

        Raises RuntimeError if torch refuses what the probe asks for.
        """
        ...

    def generator(
        self, trace: Trace, probe: Probe | None = None, *, cached: bool = True, limit: int = 64
    ) -> TextGenerator:
        """Prepare to generate up to `limit` tokens for each sentence of `trace`.

        Sources are encoded with the probe and the trace's interventions applied. The interventions also apply to every
        step; the probe does only if it is passed to the stepper. Raises ValueError for a model that does not write.
        """
        ...

    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> Tensor:
        """Run copies of the first sentence of `trace` as one batch, each with its own interventions; return the logits.

        The shape is `(copies, rows, vocab_size)`. `edits.rows` has the interventions of each copy. Nothing is recorded.
        `rows` selects rows of the target, by default all.
        """
        ...

    def decode_ids(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text for ids, and their tokens."""
        ...

    def encode_target(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """Return the tokens of a text as the model would write it, without special tokens."""
        ...

    def padding(self, at: int = 0) -> Token:
        """Return a `<pad>` token whose position in the text is after `at` characters."""
        ...

    def is_pad(self, token: Token) -> bool:
        """Check whether a token is padding after a sentence that is shorter than others in the batch."""
        ...


class LoadedModel(Model, Protocol):
    """The type of what `attnviz.load` returns: a model that also says whether it accepts a conversation."""

    @property
    def has_chat(self) -> bool:
        """Whether the model accepts a conversation (`messages=`): it is a decoder that writes and has a chat
        template.
        """
        ...

    def reply(
        self, messages: Sequence[Mapping[str, Any]], *, new_tokens: int = 256, temperature: float | None = None,
        top_p: float | None = None, seed: int = 0, max_tokens: int = 1_024, interventions: Sequence[Intervention] = (),
    ) -> Iterator[Step]:  # fmt: skip
        """Write the assistant's answer one token at a time. Raises TextError for a model without a chat template."""
        ...


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
