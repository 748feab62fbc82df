"""Languages that a tokenizer marks its texts with: M2M100, NLLB, mBART. The mark stands before the source.

Marian's own notation holds for all of them: ">>fra_Latn<< I love you.", or ">>deu_Latn:fra_Latn<< Ich liebe dich."
where the source is in another language than the tokenizer takes for granted. A language may also be said beside the
text (`to`); what the text itself begins with holds before it. A Marian model of several languages has marks of the same
look as tokens of its vocabulary: there the mark stays in the text.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attnviz.models.huggingface.tokenization.backend import FIRST, Frame
from attnviz.text.limits import TextError

_MARK = re.compile(r"\s*>>([\w-]+:)?([\w-]+)<<\s*")
_SHOWN = 8  # codes that a sentence names before it gives their number


@dataclass(frozen=True)
class Languages:
    """Codes and their ids; `source` and `target` are the defaults. `marks` are codes whose mark is a token of the text
    itself.
    """

    ids: Mapping[str, int] = field(default_factory=dict)
    source: int | None = None
    target: int | None = None
    marks: tuple[str, ...] = ()

    @property
    def codes(self) -> tuple[str, ...]:
        """The languages that can be asked for, in the order of their codes."""
        return tuple(sorted(self.ids or self.marks))

    def code(self, id_: int | None) -> str:
        """Return the code of an id; "" for none."""
        return next((code for code, one in self.ids.items() if one == id_), "")

    def add_mark(self, text: str, to: str) -> str:
        """Put a language's mark before a text, for a model whose marks are tokens. Raises TextError for an unknown
        language.
        """
        if not to or self.ids:
            return text
        if to not in self.marks:
            raise TextError(
                f"The model does not know the language “{to}”. It has {self._codes() or 'none that can be chosen'}."
            )
        return text if _MARK.match(text) else f">>{to}<< {text}"

    def read(self, text: str, to: str = "") -> tuple[int, int | None, int | None]:
        """Return how many characters a mark at the beginning takes, and the languages of source and target, as ids
        (None: unsaid).

        `to` is the target's where the text has no mark. Raises TextError for a language that the tokenizer does not
        know.
        """
        mark = _MARK.match(text) if self.ids else None
        if mark is None:
            return 0, self.source, self._id(to) if to and self.ids else None
        source = self._id(mark[1][:-1]) if mark[1] else self.source
        return mark.end(), source, self._id(mark[2])

    def source_frame(self, frame: Frame, source: int | None) -> Frame:
        """Return the special tokens around a source in that language."""
        return frame if source is None else tuple(source if self._is_one(id_) else id_ for id_ in frame)

    def target_frame(self, frame: Frame, target: int | None) -> Frame:
        """Return the special tokens around a target, after those that every target begins with: mBART's begins with its
        language there.
        """
        if not self.ids:
            return frame
        named = () if self.comes_last(frame) or target is None else (target,)
        return (*named, *(id_ for id_ in frame if not self._is_one(id_)))

    def comes_last(self, frame: Frame) -> bool:
        """Check whether the language follows a source; a target then begins with it in the place of another token."""
        return any(self._is_one(id_) for id_ in frame[frame.index(FIRST) :])

    def note(self, target: int | None) -> str:
        """Write the note on a target without a chosen language: which one it is in, and how to ask for another."""
        names = {id_: code for code, id_ in self.ids.items()}
        written = f"The target is in {names[target]}" if target in names else "No target language was chosen"
        other = next((code for code, id_ in self.ids.items() if id_ not in (self.source, target)), next(iter(self.ids)))
        return f"{written}: choose one under “To”, or begin the source with >>{other}<< for another of {self._codes()}."

    def override_note(self, text: str, to: str) -> tuple[str, ...]:
        """Write a note where the text itself begins with another language than `to`."""
        mark = _MARK.match(text) if to and self.codes else None
        if mark is None or mark[2] == to:
            return ()
        return (f"The source begins with >>{mark[2]}<<, which overrides the chosen language ({to}).",)

    def _is_one(self, id_: int) -> bool:
        return id_ in self.ids.values()

    def _id(self, code: str) -> int:
        if code not in self.ids:
            raise TextError(f"The model does not know the language “{code}”. It has {self._codes()}.")
        return self.ids[code]

    def _codes(self) -> str:
        codes = list(self.ids or self.marks)
        more = len(codes) - _SHOWN
        return ", ".join(codes[:_SHOWN]) + (f" and {more} others" if more > 0 else "")


def languages_of(tokenizer: Any) -> Languages:
    """Return the languages of a tokenizer that transformers has read; none where it marks no texts with them."""
    if not hasattr(tokenizer, "set_src_lang_special_tokens"):
        marks = (_MARK.fullmatch(mark) for mark in getattr(tokenizer, "supported_language_codes", ()))
        return Languages(marks=tuple(mark[2] for mark in marks if mark is not None))
    known = getattr(tokenizer, "lang_code_to_id", None) or _module_languages(tokenizer)
    ids = {code: id_ for code, id_ in known.items() if id_ != tokenizer.unk_token_id}
    return Languages(ids, ids.get(tokenizer.src_lang), ids.get(tokenizer.tgt_lang))


def _module_languages(tokenizer: Any) -> dict[str, int]:
    """Read the codes that transformers keeps in the tokenizer's module; the ids are those of tokens of that name."""
    codes = getattr(sys.modules[type(tokenizer).__module__], "FAIRSEQ_LANGUAGE_CODES", ())
    return {code: tokenizer.convert_tokens_to_ids(code) for code in codes if isinstance(code, str)}
