"""Languages with which a tokenizer marks its texts: M2M100, NLLB, mBART. The mark precedes the source.

All of them can use Marian's notation: ">>fra_Latn<< I love you.", or ">>deu_Latn:fra_Latn<< Ich liebe dich." if the
source is not in the tokenizer's default language. A language can also be given separately (`to`); a mark in the text
takes precedence. A multilingual Marian model has such marks as tokens of its vocabulary, so its mark stays in the text.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attnviz.models.huggingface.tokenization.backend import FIRST, Frame
from attnviz.text.limits import TextError

_MARK = re.compile(r"\s*>>([\w-]+:)?([\w-]+)<<\s*")
_SHOWN = 8  # number of codes that a message lists


@dataclass(frozen=True)
class Languages:
    """Language codes and their ids; `source` and `target` are the default ids.

    `marks` are codes whose marks are tokens of the text itself.
    """

    ids: Mapping[str, int] = field(default_factory=dict)
    source: int | None = None
    target: int | None = None
    marks: tuple[str, ...] = ()

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the languages that can be requested, sorted."""
        return tuple(sorted(self.ids or self.marks))

    def code(self, id_: int | None) -> str:
        """Return the code for an id, or ""."""
        return next((code for code, one in self.ids.items() if one == id_), "")

    def add_mark(self, text: str, to: str) -> str:
        """Put a language's mark before a text, for a model whose marks are tokens.

        Raises TextError for an unknown language.
        """
        if not to or self.ids:
            return text
        if to not in self.marks:
            raise TextError(
                f"The model does not know the language “{to}”. It has {self._codes() or 'none that can be chosen'}."
            )
        return text if _MARK.match(text) else f">>{to}<< {text}"

    def read(self, text: str, to: str = "") -> tuple[int, int | None, int | None]:
        """Return the length of the mark at the text's beginning, and the ids of the source and target language (None:
        not given).

        `to` is the target language of a text without a mark. Raises TextError for a language that the tokenizer does
        not know.
        """
        mark = _MARK.match(text) if self.ids else None
        if mark is None:
            return 0, self.source, self._id(to) if to and self.ids else None
        source = self._id(mark[1][:-1]) if mark[1] else self.source
        return mark.end(), source, self._id(mark[2])

    def source_frame(self, frame: Frame, source: int | None) -> Frame:
        """Return the special tokens around a source in a language."""
        return frame if source is None else tuple(source if self._is_one(id_) else id_ for id_ in frame)

    def target_frame(self, frame: Frame, target: int | None) -> Frame:
        """Return the special tokens around a target, after the tokens that start every target.

        In mBART, the language is among those starting tokens.
        """
        if not self.ids:
            return frame
        named = () if self.comes_last(frame) or target is None else (target,)
        return (*named, *(id_ for id_ in frame if not self._is_one(id_)))

    def comes_last(self, frame: Frame) -> bool:
        """Check whether the language token follows a source; then a target begins with it instead of another token."""
        return any(self._is_one(id_) for id_ in frame[frame.index(FIRST) :])

    def note(self, target: int | None) -> str:
        """Return the note on a target without a chosen language: which language it is in, and how to choose another."""
        names = {id_: code for code, id_ in self.ids.items()}
        written = f"The target is in {names[target]}" if target in names else "No target language was chosen"
        other = next((code for code, id_ in self.ids.items() if id_ not in (self.source, target)), next(iter(self.ids)))
        return (
            f"{written}. Please choose a language under “To”, or begin the source with >>{other}<< for another of "
            f"{self._codes()}."
        )

    def override_note(self, text: str, to: str) -> tuple[str, ...]:
        """Return a note if the text itself begins with a different language than `to`."""
        mark = _MARK.match(text) if to and self.codes else None
        if mark is None or mark[2] == to:
            return ()
        return (f"The source begins with >>{mark[2]}<<. This mark overrides the language that you chose ({to}).",)

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
    """Return the languages of a transformers tokenizer; none if it does not mark texts with languages."""
    if not hasattr(tokenizer, "set_src_lang_special_tokens"):
        marks = (_MARK.fullmatch(mark) for mark in getattr(tokenizer, "supported_language_codes", ()))
        return Languages(marks=tuple(mark[2] for mark in marks if mark is not None))
    known = getattr(tokenizer, "lang_code_to_id", None) or _module_languages(tokenizer)
    ids = {code: id_ for code, id_ in known.items() if id_ != tokenizer.unk_token_id}
    return Languages(ids, ids.get(tokenizer.src_lang), ids.get(tokenizer.tgt_lang))


def _module_languages(tokenizer: Any) -> dict[str, int]:
    """Return the language codes that transformers keeps in the tokenizer's module, with the ids of the tokens of that
    name.
    """
    codes = getattr(sys.modules[type(tokenizer).__module__], "FAIRSEQ_LANGUAGE_CODES", ())
    return {code: tokenizer.convert_tokens_to_ids(code) for code in codes if isinstance(code, str)}
