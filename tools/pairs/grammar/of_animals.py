"""Sentences about animals that jump over things, sleep on them, and do not cross the street."""

from collections.abc import Iterator
from itertools import product

from tools.pairs.grammar.lexicon import (
    ANIMALS,
    COLOURS,
    FOOD,
    OBSTACLES,
    OF_FOOD,
    OF_WAYS,
    OLD,
    SEATS,
    SIZES,
    STATES,
    WAYS,
)
from tools.pairs.grammar.phrases import Row, chinese, english, french, german, sentence, spanish
from tools.pairs.grammar.words import Noun, Quality


def jumps() -> Iterator[Row]:
    """Make “A big red dog jumped over a small pond.” and its like."""
    for animal, size, colour, over, its in product(ANIMALS, SIZES, COLOURS, OBSTACLES, (*SIZES, OLD)):
        if (its is OLD and over.en not in ("fence", "wall", "box", "table", "chair")) or animal.en == "animal":
            continue
        who, where = [size, colour], [its]
        yield (
            f"{sentence(english(animal, who))} jumped over {english(over, where)}.",
            f"{sentence(french(animal, who))} sauta par-dessus {french(over, where)}.",
            f"{sentence(german(animal, who))} sprang über {german(over, where, case='accusative')}.",
            f"{sentence(spanish(animal, who))} saltó por encima de {spanish(over, where)}.",
            f"{chinese(animal, who)}跳过了{chinese(over, where).replace('老', '旧')}。",
        )


def rests() -> Iterator[Row]:
    """Make “The small black cat is sleeping under the old chair.” and its like."""
    for animal, size, colour, seat, (on, sur, auf, sobre, side) in product(
        ANIMALS, SIZES, COLOURS, SEATS,
        (("on", "sur", "auf", "sobre", "上"), ("under", "sous", "unter", "debajo de", "下面")),
    ):  # fmt: skip
        if (on == "under" and seat.en in ("wall", "stone", "carpet")) or animal.en == "animal":
            continue
        who = [size, colour]
        de_es = f"{sobre} {spanish(seat, article='el')}".replace("de el ", "del ")
        yield (
            f"{sentence(english(animal, who, article='the'))} is sleeping {on} {english(seat, article='the')}.",
            f"{sentence(french(animal, who, article='le'))} dort {sur} {french(seat, article='le')}.",
            f"{sentence(german(animal, who, article='der'))} schläft {auf} "
            f"{german(seat, case='dative', article='der')}.",
            f"{sentence(spanish(animal, who, article='el'))} está durmiendo {de_es}.",
            f"{chinese(animal, who, article='那')}在{seat.zh}{side}睡觉。",
        )


def _because(animal: Noun, thing: Noun, reason: Quality, *, of_thing: bool, did: Row) -> Row:
    of = thing if of_thing else animal
    fr_it, fr_end = ("elle", reason.fr[1]) if of.fr_gender == "f" else ("il", reason.fr[0])
    de_it = {"m": "er", "f": "sie", "n": "es"}[of.de_gender]
    return (
        f"The {animal.en} {did[0]} the {thing.en} because it was too {reason.en}.",
        f"{sentence(french(animal, article='le'))} {did[1]} {french(thing, article='le')} parce qu'{fr_it} était trop "
        f"{fr_end}.",
        f"{sentence(german(animal, article='der'))} {did[2]} {german(thing, case='accusative', article='der')} nicht, "
        f"weil {de_it} zu {reason.de} war.",
        f"{sentence(spanish(animal, article='el'))} {did[3]} {spanish(thing, article='el')} porque {reason.es_verb} "
        f"demasiado {reason.es[of.es_gender == 'f']}.",
        f"那{animal.zh_cl}{animal.zh}{did[4]}{thing.zh}，因为{thing.zh if of_thing else '它'}太{reason.zh}了。",
    )


def reasons() -> Iterator[Row]:
    """Make “The animal didn't cross the street because it was too tired.”, or too wide, and its like."""
    for animal, way, reason in product(ANIMALS, WAYS, (*STATES, *OF_WAYS)):
        zh = "没有过" if way.en in ("street", "bridge", "river") else "没有穿过"
        did = ("didn't cross", "n'a pas traversé", "überquerte", "no cruzó", zh)
        yield _because(animal, way, reason, of_thing=reason in OF_WAYS, did=did)
    for animal, food, reason in product(ANIMALS, FOOD, OF_FOOD):
        if reason.en == "big" and food.en == "meat":
            continue
        did = ("didn't eat", "n'a pas mangé", "fraß", "no comió", "没有吃")
        yield _because(animal, food, reason, of_thing=True, did=did)
