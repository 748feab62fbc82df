"""Nicknames: any text whose characters can be seen."""

import unicodedata

from attnviz.classroom.errors import ClassroomError
from attnviz.lessons.phrases import Translatable
from attnviz.text.display import is_unseen_letter

MOST = 40  # characters
_MOST_MARKS = 3  # accents on one letter
_UNSEEN = "\u200c\u200d\ufe0e\ufe0f"  # joiners and styles, which Persian, Hindi and emoji need


def validate_nickname(typed: str) -> str:
    """Normalize a nickname as it is saved: NFC, single spaces. Raises ClassroomError with one sentence."""
    if len(typed) > 10 * MOST:
        raise ClassroomError(_too_long(len(typed)))
    name = " ".join(unicodedata.normalize("NFC", typed).split())
    for one in name:
        if one not in _UNSEEN and (unicodedata.category(one)[0] == "C" or is_unseen_letter(one)):
            raise ClassroomError(
                Translatable(
                    "A nickname has no invisible characters, such as U+{code}: type it again.", code=f"{ord(one):04X}"
                )
            )
    if len(name) > MOST:
        raise ClassroomError(_too_long(len(name)))
    if not any(unicodedata.category(one)[0] in "LNS" for one in name):
        raise ClassroomError(Translatable("Type a nickname with at least one letter, number or emoji."))
    if _marks_in_a_row(name) > _MOST_MARKS:
        raise ClassroomError(
            Translatable("A nickname has at most {most} accents on one letter: leave some out.", most=_MOST_MARKS)
        )
    return name


def fold_nickname(name: str) -> str:
    """Fold a nickname for comparison: “ana” and “Ａｎａ” are one, with joiners and styles or without."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(one for one in plain if one not in _UNSEEN)


def _too_long(length: int) -> str:
    return Translatable(
        "A nickname has at most {most} characters, and this one has {count}.", most=MOST, count=f"{length:,}"
    )


def _marks_in_a_row(name: str) -> int:
    most = row = 0
    for one in name:
        row = row + 1 if unicodedata.category(one) in ("Mn", "Me") else 0
        most = max(most, row)
    return most
