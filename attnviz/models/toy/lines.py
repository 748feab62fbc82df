"""Lines as somebody types them, and what a toy is fed for them."""

from collections.abc import Sequence

from attnviz.learning.words import BOS, EOS, ToyWords
from attnviz.text.limits import prefix_notes, require_text
from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence

MOST_TOKENS = 64  # that a toy reads or writes; its own lines have 25 at most
_BEGIN = Token("<bos>", BOS, 0, 0, is_special=True)

Tokens = tuple[Token, ...]
Notes = tuple[str, ...]


class ToyLines:
    """A toy's words, and whether a line is its source or, for a decoder alone, its prompt."""

    def __init__(self, words: ToyWords) -> None:
        self.words, self.is_prompt = words, words.task.is_decoder_only

    def read(self, text: str) -> tuple[Tokens, Notes]:
        """A line's tokens. Raises TextError for an empty one, and for a word that the toy does not know."""
        require_text(text)
        tokens, notes = self.words.read(text)
        return tokens, prefix_notes("Prompt" if self.is_prompt else "Source", notes)

    def fed(self, tokens: Tokens) -> tuple[Tokens, Tokens]:
        """The source with its end, and what every target begins with: `<bos>`, and a decoder's prompt."""
        return ((), (_BEGIN, *tokens)) if self.is_prompt else ((*tokens, _end(tokens)), (_BEGIN,))

    def limit(self, tokens: Tokens, new_tokens: int | None) -> int:
        """Tokens that may be written: room for every line of the task, but an end to a toy that repeats itself."""
        if not self.is_prompt:
            return min(MOST_TOKENS, 2 * len(tokens) + 4)
        return max(1, min(MOST_TOKENS, max(1, len(tokens) - 2) if new_tokens is None else new_tokens))

    def taught(self, tgt_in: Sequence[int], begun: Tokens) -> tuple[int, ...]:
        """Ids that a teacher feeds, from `<bos>` on. Raises ValueError where they begin otherwise, or are no ids."""
        ids, first, known = tuple(tgt_in), tuple(token.id for token in begun), len(self.words.pieces)
        if ids[: len(first)] != first:
            raise ValueError(f"tgt_in begins with {list(ids[: len(first)])}, and must begin with {list(first)}.")
        if len(ids) > MOST_TOKENS + len(first) or any(id_ not in range(known) for id_ in ids):
            raise ValueError(f"tgt_in holds up to {MOST_TOKENS} ids below {known} after its beginning.")
        return ids

    def target(self, tgt_text: str) -> tuple[Tokens, Notes]:
        """A target that somebody gives, from `<bos>` to `<eos>`. Raises TextError for a word that is not known."""
        tokens, notes = self.words.read(tgt_text)
        return (_BEGIN, *tokens, _end(tokens)), prefix_notes("Target", notes)

    def continued(self, text: str, tokens: Tokens, ids: Sequence[int]) -> Sentence:
        """A prompt and what was written after it; the last row of its maps puts out nothing where that is nothing."""
        tgt_text, tgt = self.words.continued(text, self.fed(tokens)[1], ids)
        return Sentence(tgt=tgt, tgt_text=tgt_text, cut=not ids)

    def written(self, text: str, tokens: Tokens, ids: Sequence[int]) -> tuple[Sentence, Notes]:
        """A source and what was written for it, and a note where that was cut."""
        cut = ids[-1] != EOS
        notes = (f"Its text was cut after {len(ids)} words without reaching <eos>.",) if cut else ()
        return Sentence(self.fed(tokens)[0], self.words.tokens((BOS, *ids)), text, self.words.text(ids), cut), notes


def _end(tokens: Tokens) -> Token:
    end = tokens[-1].end
    return Token("<eos>", EOS, end, end, is_special=True)
