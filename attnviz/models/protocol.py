"""The protocol of every model, so that analyses and pages need not ask where it comes from."""

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


@reads_arguments
@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """One step of decoding: what was fed, the row of attention that it computed, and what was chosen.

    `prefix` is every token fed so far, `token` the choice, `logits` `(vocab_size,)` it came from. `trace` is small: its
    decoder queries are the rows computed in this step (the newest one with a cache, the whole prefix without); its
    encoder rows were computed once, before the first step, and are shared. In a beam, `hypotheses` are the sentences
    that this step leaves, those that have ended before the others and each best first, and `best` the tokens of the
    first of them; the items of `trace` are those that it began with, and prefix, token and logits belong to the best of
    these. `seconds` is the time that it took.
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
        """Describe the step for a notebook: its input and its output, without numbers."""
        fed, maps = self.prefix[-1].text, ", ".join(self.trace.kinds)
        return (
            f"<Step {self.index}: {fed!r} → {self.token.text!r}; {maps}; .attn(kind, layer=, head=), .logits, .trace>"
        )

    def attn(self, kind: Kind, *, layer: int | None = None, head: int | None = None) -> Tensor:
        """Return weights as `Trace.attn` does; `[..., -1, :]` is the row that belongs to this step."""
        return self.trace.attn(kind, layer=layer, head=head)


@runtime_checkable
class Stepping(Protocol):
    """A decoder that reads tokens and returns the logits of the next one; it belongs to one run."""

    def step(self, ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """Feed the next ids `(batch,)`, or several at once `(batch, length)`; the logits `(batch, vocab_size)`."""
        ...

    def select_rows(self, rows: Tensor, /) -> None:
        """Go on with these rows of the batch only, in this order."""
        ...


@runtime_checkable
class ExplainsSteps(Protocol):
    """A model that can compare transformers' own steps with transformers' one pass."""

    def explain_steps(self, ids: Sequence[int]) -> str:
        """Describe how transformers' own steps over the ids of a text differ from its one pass; "" if they agree."""
        ...


@runtime_checkable
class StopRules(Protocol):
    """The ids that end a text and those that are never written."""

    @property
    def ends(self) -> frozenset[int]:
        """Ids that end a text."""
        ...

    def forbid(self, logits: Tensor) -> Tensor:
        """Set the logits of ids that are never written to minus infinity."""
        ...


@dataclass(frozen=True)
class TextGenerator:
    """A text about to be generated: `prompt_ids` `(batch, length)` are fed first, over the model's own choices;
    `positions` is the model's number of them, None without a limit.
    """

    stepper: Stepping
    prompt_ids: Tensor
    vocabulary: StopRules
    positions: int | None = None

    @property
    def max_new_tokens(self) -> float:
        """Tokens that can be written; the last one is not fed."""
        return float("inf") if self.positions is None else max(1, self.positions - self.prompt_ids.shape[1] + 1)


@runtime_checkable
class Model(Protocol):
    """A model: sentences in, traces out. The built-in translator, a toy, or a checkpoint of transformers."""

    name: str
    writes: bool  # whether it writes text: an encoder does not

    @property
    def model_id(self) -> str:
        """The id of its weights, as they are."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that it can be asked to write, as codes; none for a checkpoint whose tokenizer has none."""
        ...

    @property
    def inputs(self) -> Inputs:
        """Its input fields: source, language and target; source and target; a prompt; or a text and a second one."""
        ...

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that it computes, encoder first."""
        ...

    @property
    def shapes(self) -> dict[Kind, tuple[int, int]]:
        """Layers and heads of each kind."""
        ...

    @property
    def n_parameters(self) -> int:
        """Numbers that were learned."""
        ...

    @property
    def device(self) -> torch.device:
        """The device that it runs on."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """The type that it computes in."""
        ...

    @property
    def vocabulary(self) -> StopRules:
        """The ids that end a text and those that are never written."""
        ...

    @property
    def stepwise(self) -> Callable[..., Iterator[Step]]:
        """Decode one token at a time, each step recorded."""
        ...

    @property
    def trace(self) -> Callable[..., Trace]:
        """Run the model on the texts that `inputs` names, and record every site."""
        ...

    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """Run one pass over the sentences of `trace`, recorded; the probe acts first, then the trace's own
        interventions.

        Raises RuntimeError where torch refuses what the probe asks for.
        """
        ...

    def generator(
        self, trace: Trace, probe: Probe | None = None, *, cached: bool = True, limit: int = 64
    ) -> TextGenerator:
        """Prepare to generate up to `limit` tokens for each sentence of `trace`. Sources are read under the probe and
        the trace's interventions; the latter act at every step too, the probe only where it is handed to the stepper.

        Raises ValueError for a model that does not write.
        """
        ...

    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> Tensor:
        """Return logits `(copies, rows, vocab_size)` of one pass over copies of the first sentence of `trace`, one
        under each row of the edits; nothing is recorded. `rows` selects rows of the target; all by default.
        """
        ...

    def decode_ids(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text of ids that the model wrote, and their tokens."""
        ...

    def encode_target(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """Return the tokens of a text as the model would write it, without special ones."""
        ...

    def padding(self, at: int = 0) -> Token:
        """Make a `<pad>` token after `at` characters of a text."""
        ...

    def is_pad(self, token: Token) -> bool:
        """Check whether a token only pads to a longer sentence of the same batch."""
        ...


class LoadedModel(Model, Protocol):
    """Type of what `attnviz.load` returns: a model that also says whether it takes a conversation."""

    @property
    def has_chat(self) -> bool:
        """Whether it takes a conversation, `messages=`: a decoder that writes, with a chat template."""
        ...

    def reply(
        self, messages: Sequence[Mapping[str, Any]], *, new_tokens: int = 256, temperature: float | None = None,
        top_p: float | None = None, seed: int = 0, max_tokens: int = 1_024, interventions: Sequence[Intervention] = (),
    ) -> Iterator[Step]:  # fmt: skip
        """Write the assistant's answer, a token at a time. Raises TextError for a model without a chat template."""
        ...
