"""A reply that can be stopped, continued, and taken back to any token to choose another one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.next_tokens import NextToken, next_tokens
from attnviz.decoding.reply.numbers.rows import ReplyRows
from attnviz.text.limits import require_ids
from attnviz.text.tokens import Token
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.recorder import Recorder
from attnviz.transformer.decoding import Sampling

if TYPE_CHECKING:
    from attnviz.models.huggingface.chat.chat_model import ReplyPrompt

LIMIT = 300  # default limit of tokens in a reply
MOST = 1_000  # maximum tokens of a reply
_ALTERNATIVES = 10
_CANDIDATE = Struct("<idd")
_TEXT_BYTES = 1_000  # estimated bytes of a token with its texts and candidates


@dataclass(frozen=True)
class Choosing:
    """How tokens are chosen: the most probable one without `temperature` and `top_p`, otherwise by sampling.

    The random number for a token depends only on the `seed` and the token's position in the reply. So after the same
    tokens the same ones follow, whether the reply was written at once, stopped and continued, or taken back. Raise
    ValueError for a temperature or top_p that Sampling refuses, and for a negative seed.
    """

    temperature: float | None = None
    top_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or more, not {self.seed}.")
        _ = self.sampling

    @property
    def sampling(self) -> Sampling | None:
        """The distribution from which tokens are sampled; None for the most probable token."""
        if self.temperature is None and self.top_p is None:
            return None
        return Sampling(torch.Generator(), 1.0 if self.temperature is None else self.temperature, None, self.top_p)

    def choose(self, logits: Tensor, position: int) -> int:
        """Return the chosen id for a position in the reply, from logits `(1, vocab_size)`."""
        if self.sampling is None:
            return int(logits.argmax())
        reached = self.sampling.probabilities(logits)[0].double().cpu().cumsum(dim=0)
        drawn = np.random.default_rng([self.seed, position]).random() * float(reached[-1])
        found = int(torch.searchsorted(reached, drawn, right=True))
        return min(found, int(reached.argmax()))  # rounding may sample beyond the last token with a probability


GREEDY = Choosing()


@dataclass(frozen=True)
class WrittenToken:
    """A token of a reply, and whether it was chosen by hand.

    `candidates` are the most probable tokens at its position, including the token itself, packed as id, probability,
    and sampling probability.
    """

    token: Token
    candidates: bytes
    is_taken: bool = False

    @property
    def alternatives(self) -> tuple[NextToken, ...]:
        """The most probable tokens at this token's position."""
        return tuple(NextToken(*each) for each in _CANDIDATE.iter_unpack(self.candidates))

    @property
    def probability(self) -> float:
        """The token's probability before temperature and top-p."""
        return next(each.probability for each in self.alternatives if each.id == self.token.id)


