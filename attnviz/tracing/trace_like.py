"""The interface of every trace, recorded from a model or built from given weights: maps, masks, and their tokens."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from attnviz.doors import door
from attnviz.guards.arguments import reads_arguments
from attnviz.text.limits import cut_notes
from attnviz.text.tokens import Token
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.record import RunInfo, Sentence, Side
from attnviz.tracing.thumbnails import Thumbnails
from attnviz.transformer.masks import VisibleKeys, shared_once
from attnviz.transformer.probe import AttentionCall, Kind, Site, Stack, report_layers, tell_listener
from attnviz.transformer.row_blocks import RowBlock

if TYPE_CHECKING:
    import pandas as pd

KINDS: tuple[Kind, ...] = ("encoder_self", "decoder_self", "cross")
BARE = (
    "This trace was built from bare weights: it has no queries, keys or values, "
    "so views that need them cannot be shown."
)
Choice = TypeVar("Choice")


@reads_arguments
class TraceDoors:
    """Methods of a trace that analysis and pictures implement; each is imported when called, so tracing depends on
    neither.
    """

    def metrics(self, kind: Kind | None = None, *, item: int = 0) -> "pd.DataFrame":
        """Return a table of metrics with a row for each head, or for each head of one `kind`, as on the Heads page.

        Columns: kind, layer, head; entropy in bits; mean_distance in tokens; diagonality; the weight on the previous,
        the next, the first and the end token; and induction, the weight on the token that followed an earlier
        occurrence of the same token. A metric that is not defined is NaN. Raises ValueError for a kind or an item that
        the trace does not have.
        """
        return door("trace_metrics")(self, kind, item=item)

    def to_html(self, path: str | Path, picture: str = "heads", **view: Any) -> Path:
        """Write a picture of the trace as one HTML file, which works without Python and without a network.

        `picture` is heads, links, whole_model, one_row, neuron, flow, spans or alignment, and `view` sets fields of its
        state such as ``kind="cross", layer=2, head=5``. The file holds every value in float32 up to about 150 tokens,
        and 16 bits of each weight up to about 400. Returns the path. Raises ValueError, with a message of one sentence,
        for an unknown picture or field, for a longer text, and for a path that cannot be written.
        """
        return door("picture")(picture).of(self, **view).to_html(path)


def validate_choice(value: object, name: str, allowed: tuple[Choice, ...]) -> Choice:
    """Return `value` if it is one of `allowed`, otherwise raise ValueError."""
    for choice in allowed:
        if choice == value:
            return choice
    raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}.")


def validate_index(value: int, count: int, name: str, those_there_are: str) -> int:
    """Return `value` if it is at least 0 and below `count`, otherwise raise ValueError."""
    if not 0 <= value < count:
        raise ValueError(f"There is no {name} {value}: {those_there_are} 0 to {count - 1}.")
    return value


def require_present(tensor: Tensor | None, name: str) -> Tensor:
    """Return the tensor, or raise ValueError if it is None."""
    if tensor is None:
        raise ValueError(f"This trace was built without {name}; views that need it cannot be shown.")
    return tensor


def _question(sentences: tuple[Sentence, ...]) -> str:
    """Return a phrase for a trace's repr that describes an image or quotes a conversation's last question.

    Return "" for any other text.
    """
    sentence = sentences[0] if sentences else Sentence()
    if sentence.images:
        rows, columns = sentence.images[0].grid
        return f"an image of {rows} x {columns} patches"
    asked = next((span for span in reversed(sentence.spans) if span.role == "user"), None)
    if asked is None:
        return ""
    tokens = sentence.tgt[asked.start : asked.end]
    return f"a conversation, {sentence.tgt_text[tokens[0].start : tokens[-1].end].strip()[:60]!r}"


@reads_arguments
class TraceLike(TraceDoors, ABC):
    """The interface of traces. Accessors take `item`, the batch row; layers and heads count from 0.

    `weights_only` marks a trace that has only weights and tokens, and `missing_reason` explains why. `from_file` marks
    a trace whose weights the user gave.
    """

    sentences: tuple[Sentence, ...]
    info: RunInfo
    interventions: tuple[Intervention, ...] = ()  # applied to the run
    missing_reason: str = ""
    weights_only: ClassVar[bool] = False
    from_file: ClassVar[bool] = False

    def __repr__(self) -> str:
        """Describe the trace for a notebook: its texts and the shapes of its maps."""
        shapes = ((kind, *self.shape(kind)) for kind in self.kinds)
        maps = ", ".join(f"{kind} {layers} x {heads}" for kind, layers, heads in shapes)
        texts = _question(self.sentences) or " → ".join(
            repr(text[:60]) for text in (self.src_text, self.tgt_text) if text
        )
        more = f" and {len(self.sentences) - 1} more" if len(self.sentences) > 1 else ""
        cut = "".join(f" ({note.rstrip('.')})" for note in cut_notes(self.info.notes))
        return f"<{type(self).__name__} of {texts}{more}{cut}: {maps} (layers x heads); .attn(kind, layer=, head=)>"

    @property
    @abstractmethod
    def kinds(self) -> tuple[Kind, ...]:
        """The recorded kinds of attention, encoder first."""

    @abstractmethod
    def shape(self, kind: Kind) -> tuple[int, int]:
        """Return the numbers of layers and heads for a kind of attention.

        Some models have other numbers in their decoder than in their encoder.
        """

    @abstractmethod
    def attn(
        self, kind: Kind, *, layer: int | None = None, head: int | None = None, item: int = 0
    ) -> Float[Tensor, "..."]:
        """Return the attention weights, float32 on the CPU: `(layers, heads, q_len, k_len)`, without the axes that were
        chosen.
        """

    @abstractmethod
    def layer_mask(self, kind: Kind, layer: int, item: int = 0) -> Bool[Tensor, "heads q_len k_len"]:
        """Return the masks of a layer's heads; a mask that all heads share is in memory once."""

    @abstractmethod
    def nbytes(self) -> int:
        """Return the bytes of memory that the trace uses, with shared storage counted once."""

    @abstractmethod
    def _one_layer(self, kind: Kind, layer: int, head: int | None) -> "TraceLike":
        """Return the trace of one layer, or of one of its heads; see `one_layer`."""

    @abstractmethod
    def _row_blocks(
        self, kind: Kind, layer: int, item: int, *, informs: bool, rows: range | None
    ) -> Iterator[RowBlock]:
        """Yield the blocks of `row_blocks`, without checking the arguments."""

    def row_blocks(
        self, kind: Kind, layer: int, *, item: int = 0, informs: bool = False, rows: range | None = None
    ) -> Iterator[RowBlock]:
        """Yield the weights of a layer in blocks of about 128 rows, so that no whole map is in memory.

        All heads of the first rows come first, then all heads of the next rows. The listener of this thread is called
        before each block; an exception that it raises ends the work. `rows` limits the rows, by default to all. With
        `informs`, each block contains the `information` of its rows.
        """
        layers = self.shape(kind)[0]
        layer = validate_index(layer, layers, "layer", f"this trace has {kind} layers")
        return self._read_blocks(self._kind(kind), layer, item, informs=informs, rows=rows)

    def _read_blocks(
        self, kind: Kind, layer: int, item: int, *, informs: bool = False, rows: range | None = None
    ) -> Iterator[RowBlock]:
        """Yield the blocks of `row_blocks` for arguments that were checked before."""
        tell_listener(site := Site(kind, layer))
        for block in self._row_blocks(kind, layer, item, informs=informs, rows=rows):
            yield block
            tell_listener(site)

    def _visible(self, kind: Kind, layer: int, *, item: int = 0) -> VisibleKeys:
        """Return the keys that each row of a layer may see. Layers that share a mask share the result."""
        mask = self.layer_mask(kind, layer, item)
        return VisibleKeys(shared_once(mask), *mask.shape[-2:])

    def scores(
        self, kind: Kind, *, layer: int | None = None, head: int | None = None, item: int = 0
    ) -> Float[Tensor, "..."]:
        """Return the scores before the mask, shaped like `attn`. Raises ValueError for bare weights, which have no
        scores.
        """
        raise ValueError(self.missing_reason or BARE)

    def layer_number(self, kind: Kind, layer: int) -> int:
        """Return a layer's number in its stack, which differs from `layer` if some layers of the stack have no
        attention.
        """
        return layer

    def own_numbers(self, kind: Kind) -> tuple[int, ...]:
        """Return the numbers, in the stack, of a kind's layers; () if every layer of the stack has attention."""
        layers = range(self.shape(kind)[0])
        own = tuple(self.layer_number(kind, layer) for layer in layers)
        return () if own == tuple(layers) else own

    def layer_name(self, kind: Kind, layer: int) -> str:
        """Return the name of a layer, with its number in the model if that differs: L0 (layer 2)."""
        own = self.layer_number(kind, layer)
        return f"L{layer}" if own == layer else f"L{layer} (layer {own})"

    def attending_layers(self, kind: Kind) -> str:
        """Return a sentence that says which layers of the stack have attention; "" if all of them have."""
        if not (own := self.own_numbers(kind)):
            return ""
        named = ", ".join(f"L{layer} is layer {number}" for layer, number in enumerate(own))
        return f"only layers with attention are counted: {named} in the model’s own numbering"

    def has_sinks(self, kind: Kind) -> bool:
        """Check whether heads of a kind of attention have a sink, which takes a part of each row but is not a token."""
        return False

    def has_indexer(self, kind: Kind) -> bool:
        """Check whether an indexer in the model chooses the keys of each row for a kind of attention."""
        return False

    def sink_weights(self, kind: Kind, *, item: int = 0) -> Float[Tensor, "layers heads q_len"] | None:
        """Return each row's weight on its head's attention sink, which is not a token; None if this kind has
        no sinks.
        """
        return None

    def call(self, kind: Kind, layer: int) -> AttentionCall:
        """Return the recorded call of a site. Raises ValueError for bare weights, which have no calls."""
        raise ValueError(self.missing_reason or BARE)

    def context(self, kind: Kind, layer: int, item: int = 0) -> Float[Tensor, "heads q_len d_k"]:
        """Return attn · V of each head, before the heads are merged. Raises ValueError for bare weights."""
        raise ValueError(self.missing_reason or BARE)

    def layer_output(self, stack: Stack, layer: int, item: int = 0) -> Float[Tensor, "length d_model"]:
        """Return the hidden states after a layer. Raises ValueError for bare weights, which have no hidden states."""
        raise ValueError(self.missing_reason or BARE)

    def input_(self, kind: Kind, layer: int, item: int = 0) -> Float[Tensor, "q_len d_model"]:
        """Return the hidden states that a site's queries were projected from."""
        inputs = require_present(self.call(kind, layer).input_, "input_")[self._item(item)]
        return inputs[: len(self.query_tokens(kind, item))].float().cpu()

    @property
    def n_layers(self) -> int:
        """The number of layers of the kind that has the most."""
        return max(self.shape(kind)[0] for kind in self.kinds)

    @property
    def n_heads(self) -> int:
        """The number of heads of the kind that has the most."""
        return max(self.shape(kind)[1] for kind in self.kinds)

    @property
    def to(self) -> str:
        """The language of the target."""
        return self.info.to

    @property
    def model_id(self) -> str:
        """The id of the model's weights."""
        return self.info.model_id

    @property
    def src_text(self) -> str:
        """The source sentence of item 0; "" for a decoder-only model, whose text is `tgt_text`."""
        return self.sentences[0].src_text

    @property
    def tgt_text(self) -> str:
        """The target sentence of item 0, or a decoder's text; "" for an encoder-only model, whose text is
        `src_text`.
        """
        return self.sentences[0].tgt_text

    def tokens(self, side: Side, item: int = 0) -> tuple[Token, ...]:
        """Return all tokens of a sentence, including a target's `<bos:…>` and `<eos>`.

        The text of a decoder-only model is its target, "tgt". Raises ValueError for a side that the trace does not
        have.
        """
        sentence, other = self.sentences[self._item(item)], "tgt" if side == "src" else "src"
        found: tuple[Token, ...] = getattr(sentence, validate_choice(side, "side", ("src", "tgt")))
        if not found and getattr(sentence, other):
            has, whose = ("source", "a decoder’s text is its target") if side == "src" else (
                "target", "an encoder’s text is its source")  # fmt: skip
            raise ValueError(f"This trace has no {has}: {whose}, tokens({other!r}).")
        return found

    def query_tokens(self, kind: Kind, item: int = 0) -> tuple[Token, ...]:
        """Return the tokens along the query axis: the input of each row."""
        return self.sentences[self._item(item)].queries(self._kind(kind))

    def key_tokens(self, kind: Kind, item: int = 0) -> tuple[Token, ...]:
        """Return the tokens along the key axis."""
        return self.sentences[self._item(item)].keys(self._kind(kind))

    def output_tokens(self, kind: Kind, item: int = 0) -> tuple[Token, ...] | None:
        """Return the token that each row of a decoder map predicts, or None for an encoder, which predicts no
        tokens.
        """
        return self.sentences[self._item(item)].outputs(self._kind(kind))

    def mask(self, kind: Kind, *, layer: int = 0, head: int = 0, item: int = 0) -> Bool[Tensor, "q_len k_len"]:
        """Return the mask of a head, True where a query may attend to a key."""
        return self.layer_mask(kind, layer, item)[self._head(kind, head)]

    def thumbnails(self, kind: Kind, *, item: int = 0, side: int = 64) -> UInt8[Tensor, "layers heads rows cols"]:
        """Return every head's map in 8 bits, 0 to 255, with at most `side` rows and columns.

        Weights below 0 or above 1 are drawn as 0 or 1. A cell of a reduced map is the largest weight in its window, so
        that no peak is lost. Use thumbnails for pictures only.
        """
        (layers, heads), sentence = self.shape(kind), self.sentences[self._item(item)]
        shape = heads, len(sentence.queries(kind)), len(sentence.keys(kind))
        made = []
        with report_layers("Making every head's map", layers):
            for layer in range(layers):
                small = Thumbnails(shape, side, clips=self.weights_only)
                for block in self._read_blocks(kind, layer, item):
                    small.read(block)
                made.append(small.eight_bits())
        return torch.stack(made)

    def one_layer(self, kind: Kind, layer: int, head: int | None = None) -> "TraceLike":
        """Return the trace of one layer, or of one of its heads, as layer 0 and head 0, with the same tokens.

        Raises ValueError for a layer or head out of range.
        """
        layers = self.shape(kind)[0]
        if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer < layers:
            raise ValueError(f"layer must be from 0 to {layers - 1}, not {layer!r}.")
        return self._one_layer(kind, layer, None if head is None else self._head(kind, head))

    def _kind(self, kind: str) -> Kind:
        return validate_choice(kind, "kind", self.kinds)

    def _item(self, item: int) -> int:
        if not 0 <= item < len(self.sentences):
            raise ValueError(f"There is no item {item}: this trace holds {len(self.sentences)}, counted from 0.")
        return item

    def _head(self, kind: Kind, head: int) -> int:
        return validate_index(head, self.shape(kind)[1], "head", f"this model has {kind} heads")
