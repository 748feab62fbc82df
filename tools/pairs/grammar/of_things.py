"""Sentences about things: their number in a place, and comparisons of two."""

from collections.abc import Iterator
from itertools import product

from tools.pairs.grammar.lexicon import (
    BEAUTIFUL,
    BIG_ONES,
    BUILDINGS,
    COMPARATIVES,
    MODERN,
    NEW,
    OF_TEXTS,
    OLD,
    PLACES,
    SIZES,
    TEXTS,
    THINGS,
)
from tools.pairs.grammar.phrases import Row, french, german, sentence, spanish


def there_are() -> Iterator[Row]:
    """Make “There are many old houses in this town.” and its like."""
    quantities = (
        ("many", "beaucoup {de}", "viele", ("muchos", "muchas"), "有很多"),
        ("some", "quelques", "einige", ("algunos", "algunas"), "有一些"),
    )
    for what, adjective, place, (en, fr, de, es, zh) in product(
        BUILDINGS, (OLD, NEW, BEAUTIFUL, BIG_ONES, SIZES[1], MODERN), PLACES, quantities
    ):
        if (what.en in ("trees", "flowers") and adjective is MODERN) or (what.en == "streets" and place.en == "street"):
            continue
        fr_adjective = adjective.fr[4 if what.fr_gender == "f" else 3]
        fr_words = [fr_adjective, what.fr] if adjective.fr_first else [what.fr, fr_adjective]
        fr_of = "d'" if fr_words[0][0] in "aeéhiou" else "de "
        fr_many = fr.replace("{de}", fr_of) if "{de}" in fr else fr + " "
        es_at = what.es_gender == "f"
        es_adjective = ("antiguas" if es_at else "antiguos") if adjective is OLD else adjective.es[2 + es_at]
        yield (
            f"There are {en} {adjective.en} {what.en} in this {place.en}.",
            f"Il y a {fr_many}{' '.join(fr_words)} dans {french(place, article='ce')}.",
            f"In {german(place, case='dative', article='dieser')} gibt es {de} {adjective.de}e {what.de}.",
            f"Hay {es[es_at]} {what.es} {es_adjective} en {spanish(place, article='este')}.",
            f"这{place.zh_cl}{place.zh}{zh}{adjective.zh}{what.zh}。",
        )


_THAT = {"m": "jener", "f": "jene", "n": "jenes"}
_FOR = (
    ("to read", "à lire", "zu lesen", "de leer", "读"),
    ("to understand", "à comprendre", "zu verstehen", "de entender", "懂"),
    ("to learn", "à apprendre", "zu lernen", "de aprender", "学"),
    ("to translate", "à traduire", "zu übersetzen", "de traducir", "翻译"),
)


def comparisons() -> Iterator[Row]:
    """Make “This book is easier to read than that one.” and its like."""
    pairs = [(thing, how, ("", "", "", "", "")) for thing, how in product(THINGS, COMPARATIVES)]
    pairs += [
        (text, how, what)
        for text, how, what in product(TEXTS, OF_TEXTS, _FOR)
        if (text.en == "language") == (what[0] == "to learn") and not (text.en == "word" and what[0] == "to read")
    ]
    for thing, how, (en, fr, de, es, zh) in pairs:
        fr_at, es_at = thing.fr_gender == "f", thing.es_gender == "f"
        yield (
            " ".join(f"This {thing.en} is {how.en} {en} than that one.".split()),
            " ".join(
                f"{sentence(french(thing, article='ce'))} est {how.fr[fr_at]} {fr} que "
                f"{'celle-là' if fr_at else 'celui-là'}.".split()
            ),
            " ".join(
                f"{sentence(german(thing, article='dieser'))} ist {how.de} {de} als {_THAT[thing.de_gender]}.".split()
            ),
            " ".join(
                f"{sentence(spanish(thing, article='este'))} es {how.es[es_at]} {es} que "
                f"{'esa' if es_at else 'ese'}.".split()
            ),
            f"这{thing.zh_cl}{thing.zh}比那{thing.zh_cl}{thing.zh}{how.zh}{zh}。",
        )
