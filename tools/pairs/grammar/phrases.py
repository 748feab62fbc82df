"""Noun phrases in four languages: articles, adjectives where they belong, endings and elisions."""

import re
from collections.abc import Sequence

from tools.pairs.grammar.words import Adjective, Noun

Row = tuple[str, str, str, str, str]  # English, French, German, Spanish, Chinese

_VOWEL = re.compile(r"[aeiouhâàéèêëîïôöùûœ]", re.IGNORECASE)
_INDEFINITE = {
    "nominative": {"m": ("ein", "er"), "f": ("eine", "e"), "n": ("ein", "es")},
    "accusative": {"m": ("einen", "en"), "f": ("eine", "e"), "n": ("ein", "es")},
    "dative": {"m": ("einem", "en"), "f": ("einer", "en"), "n": ("einem", "en")},
}
_DEFINITE = {
    "nominative": {"m": ("der", "e"), "f": ("die", "e"), "n": ("das", "e")},
    "accusative": {"m": ("den", "en"), "f": ("die", "e"), "n": ("das", "e")},
    "dative": {"m": ("dem", "en"), "f": ("der", "en"), "n": ("dem", "en")},
}
_THIS = {
    "nominative": {"m": ("dieser", "e"), "f": ("diese", "e"), "n": ("dieses", "e")},
    "dative": {"m": ("diesem", "en"), "f": ("dieser", "en"), "n": ("diesem", "en")},
}


def english(noun: Noun, adjectives: Sequence[Adjective] = (), *, article: str = "a") -> str:
    """Write *a big red dog*, *an old cat*, *the animal*."""
    words = [*(each.en for each in adjectives), noun.en]
    if article == "a" and words[0][0] in "aeiou":
        article = "an"
    return " ".join([article, *words])


def french(noun: Noun, adjectives: Sequence[Adjective] = (), *, article: str = "un") -> str:
    """Write *un gros chien rouge*, *le vieil âne*, *cette route*; `article` is un, le or ce."""
    feminine = noun.fr_gender == "f"
    before = [each for each in adjectives if each.fr_first]
    words = [each.fr[2] if feminine else each.fr[0] for each in before]
    if before and not feminine and _VOWEL.match(noun.fr):
        words[-1] = before[-1].fr[1]
    words += [noun.fr, *(each.fr[2] if feminine else each.fr[0] for each in adjectives if not each.fr_first)]
    vowel = bool(_VOWEL.match(words[0]))
    if article == "un":
        return " ".join(["une" if feminine else "un", *words])
    if article == "ce":
        return " ".join(["cette" if feminine else "cet" if vowel else "ce", *words])
    return "l'" + " ".join(words) if vowel else " ".join(["la" if feminine else "le", *words])


def german(noun: Noun, adjectives: Sequence[Adjective] = (), *, case: str = "nominative", article: str = "ein") -> str:
    """Write *ein großer roter Hund*, *der alten Katze*, *diesem Dorf*; `article` is ein, der or dieser."""
    table = {"ein": _INDEFINITE, "der": _DEFINITE, "dieser": _THIS}[article]
    first, ending = table[case][noun.de_gender]
    return " ".join([first, *(each.de + ending for each in adjectives), noun.de])


def spanish(noun: Noun, adjectives: Sequence[Adjective] = (), *, article: str = "un") -> str:
    """Write *un gran perro rojo*, *la vaca negra*, *este libro*; `article` is un, el or este."""
    at = int(noun.es_gender == "f")
    first = {"un": ("un", "una"), "el": ("el", "la"), "este": ("este", "esta")}[article][at]
    words = [each.es_first[at] for each in adjectives if each.es_first]
    return " ".join([first, *words, noun.es, *(each.es[at] for each in adjectives if not each.es_first)])


def chinese(noun: Noun, adjectives: Sequence[Adjective] = (), *, article: str = "一") -> str:
    """Write 一只红色的大狗: the measure word, words in 的, then words at the noun."""
    long = [each.zh for each in adjectives if each.zh.endswith("的")]
    return f"{article}{noun.zh_cl}{''.join(long)}{''.join(a.zh for a in adjectives if a.zh not in long)}{noun.zh}"


def sentence(text: str) -> str:
    """Write a sentence with a capital at its beginning."""
    return text[0].upper() + text[1:]