class Reply:
    """A model's reply to a prompt, written token by token, with its attention rows.

    `taken` are ids chosen by hand, by position in the reply. The alternatives of a token have probabilities before and
    after temperature and top-p. Memory grows linearly with the length, because `rows` keeps queries and keys instead of
    weights. A reply belongs to a single reader.
    """

    def __init__(
        self, prompt: "ReplyPrompt", choosing: Choosing = GREEDY, *, taken: Mapping[int, int] | None = None,
        limit: int = LIMIT,
    ) -> None:  # fmt: skip
        if not 1 <= limit <= MOST:
            raise ValueError(f"A reply may have 1 to {MOST:,} tokens, not {limit}.")
        self.prompt, self.choosing, self.limit = prompt, choosing, limit
        self.taken = dict(taken or {})
        require_ids(self.taken.values(), prompt.text.known)
        self.rows, self.written = ReplyRows(), list[WrittenToken]()
        self._encoded, self._lock = prompt.encoded, Lock()

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the prompt and of the reply."""
        return self._encoded.tokens

    @property
    def spoken(self) -> str:
        """The text of the reply without special tokens."""
        return self._encoded.text[len(self.prompt.encoded.text) :]

    @property
    def ended(self) -> str:
        """Why no token follows, in one sentence; "" if more tokens can follow."""
        if self.written and self.written[-1].token.id in self.prompt.rules.ends:
            return f"The model ended the reply with {self.written[-1].token.text}."
        if len(self.written) >= self.prompt.places:
            return f"The reply stopped because the model can read at most {self.prompt.text.max_tokens:,} tokens."
        return (
            f"The reply stopped because it reached the limit of {self.limit} tokens."
            if len(self.written) >= self.limit
            else ""
        )

    def go_on(self, count: int = 1) -> tuple[WrittenToken, ...]:
        """Write up to `count` tokens, and return them; fewer if the reply ends."""
        first = len(self.written)
        with self._lock:
            while len(self.written) < first + count and not self.ended:
                self._write()
        return tuple(self.written[first:])

    def take(self, position: int, id_: int) -> WrittenToken:
        """Replace a token of the reply by another one, and drop the tokens after it.

        Raise ValueError for a position that is not written, or an id that the model does not have.
        """
        require_ids((id_,), self.prompt.text.known)
        self.go_back(position)
        with self._lock:
            self.taken[position] = id_
            return self._write()

    def go_back(self, position: int) -> None:
        """Drop the tokens of the reply from `position` on, including choices made by hand there."""
        if not 0 <= position < max(1, len(self.written)):
            raise ValueError(f"The reply has {len(self.written)} tokens, so there is no token {position}.")
        with self._lock:
            self.taken = {at: id_ for at, id_ in self.taken.items() if at < position}
            del self.written[position:]
            self._encoded = self.prompt.encoded
            for each in self.written:  # one at a time, as when they were written
                self._encoded = self.prompt.text.append_ids(self._encoded, [each.token.id], segment=1)

    def attn(self, *, layer: int | None = None, head: int | None = None) -> Tensor:
        """Return attention weights `(layers, heads, rows, keys)` in float32, without the dimensions that
        `layer` and `head` select.

        There is a row for each token that was fed to the model, that is, for all but the last one.
        """
        return self.rows.weights(layer=layer, head=head, stop=self.row_count)

    @property
    def row_count(self) -> int:
        """Number of attention rows.

        The row that wrote token k of the reply has the index k plus the prompt's length minus 1.
        """
        return len(self.tokens) - 1 if self.written else 0

    @property
    def count(self) -> int:
        """Number of stored values: queries and keys of the rows, and keys and values of the cache."""
        return self.rows.count + sum(part.numel() for part in self.prompt.stepper.kept())

    @property
    def nbytes(self) -> int:
        """Bytes of the reply's stored values, and of its tokens with their texts and candidates."""
        numbers = self.rows.nbytes + sum(part.nbytes for part in self.prompt.stepper.kept())
        return numbers + _TEXT_BYTES * len(self.tokens)

    @torch.inference_mode()
    def _write(self) -> WrittenToken:
        """Write one token. If the previous step was interrupted, its remains are removed first."""
        position, stepper, before = len(self.written), self.prompt.stepper, self._encoded
        fed = len(before.tokens) - 1 if position else 0
        if not stepper.go_back(fed):
            fed = 0  # a cache that cannot be truncated is refilled
        self.rows.cut(fed)
        recorder = Recorder(keeps_hidden=False)
        ids = torch.tensor([before.ids[fed:]], device=stepper.network.device)
        logits = self.prompt.rules.forbid(stepper.step(ids, probe=recorder))
        self.rows.append(recorder.calls)
        id_ = self.taken.get(position)
        chosen = self.choosing.choose(logits, position) if id_ is None else id_
        found = next_tokens(
            logits, self.prompt.rules, count=_ALTERNATIVES, sampling=self.choosing.sampling,
            with_ids=lambda _: (chosen,),
        )  # fmt: skip
        longer = self.prompt.text.append_ids(before, [chosen], segment=1)
        packed = b"".join(_CANDIDATE.pack(each.id, each.probability, each.drawn) for each in found[0])
        made = WrittenToken(longer.tokens[-1], packed, id_ is not None)
        self._encoded = longer
        self.written.append(made)
        return made


def start_reply(
    model: Any, messages: Sequence[Mapping[str, Any]] | None = None, *, text: str = "",
    choosing: Choosing = GREEDY, taken: Mapping[int, int] | Iterable[tuple[int, int]] = (), limit: int = LIMIT,
    interventions: Sequence[Intervention] = (),
) -> Reply:  # fmt: skip
    """Start a reply to a conversation or to a plain `text`; nothing is written yet.

    Raise ValueError with a message of one sentence for a model that writes no replies, or for input that it cannot
    read.
    """
    read = getattr(model, "read_prompt", None)
    if read is None:
        raise ValueError(
            f"{model.name} cannot write replies. Please load a decoder from transformers, such as a chat model."
        )
    return Reply(read(messages, text=text, interventions=interventions), choosing, taken=dict(taken), limit=limit)
